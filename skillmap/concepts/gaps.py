"""Benchmark gaps (relevant and left out) and model gaps (tested and failed)."""

import polars as pl

_BENCHMARK = ("encoder_id", "benchmark_id")


def benchmark_gaps(
    coverage: pl.DataFrame, relevance: pl.DataFrame, concepts: pl.DataFrame
) -> pl.DataFrame:
    """Concepts that a benchmark should exercise and hardly does.

    Args:
        coverage: Of `concept_coverage`.
        relevance: ``encoder_id``, ``benchmark_id``, ``latent_index``, ``relevance``
            and ``method``, of a judge or of `term_relevance`; at most one row a
            concept and benchmark.
        concepts: Rows of ``core.concepts``, for the labels.

    Returns:
        One row per encoder, benchmark and concept that is missing or under-represented
        and relevant, columns of ``mart.benchmark_gaps``: missing ones first, then by
        coverage. Dense and template latents are left out: they are about form.

    Source:
        arXiv 2512.20638, with under-represented concepts kept apart from missing ones.
    """
    relevant = relevance.filter(pl.col("relevance") == "relevant").select(
        *_BENCHMARK, pl.col("latent_index").cast(pl.Int64), relevance_method="method"
    )
    lacking = pl.col("representation").is_in(["missing", "under"])
    about_form = pl.col("is_dense") | pl.col("is_template")
    return (
        coverage.filter(lacking & ~about_form)
        .join(relevant, on=[*_BENCHMARK, "latent_index"])
        .join(
            _labels(concepts),
            on=["encoder_id", "latent_index"],
            how="left",
        )
        .select(
            *_BENCHMARK,
            "latent_index",
            "label",
            "representation",
            "coverage",
            "n_items",
            "n_active_items",
            "n_effective_clusters",
            "prevalence_high",
            "is_missing_strict",
            "relevance_method",
        )
        .sort(*_BENCHMARK, "representation", "coverage", "latent_index")
    )


def model_gaps(
    performance: pl.DataFrame,
    concepts: pl.DataFrame,
    *,
    adjusted: pl.DataFrame | None = None,
    coverage: pl.DataFrame | None = None,
    q: float = 0.05,
) -> pl.DataFrame:
    """Concepts on which a model is worse than on its benchmark, with support.

    Args:
        performance: Of `concept_performance`; with both poolings a gap can be told
            to hold under both.
        concepts: Rows of ``core.concepts``, for the labels.
        adjusted: Of `adjusted_performance`.
        coverage: Of `concept_coverage`: dense and template latents are left out.
        q: Level at which the adjusted performance is called lower.

    Returns:
        One row per encoder, benchmark, model and concept whose verdict by mean
        activations is "gap", columns of ``mart.model_gaps``, lowest first.
        ``is_robust``: also lower, at the same level, by largest activations.
        ``is_lower_than_peers``: both the adjusted performance and the difference from
        the peers are significantly below 0; null where there are no peers.
    """
    keys = [*_BENCHMARK, "model_id", "latent_index"]
    named = _labels(concepts)
    found = performance.filter(
        (pl.col("pooling") == "mean") & (pl.col("verdict") == "gap")
    ).join(named, on=["encoder_id", "latent_index"], how="left")
    if coverage is not None:
        form = coverage.filter(pl.col("is_dense") | pl.col("is_template"))
        found = found.join(form, on=[*_BENCHMARK, "latent_index"], how="anti")
    by_max = performance.filter(pl.col("pooling") == "max").select(
        *keys,
        is_robust=pl.col("verdict").is_in(["gap", "suggestive_gap"]),
        performance_by_max="performance",
    )
    found = found.join(by_max, on=keys, how="left")
    if adjusted is None:
        beyond = _NO_ADJUSTED
    else:
        beyond = adjusted.filter(pl.col("pooling") == "mean").select(
            *keys,
            "adjusted",
            "adjusted_error",
            "adjusted_q",
            "peer_difference",
            "peer_q",
        )
    lower = (
        (pl.col("adjusted") < 0)
        & (pl.col("adjusted_q") <= q)
        & (pl.col("peer_difference") < 0)
        & (pl.col("peer_q") <= q)
    )
    return (
        found.join(beyond, on=keys, how="left")
        .with_columns(is_lower_than_peers=lower)
        .select(
            *_BENCHMARK,
            "model_id",
            "latent_index",
            "label",
            "n_active_items",
            "n_effective_clusters",
            "performance",
            "performance_low",
            "performance_high",
            "shrunk_performance",
            "mean_score",
            "difference",
            "q_value",
            "performance_by_max",
            "is_robust",
            "adjusted",
            "adjusted_error",
            "adjusted_q",
            "peer_difference",
            "peer_q",
            "is_lower_than_peers",
        )
        .sort(*_BENCHMARK, "model_id", "shrunk_performance", "latent_index")
    )


_NO_ADJUSTED = pl.DataFrame(
    schema={
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "model_id": pl.String(),
        "latent_index": pl.Int64(),
        "adjusted": pl.Float64(),
        "adjusted_error": pl.Float64(),
        "adjusted_q": pl.Float64(),
        "peer_difference": pl.Float64(),
        "peer_q": pl.Float64(),
    }
)


def _labels(concepts: pl.DataFrame) -> pl.DataFrame:
    return concepts.select("encoder_id", pl.col("latent_index").cast(pl.Int64), "label")
