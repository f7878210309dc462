"""Sums over items for all slices, halves and pairs of models at once.

The products of one item's scores for all pairs are an outer product, and their sum
over a slice a matrix product. Slices are cut into strips of equal length, so that
one batched product serves all of them.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skillmap.comparisons.result_matrix import ResultMatrix
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

_STRIP = 32
# Values that a block of products may hold.
_BLOCK_VALUES = 8_000_000


class Pairs(NamedTuple):
    """Pairs of models, as columns, in order."""

    a: Integers
    b: Integers


class PairSums(NamedTuple):
    """Sums over items that both models answered.

    Attributes:
        n_items: Items, by half, slice and pair, shape ``(2, n_slices, n_pairs)``.
        sum_a: Sum of the first model's scores, same shape.
        sum_b: Sum of the second model's scores, same shape.
        sum_both: Sum of the products of both scores, same shape.
        largest_share: Share of the items that is of the largest benchmark, shape
            ``(n_slices, n_pairs)``.
        is_sign_stable: Whether the difference keeps its sign without any one of the
            benchmarks, same shape; false where the difference is 0.
    """

    n_items: Floats
    sum_a: Floats
    sum_b: Floats
    sum_both: Floats
    largest_share: Floats
    is_sign_stable: NDArray[np.bool_]


class _Groups(NamedTuple):
    """Memberships by slice, then benchmark, then half: the finest sums."""

    item: Integers
    start: Integers
    slice_index: Integers
    benchmark: Integers
    half: Integers


def all_pairs(n_models: int) -> Pairs:
    """Each two models once, the earlier one first."""
    a, b = np.triu_indices(n_models, k=1)
    return Pairs(a.astype(np.int64), b.astype(np.int64))


def pair_sums(results: ResultMatrix, halves: Integers, pairs: Pairs) -> PairSums:
    """Sums of all slices and pairs.

    Args:
        results: Scores and slices.
        halves: Half of each item, 0 or 1.
        pairs: Pairs of models.

    Returns:
        Sums, exact for scores of 0 and 1.
    """
    # Sums of 0 and 1 over a strip are exact in single precision.
    kind = np.float32 if results.is_binary.all() else np.float64
    known = results.is_counted.astype(kind)
    nothing = np.zeros((1, 2 * results.models.len()), kind)
    table = np.concatenate([known, results.scores.astype(kind)], axis=1)
    table = np.concatenate([table, nothing])
    groups = _groups(results, halves)
    n_slices, n_pairs = results.membership.n_groups, pairs.a.size
    found = PairSums(
        *(np.zeros((2, n_slices, n_pairs)) for _ in range(4)),
        largest_share=np.zeros((n_slices, n_pairs)),
        is_sign_stable=np.zeros((n_slices, n_pairs), np.bool_),
    )
    for first, last in _blocks(groups.slice_index, width=table.shape[1]):
        block = _Groups(
            groups.item[groups.start[first] : groups.start[last]],
            groups.start[first : last + 1] - groups.start[first],
            *(part[first:last] for part in groups[2:]),
        )
        products = _products(table, block)
        _fill(found, block, _of_pairs(products, pairs, results.models.len()))
    return found


def _groups(results: ResultMatrix, halves: Integers) -> _Groups:
    group, item = results.membership.group, results.membership.item
    n_benchmarks = int(results.benchmarks.max(initial=0)) + 1
    key = (group * n_benchmarks + results.benchmarks[item]) * 2 + halves[item]
    order = np.argsort(key, kind="stable")
    keys, start = np.unique(key[order], return_index=True)
    rest, half = np.divmod(keys, 2)
    slice_index, benchmark = np.divmod(rest, n_benchmarks)
    return _Groups(
        item[order], np.append(start, item.size), slice_index, benchmark, half
    )


def _blocks(slice_index: Integers, *, width: int) -> list[tuple[int, int]]:
    """Ranges of groups, whole slices each, whose products fit in memory."""
    most = max(1, _BLOCK_VALUES // width**2)
    starts = np.append(_starts(slice_index), slice_index.size)
    bounds = [0]
    while bounds[-1] < slice_index.size:
        reach = int(np.searchsorted(starts, bounds[-1] + most, side="right")) - 1
        after = int(np.searchsorted(starts, bounds[-1], side="right"))
        bounds.append(int(starts[max(reach, after)]))
    return list(pairwise(bounds))


def _starts(codes: Integers) -> Integers:
    """Where each run of equal codes starts."""
    if not codes.size:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))


def _products(table: NDArray[np.floating], block: _Groups) -> Floats:
    """Sum of the outer products of rows of the table over each group."""
    sizes = np.diff(block.start)
    n_strips = -(-sizes // _STRIP)
    first_strip = np.cumsum(n_strips) - n_strips
    group = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(block.item.size) - block.start[group]
    # Strips that are not full end in the empty last row of the table.
    strips = np.full(int(n_strips.sum()) * _STRIP, table.shape[0] - 1)
    strips[first_strip[group] * _STRIP + place] = block.item
    strips = strips.reshape(-1, _STRIP)
    owner = np.repeat(np.arange(sizes.size), n_strips)

    width = table.shape[1]
    total = np.zeros((sizes.size, width, width))
    step = max(1, _BLOCK_VALUES // width**2)
    for top in range(0, len(strips), step):
        rows = table[strips[top : top + step]]
        product = np.matmul(rows.transpose(0, 2, 1), rows)
        owners = owner[top : top + step]
        starts = _starts(owners)
        total[owners[starts]] += np.add.reduceat(
            product, starts, axis=0, dtype=np.float64
        )
    return total


def _of_pairs(products: Floats, pairs: Pairs, n_models: int) -> Floats:
    """Items and sums of a, b and both, shape ``(4, n_groups, n_pairs)``."""
    a, b, m = pairs.a, pairs.b, n_models
    return np.stack(
        [
            products[:, a, b],
            products[:, m + a, b],
            products[:, m + b, a],
            products[:, m + a, m + b],
        ]
    )


def _fill(found: PairSums, block: _Groups, sums: Floats) -> None:
    for half in (0, 1):
        of_half = np.flatnonzero(block.half == half)
        starts = _starts(block.slice_index[of_half])
        if starts.size:
            total = np.add.reduceat(sums[:, of_half], starts, axis=1)
            slices = block.slice_index[of_half][starts]
            for array, values in zip(found[:4], total, strict=True):
                array[half, slices] = values
    _fill_mix(found, block, sums)


def _fill_mix(found: PairSums, block: _Groups, sums: Floats) -> None:
    """What the mix of benchmarks does to the difference."""
    starts = _starts(block.slice_index * (block.benchmark.max() + 1) + block.benchmark)
    n_items = np.add.reduceat(sums[0], starts, axis=0)
    difference = np.add.reduceat(sums[1] - sums[2], starts, axis=0)
    owner = block.slice_index[starts]
    first = _starts(owner)
    slices = owner[first]
    spread = np.repeat(np.arange(first.size), np.diff(np.append(first, owner.size)))

    n_slice_items = np.add.reduceat(n_items, first, axis=0)
    whole = np.add.reduceat(difference, first, axis=0)
    largest = np.maximum.reduceat(n_items, first, axis=0)
    found.largest_share[slices] = largest / np.maximum(n_slice_items, 1)
    # Sums of fractions that should cancel are rounded to 0.
    sign = np.sign(whole.round(9))
    keeps = np.sign((whole[spread] - difference).round(9)) == sign[spread]
    stable = np.logical_and.reduceat(keeps, first, axis=0)
    found.is_sign_stable[slices] = stable & (sign != 0)
