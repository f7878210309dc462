"""Means over items with intervals that respect duplicate groups."""

from typing import Final

import numpy as np
import polars as pl

from skillmap.metrics.clustered import (
    ClusterSums,
    Membership,
    cluster_sums,
    clustered_t_interval,
    clustered_wilson_interval,
    mean,
)
from skillmap.metrics.intervals import Floats
from skillmap.routing.membership import Integers

# Suffixes of a number and of its interval's ends, as columns are named.
ENDS: Final = ("", "_low", "_high")


def group_codes(groups: pl.Series) -> Integers:
    """Codes from 0 for the names of duplicate groups, in the names' order."""
    places = groups.unique().sort().search_sorted(groups)
    return places.to_numpy().astype(np.int64)


def accuracy_columns(
    outcomes: Floats, groups: Integers, *, confidence_level: float
) -> dict[str, Floats]:
    """Mean score of each policy or point, with its Wilson interval.

    Args:
        outcomes: Scores got, shape ``(n_items, n_columns)``.
        groups: Codes from 0, shape ``(n_items,)``.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        ``accuracy``, ``accuracy_low`` and ``accuracy_high``, one entry a column; NaN
        without items.
    """
    sums = _sums(outcomes, groups)
    ends = clustered_wilson_interval(sums, confidence_level=confidence_level)
    return _named("accuracy", mean(sums), *ends)


def gain_columns(
    name: str, gains: Floats, groups: Integers, *, confidence_level: float
) -> dict[str, Floats]:
    """Mean of paired differences, with the interval by clustered t.

    Args:
        name: Of the number.
        gains: Shape ``(n_items, n_columns)``.
        groups: Codes from 0, shape ``(n_items,)``.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        The number and its bounds, one entry a column; NaN without items, and for
        bounds from a single group.
    """
    sums = _sums(gains, groups)
    ends = clustered_t_interval(sums, confidence_level=confidence_level)
    return _named(name, mean(sums), *ends)


def _sums(values: Floats, groups: Integers) -> ClusterSums:
    n_items = len(values)
    everything = Membership(np.zeros(n_items, np.int64), np.arange(n_items), 1, n_items)
    return cluster_sums(everything, values, groups).part(0)


def _named(name: str, *values: Floats) -> dict[str, Floats]:
    return {f"{name}{end}": value for end, value in zip(ENDS, values, strict=True)}
