"""All pairs of phrases whose vectors are at least so similar: exact, none missing.

Most pairs are ruled out by a bound in few dimensions and never looked at in full. The
bound only saves work. Whether a pair is in is decided by `paired_dots`, so the answer
does not depend on blocks, threads or the number of components.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError

Vectors = NDArray[np.float32]

# How far a row may be from length 1, in its square: fp32 rounding and then some.
_LENGTH_TOLERANCE: Final = 1e-3
# More than fp32 sums of products of unit vectors can lose in 4,096 dimensions.
_ROUNDING: Final = 1e-4
# Few enough for their rows to stay in the cache of one core.
_PAIRS_AT_ONCE: Final = 512
# Numbers of components to choose from, and the rows that the choice looks at.
_COMPONENTS: Final = (64, 128, 256)
_SAMPLE_ROWS: Final = 1_024
# Looking at a candidate in full costs as much as so many components of a pair.
_CANDIDATE_COST: Final = 30_000
# Where the bound lets more than this share of a block through, a full product of the
# block is cheaper than fetching the rows of each pair.
_MOST_CANDIDATES: Final = 0.02


class Neighbours(NamedTuple):
    """Pairs of rows at or above a threshold, ordered by row, then column.

    Attributes:
        rows: The smaller index of each pair.
        columns: The larger index of each pair.
        similarity: Dot product of the two vectors, their cosine.
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    similarity: NDArray[np.float64]


def threshold_neighbours(
    vectors: Vectors,
    *,
    threshold: float,
    n_components: int | None = None,
    block_rows: int = 2_048,
) -> Neighbours:
    """Every pair of rows with a cosine of at least ``threshold``.

    With p the projection of x on some directions and r what is left of it,
    <x, y> <= <p, p'> + |r| |r'|. So a product of the projections, with |r| as one more
    component, shows which pairs can reach the threshold at all. The closer
    ``n_components`` directions come to spanning the data, the fewer are left.

    Args:
        vectors: Unit vectors, shape ``(n, d)``.
        threshold: Smallest cosine, in (0, 1].
        n_components: Directions of the bound: more make it tighter and dearer. Left
            out, a sample of the rows tells which number is cheapest.
        block_rows: Rows compared with as many others at once. Memory beyond the
            answer grows with its square: 2,048 take 20 MB.

    Returns:
        Pairs ``i < j``, each once, the threshold itself included. No pairs for fewer
        than two rows.

    Raises:
        InvalidInputError: If a row is not of length 1, or an argument out of range.

    Source:
        Cauchy-Schwarz; the directions are principal components about the origin
        (Jolliffe 2002, section 14.2.3), which leave the least residual.

    Examples:
        >>> vectors = np.array([[1, 0], [0.6, 0.8], [0.8, 0.6]], dtype=np.float32)
        >>> pairs = threshold_neighbours(vectors, threshold=0.8)
        >>> pairs.rows, pairs.columns, pairs.similarity.round(4)
        (array([0, 1], dtype=int32), array([2, 2], dtype=int32), array([0.8 , 0.96]))
    """
    check_unit_vectors(vectors)
    check_threshold(threshold)
    if block_rows < 1 or (n_components is not None and n_components < 1):
        raise InvalidInputError(
            "n_components and block_rows must be at least 1, "
            f"got {n_components} and {block_rows}"
        )

    found = [
        _verified(vectors, rows, columns, threshold)
        for rows, columns in _candidates(
            vectors, threshold, n_components=n_components, block_rows=block_rows
        )
    ]
    return Neighbours(
        *(np.concatenate(parts) for parts in zip(_NOTHING, *found, strict=True))
    )


