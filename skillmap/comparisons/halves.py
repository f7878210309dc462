"""Two halves of the data: one to find slices on, the other to confirm them."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.metrics.clustered import Integers

# Fowler, Noll and Vo's 64-bit hash (FNV-1a); a published constant pair.
_FNV_OFFSET = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)


def confirmation_half(cluster_ids: pl.Series, *, seed: int) -> Integers:
    """Half of each cluster, by a hash of its name.

    A cluster's half depends on nothing but its name and the seed: a new benchmark or
    model leaves every item in the half it was in, so what was confirmed stays so.

    Args:
        cluster_ids: Names, no null.
        seed: Another seed gives another split.

    Returns:
        0 (discover) or 1 (confirm), one a cluster.

    Source:
        FNV-1a (Fowler, Noll and Vo); two of the mixing steps of splitmix64.

    Examples:
        >>> ids = pl.Series([f"quiz:{i}" for i in range(1000)])
        >>> 450 < int(confirmation_half(ids, seed=0).sum()) < 550
        True
    """
    letters = _letters(cluster_ids)
    hashed = np.full(cluster_ids.len(), _FNV_OFFSET)
    for column in letters.T:
        mixed = (hashed ^ column) * _FNV_PRIME
        # Shorter names are filled up with zeros, which are no letters.
        hashed = np.where(column > 0, mixed, hashed)
    hashed += np.uint64((2 * seed + 1) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashed = (hashed ^ (hashed >> np.uint64(shift))) * np.uint64(factor)
    return ((hashed >> np.uint64(63)) & np.uint64(1)).astype(np.int64)


def _letters(names: pl.Series) -> NDArray[np.uint64]:
    text = names.cast(pl.String).to_numpy().astype(np.str_)
    width = text.dtype.itemsize // 4
    points = np.ascontiguousarray(text).view(np.uint32)
    return points.reshape(names.len(), width).astype(np.uint64)
