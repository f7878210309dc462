"""Coverage and performance over all benchmarks of an encoder together."""

from typing import cast

import numpy as np
import polars as pl
from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import codes
from skillmap.concepts.performance import PerformanceOptions, verdict
from skillmap.metrics.intervals import Floats
from skillmap.metrics.multiplicity import benjamini_hochberg
from skillmap.metrics.shrinkage import between_variance

FAMILY = ("encoder_id", "model_id", "pooling")


def cross_coverage(coverage: pl.DataFrame) -> pl.DataFrame:
    """Mean coverage of each concept over the benchmarks.

    Args:
        coverage: Of `concept_coverage`.

    Returns:
        One row per encoder and concept, columns of ``mart.concept_coverage_overall``,
        sorted: where a concept is never active counts as 0. A benchmark without any
        activity has no coverage and does not count.

    Source:
        arXiv 2512.20638: the plain mean, so that its mean over concepts is 1.
    """
    return (
        coverage.group_by("encoder_id", "latent_index")
        .agg(
            coverage=pl.col("coverage").mean(),
            n_benchmarks=pl.len().cast(pl.Int64),
            n_benchmarks_missing=pl.col("is_missing").sum().cast(pl.Int64),
            is_missing_everywhere=pl.col("is_missing").all(),
            n_active_items=pl.col("n_active_items").sum(),
            n_effective_clusters=pl.col("n_effective_clusters").sum(),
        )
        .sort("encoder_id", "latent_index")
    )


def cross_performance(
    performance: pl.DataFrame, *, options: PerformanceOptions | None = None
) -> pl.DataFrame:
    """Performance of each model on each concept over the benchmarks.

    The plain mean inherits the difficulty of the benchmarks that a concept happens to
    be in; so beside it stands the mean of what it is off from each benchmark's own
    mean score, weighted by random effects, and the verdict is about that.

    Args:
        performance: Of `concept_performance`.
        options: Gates and levels of the verdict, over all benchmarks together.

    Returns:
        One row per encoder, model, pooling and concept, columns of
        ``mart.concept_performance_overall``, sorted. Benchmarks where the concept has
        no performance do not count; without any, all is null. ``z`` and ``p_value``
        are of the plain mean under permutation within the benchmarks;
        ``difference``, its error and ``q_value`` are of the random effects.

    Source:
        Plain mean as in arXiv 2512.20638. DerSimonian and Laird (1986), Controlled
        Clinical Trials 7, 177-188; I² of Higgins and Thompson (2002), Statistics in
        Medicine 21, 1539-1558.
    """
    told = options or PerformanceOptions()
    parts = [
        _cross(rows, told)
        for _, rows in sorted(performance.partition_by(FAMILY, as_dict=True).items())
    ]
    if not parts:
        parts = [_cross(performance, told)]
    return (
        pl.concat(parts)
        .with_columns(verdict=verdict(told))
        .sort(*FAMILY, "latent_index")
    )


def pooling_agreement(performance: pl.DataFrame) -> pl.DataFrame:
    """Whether concepts rank alike by mean and by largest activation.

    Args:
        performance: Of `concept_performance`, with both poolings.

    Returns:
        One row per encoder, benchmark and model: ``n_concepts`` ranked under both,
        ``rank_correlation`` (Spearman's) and ``lowest_jaccard``, the overlap of the
        lowest tenths. Null for fewer than two concepts.
    """
    keys = ["encoder_id", "benchmark_id", "model_id"]
    ranked = performance.filter("is_ranked")
    sides = [
        ranked.filter(pl.col("pooling") == pooling).select(
            *keys, "latent_index", pl.col("performance").alias(pooling)
        )
        for pooling in ("mean", "max")
    ]
    both = sides[0].join(sides[1], on=[*keys, "latent_index"])
    is_low = [
        pl.col(p) <= pl.col(p).quantile(0.1, interpolation="linear")
        for p in ("mean", "max")
    ]
    either = (is_low[0] | is_low[1]).sum()
    return (
        both.group_by(keys)
        .agg(
            n_concepts=pl.len().cast(pl.Int64),
            rank_correlation=pl.corr("mean", "max", method="spearman").fill_nan(None),
            lowest_jaccard=(is_low[0] & is_low[1]).sum() / either,
        )
        .sort(keys)
    )


