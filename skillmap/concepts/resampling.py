"""Bayesian bootstrap of coverage and performance, by cluster.

Items keep a random weight each rather than being drawn or not, so no replicate loses
a concept, and a replicate is one sparse product for all concepts.
"""

from typing import NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import Activations, Pooling, Scores
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

# Latents whose replicates are held at once.
_LATENTS = 2_048


class ConceptBootstrap(NamedTuple):
    """Standard errors and percentile intervals.

    Attributes:
        coverage: One row per latent: ``latent_index``, ``bootstrap_error``,
            ``bootstrap_low`` and ``bootstrap_high``.
        performance: The same, one row per model and latent, with ``model_id`` and
            ``pooling``; null where no scored item activates the latent.
    """

    coverage: pl.DataFrame
    performance: pl.DataFrame


def concept_bootstrap(
    activations: Activations,
    scores: Scores,
    latents: Integers,
    *,
    is_counted: NDArray[np.bool_] | None = None,
    pooling: Pooling = "mean",
    n_replicates: int = 200,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> ConceptBootstrap:
    """How coverage and performance vary as the clusters' weights do.

    Without spread for a concept of a single item, as every bootstrap: take its
    interval with that of `concept_performance`, see `with_bootstrap`.

    Args:
        activations: Of one encoder and benchmark.
        scores: Of all models on its items.
        latents: Latents to do, such as those that are ranked.
        is_counted: Whether each latent is in the dictionary, which coverage is
            relative to; all when left out.
        pooling: Weights of performance; coverage is of means.
        n_replicates: At least 2.
        confidence_level: Two-sided, in (0, 1).
        seed: Equal seeds give equal weights, on any number of threads.

    Returns:
        Both frames with ``encoder_id`` and ``benchmark_id``.

    Source:
        Rubin (1981), Annals of Statistics 9, 130-134; numerator and normaliser of
        coverage share the weights.
    """
    by_item = cluster_weights(activations.n_clusters, n_replicates, seed=seed)[
        activations.clusters
    ]
    n_counted = activations.n_latents if is_counted is None else is_counted.sum()
    # Not BLAS: its order of summing depends on threads. So too wherever einsum stands.
    mass = np.einsum("i,ir->r", activations.item_totals(is_counted), by_item)
    unit = mass / max(int(n_counted), 1)
    mean = activations.matrix(activations.mean)
    weights = activations.matrix(activations.weights(pooling))
    tail = (1 - confidence_level) / 2
    cover: list[Floats] = [np.empty((0, 3))]
    perform: list[Floats] = [np.empty((0, scores.models.len(), 3))]
    for start in range(0, latents.size, _LATENTS):
        chosen = latents[start : start + _LATENTS]
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = cast("Floats", _rows(mean, chosen) @ by_item) / unit
            cover.append(_spread(drawn, tail))
        rows = _rows(weights, chosen)
        perform.append(_performance(rows, scores, by_item, tail))
    return ConceptBootstrap(
        _coverage_frame(activations, latents, np.concatenate(cover)),
        _performance_frame(
            activations, scores, latents, np.concatenate(perform), pooling
        ),
    )


def with_bootstrap(performance: pl.DataFrame, bootstrap: pl.DataFrame) -> pl.DataFrame:
    """Performance with ``bootstrap_error``, and intervals that hold both intervals.

    Args:
        performance: Of `concept_performance`.
        bootstrap: The performance of `concept_bootstrap`; latents without it keep
            the interval they have.
    """
    keys = ["encoder_id", "benchmark_id", "model_id", "pooling", "latent_index"]
    return (
        performance.join(bootstrap, on=keys, how="left", maintain_order="left")
        .with_columns(
            performance_low=pl.min_horizontal("performance_low", "bootstrap_low"),
            performance_high=pl.max_horizontal("performance_high", "bootstrap_high"),
        )
        .drop("bootstrap_low", "bootstrap_high")
    )


def cluster_weights(n_clusters: int, n_replicates: int, *, seed: int) -> Floats:
    """Weights of the clusters in each replicate, exponential with mean 1.

    Returns:
        Shape ``(n_clusters, n_replicates)``; the first replicates do not depend on how
        many there are.
    """
    columns = [
        np.random.Generator(
            np.random.Philox(np.random.SeedSequence([seed, replicate]))
        ).standard_exponential(n_clusters)
        for replicate in range(n_replicates)
    ]
    return np.stack(columns, axis=1)


def _rows(matrix: csr_array, chosen: Integers) -> csr_array:
    return cast("csr_array", matrix[chosen])


def _performance(
    rows: csr_array, scores: Scores, by_item: Floats, tail: float
) -> Floats:
    parts: list[Floats] = []
    is_full = bool(scores.is_known.all())
    shared = cast("Floats", rows @ by_item)
    for model in range(scores.models.len()):
        known = scores.is_known[:, model, np.newaxis]
        total = shared if is_full else cast("Floats", rows @ (by_item * known))
        score = scores.filled[:, model, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = cast("Floats", rows @ (by_item * score)) / total
        parts.append(_spread(drawn, tail))
    shape = (cast("tuple[int, int]", rows.shape)[0], 0, 3)
    return np.stack(parts, axis=1) if parts else np.empty(shape)


def _spread(replicates: Floats, tail: float) -> Floats:
    """Standard error, low and high of each row."""
    with np.errstate(invalid="ignore"):
        error = replicates.std(axis=1, ddof=1)
        low, high = np.quantile(replicates, [tail, 1 - tail], axis=1)
    return np.stack([error, low, high], axis=1)


def _coverage_frame(
    activations: Activations, latents: Integers, spread: Floats
) -> pl.DataFrame:
    return _frame(activations, latents, spread).select(
        "encoder_id", "benchmark_id", "latent_index", *_NAMES
    )


def _performance_frame(
    activations: Activations,
    scores: Scores,
    latents: Integers,
    spread: Floats,
    pooling: Pooling,
) -> pl.DataFrame:
    parts = [
        _frame(activations, latents, spread[:, model]).with_columns(
            model_id=pl.lit(model_id), pooling=pl.lit(pooling)
        )
        for model, model_id in enumerate(scores.models)
    ]
    columns = ("encoder_id", "benchmark_id", "model_id", "pooling", "latent_index")
    none = _frame(activations, latents[:0], spread[:0].reshape(0, 3)).with_columns(
        model_id=pl.lit(""), pooling=pl.lit("")
    )
    return pl.concat([none, *parts]).select(*columns, *_NAMES)


_NAMES = ("bootstrap_error", "bootstrap_low", "bootstrap_high")


def _frame(activations: Activations, latents: Integers, spread: Floats) -> pl.DataFrame:
    values = dict(zip(_NAMES, spread.T, strict=True))
    return pl.DataFrame({"latent_index": latents, **values}, nan_to_null=True).select(
        pl.lit(activations.encoder_id).alias("encoder_id"),
        pl.lit(activations.benchmark_id).alias("benchmark_id"),
        pl.all(),
    )
