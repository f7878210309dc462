"""Each model on each slice against the mean of the others."""

import numpy as np
import polars as pl

from skillmap.comparisons.result_matrix import result_matrix
from skillmap.contracts import mart
from skillmap.errors import InvalidInputError
from skillmap.metrics.bootstrap import paired_bootstrap, simultaneous
from skillmap.metrics.clustered import cluster_sums
from skillmap.metrics.intervals import Floats


def gain_against_others(
    item_scores: pl.DataFrame,
    slice_items: pl.DataFrame,
    slices: pl.DataFrame,
    clusters: pl.DataFrame | None = None,
    *,
    n_replicates: int = 1000,
    confidence_level: float = 0.95,
    min_clusters: int = 30,
    seed: int = 0,
) -> pl.DataFrame:
    """Accuracy of each model on each slice less the mean accuracy of the others.

    The largest of hundreds of gains is large by chance alone, so each is held
    against the largest deviation of all slices and models in resampled clusters.

    Args:
        item_scores: As for `slice_contrasts`, of at least two models; items that not
            all of them answered are left out.
        slice_items: ``slice_id`` and ``item_id``, each pair once.
        slices: ``slice_id`` and ``slice_name``.
        clusters: ``item_id`` and ``cluster_id``; items not named are their own.
        n_replicates: Of the bootstrap.
        confidence_level: Of all intervals together.
        min_clusters: Slices with fewer clusters are left out: resampling them
            understates how far off they can be.
        seed: Of the bootstrap.

    Returns:
        One row per slice and model, sorted: ``slice_id``, ``slice_name``,
        ``model_id``, ``n_items``, ``n_clusters``, ``accuracy``, ``others_accuracy``,
        ``gain``, ``gain_low`` and ``gain_high`` (all of them hold together) and
        ``p_value``: the chance of a deviation that large anywhere, were no gains.
        Null bounds and p where the gain does not vary.

    Raises:
        InvalidInputError: If there are fewer than two models, or a frame breaks its
            grain.

    Source:
        The gain as in arXiv 2410.13826; its null is ours.
    """
    results = result_matrix(item_scores, slice_items, slices, clusters)
    n_models = results.models.len()
    if n_models < 2:  # noqa: PLR2004 - one model has no others
        raise InvalidInputError(f"item_scores: at least 2 models, got {n_models}")
    common = results.complete_items()
    sums = cluster_sums(common.membership, common.scores[:, :1], common.clusters)
    n_items, n_clusters = sums.n_items[:, 0], sums.n_clusters[:, 0]
    kept = np.flatnonzero(n_clusters >= max(min_clusters, 1))
    if not kept.size:
        return pl.DataFrame(schema=_SCHEMA)
    bootstrap = paired_bootstrap(
        common.membership.part(kept),
        common.scores,
        common.clusters,
        n_replicates=n_replicates,
        seed=seed,
    )
    accuracy = bootstrap.accuracy
    gain = _gain(accuracy)
    null = simultaneous(
        gain,
        _gain(bootstrap.replicates.astype(np.float64)),
        confidence_level=confidence_level,
    )
    slice_index = np.repeat(kept, n_models)
    values = {
        "accuracy": accuracy,
        "others_accuracy": accuracy - gain,
        "gain": gain,
        "gain_low": null.interval.low,
        "gain_high": null.interval.high,
        "p_value": null.p_values,
    }
    return pl.DataFrame(
        [
            common.slices["slice_id"].gather(slice_index),
            common.slices["slice_name"].gather(slice_index),
            pl.concat([common.models.alias("model_id")] * kept.size),
            pl.Series("n_items", n_items[slice_index], pl.Int64),
            pl.Series("n_clusters", n_clusters[slice_index], pl.Int64),
            *(
                pl.Series(name, array.ravel(), nan_to_null=True)
                for name, array in values.items()
            ),
        ],
        schema=_SCHEMA,
    )


_SCHEMA = pl.Schema(
    {
        "slice_id": pl.String(),
        "slice_name": pl.String(),
        "model_id": pl.String(),
        "n_items": pl.Int64(),
        "n_clusters": pl.Int64(),
        **dict.fromkeys(
            (
                "accuracy",
                "others_accuracy",
                "gain",
                "gain_low",
                "gain_high",
                "p_value",
            ),
            pl.Float64(),
        ),
    }
)


def _gain(accuracy: Floats) -> Floats:
    """Of each model, axis 1, less the mean of the others."""
    n_models = accuracy.shape[1]
    total = accuracy.sum(axis=1, keepdims=True)
    return (n_models * accuracy - total) / (n_models - 1)


def gains_by_benchmark(
    item_scores: pl.DataFrame,
    slice_items: pl.DataFrame,
    slices: pl.DataFrame,
    clusters: pl.DataFrame | None = None,
    *,
    n_replicates: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """`gain_against_others` within each benchmark, among the models it has.

    Hardly any item is answered by all models of several benchmarks; within one they
    mostly answer the same.

    Args:
        item_scores: As for `gain_against_others`. A benchmark with one model is left
            out.
        slice_items: ``slice_id`` and ``item_id``, each pair once.
        slices: ``slice_id`` and ``slice_name``.
        clusters: ``item_id`` and ``cluster_id``; items not named are their own.
        n_replicates: Of the bootstrap.
        seed: Of the bootstrap.

    Returns:
        The rows of each benchmark with its ``benchmark_id`` in front, sorted.
    """
    parts = [_NO_GAINS.to_frame()]
    comparable = item_scores.filter(~pl.col("is_drifted"))
    for part in comparable.sort("benchmark_id").partition_by(
        "benchmark_id", maintain_order=True
    ):
        if part["model_id"].n_unique() > 1:
            gains = gain_against_others(
                part,
                slice_items.join(part, on="item_id", how="semi"),
                slices,
                clusters,
                n_replicates=n_replicates,
                seed=seed,
            )
            benchmark_id = pl.lit(part["benchmark_id"][0]).alias("benchmark_id")
            parts.append(gains.select(benchmark_id, *_NO_GAINS.names()[1:]))
    return pl.concat(parts)


_NO_GAINS = mart.SLICE_GAINS.polars_schema
