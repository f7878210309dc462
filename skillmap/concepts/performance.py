"""How well models do where a concept is active, and how much of that is noise."""

from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.permutation import null_variance
from skillmap.metrics.intervals import Floats
from skillmap.metrics.multiplicity import benjamini_hochberg

FAMILY = ("encoder_id", "benchmark_id", "model_id", "pooling")
VERDICTS = (
    "no_evidence",
    "insufficient_evidence",
    "not_distinguishable",
    "suggestive_gap",
    "suggestive_strength",
    "gap",
    "strength",
)


@dataclass(frozen=True, kw_only=True)
class PerformanceOptions:
    """Gates and levels of concept performance.

    Attributes:
        min_ranked: Effective clusters from which a concept is ranked and tested.
        min_gap: Effective clusters from which it may be called a gap or a strength.
        closed_form_from: Effective clusters from which the permutation null is taken
            as normal; below, p is that of `monte_carlo_p`, or null without it.
        q: Expected share of false gaps and strengths.
        margin: How far below the mean score is "clearly lower" in
            ``probability_lower``.
        confidence_level: Of the intervals.
        keeps_undefined: Whether concepts that no scored item activates have a row of
            nulls; only with ``concepts``.
    """

    min_ranked: float = 10
    min_gap: float = 30
    closed_form_from: float = 20
    q: float = 0.05
    margin: float = 0.05
    confidence_level: float = 0.95
    keeps_undefined: bool = True


def concept_performance(
    score_sums: pl.DataFrame,
    benchmark_score_sums: pl.DataFrame,
    concepts: pl.DataFrame | None = None,
    *,
    monte_carlo: pl.DataFrame | None = None,
    options: PerformanceOptions | None = None,
) -> pl.DataFrame:
    """Saliency-weighted score of each model on each concept of each benchmark.

    Args:
        score_sums: Rows of ``core.concept_score_sums``.
        benchmark_score_sums: Rows of ``core.benchmark_score_sums``.
        concepts: Rows of ``core.concepts``: only those ``in_dictionary`` count.
            Without it every latent does.
        monte_carlo: Of `monte_carlo_p`.
        options: Gates and levels.

    Returns:
        One row per encoder, benchmark, model, pooling and concept, columns of
        ``mart.concept_performance``, sorted. A concept that no scored item activates
        has null everywhere and the verdict "no_evidence"; never 0.

    Source:
        Performance as in arXiv 2512.20638. The rest is ours: the standard error is
        that of a ratio, clustered, and at least that of so many effective items whose
        scores are right and wrong; the null is a permutation of clusters.
    """
    told = options or PerformanceOptions()
    counted = score_sums
    if concepts is not None:
        latents = concepts.filter("in_dictionary").select(
            "encoder_id", pl.col("latent_index").cast(pl.Int64)
        )
        counted = score_sums.join(latents, on=["encoder_id", "latent_index"])
        if told.keeps_undefined:
            counted = _with_undefined(counted, latents, benchmark_score_sums)
    if monte_carlo is None:
        rows = counted.with_columns(monte_carlo_p=pl.lit(None, pl.Float64))
    else:
        drawn = monte_carlo.rename({"p_value": "monte_carlo_p"})
        rows = counted.join(drawn, on=[*FAMILY, "latent_index"], how="left")
    rows = rows.join(
        benchmark_score_sums, on=["encoder_id", "benchmark_id", "model_id"]
    ).sort(*FAMILY, "latent_index")
    parts = [
        part.with_columns(_measures(part, told))
        for part in rows.partition_by(FAMILY, maintain_order=True)
    ]
    if not parts:
        parts = [rows.with_columns(_measures(rows, told))]
    return (
        pl.concat(parts)
        .with_columns(is_ranked=_reaches(told.min_ranked), verdict=verdict(told))
        .select(PERFORMANCE_COLUMNS)
    )


PERFORMANCE_COLUMNS = (
    *FAMILY,
    "latent_index",
    "n_items",
    "n_active_items",
    "n_effective",
    "n_effective_clusters",
    "performance",
    "mean_score",
    "difference",
    "sampling_error",
    "standard_error",
    "performance_low",
    "performance_high",
    "shrunk_performance",
    "probability_lower",
    "null_difference",
    "null_error",
    "z",
    "p_value",
    "p_method",
    "q_value",
    "is_ranked",
    "verdict",
)


def verdict(options: PerformanceOptions, difference: str = "difference") -> pl.Expr:
    """The word for what the evidence allows to say about a concept.

    Reads ``n_effective_clusters``, ``q_value`` and the column ``difference``.
    """
    is_significant = (pl.col("q_value") <= options.q).fill_null(value=False)
    is_lower = pl.col(difference) < 0
    words = (
        pl.when(is_lower).then(pl.lit("gap")).otherwise(pl.lit("strength")),
        pl.when(is_lower)
        .then(pl.lit("suggestive_gap"))
        .otherwise(pl.lit("suggestive_strength")),
    )
    return (
        pl.when(pl.col("n_effective_clusters").is_null())
        .then(pl.lit("no_evidence"))
        .when(~_reaches(options.min_ranked))
        .then(pl.lit("insufficient_evidence"))
        .when(~is_significant)
        .then(pl.lit("not_distinguishable"))
        .when(_reaches(options.min_gap))
        .then(words[0])
        .otherwise(words[1])
    )


