"""Folds that never part a question from its duplicates."""

import hashlib

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError


def group_folds(
    groups: pl.Series, *, n_folds: int = 5, seed: int = 0
) -> NDArray[np.int64]:
    """Fold of each item, decided by its group's name and the seed alone.

    So a fold stays the same when items come, go or are listed in another order.

    Args:
        groups: Name of each item's duplicate group, shape ``(n_items,)``.
        n_folds: At least 2.
        seed: Another seed, another split.

    Returns:
        Numbers from 0 to ``n_folds`` - 1, shape ``(n_items,)``. Folds are of about
        the same size, not of exactly the same.

    Raises:
        InvalidInputError: If there are fewer than 2 folds.

    Examples:
        >>> group_folds(pl.Series(["a", "c", "a"]), n_folds=2).tolist()
        [0, 1, 0]
    """
    if n_folds < 2:  # noqa: PLR2004 - with one fold nothing is left to learn from
        raise InvalidInputError(f"n_folds must be at least 2, got {n_folds}")
    distinct = groups.unique().sort()
    # SHA-256 because neither Polars nor Python promises the same hash tomorrow.
    folds = pl.Series(
        [_hash(f"{seed}\x1f{name}") % n_folds for name in distinct.to_list()],
        dtype=pl.Int64,
    )
    return folds.to_numpy()[distinct.search_sorted(groups).to_numpy()]


def _hash(text: str) -> int:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")