def paired_dots(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Dot product of each row of ``left`` with the same row of ``right``.

    Not BLAS: its order of summing depends on shapes, machine and threads. This one's
    depends on the number of columns only, and it is symmetric to the last bit.

    Args:
        left: Shape ``(n, d)``.
        right: Shape ``(n, d)``, or ``(1, d)`` for the same row each time.

    Returns:
        Shape ``(n,)``.
    """
    return np.einsum("ij,ij->i", left, right)


def check_unit_vectors(vectors: Vectors) -> None:
    """Raise unless ``vectors`` is a table of rows of length 1.

    Args:
        vectors: To be of shape ``(n, d)``.

    Raises:
        InvalidInputError: If it has not two dimensions, or a row is not of length 1;
            NaN is not.
    """
    if vectors.ndim != 2 or vectors.shape[1] == 0:  # noqa: PLR2004 -- a table
        raise InvalidInputError(
            f"vectors must have shape (n, d) with d > 0, got {vectors.shape}"
        )
    squares = np.einsum("ij,ij->i", vectors, vectors)
    bad = np.flatnonzero(~(np.abs(squares - 1) <= _LENGTH_TOLERANCE))
    if len(bad):
        raise InvalidInputError(
            f"vectors: {len(bad)} of {len(vectors)} rows are not of length 1, "
            f"first at index {bad[0]}: length {np.sqrt(squares[bad[0]])}. "
            "Divide each row by its length"
        )


def check_threshold(threshold: float) -> None:
    """Raise unless ``threshold`` is a cosine that says alike.

    Args:
        threshold: To be in (0, 1].

    Raises:
        InvalidInputError: If it is not.
    """
    if not 0 < threshold <= 1:
        raise InvalidInputError(f"threshold must be in (0, 1], got {threshold}")


_NOTHING: Final = Neighbours(
    np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64)
)


def _cheapest_components(
    vectors: Vectors, directions: Vectors, threshold: float
) -> int:
    """How many directions to bound by, for the least work in all."""
    if len(vectors) < _SAMPLE_ROWS:
        return _COMPONENTS[0]
    sample = vectors[:: len(vectors) // _SAMPLE_ROWS]
    least = np.float32(threshold - _ROUNDING)
    costs = {
        n: n + _CANDIDATE_COST * float((left @ right >= least).mean())
        for n in _COMPONENTS
        for left, right in [_bound_factors(sample, directions[:, :n])]
    }
    return min(costs, key=costs.__getitem__)


def _bound_factors(vectors: Vectors, directions: Vectors) -> tuple[Vectors, Vectors]:
    """Matrices whose product bounds every cosine from above, but for rounding."""
    projected = vectors @ directions
    squares = np.einsum("ij,ij->i", vectors, vectors)
    kept = np.einsum("ij,ij->i", projected, projected)
    # Without the tolerance, rounding could make a residual smaller than it is.
    residual = np.sqrt(np.maximum(squares - kept, 0) + np.float32(1e-6))
    factors = np.column_stack([projected, residual])
    return factors, np.ascontiguousarray(factors.T)


def _principal_directions(vectors: Vectors) -> Vectors:
    """All of them, those that carry most variance first."""
    n_dimensions = vectors.shape[1]
    moments = np.zeros((n_dimensions, n_dimensions))
    for start in range(0, len(vectors), 4_096):
        block = vectors[start : start + 4_096].astype(np.float64)
        moments += block.T @ block
    # Ascending order of variance: the last columns carry the most.
    _, directions = np.linalg.eigh(moments)
    return directions[:, ::-1].astype(np.float32)


def _candidates(
    vectors: Vectors, threshold: float, *, n_components: int | None, block_rows: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs that may reach the threshold, ``i < j``, by row, one block of rows each."""
    n = len(vectors)
    directions = _principal_directions(vectors)
    if n_components is None:
        n_components = _cheapest_components(vectors, directions, threshold)
    left, right = _bound_factors(vectors, directions[:, :n_components])
    least = np.float32(threshold - _ROUNDING)
    for top in range(0, n, block_rows):
        above = slice(top, top + block_rows)
        parts: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        for side in range(top, n, block_rows):
            beside = slice(side, side + block_rows)
            row, column = _at_least(left[above] @ right[:, beside], least)
            n_pairs = len(left[above]) * right[:, beside].shape[1]
            if len(row) > _MOST_CANDIDATES * n_pairs:
                row, column = _at_least(vectors[above] @ vectors[beside].T, least)
            pairs = (row + top) * n + (column + side)
            parts.append(pairs[row < column] if side == top else pairs)
        pairs = np.sort(np.concatenate(parts))
        yield np.divmod(pairs, n)


def _at_least(
    values: Vectors, least: np.float32
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    # Flat indices, split afterwards: np.nonzero on a table takes twice as long.
    return np.divmod(np.flatnonzero(values.reshape(-1) >= least), values.shape[1])


def _verified(
    vectors: Vectors,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    threshold: float,
) -> Neighbours:
    """Those candidates that reach the threshold, by their full vectors."""
    found = [_NOTHING]
    for start in range(0, len(rows), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        left, right = vectors[rows[some]], vectors[columns[some]]
        # fp32 is three times as fast and settles nearly all that fall short.
        near = np.einsum("ij,ij->i", left, right) >= threshold - _ROUNDING
        exact = paired_dots(
            left[near].astype(np.float64), right[near].astype(np.float64)
        )
        reached = exact >= threshold
        kept = np.flatnonzero(near)[reached] + start
        found.append(
            Neighbours(
                rows[kept].astype(np.int32),
                columns[kept].astype(np.int32),
                exact[reached],
            )
        )
    return Neighbours(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
