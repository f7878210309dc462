"""Every two models on every slice: how they differ, how sure that is, and a verdict."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

from skillmap.comparisons.pair_clusters import pair_cluster_sums, positive_sums
from skillmap.comparisons.pair_sums import Pairs, PairSums, all_pairs, pair_sums
from skillmap.comparisons.paired import (
    mcnemar_p_values,
    newcombe_paired_interval,
    scaled_mcnemar_p_values,
)
from skillmap.comparisons.result_matrix import ResultMatrix, result_matrix
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import (
    ClusterSums,
    Integers,
    clustered_p_value,
    clustered_standard_error,
    clustered_t_interval,
    effective_items,
    mean,
    widened_items,
)
from skillmap.metrics.intervals import Floats, Interval
from skillmap.metrics.multiplicity import (
    benjamini_hochberg,
    benjamini_yekutieli,
    selected_interval_level,
)
from skillmap.metrics.power import minimum_detectable_difference
from skillmap.metrics.shrinkage import shrunk_effects

Flags = NDArray[np.bool_]

VERDICTS = ("better", "worse", "tied", "not enough evidence")
TESTS = ("mcnemar exact", "clustered t")

# Level at which the clusters of a test are counted as independent items.
_LEVEL = 0.95


@dataclass(frozen=True)
class _Cells:
    """One entry a slice and pair of models with common items, in a row.

    Attributes:
        accuracy_a: Of the first model.
        accuracy_b: Of the second.
        both: Mean product of their scores.
        differences: Sums of the models' differences.
        is_binary: Whether all scores of both are 0 or 1.
    """

    accuracy_a: Floats
    accuracy_b: Floats
    both: Floats
    differences: ClusterSums
    is_binary: Flags

    def part(self, index: Integers) -> "_Cells":
        """Some of the cells."""
        return _Cells(
            self.accuracy_a[index],
            self.accuracy_b[index],
            self.both[index],
            self.differences.part(index),
            self.is_binary[index],
        )

    @cached_property
    def difference(self) -> Floats:
        """Accuracy of the first model less that of the second."""
        return mean(self.differences)

    @cached_property
    def is_exact(self) -> Flags:
        """Whether each item is a cluster and right or wrong: no approximation."""
        sums = self.differences
        return self.is_binary & (sums.n_clusters == sums.n_items)

    @cached_property
    def _error(self) -> Floats:
        return clustered_standard_error(self.differences)

    @cached_property
    def _worth(self) -> Floats:
        return effective_items(self.differences, error=self._error)

    def p_values(self) -> Floats:
        """McNemar's exact p, or the clustered t test's where it does not hold.

        That of right and wrong scores is never below the exact p of as many
        independent items as they are worth: t alone is too sure of few clusters.
        """
        sums = self.differences
        p = np.full(sums.total.shape, np.nan)
        ahead = (sums.item_squares + sums.total) / 2
        behind = ahead - sums.total
        exact = np.flatnonzero(self.is_exact & (sums.n_items > 0))
        p[exact] = mcnemar_p_values(ahead[exact], behind[exact])
        other = np.flatnonzero(~self.is_exact)
        p[other] = clustered_p_value(sums.part(other), error=self._error[other])
        # No p is above 1, nor below that of as many independent items.
        shared = other[self.is_binary[other] & (p[other] < 1)]
        effective = widened_items(
            self._worth[shared], sums.n_clusters[shared], confidence_level=_LEVEL
        )
        share = effective / sums.n_items[shared]
        by_items = scaled_mcnemar_p_values(
            share * ahead[shared], share * behind[shared]
        )
        p[shared] = np.maximum(p[shared], by_items)
        return p

    def interval(self, confidence_level: float) -> Interval:
        """Newcombe's on the effective items, or clustered t where scores are graded.

        Also Newcombe's where graded scores leave no variance to work with: means in
        [0, 1] have at most the variance of right and wrong.
        """
        sums = self.differences
        widened = widened_items(
            self._worth, sums.n_clusters, confidence_level=confidence_level
        )
        n = np.where(self.is_exact, sums.n_items, widened)
        low, high = newcombe_paired_interval(
            self.accuracy_a,
            self.accuracy_b,
            self.both,
            n,
            confidence_level=confidence_level,
        )
        graded = np.flatnonzero(~self.is_binary)
        by_t = clustered_t_interval(
            sums.part(graded), confidence_level=confidence_level
        )
        has_width = by_t.high > by_t.low
        at = graded[has_width]
        low[at] = np.maximum(by_t.low[has_width], -1.0)
        high[at] = np.minimum(by_t.high[has_width], 1.0)
        # Several items of one cluster say nothing about other items.
        low, high = np.where(n > 0, low, -1.0), np.where(n > 0, high, 1.0)
        return Interval(
            np.minimum(low, self.difference), np.maximum(high, self.difference)
        )

    @cached_property
    def standard_error(self) -> Floats:
        """Clustered, and above 0 even where all differences are equal.

        Half an item is added to either model's lead, as Agresti and Min (2005),
        Statistics in Medicine 24, 729-740, section 2, do for the interval.
        """
        sums = self.differences
        n = sums.n_items + 2
        squares = sums.item_squares + 1 - sums.total**2 / n
        effect = sums.n_items / self._worth
        return np.sqrt(np.maximum(squares, 1 / n) * effect) / n


def slice_contrasts(
    item_scores: pl.DataFrame,
    slice_items: pl.DataFrame,
    slices: pl.DataFrame,
    clusters: pl.DataFrame | None = None,
    *,
    q: float = 0.05,
    tied_margin: float = 0.05,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pl.DataFrame:
    """Each two models compared on each slice, on the items that both answered.

    The family of all tests is what is in the result: p values are adjusted over all
    of its rows. A difference is discovered on one half of the clusters, chosen by a
    hash of their names, and confirmed on the other, where nothing was chosen.

    Args:
        item_scores: One row per model and item: ``model_id``, ``item_id``,
            ``benchmark_id``, ``score`` in [0, 1] or null (epochs averaged),
            ``is_drifted``. Items that drifted for either model are left out.
        slice_items: ``slice_id`` and ``item_id``, each pair once.
        slices: ``slice_id`` and ``slice_name``.
        clusters: ``item_id`` and ``cluster_id`` of items that are not independent:
            one kind of duplicate groups, or any other column. Items not named are
            their own.
        q: Share of false discoveries to be expected at most.
        tied_margin: Models are tied where the interval is within it, around 0.
        confidence_level: Of the intervals, two-sided.
        seed: Of the split into halves.

    Returns:
        One row per slice and two models with common items there, ``model_a`` before
        ``model_b``, sorted. ``test`` says which gave ``p_value``: exact where scores
        are 0 or 1 and no two items share a cluster. Null: p and q of a single
        cluster; ``fcr_low`` and ``fcr_high`` of what was not selected (``q_value``
        above ``q``); ``confirmation_p_value`` of what was not discovered; halves
        without items; ``leave_one_benchmark_out_sign_stable`` where all items are of
        one benchmark.

    Raises:
        InvalidInputError: If a frame breaks its grain, a score is outside [0, 1], or
            q, the level or the margin outside (0, 1).
    """
    for name, value in (("q", q), ("tied_margin", tied_margin)):
        if not 0 < value < 1:
            raise InvalidInputError(f"{name} must be between 0 and 1, got {value}")
    results = result_matrix(item_scores, slice_items, slices, clusters)
    halves, pairs = results.halves(seed), all_pairs(results.models.len())
    sums = pair_sums(results, halves, pairs)
    by_half = pair_cluster_sums(results, halves, pairs, sums)
    at = np.flatnonzero(sums.n_items.sum(axis=0))
    cells, first, second = (
        _cells(results, pairs, sums, by_half, at, half) for half in (None, 0, 1)
    )
    ahead, behind = positive_sums(results, pairs, sums)
    mdd = minimum_detectable_difference(cells.standard_error)
    columns = [
        *_names(results, pairs, at),
        *_effects(cells, confidence_level),
        *_corrected(cells, q=q),
        *_shrunk(cells, at, sums.n_items.shape[1:], confidence_level),
        _series("n_only_a", ahead.ravel()[at]),
        _series("n_only_b", behind.ravel()[at]),
        _series("minimum_detectable_difference", mdd),
        *_confirmed(first, second, q=q),
        *_mix(sums, at),
    ]
    found = pl.DataFrame(columns)
    return found.with_columns(_verdict(found, q=q, margin=tied_margin))


def _cells(
    results: ResultMatrix,
    pairs: Pairs,
    sums: PairSums,
    by_half: ClusterSums,
    at: Integers,
    half: int | None,
) -> _Cells:
    """Cells of one half, or of both together: those ``at`` these places."""

    def chosen(array: Floats) -> Floats:
        of_half = array.reshape(2, -1)
        values = of_half[0] + of_half[1] if half is None else of_half[half]
        return values if at.size == values.size else values[at]

    n_items, sum_a, sum_b, both = (chosen(array) for array in sums[:4])
    n = np.maximum(n_items, 1)
    is_binary = results.is_binary[pairs.a] & results.is_binary[pairs.b]
    return _Cells(
        accuracy_a=sum_a / n,
        accuracy_b=sum_b / n,
        both=both / n,
        differences=ClusterSums(*(chosen(array) for array in by_half)),
        is_binary=is_binary[at % max(pairs.a.size, 1)],
    )


def _names(results: ResultMatrix, pairs: Pairs, at: Integers) -> list[pl.Series]:
    slice_index, pair = np.divmod(at, max(pairs.a.size, 1))
    return [
        results.slices["slice_id"].gather(slice_index),
        results.slices["slice_name"].gather(slice_index),
        results.models.gather(pairs.a[pair]).alias("model_a"),
        results.models.gather(pairs.b[pair]).alias("model_b"),
    ]


def _effects(cells: _Cells, confidence_level: float) -> list[pl.Series]:
    low, high = cells.interval(confidence_level)
    sums = cells.differences
    return [
        _series("n_items", sums.n_items).cast(pl.Int64),
        _series("n_clusters", sums.n_clusters).cast(pl.Int64),
        _series("accuracy_a", cells.accuracy_a),
        _series("accuracy_b", cells.accuracy_b),
        _series("difference", cells.difference),
        _series("difference_low", low),
        _series("difference_high", high),
    ]


def _corrected(cells: _Cells, *, q: float) -> list[pl.Series]:
    p = cells.p_values()
    q_value = benjamini_hochberg(p)
    selected = np.flatnonzero(q_value <= q)
    low, high = np.full(p.shape, np.nan), np.full(p.shape, np.nan)
    if selected.size:
        level = selected_interval_level(selected.size, int((~np.isnan(p)).sum()), q=q)
        low[selected], high[selected] = cells.part(selected).interval(level)
    return [
        _series("p_value", p),
        _words("test", TESTS, np.where(cells.is_exact, 0, 1)),
        _series("q_value", q_value),
        _series("q_value_strict", benjamini_yekutieli(p)),
        _series("fcr_low", low),
        _series("fcr_high", high),
    ]


def _shrunk(
    cells: _Cells, at: Integers, shape: tuple[int, ...], confidence_level: float
) -> list[pl.Series]:
    """Each difference drawn towards the same two models' mean over the slices."""
    effects, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    effects.flat[at], errors.flat[at] = cells.difference, cells.standard_error
    shrunk = shrunk_effects(effects, errors)
    half = float(ndtri(0.5 + confidence_level / 2)) * shrunk.standard_deviation
    values = {
        "shrunk_difference": shrunk.effect,
        "shrunk_difference_low": np.maximum(shrunk.effect - half, -1.0),
        "shrunk_difference_high": np.minimum(shrunk.effect + half, 1.0),
    }
    return [_series(name, array.ravel()[at]) for name, array in values.items()]


