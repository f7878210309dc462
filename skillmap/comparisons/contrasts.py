"""Every two models on every slice: how they differ, how sure that is, and a verdict."""

from dataclasses import dataclass

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
    clustered_p_value,
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


@dataclass(frozen=True, slots=True)
class _Cells:
    """One entry a slice and pair of models with common items, each in [slice, pair].

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

    def part(self, index: Flags) -> "_Cells":
        """Some of the cells, in a row."""
        return _Cells(
            self.accuracy_a[index],
            self.accuracy_b[index],
            self.both[index],
            self.differences.part(index),
            self.is_binary[index],
        )

    @property
    def is_exact(self) -> Flags:
        """Whether each item is a cluster and right or wrong: no approximation."""
        sums = self.differences
        return self.is_binary & (sums.n_clusters == sums.n_items)

    def effective(self, confidence_level: float) -> Floats:
        """Independent items that tell as much, as few as t asks for."""
        sums = self.differences
        widened = widened_items(
            effective_items(sums), sums.n_clusters, confidence_level=confidence_level
        )
        return np.where(self.is_exact, sums.n_items, widened)

    def p_values(self) -> Floats:
        """McNemar's exact p, or the clustered t test's where it does not hold.

        That of right and wrong scores is never below the exact p of as many
        independent items as they are worth: t alone is too sure of few clusters.
        """
        sums = self.differences
        p = np.full(sums.total.shape, np.nan)
        exact = self.is_exact & (sums.n_items > 0)
        ahead = (sums.item_squares + sums.total) / 2
        p[exact] = mcnemar_p_values(ahead[exact], (ahead - sums.total)[exact])
        other = ~self.is_exact
        p[other] = clustered_p_value(sums.part(other))
        shared = other & self.is_binary & (sums.n_items > 0)
        share = self.part(shared).effective(_LEVEL) / sums.n_items[shared]
        by_items = scaled_mcnemar_p_values(
            share * ahead[shared], share * (ahead - sums.total)[shared]
        )
        p[shared] = np.maximum(p[shared], by_items)
        return p

    def interval(self, confidence_level: float) -> Interval:
        """Newcombe's on the effective items, or clustered t where scores are graded.

        Also Newcombe's where graded scores leave no variance to work with: means in
        [0, 1] have at most the variance of right and wrong.
        """
        sums = self.differences
        n = self.effective(confidence_level)
        low, high = newcombe_paired_interval(
            self.accuracy_a,
            self.accuracy_b,
            self.both,
            n,
            confidence_level=confidence_level,
        )
        by_t = clustered_t_interval(sums, confidence_level=confidence_level)
        is_t = ~self.is_binary & (by_t.high > by_t.low)
        low = np.where(is_t, np.maximum(by_t.low, -1.0), low)
        high = np.where(is_t, np.minimum(by_t.high, 1.0), high)
        # Several items of one cluster say nothing about other items.
        low, high = np.where(n > 0, low, -1.0), np.where(n > 0, high, 1.0)
        difference = mean(sums)
        return Interval(np.minimum(low, difference), np.maximum(high, difference))

    def standard_error(self) -> Floats:
        """Clustered, and above 0 even where all differences are equal.

        Half an item is added to either model's lead, as Agresti and Min (2005),
        Statistics in Medicine 24, 729-740, section 2, do for the interval.
        """
        sums = self.differences
        n = sums.n_items + 2
        squares = sums.item_squares + 1 - sums.total**2 / n
        effect = sums.n_items / effective_items(sums)
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
    split = [_cells(results, pairs, sums, by_half, half) for half in (0, 1)]
    cells = _cells(results, pairs, sums, by_half, None)
    has_items = cells.differences.n_items > 0
    ahead, behind = positive_sums(results, pairs, sums)

    found = cells.part(has_items)
    mdd = minimum_detectable_difference(found.standard_error())
    return pl.DataFrame(
        [
            *_names(results, pairs, has_items),
            *_effects(found, confidence_level),
            *_corrected(found, q=q),
            *_shrunk(cells, has_items, confidence_level),
            _series("n_only_a", ahead[has_items]),
            _series("n_only_b", behind[has_items]),
            _series("minimum_detectable_difference", mdd),
            *_confirmed([cells.part(has_items) for cells in split], q=q),
            *_mix(sums, has_items),
        ]
    ).with_columns(_verdict(q=q, margin=tied_margin))


def _cells(
    results: ResultMatrix,
    pairs: Pairs,
    sums: PairSums,
    by_half: ClusterSums,
    half: int | None,
) -> _Cells:
    """Cells of one half, or of both together."""
    of_half = (0, 1) if half is None else (half,)
    n_items, sum_a, sum_b, both = (
        array[list(of_half)].sum(axis=0) for array in sums[:4]
    )
    n = np.maximum(n_items, 1)
    is_binary = results.is_binary[pairs.a] & results.is_binary[pairs.b]
    return _Cells(
        accuracy_a=sum_a / n,
        accuracy_b=sum_b / n,
        both=both / n,
        differences=ClusterSums(
            *(array[list(of_half)].sum(axis=0) for array in by_half)
        ),
        is_binary=np.broadcast_to(is_binary, n_items.shape),
    )


def _names(results: ResultMatrix, pairs: Pairs, has_items: Flags) -> list[pl.Series]:
    slice_index, pair = np.nonzero(has_items)
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
        _series("difference", mean(sums)),
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
        chosen = np.zeros(p.shape, np.bool_)
        chosen[selected] = True
        low[selected], high[selected] = cells.part(chosen).interval(level)
    test = np.where(cells.is_exact, 0, 1)
    return [
        _series("p_value", p),
        pl.Series("test", TESTS, pl.String).gather(test),
        _series("q_value", q_value),
        _series("q_value_strict", benjamini_yekutieli(p)),
        _series("fcr_low", low),
        _series("fcr_high", high),
    ]


def _shrunk(
    cells: _Cells, has_items: Flags, confidence_level: float
) -> list[pl.Series]:
    """Each difference drawn towards the same two models' mean over the slices."""
    effects = np.where(has_items, mean(cells.differences), np.nan)
    errors = np.full(effects.shape, np.nan)
    errors[has_items] = cells.part(has_items).standard_error()
    shrunk = shrunk_effects(effects, errors)
    half = float(ndtri(0.5 + confidence_level / 2)) * shrunk.standard_deviation
    values = {
        "shrunk_difference": shrunk.effect,
        "shrunk_difference_low": np.maximum(shrunk.effect - half, -1.0),
        "shrunk_difference_high": np.minimum(shrunk.effect + half, 1.0),
    }
    return [_series(name, array[has_items]) for name, array in values.items()]


