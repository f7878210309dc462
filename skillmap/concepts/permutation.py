"""What saliency-weighted scores would be if scores were dealt to items at random.

Clusters are dealt, not items: each counts with its summed saliency and mean score.
"""

from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import Activations, Pooling, Scores
from skillmap.concepts.sums import POOLINGS, cluster_scores
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

# Permutations held at once. Part of what a seed means: never change.
_BLOCK = 250
# Two equal weighted means miss each other by far less.
_ROUNDING = 1e-12


def null_variance(variance: Floats, n_effective: Floats, n: Floats) -> Floats:
    """Variance of a weighted mean of values that are dealt at random.

    Exact, whatever the values: for weights w and ``n_effective = (sum w)² / sum w²``.

    Args:
        variance: Sample variance of the n values.
        n_effective: Of the weights, Kish's.
        n: Number of values.

    Returns:
        0 for equal weights on all n, which no deal can move; NaN where unknown.

    Examples:
        >>> null_variance(np.array([0.25]), np.array([10.0]), np.array([50.0]))
        array([0.02])
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 1 / n_effective - 1 / n
    return variance * np.where(share > _ROUNDING, share, 0.0 * share)


def monte_carlo_p(
    activations: Activations,
    scores: Scores,
    *,
    poolings: tuple[Pooling, ...] = POOLINGS,
    min_effective: float = 10,
    below: float = 20,
    n_permutations: int = 4_999,
    seed: int = 0,
) -> pl.DataFrame:
    """Two-sided permutation p of concepts of too few items for the normal curve.

    All concepts, poolings and models share the permutations.

    Args:
        activations: Of one encoder and benchmark.
        scores: Of all models on its items.
        poolings: Weights to test.
        min_effective: Effective clusters from which a concept is tested.
        below: Effective clusters up to which the closed form is not used.
        n_permutations: The least p is one over one more.
        seed: Equal seeds give equal p, on any number of threads.

    Returns:
        One row per model, pooling and such latent: ``encoder_id``, ``benchmark_id``,
        ``model_id``, ``pooling``, ``latent_index`` and ``p_value``.

    Source:
        (1 + number at least as far off) / (1 + permutations): Phipson and Smyth
        (2010), Stat. Appl. Genetics and Molecular Biology 9, 39.
    """
    means = cluster_scores(activations, scores)
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for pooling in poolings:
        for model, model_id in enumerate(scores.models):
            known = np.flatnonzero(~np.isnan(means[:, model]))
            weights = _by_cluster(activations, scores, pooling, model, known)
            latents = _few(weights, min_effective, below)
            p = _p_values(
                cast("csr_array", weights[latents]),
                means[known, model],
                n_permutations=n_permutations,
                seed=seed,
            )
            frame = pl.DataFrame({"latent_index": latents, "p_value": p})
            parts.append(
                frame.select(
                    encoder_id=pl.lit(activations.encoder_id),
                    benchmark_id=pl.lit(activations.benchmark_id),
                    model_id=pl.lit(model_id),
                    pooling=pl.lit(pooling),
                    latent_index="latent_index",
                    p_value="p_value",
                )
            )
    return pl.concat(parts)


_SCHEMA = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "model_id": pl.String(),
        "pooling": pl.String(),
        "latent_index": pl.Int64(),
        "p_value": pl.Float64(),
    }
)


def _by_cluster(
    activations: Activations,
    scores: Scores,
    pooling: Pooling,
    model: int,
    known: Integers,
) -> csr_array:
    """Saliency of the scored items by latent and cluster with a score."""
    place = np.full(activations.n_clusters, -1)
    place[known] = np.arange(known.size)
    kept = np.flatnonzero(scores.is_known[activations.item, model])
    cluster = place[activations.clusters[activations.item[kept]]]
    entries = (
        activations.weights(pooling)[kept],
        (activations.latent[kept].astype(np.int64), cluster),
    )
    shape = (activations.n_latents, max(known.size, 1))
    return csr_array(entries, shape=shape)


def _few(weights: csr_array, min_effective: float, below: float) -> Integers:
    """Latents whose effective number of clusters lies between the two."""
    total = _row_sums(weights)
    squares = _row_sums(
        cast("csr_array", weights.power(2))  # pyright: ignore[reportUnknownMemberType]
    )
    with np.errstate(invalid="ignore"):
        effective = total**2 / squares
    return np.flatnonzero((effective >= min_effective) & (effective < below))


def _row_sums(weights: csr_array) -> Floats:
    ones = np.ones(cast("tuple[int, int]", weights.shape)[1])
    return cast("Floats", weights @ ones)


def _p_values(
    weights: csr_array, values: Floats, *, n_permutations: int, seed: int
) -> Floats:
    total = _row_sums(weights)
    if not total.size:
        return total
    centre = values.mean()
    seen = np.abs(cast("Floats", weights @ values) / total - centre)
    n_as_far = np.zeros(total.size)
    for block, start in enumerate(range(0, n_permutations, _BLOCK)):
        dealt = values[_permutations(values.size, seed, block)]
        dealt = dealt[:, : min(_BLOCK, n_permutations - start)]
        means = cast("Floats", weights @ dealt) / total[:, np.newaxis]
        as_far = np.abs(means - centre) >= seen[:, np.newaxis] - _ROUNDING
        n_as_far += as_far.sum(axis=1)
    return (1 + n_as_far) / (1 + n_permutations)


def _permutations(n: int, seed: int, block: int) -> NDArray[np.int64]:
    random = np.random.Generator(
        np.random.Philox(np.random.SeedSequence([seed, block]))
    )
    order = np.repeat(np.arange(n)[:, np.newaxis], _BLOCK, axis=1)
    return random.permuted(order, axis=0)