def _verdict(found: pl.DataFrame, *, q: float, margin: float) -> pl.Series:
    q_value, difference, low, high = (
        found[name].to_numpy()
        for name in ("q_value", "difference", "difference_low", "difference_high")
    )
    is_found = q_value <= q
    is_tied = (low >= -margin) & (high <= margin)
    conditions = [is_found & (difference > 0), is_found & (difference < 0), is_tied]
    return _words("verdict", VERDICTS, np.select(conditions, [0, 1, 2], 3))


def _confirmed(discovery: _Cells, confirmation: _Cells, *, q: float) -> list[pl.Series]:
    first, second = discovery.difference, confirmation.difference
    discovered = np.flatnonzero(benjamini_hochberg(discovery.p_values()) <= q)
    p = np.full(first.shape, np.nan)
    p[discovered] = confirmation.part(discovered).p_values()
    agrees = np.sign(first) == np.sign(second)
    is_confirmed = (benjamini_hochberg(p) <= q) & agrees
    return [
        _series("discovery_difference", first),
        _series("confirmation_difference", second),
        _series("confirmation_p_value", p),
        pl.Series("is_confirmed", is_confirmed),
    ]


def _mix(sums: PairSums, at: Integers) -> list[pl.Series]:
    share = _series("largest_benchmark_share", sums.largest_share.ravel()[at])
    stable = pl.Series(
        "leave_one_benchmark_out_sign_stable", sums.is_sign_stable.ravel()[at]
    )
    unknown = pl.Series([None], dtype=pl.Boolean)
    return [share, stable.zip_with(share < 1, unknown)]


def _words(name: str, words: tuple[str, ...], codes: Integers) -> pl.Series:
    return pl.Series(name, words, pl.String).gather(codes)


def _series(name: str, values: Floats) -> pl.Series:
    return pl.Series(name, values, nan_to_null=True)
