"""Sums over items for all slices, halves and pairs of models at once.

The products of one item's scores for all pairs are an outer product, and their sum
over a slice a matrix product. Slices are cut into strips of equal length, so that
one batched product serves all of them.
"""

from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from skillmap.comparisons.result_matrix import ResultMatrix
from skillmap.metrics.clustered import Integers, sparse_sums
from skillmap.metrics.intervals import Floats

_STRIP = 32
# Values that a block of products may hold.
_BLOCK_VALUES = 4_000_000
# Up to here, whole numbers are exact in single precision.
_EXACT = 2**24
# Sums of fractions that should cancel miss zero by far less.
_ROUNDING = 1e-9


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


class _Table(NamedTuple):
    """What is multiplied, by item: who answered, then the scores.

    Attributes:
        values: Shape ``(n_items + 1, n_patterns + n_models)``; the last row is 0.
        pattern: Pattern of answered items of each model, a column of ``values``.
        n_patterns: Different patterns: one where all models answered the same.
    """

    values: Floats
    pattern: Integers
    n_patterns: int


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
    table = _table(results)
    groups = _groups(results, halves)
    n_slices, n_pairs = results.membership.n_groups, pairs.a.size
    found = PairSums(
        *(np.zeros((2, n_slices, n_pairs)) for _ in range(4)),
        largest_share=np.zeros((n_slices, n_pairs)),
        is_sign_stable=np.zeros((n_slices, n_pairs), np.bool_),
    )
    for first, last in _blocks(groups.slice_index, width=table.values.shape[1]):
        block = _Groups(
            groups.item[groups.start[first] : groups.start[last]],
            groups.start[first : last + 1] - groups.start[first],
            *(part[first:last] for part in groups[2:]),
        )
        products = _products(table.values, block)
        _fill_halves(found, block, products, pairs, table)
        _fill_mix(found, block, products, pairs, table)
    return found


def _table(results: ResultMatrix) -> _Table:
    # Sums of 0 and 1 are exact in single precision up to 2**24; to the type checker
    # the two are one.
    is_exact = results.is_binary.all() and results.items.len() < _EXACT
    kind = cast("type[np.float64]", np.float32) if is_exact else np.float64
    bits = np.packbits(results.is_counted, axis=0)
    _, first, pattern = np.unique(bits, axis=1, return_index=True, return_inverse=True)
    patterns = results.is_counted[:, first].astype(kind)
    columns = [patterns, results.scores.astype(kind)]
    width = patterns.shape[1] + results.models.len()
    values = np.zeros((results.items.len() + 1, width), kind)
    np.concatenate(columns, axis=1, out=values[:-1])
    return _Table(values, pattern.astype(np.int64), patterns.shape[1])


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
    most = max(1, _BLOCK_VALUES // max(width**2, 1))
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


def _products(table: Floats, block: _Groups) -> Floats:
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
    total = np.zeros((sizes.size, width * width), table.dtype)
    step = max(1, _BLOCK_VALUES // width**2)
    for top in range(0, len(strips), step):
        rows = table[strips[top : top + step]]
        product = np.matmul(rows.transpose(0, 2, 1), rows)
        owners = owner[top : top + step]
        first, last = int(owners[0]), int(owners[-1]) + 1
        total[first:last] += _summed(
            owners - first, product.reshape(len(rows), -1), n_rows=last - first
        )
    return total.reshape(-1, width, width)


def _summed(owner: Integers, values: Floats, *, n_rows: int) -> Floats:
    """Sums of the rows of each owner."""
    flat = values.reshape(len(values), -1)
    total = sparse_sums(owner, np.arange(owner.size), flat, n_rows=n_rows)
    return total.reshape(n_rows, *values.shape[1:])


def _fill_halves(
    found: PairSums, block: _Groups, products: Floats, pairs: Pairs, table: _Table
) -> None:
    """Items and sums of a, b and both."""
    first, last = int(block.slice_index[0]), int(block.slice_index[-1]) + 1
    owner = block.half * (last - first) + block.slice_index - first
    total = _summed(owner, products, n_rows=2 * (last - first))
    answered_a, answered_b = table.pattern[pairs.a], table.pattern[pairs.b]
    a, b = table.n_patterns + pairs.a, table.n_patterns + pairs.b
    columns = [(answered_a, answered_b), (a, answered_b), (b, answered_a), (a, b)]
    for array, (row, column) in zip(found[:4], columns, strict=True):
        values = np.take(
            total.reshape(len(total), -1), row * total.shape[1] + column, axis=1
        )
        array[:, first:last] = values.reshape(2, last - first, -1)


def _fill_mix(
    found: PairSums, block: _Groups, products: Floats, pairs: Pairs, table: _Table
) -> None:
    """What the mix of benchmarks does to the difference."""
    first = int(block.slice_index[0])
    starts = _starts(block.slice_index * (block.benchmark.max() + 1) + block.benchmark)
    owner = block.slice_index[starts] - first
    present = _starts(owner)
    slices = owner[present]
    by_benchmark = np.add.reduceat(products[:, :, : table.n_patterns], starts, axis=0)
    answered_a, answered_b = table.pattern[pairs.a], table.pattern[pairs.b]
    n_items = by_benchmark[:, answered_a, answered_b]
    n_slice_items = np.add.reduceat(n_items, present, axis=0)
    largest = np.maximum.reduceat(n_items, present, axis=0)
    found.largest_share[first + slices] = largest / np.maximum(n_slice_items, 1)

    scored = by_benchmark[:, table.n_patterns :]
    difference = scored[:, pairs.a, answered_b] - scored[:, pairs.b, answered_a]
    whole = np.add.reduceat(difference, present, axis=0)
    run = np.repeat(np.arange(slices.size), np.diff(np.append(present, owner.size)))
    turns = _signs(whole[run] - difference) != _signs(whole)[run]
    is_turned = np.logical_or.reduceat(turns, present, axis=0)
    found.is_sign_stable[first + slices] = ~is_turned & (_signs(whole) != 0)


def _signs(values: Floats) -> NDArray[np.int8]:
    """1, 0 or -1; sums of fractions that should cancel count as 0."""
    return (values > _ROUNDING).astype(np.int8) - (values < -_ROUNDING)
