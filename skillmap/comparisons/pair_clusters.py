"""What clusters add to the sums of independent items, for all slices and pairs.

An item that is alone in its cluster and slice needs no more than its own sums. Only
the items that share a cluster within a slice are looked at pair by pair of models, as
sparse products over blocks of pairs.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from skillmap.comparisons.pair_sums import Pairs, PairSums
from skillmap.comparisons.result_matrix import ResultMatrix
from skillmap.metrics.clustered import ClusterSums, Integers, Membership, sparse_sums
from skillmap.metrics.intervals import Floats

_BLOCK_PAIRS = 64
# Up to here, whole numbers are exact in single precision.
_EXACT = 2**24
# Sums of fractions that should cancel miss zero by far less.
_ROUNDING = 1e-9


class _SharedCells(NamedTuple):
    """Parts of clusters with several items in a slice and half.

    Attributes:
        items: Items in such cells.
        members: Cells by item, as places in ``items``.
        owner: Half and slice of each cell, as ``half * n_slices + slice``.
        owner_of_member: The same of each membership.
    """

    items: Integers
    members: Membership
    owner: Integers
    owner_of_member: Integers


class _Differences(NamedTuple):
    """Differences of a block of pairs on some items, and what counts."""

    columns: slice
    values: Floats
    counted: Floats


def pair_cluster_sums(
    results: ResultMatrix, halves: Integers, pairs: Pairs, sums: PairSums
) -> ClusterSums:
    """Sums of the models' differences over items and clusters.

    Args:
        results: Scores, slices and clusters.
        halves: Half of each item, one a cluster.
        pairs: Pairs of models.
        sums: Of `pair_sums`, for the same.

    Returns:
        By half, slice and pair, shape ``(2, n_slices, n_pairs)`` each.
    """
    difference = sums.sum_a - sums.sum_b
    # Scores of 0 and 1 are their own squares.
    squares = sums.sum_a + sums.sum_b - 2 * sums.sum_both
    nonzero = squares.copy()
    _square_graded(results, halves, pairs, squares, nonzero)
    found = ClusterSums(
        n_items=sums.n_items,
        n_clusters=sums.n_items.copy(),
        n_nonzero=nonzero,
        total=difference,
        item_squares=squares,
        squares=squares.copy(),
        products=difference.copy(),
        sizes=sums.n_items.copy(),
    )
    cells = _shared_cells(results, halves)
    if cells.owner.size:
        _add_shared(found, results, cells, pairs)
    return found


def positive_sums(
    results: ResultMatrix, pairs: Pairs, sums: PairSums
) -> tuple[Floats, Floats]:
    """By how much either model is ahead where it is, summed over items.

    Returns:
        First and second model, shape ``(n_slices, n_pairs)``: the number of items
        that only it gets right, for scores of 0 and 1.
    """
    ahead = (sums.sum_a - sums.sum_both).sum(axis=0)
    behind = (sums.sum_b - sums.sum_both).sum(axis=0)
    graded = _graded_pairs(results, pairs)
    for block in _differences(results, np.arange(results.items.len()), pairs, graded):
        by_slice = results.membership.sums(np.maximum(block.values, 0.0))
        at = graded[block.columns]
        total = (sums.sum_a - sums.sum_b).sum(axis=0)[:, at]
        ahead[:, at] = by_slice
        behind[:, at] = by_slice - total
    return ahead, np.maximum(behind, 0.0)


def _graded_pairs(results: ResultMatrix, pairs: Pairs) -> Integers:
    binary = results.is_binary
    return np.flatnonzero(~(binary[pairs.a] & binary[pairs.b]))


def _square_graded(
    results: ResultMatrix,
    halves: Integers,
    pairs: Pairs,
    squares: Floats,
    nonzero: Floats,
) -> None:
    """Replace the sums of squares, and the items that differ, of graded pairs."""
    graded = _graded_pairs(results, pairs)
    owner = _owner(results, halves)
    _, n_slices, _ = squares.shape
    for block in _differences(results, np.arange(results.items.len()), pairs, graded):
        at = graded[block.columns]
        for array, values in (
            (squares, block.values**2),
            (nonzero, (np.abs(block.values) > 0).astype(np.float64)),
        ):
            by_owner = sparse_sums(
                owner, results.membership.item, values, n_rows=2 * n_slices
            )
            array[:, :, at] = by_owner.reshape(2, n_slices, -1)


def _owner(results: ResultMatrix, halves: Integers) -> Integers:
    membership = results.membership
    return halves[membership.item] * membership.n_groups + membership.group


def _shared_cells(results: ResultMatrix, halves: Integers) -> _SharedCells:
    item = results.membership.item
    n_clusters = max(results.cluster_ids.len(), 1)
    key = _owner(results, halves) * n_clusters + results.clusters[item]
    keys, cell, size = np.unique(key, return_inverse=True, return_counts=True)
    is_shared = size[cell] > 1
    kept = np.flatnonzero(size > 1)
    place = np.full(keys.size, -1)
    place[kept] = np.arange(kept.size)
    items, column = np.unique(item[is_shared], return_inverse=True)
    return _SharedCells(
        items=items,
        members=Membership(place[cell[is_shared]], column, kept.size, items.size),
        owner=keys[kept] // n_clusters,
        owner_of_member=key[is_shared] // n_clusters,
    )


def _differences(
    results: ResultMatrix,
    items: Integers,
    pairs: Pairs,
    chosen: Integers,
    kind: type[np.float64] = np.float64,
) -> Iterator[_Differences]:
    scores = results.scores[items].astype(kind)
    known = results.is_counted[items].astype(kind)
    for start in range(0, chosen.size, _BLOCK_PAIRS):
        columns = slice(start, min(start + _BLOCK_PAIRS, chosen.size))
        a, b = pairs.a[chosen[columns]], pairs.b[chosen[columns]]
        counted = known[:, a] * known[:, b]
        yield _Differences(columns, (scores[:, a] - scores[:, b]) * counted, counted)


def _add_shared(
    found: ClusterSums, results: ResultMatrix, cells: _SharedCells, pairs: Pairs
) -> None:
    """Add what items of one cell have in common to the sums of single items."""
    _, n_slices, n_pairs = found.total.shape
    n_owners, n_cells = 2 * n_slices, cells.owner.size
    flat = ClusterSums(*(array.reshape(n_owners, n_pairs) for array in found))
    by_owner = Membership(cells.owner, np.arange(n_cells), n_owners, n_cells)
    over_items = Membership(
        cells.owner_of_member, cells.members.item, n_owners, cells.items.size
    )
    kind = _precision(results, cells)
    everything = np.arange(n_pairs, dtype=np.int64)
    is_alike = _is_answered_alike(results, cells.items)
    for block in _differences(results, cells.items, pairs, everything, kind):
        at = block.columns
        total = cells.members.sums(block.values)
        alone = over_items.sums(block.values**2)
        flat.squares[:, at] += by_owner.sums(total**2) - alone
        differs = (
            alone
            if results.is_binary.all()
            else over_items.sums((np.abs(block.values) > 0).astype(kind))
        )
        is_nonzero = (np.abs(total) > _ROUNDING).astype(kind)
        flat.n_nonzero[:, at] += by_owner.sums(is_nonzero) - differs

        # Where all models answered the same items, one column serves all pairs.
        n = cells.members.sums(block.counted[:, :1] if is_alike else block.counted)
        flat.products[:, at] += by_owner.sums(total * (n - 1))
        flat.sizes[:, at] += by_owner.sums(n * (n - 1))
        flat.n_clusters[:, at] += by_owner.sums((n > 0).astype(kind) - n)


def _precision(results: ResultMatrix, cells: _SharedCells) -> type[np.float64]:
    largest = int((np.bincount(cells.members.group).astype(np.int64) ** 2).sum())
    is_exact = bool(results.is_binary.all()) and largest < _EXACT
    # To the type checker the two are one: nothing below depends on which it is.
    return cast("type[np.float64]", np.float32) if is_exact else np.float64


def _is_answered_alike(results: ResultMatrix, items: Integers) -> bool:
    answered = results.is_counted[items]
    return bool((answered == answered[:, :1]).all())
