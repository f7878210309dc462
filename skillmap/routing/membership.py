"""Which items have which labels: the few operations we need of a sparse matrix."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.metrics.intervals import Floats

Integers = NDArray[np.int64]


def membership(rows: Integers, columns: Integers, shape: tuple[int, int]) -> csr_array:
    """How often each row has each column; a pair given twice counts 2."""
    found = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    found.sum_duplicates()
    return found


def rows_of(member: csr_array, rows: Integers) -> csr_array:
    """The rows given, in their order."""
    return cast("csr_array", member[rows])


def transposed(member: csr_array) -> csr_array:
    """Labels by items."""
    return csr_array(cast("csr_array", member.T))


def products(member: csr_array, values: Floats) -> Floats:
    """Sum of the values of each row's labels, shape as the matrix product's."""
    return cast("Floats", member @ values)


def dense(member: csr_array) -> Floats:
    """All entries, shape ``(n_rows, n_columns)``."""
    return cast("Floats", cast("Any", member).toarray())


def pairs(member: csr_array) -> tuple[Integers, Integers]:
    """Row and column of every entry, by row and column."""
    rows, columns = cast("Any", member).nonzero()
    return rows.astype(np.int64), columns.astype(np.int64)


def ones(member: csr_array) -> csr_array:
    """The same entries, each once."""
    rows, columns = pairs(member)
    n_rows, n_columns = cast("tuple[int, int]", member.shape)
    return membership(rows, columns, (n_rows, n_columns))
