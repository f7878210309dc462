"""Paired bootstrap of every slice and model at once.

Each cluster of items gets one weight a replicate, which all slices and models share:
so every difference of two models or slices is paired for free, and the largest of
many deviations in a replicate has its true distribution.
"""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]
from scipy.special import pdtr  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers, Membership
from skillmap.metrics.intervals import Floats, Interval

Replicates = NDArray[np.float32]

# Replicates whose weights are held at once. Part of what a seed means: never change.
_BLOCK = 128
# Values that a block of differences may hold.
_BLOCK_VALUES = 8_000_000
_N_LEVELS = 65_536


class Bootstrap(NamedTuple):
    """Accuracies as seen and in each replicate.

    Attributes:
        accuracy: As seen, shape ``(n_slices, n_models)``.
        replicates: Of each replicate, shape ``(n_slices, n_models, n_replicates)``;
            NaN where no item of the slice was drawn.
    """

    accuracy: Floats
    replicates: Replicates


class Spread(NamedTuple):
    """Standard error and percentile interval, of equal shape."""

    standard_error: Floats
    low: Floats
    high: Floats


class Simultaneous(NamedTuple):
    """Statements that hold for all effects together.

    Attributes:
        critical_value: Standard errors by which no effect is off, at the level.
        interval: Effects plus and minus that many standard errors.
        p_values: Chance of as large a deviation anywhere, were all effects 0.
    """

    critical_value: float
    interval: Interval
    p_values: Floats


def poisson_weights(
    n_clusters: int, n_replicates: int, *, seed: int, block: int = 0
) -> NDArray[np.uint8]:
    """How often each cluster is drawn in each replicate.

    Args:
        n_clusters: Rows.
        n_replicates: Columns.
        seed: Equal seeds give equal weights, on any number of threads.
        block: Number of the block of replicates, from 0; blocks are independent.

    Returns:
        Draws of Poisson(1), shape ``(n_clusters, n_replicates)``, from a table of
        65,536 equally likely entries: probabilities are right to 1e-5.
    """
    random = np.random.Generator(
        np.random.Philox(np.random.SeedSequence([seed, block]))
    )
    levels = random.integers(0, _N_LEVELS, (n_clusters, n_replicates), dtype=np.uint16)
    return _POISSON_TABLE[levels]


def _poisson_table() -> NDArray[np.uint8]:
    at_most = cast("Floats", pdtr(np.arange(12), 1.0))
    middles = (np.arange(_N_LEVELS) + 0.5) / _N_LEVELS
    return np.searchsorted(at_most, middles).astype(np.uint8)


_POISSON_TABLE = _poisson_table()


def paired_bootstrap(
    membership: Membership,
    scores: Floats,
    clusters: Integers,
    *,
    n_replicates: int = 1000,
    seed: int = 0,
) -> Bootstrap:
    """Accuracies of all slices and models under resampled clusters.

    Args:
        membership: Items of the slices.
        scores: In [0, 1], shape ``(n_items, n_models)``: items that all the models
            answered, epochs averaged.
        clusters: Cluster of each item, codes from 0, shape ``(n_items,)``.
        n_replicates: At least 1; 1000 for intervals.
        seed: Of the weights.

    Returns:
        Accuracies; NaN for an empty slice.

    Raises:
        InvalidInputError: If a score is missing, shapes do not fit, or there is no
            replicate.

    Source:
        Poisson bootstrap: Chamandy, Muralidharan, Najmi and Naidu (2012), Estimating
        uncertainty for massive data streams.
    """
    _check(membership, scores, clusters, n_replicates)
    n_clusters = int(clusters.max(initial=-1)) + 1
    ones = np.ones((scores.shape[0], 1))
    by_count = _by_cluster(membership, clusters, ones[:, 0], n_clusters)
    by_model = [_by_cluster(membership, clusters, y, n_clusters) for y in scores.T]
    shape = (membership.n_groups, scores.shape[1], n_replicates)
    replicates = np.empty(shape, np.float32)
    for block, start in enumerate(range(0, n_replicates, _BLOCK)):
        stop = min(start + _BLOCK, n_replicates)
        weights = poisson_weights(n_clusters, _BLOCK, seed=seed, block=block)
        drawn = weights[:, : stop - start].astype(np.float32)
        count = cast("Replicates", by_count @ drawn)
        count[count == 0] = np.nan
        for model, sums in enumerate(by_model):
            replicates[:, model, start:stop] = (sums @ drawn) / count
    n, total = membership.sums(ones), membership.sums(scores)
    accuracy = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return Bootstrap(accuracy, replicates)


def _by_cluster(
    membership: Membership, clusters: Integers, values: Floats, n_clusters: int
) -> csr_array:
    """Sum of the values by slice and cluster; sums of 0/1 are exact in float32."""
    at = values[membership.item] != 0
    group, item = membership.group[at], membership.item[at]
    entries = (values[item].astype(np.float32), (group, clusters[item]))
    return csr_array(entries, shape=(membership.n_groups, n_clusters))


def accuracy_spread(bootstrap: Bootstrap, *, confidence_level: float = 0.95) -> Spread:
    """Standard errors and percentile intervals, shape ``(n_slices, n_models)``."""
    return _spread(bootstrap.replicates, confidence_level)