def _cross(rows: pl.DataFrame, options: PerformanceOptions) -> pl.DataFrame:
    """All concepts of one encoder, model and pooling, as columns by benchmark."""
    benchmarks = rows["benchmark_id"].unique().sort()
    latents = rows["latent_index"].unique().sort()
    place = codes(rows["benchmark_id"], benchmarks)
    column = np.searchsorted(latents.to_numpy(), rows["latent_index"].to_numpy())

    def table(name: str) -> Floats:
        values = np.full((benchmarks.len(), latents.len()), np.nan)
        values[place, column] = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return values

    performance = table("performance")
    is_defined = ~np.isnan(performance)
    n_defined = is_defined.sum(axis=0)
    error = table("standard_error")
    # A concept whose scores are all alike has no error to weigh it by.
    error = np.where(error > 0, error, np.nan)
    centred = _random_effects(table("difference"), error)
    null_error = table("null_error")
    null_difference = np.where(null_error > 0, table("null_difference"), np.nan)
    effective = np.nansum(table("n_effective_clusters"), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(performance, axis=0) / n_defined
        z = np.nansum(null_difference, axis=0) / np.sqrt(
            np.nansum(null_error**2, axis=0)
        )
        p_centred = 2 * cast(
            "Floats", ndtr(-np.abs(centred["difference"] / centred["difference_error"]))
        )
    p_centred = np.where(effective >= options.min_ranked - 1e-9, p_centred, np.nan)
    values = {
        "performance": np.where(n_defined > 0, mean, np.nan),
        **centred,
        "n_effective_clusters": np.where(n_defined > 0, effective, np.nan),
        "z": z,
        "p_value": 2 * cast("Floats", ndtr(-np.abs(z))),
        "q_value": benjamini_hochberg(p_centred),
    }
    names = benchmarks.to_list()
    lists = [
        [name for name, here in zip(names, defined, strict=True) if here]
        for defined in is_defined.T.tolist()
    ]
    return pl.DataFrame(
        [
            latents.cast(pl.Int64),
            pl.Series("benchmark_ids", lists, pl.List(pl.String)),
            pl.Series("n_benchmarks", n_defined, pl.Int64),
            *(pl.Series(name, v, nan_to_null=True) for name, v in values.items()),
        ]
    ).select(
        *(pl.lit(rows[name].first(), pl.String).alias(name) for name in FAMILY),
        pl.all(),
    )


def _random_effects(differences: Floats, errors: Floats) -> dict[str, Floats]:
    """Mean of the columns, its error and heterogeneity; NaN without a value."""
    known = ~(np.isnan(differences) | np.isnan(errors))
    n = known.sum(axis=0)
    values = np.where(known, differences, 0.0)
    variances = np.where(known, errors, 1.0) ** 2
    spread = between_variance(differences, errors, method="dersimonian-laird")
    weights = known / (variances + spread)
    fixed = known / variances
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (fixed * values).sum(axis=0) / fixed.sum(axis=0)
        scatter = (fixed * (values - centre) ** 2).sum(axis=0)
        excess = np.clip((scatter - (n - 1)) / scatter, 0, 1)
        mean = (weights * values).sum(axis=0) / weights.sum(axis=0)
        error = 1 / np.sqrt(weights.sum(axis=0))
    some = n > 0
    several = n > 1
    return {
        "difference": np.where(some, mean, np.nan),
        "difference_error": np.where(some, error, np.nan),
        "between_variance": np.where(several, spread, np.nan),
        "i_squared": np.where(several, np.nan_to_num(excess), np.nan),
    }
