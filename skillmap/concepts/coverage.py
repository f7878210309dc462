"""How much each benchmark exercises each concept, and which concepts it leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from scipy.special import (  # pyright: ignore[reportMissingTypeStubs]
    betaincinv,
)

from skillmap.errors import InvalidInputError

Dictionary = Literal["in_dictionary", "all"]
Normaliser = Literal["mean", "median_active"]

BENCHMARK = ("encoder_id", "benchmark_id")
REPRESENTATIONS = ("missing", "under", "typical", "over")
# Thresholds of "missing" that are compared with each other.
TAUS = (0.0, 1e-6, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, kw_only=True)
class CoverageOptions:
    """What the definition of coverage leaves open.

    Attributes:
        dictionary: Concepts that count: those marked ``in_dictionary``, or all.
        normaliser: What a coverage of 1 is: the mean concept of the dictionary, or
            the median of the active ones, which dense latents do not move.
        tau: Coverage below which a concept is missing; 0 for never active.
        decile: Share of the concepts that are not missing that is called under- and
            over-represented each.
        dense_density: Share of a reference corpus's tokens above which a latent is
            dense.
        smoothing: Added to both shares of tokens before the lift is taken, so that
            neither is 0.
        alpha: One less the confidence of the bound on prevalence.
    """

    dictionary: Dictionary = "in_dictionary"
    normaliser: Normaliser = "mean"
    tau: float = 1e-3
    decile: float = 0.1
    dense_density: float = 0.1
    smoothing: float = 1e-6
    alpha: float = 0.05


def concept_coverage(
    concept_sums: pl.DataFrame,
    benchmark_sums: pl.DataFrame,
    concepts: pl.DataFrame,
    templates: pl.DataFrame | None = None,
    *,
    options: CoverageOptions | None = None,
) -> pl.DataFrame:
    """Coverage of every concept of the dictionary by every benchmark.

    Args:
        concept_sums: Rows of ``core.concept_sums``.
        benchmark_sums: Rows of ``core.benchmark_sums``.
        concepts: Rows of ``core.concepts``, one a latent of each encoder.
        templates: Of `template_concepts`; without it none is known.
        options: The choices of the definition.

    Returns:
        One row per encoder, benchmark and concept of the dictionary, columns of
        ``mart.concept_coverage``, sorted. A concept that is never active has a
        coverage of 0. Coverage is null where no concept of the dictionary is active.

    Raises:
        InvalidInputError: If a latent with activations is not among the concepts.

    Source:
        arXiv 2512.20638: mass of the concept over the mean mass of all concepts. The
        deciles are over the concepts that are not missing, which is our choice.
    """
    told = options or CoverageOptions()
    concepts = concepts.with_columns(pl.col("latent_index").cast(pl.Int64))
    _check_known(concept_sums, concepts)
    counted = concepts if told.dictionary == "all" else concepts.filter("in_dictionary")
    is_dense = pl.col("is_dense").fill_null(value=False) | (
        pl.col("reference_density") > told.dense_density
    ).fill_null(value=False)
    cells = (
        benchmark_sums.join(
            counted.select(
                "encoder_id", "latent_index", "reference_density", is_dense=is_dense
            ),
            on="encoder_id",
        )
        .join(concept_sums, on=[*BENCHMARK, "latent_index"], how="left")
        .with_columns(pl.col("^(s1|s2|cluster_s2|n_active_.*)$").fill_null(0))
    )
    return (
        _with_template(cells, templates)
        .with_columns(
            n_effective=_ratio(pl.col("s1") ** 2, pl.col("s2")),
            n_effective_clusters=_ratio(pl.col("s1") ** 2, pl.col("cluster_s2")),
            coverage=_ratio(pl.col("s1"), _unit(told.normaliser)),
            coverage_without_dense=pl.when(~pl.col("is_dense")).then(
                _ratio(pl.col("s1"), pl.col("s1").filter(~pl.col("is_dense")).mean())
            ),
            share=_ratio(pl.col("s1"), pl.col("s1").sum()),
            item_share=pl.col("n_active_items") / pl.col("n_items"),
            token_share=_ratio(pl.col("n_active_tokens"), pl.col("n_tokens")),
            is_missing_strict=pl.col("n_active_items") == 0,
        )
        .with_columns(
            lift=(
                (pl.col("token_share") + told.smoothing)
                / (pl.col("reference_density") + told.smoothing)
            ).log(),
            is_missing=is_missing(told.tau),
        )
        .with_columns(
            prevalence_bound("n_active_clusters", "n_clusters", alpha=told.alpha),
            representation=_representation(told.decile),
        )
        .rename({"s1": "saliency"})
        .select(COVERAGE_COLUMNS)
        .sort(*BENCHMARK, "latent_index")
    )


COVERAGE_COLUMNS = (
    *BENCHMARK,
    "latent_index",
    "saliency",
    "coverage",
    "coverage_without_dense",
    "share",
    "n_items",
    "n_active_items",
    "n_effective",
    "n_effective_clusters",
    "item_share",
    "prevalence_high",
    "token_share",
    "lift",
    "is_missing_strict",
    "is_missing",
    "representation",
    "is_dense",
    "is_template",
)


def is_missing(tau: float) -> pl.Expr:
    """Whether a concept's coverage is below ``tau``; at 0, never active at all."""
    below = pl.col("coverage") < tau
    return pl.col("is_missing_strict") | below.fill_null(value=False)