def _verdict(*, q: float, margin: float) -> pl.Expr:
    is_found = (pl.col("q_value") <= q).fill_null(value=False)
    is_tied = (pl.col("difference_low") >= -margin) & (
        pl.col("difference_high") <= margin
    )
    better, worse, tied, unknown = map(pl.lit, VERDICTS)
    return (
        pl.when(is_found & (pl.col("difference") > 0))
        .then(better)
        .when(is_found & (pl.col("difference") < 0))
        .then(worse)
        .when(is_tied)
        .then(tied)
        .otherwise(unknown)
        .alias("verdict")
    )


def _confirmed(split: list[_Cells], *, q: float) -> list[pl.Series]:
    discovery, confirmation = split
    first, second = mean(discovery.differences), mean(confirmation.differences)
    is_discovered = benjamini_hochberg(discovery.p_values()) <= q
    p = np.full(first.shape, np.nan)
    p[is_discovered] = confirmation.part(is_discovered).p_values()
    agrees = np.sign(first) == np.sign(second)
    is_confirmed = (benjamini_hochberg(p) <= q) & agrees
    return [
        _series("discovery_difference", first),
        _series("confirmation_difference", second),
        _series("confirmation_p_value", p),
        pl.Series("is_confirmed", is_confirmed),
    ]


def _mix(sums: PairSums, has_items: Flags) -> list[pl.Series]:
    share = _series("largest_benchmark_share", sums.largest_share[has_items])
    stable = pl.Series(
        "leave_one_benchmark_out_sign_stable", sums.is_sign_stable[has_items]
    )
    unknown = pl.Series([None], dtype=pl.Boolean)
    return [share, stable.zip_with(share < 1, unknown)]


def _series(name: str, values: Floats) -> pl.Series:
    return pl.Series(name, values, nan_to_null=True)