def difference_spread(
    bootstrap: Bootstrap,
    models_a: Integers,
    models_b: Integers,
    *,
    confidence_level: float = 0.95,
) -> Spread:
    """The same of the first model's accuracy less the second's, on each slice.

    Args:
        bootstrap: Of `paired_bootstrap`.
        models_a: Columns of the first models, one a pair.
        models_b: Columns of the second models, one a pair.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Shape ``(n_slices, n_pairs)``.
    """
    n_slices, _, n_replicates = bootstrap.replicates.shape
    step = max(1, _BLOCK_VALUES // max(n_slices * n_replicates, 1))
    parts = [
        _spread(
            bootstrap.replicates[:, models_a[start : start + step]]
            - bootstrap.replicates[:, models_b[start : start + step]],
            confidence_level,
        )
        for start in range(0, models_a.size, step)
    ]
    empty = Spread(*(np.empty((n_slices, 0)) for _ in Spread._fields))
    return Spread(
        *(np.concatenate(part, axis=1) for part in zip(empty, *parts, strict=True))
    )


def simultaneous(
    effects: Floats, replicates: Floats | Replicates, *, confidence_level: float = 0.95
) -> Simultaneous:
    """What holds for all effects together, by the largest studentised deviation.

    Args:
        effects: As seen, any shape.
        replicates: Of each replicate, the same shape and one axis more.
        confidence_level: Of all statements together, in (0, 1).

    Returns:
        Critical value, intervals and p values; NaN for an effect without spread.

    Raises:
        InvalidInputError: If no effect has any spread.

    Source:
        Westfall and Young (1993), Resampling-Based Multiple Testing,
        single step.
    """
    error = _deviation(replicates)
    error = np.where(error > 0, error, np.nan)
    if np.isnan(error).all():
        raise InvalidInputError("effects: none varies over the replicates")
    with np.errstate(invalid="ignore"):
        off = np.abs(replicates - effects[..., np.newaxis]) / error[..., np.newaxis]
        seen = np.abs(effects) / error
    n_replicates = replicates.shape[-1]
    # A slice that was not drawn in a replicate has no deviation there.
    largest = np.sort(np.nan_to_num(off).reshape(-1, n_replicates).max(axis=0))
    critical = float(np.quantile(largest, confidence_level, method="higher"))
    n_larger = n_replicates - np.searchsorted(largest, seen, side="left")
    p = (1 + n_larger) / (1 + n_replicates)
    return Simultaneous(
        critical_value=critical,
        interval=Interval(effects - critical * error, effects + critical * error),
        p_values=np.where(np.isnan(error), np.nan, p),
    )


def _spread(replicates: Replicates, confidence_level: float) -> Spread:
    if not 0 < confidence_level < 1:
        raise InvalidInputError(
            f"confidence_level must be between 0 and 1, got {confidence_level}"
        )
    tail = (1 - confidence_level) / 2
    low, high = _quantile(replicates, tail), _quantile(replicates, 1 - tail)
    return Spread(_deviation(replicates), low, high)


def _deviation(replicates: Floats | Replicates) -> Floats:
    if replicates.shape[-1] == 1:
        return np.full(replicates.shape[:-1], np.nan)
    centred = replicates - _mean(replicates)[..., np.newaxis].astype(np.float32)
    is_known = ~np.isnan(centred)
    n = is_known.sum(axis=-1)
    squares = np.einsum("...r,...r->...", *2 * [np.nan_to_num(centred)])
    return np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def _mean(replicates: Floats | Replicates) -> Floats:
    is_known = ~np.isnan(replicates)
    total = np.sum(replicates, axis=-1, where=is_known, dtype=np.float64)
    return total / np.maximum(is_known.sum(axis=-1), 1)


def _quantile(replicates: Replicates, share: float) -> Floats:
    """Linear between neighbours; NaN replicates are left out."""
    n_known = (~np.isnan(replicates)).sum(axis=-1)
    if (n_known == replicates.shape[-1]).all():
        return np.quantile(replicates, share, axis=-1).astype(np.float64)
    ordered = np.sort(replicates, axis=-1)  # NaN last
    place = share * np.maximum(n_known - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    low = np.take_along_axis(ordered, below[..., np.newaxis], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, above[..., np.newaxis], axis=-1)[..., 0]
    return low + (place - below) * (high.astype(np.float64) - low)


def _check(
    membership: Membership,
    scores: Floats,
    clusters: Integers,
    n_replicates: int,
) -> None:
    if not membership.n_items == scores.shape[0] == clusters.shape[0]:
        raise InvalidInputError(
            "membership, scores and clusters must have one entry an item each, got "
            f"{membership.n_items}, {scores.shape[0]} and {clusters.shape[0]}"
        )
    if n_replicates < 1:
        raise InvalidInputError(f"n_replicates must be at least 1, got {n_replicates}")
    missing = np.argwhere(np.isnan(scores))
    if missing.size:
        item, model = missing[0]
        raise InvalidInputError(
            f"scores: {len(missing)} of {scores.size} are missing, first at item "
            f"{item}, model {model}. Keep the items that all models answered"
        )