def prevalence_bound(
    n_active: str, n: str, *, alpha: float, name: str = "prevalence_high"
) -> pl.Expr:
    """One-sided upper bound of the share of items that activate a concept.

    Of 0 active in n independent items it is ``1 - alpha ** (1 / n)``, about 3 / n at
    5 %: what "missing" may still hide.

    Args:
        n_active: Column of independent items that activate it.
        n: Column of independent items.
        alpha: One less the confidence, in (0, 1).
        name: Of the new column.

    Returns:
        In (0, 1]; 1 without any item.

    Source:
        Clopper and Pearson (1934), Biometrika 26, 404-413, one-sided.
    """

    def bound(columns: Sequence[pl.Series]) -> pl.Series:
        active, total = (column.to_numpy().astype(np.float64) for column in columns)
        # Few distinct pairs, and the inverse is slow.
        pairs, place = np.unique(
            np.stack([active, total], axis=1), axis=0, return_inverse=True
        )
        x, rest = pairs[:, 0] + 1, pairs[:, 1] - pairs[:, 0]
        high = np.where(rest > 0, betaincinv(x, np.maximum(rest, 1), 1 - alpha), 1.0)
        return pl.Series(high[place.ravel()])

    return pl.map_batches([n_active, n], bound, return_dtype=pl.Float64).alias(name)


def coverage_summary(coverage: pl.DataFrame) -> pl.DataFrame:
    """What each benchmark leaves out and how its mass is spread.

    Args:
        coverage: Of `concept_coverage`.

    Returns:
        One row per encoder and benchmark, columns of ``mart.coverage_summary``.
        ``n_effective_concepts`` is the exponential of the entropy of the shares: so
        many equally covered concepts would be as spread. Null where nothing is active.
    """
    share = pl.col("share")
    entropy = pl.when(share > 0).then(-share * share.log()).otherwise(0.0).sum()
    word = pl.col("representation")
    return (
        coverage.group_by(BENCHMARK, maintain_order=True)
        .agg(
            n_items=pl.col("n_items").first(),
            n_concepts=pl.len().cast(pl.Int64),
            n_missing_strict=pl.col("is_missing_strict").sum().cast(pl.Int64),
            n_missing=pl.col("is_missing").sum().cast(pl.Int64),
            missing_share=pl.col("is_missing").mean(),
            n_under=(word == "under").sum().cast(pl.Int64),
            n_over=(word == "over").sum().cast(pl.Int64),
            n_dense=pl.col("is_dense").sum().cast(pl.Int64),
            n_template=pl.col("is_template").sum().cast(pl.Int64),
            dense_share=_total(share.filter("is_dense")),
            template_share=_total(share.filter("is_template")),
            **{f"top_{k}_share": _total(share.top_k(k)) for k in (1, 10, 100)},
            entropy=pl.when(share.is_not_null().any()).then(entropy),
        )
        .with_columns(n_effective_concepts=pl.col("entropy").exp())
    )


def missing_by_tau(
    coverage: pl.DataFrame, *, taus: tuple[float, ...] = TAUS
) -> pl.DataFrame:
    """How many concepts are missing at each threshold.

    Args:
        coverage: Of `concept_coverage`.
        taus: Thresholds of coverage; 0 for never active.

    Returns:
        One row per encoder, benchmark and ``tau``: ``n_concepts``, ``n_missing`` and
        ``missing_share``.
    """
    return pl.concat(
        coverage.group_by(BENCHMARK, maintain_order=True).agg(
            tau=pl.lit(tau, pl.Float64),
            n_concepts=pl.len().cast(pl.Int64),
            n_missing=is_missing(tau).sum().cast(pl.Int64),
            missing_share=is_missing(tau).mean(),
        )
        for tau in taus
    ).sort(*BENCHMARK, "tau")


def _check_known(concept_sums: pl.DataFrame, concepts: pl.DataFrame) -> None:
    unknown = concept_sums.join(concepts, on=["encoder_id", "latent_index"], how="anti")
    if not unknown.is_empty():
        first = unknown.row(0, named=True)
        raise InvalidInputError(
            f"concepts: {unknown.height} latents with activations are not listed, "
            f"first {first['latent_index']} of {first['encoder_id']!r}"
        )


def _with_template(cells: pl.DataFrame, templates: pl.DataFrame | None) -> pl.DataFrame:
    if templates is None:
        return cells.with_columns(is_template=pl.lit(value=False))
    known = templates.select(*BENCHMARK, "latent_index", is_template=pl.lit(value=True))
    return cells.join(known, on=[*BENCHMARK, "latent_index"], how="left").with_columns(
        pl.col("is_template").fill_null(value=False)
    )


def _unit(normaliser: Normaliser) -> pl.Expr:
    mass = pl.col("s1")
    return mass.mean() if normaliser == "mean" else mass.filter(mass > 0).median()


def _ratio(top: pl.Expr, bottom: pl.Expr) -> pl.Expr:
    """The ratio within each benchmark, null where the bottom is 0."""
    value = top / bottom
    return pl.when(value.is_finite()).then(value).over(BENCHMARK)


def _total(shares: pl.Expr) -> pl.Expr:
    # Shares that make up the whole can add up to 1 and a rounding.
    return shares.sum().clip(0, 1)


def _representation(decile: float) -> pl.Expr:
    """The word for a concept's place among those that are not missing."""
    coverage = pl.col("coverage")
    present = coverage.filter(~pl.col("is_missing"))
    low = present.quantile(decile, interpolation="linear").over(BENCHMARK)
    high = present.quantile(1 - decile, interpolation="linear").over(BENCHMARK)
    return (
        pl.when("is_missing")
        .then(pl.lit("missing"))
        .when((low == high) | low.is_null())
        .then(pl.lit("typical"))
        .when(coverage <= low)
        .then(pl.lit("under"))
        .when(coverage >= high)
        .then(pl.lit("over"))
        .otherwise(pl.lit("typical"))
    )