class Shrinkage(NamedTuple):
    """Weighted means drawn towards the benchmark's mean score.

    Attributes:
        mean: Of each concept.
        standard_deviation: Of what is left uncertain.
    """

    mean: Floats
    standard_deviation: Floats


def shrunk_performance(
    performance: Floats, n_effective: Floats, *, mean_score: Floats, variance: Floats
) -> Shrinkage:
    """Each concept's performance with the pull that its support calls for.

    Args:
        performance: Of the concepts of one model on one benchmark; NaN is left out.
        n_effective: Effective clusters of each.
        mean_score: The benchmark's, one a concept.
        variance: Of its scores, one a concept.

    Returns:
        Posterior means and standard deviations, NaN where performance is. All are the
        mean score where concepts scatter no more than noise does.

    Source:
        Normal-normal empirical Bayes by moments: the spread of the true values is the
        scatter about the mean score less what noise explains, both weighted by the
        effective clusters.
    """
    known = ~np.isnan(performance) & (variance > 0)
    weight = np.where(known, n_effective, 0.0)
    total = max(float(weight.sum()), np.finfo(float).tiny)
    off = np.where(known, performance - mean_score, 0.0)
    scatter = (weight * off**2).sum() / total
    noise = np.where(known, variance, 0.0).sum() / total
    spread = max(0.0, float(scatter - noise))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(
            variance > 0, variance / (variance + n_effective * spread), 0.0
        )
        deviation = np.sqrt(share * spread)
    mean = share * mean_score + (1 - share) * performance
    return Shrinkage(mean, np.where(np.isnan(performance), np.nan, deviation))


def _with_undefined(
    counted: pl.DataFrame, latents: pl.DataFrame, benchmark_score_sums: pl.DataFrame
) -> pl.DataFrame:
    keys = benchmark_score_sums.select(FAMILY[:3])
    grid = keys.join(counted.select("pooling").unique(), how="cross")
    return grid.join(latents, on="encoder_id").join(
        counted, on=[*FAMILY, "latent_index"], how="left"
    )


def _reaches(least: float) -> pl.Expr:
    # The ratio of two sums of equal weights can miss a whole number by 1e-15.
    return (pl.col("n_effective_clusters") >= least - 1e-9).fill_null(value=False)


def _measures(rows: pl.DataFrame, options: PerformanceOptions) -> list[pl.Series]:
    """Measures of the concepts of one model, benchmark and pooling."""
    at = {
        name: rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in (*_SUMS, *_TOTALS, "monte_carlo_p")
    }
    with np.errstate(invalid="ignore", divide="ignore"):
        performance = at["y1"] / at["s1"]
        effective = at["s1"] ** 2 / at["cluster_s2"]
        squares = (
            at["cluster_y3"]
            - 2 * performance * at["cluster_y2"]
            + performance**2 * at["cluster_s2"]
        )
        n = at["n_clusters"]
        # Equal scores leave the squares at -1e-17.
        error = np.sqrt(n / (n - 1) * np.maximum(squares, 0)) / at["s1"]
        shrunk = shrunk_performance(
            performance,
            effective,
            mean_score=at["mean_score"],
            variance=at["score_variance"],
        )
        floor = np.sqrt(np.maximum(shrunk.mean * (1 - shrunk.mean), 0) / effective)
        standard_error = np.fmax(error, floor)
        half = float(ndtri(0.5 + options.confidence_level / 2)) * standard_error
        off = at["cluster_y1"] / at["s1"] - at["cluster_mean_score"]
        null_error = np.sqrt(null_variance(at["cluster_score_variance"], effective, n))
        z = np.where(null_error > 0, off / null_error, np.nan)
        lower = ndtr(
            (at["mean_score"] - options.margin - shrunk.mean)
            / np.maximum(shrunk.standard_deviation, 1e-12)
        )
    is_ranked = effective >= options.min_ranked - 1e-9
    is_normal = effective >= options.closed_form_from
    drawn = np.where(is_normal, np.nan, at["monte_carlo_p"])
    p = np.where(is_normal, 2 * cast("Floats", ndtr(-np.abs(z))), drawn)
    p = np.where(is_ranked & (null_error > 0), p, np.nan)
    values = {
        "performance": performance,
        "difference": performance - at["mean_score"],
        "n_effective": at["s1"] ** 2 / at["s2"],
        "n_effective_clusters": effective,
        "sampling_error": error,
        "standard_error": standard_error,
        "performance_low": np.clip(performance - half, 0, 1),
        "performance_high": np.clip(performance + half, 0, 1),
        "shrunk_performance": shrunk.mean,
        "probability_lower": lower,
        "null_difference": off,
        "null_error": null_error,
        "z": z,
        "p_value": p,
        "q_value": benjamini_hochberg(p),
    }
    method = np.where(is_normal, "closed_form", "monte_carlo").astype(object)
    method[np.isnan(p)] = None
    return [
        *(pl.Series(name, array, nan_to_null=True) for name, array in values.items()),
        pl.Series("p_method", method.tolist(), pl.String),
    ]


_SUMS = (
    "s1",
    "s2",
    "y1",
    "cluster_s2",
    "cluster_y1",
    "cluster_y2",
    "cluster_y3",
)
_TOTALS = (
    "n_clusters",
    "mean_score",
    "score_variance",
    "cluster_mean_score",
    "cluster_score_variance",
)
