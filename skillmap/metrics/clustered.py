"""Means of items that are not independent, with the errors that clusters ask for.

Duplicates of a question, or questions on one passage, are one draw and not several.
Everything is worked out from a few sums that add up over clusters, so that halves of
the data and whole slices come from one pass.
"""

from typing import NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]
from scipy.special import (  # pyright: ignore[reportMissingTypeStubs]
    ndtri,
    stdtr,
    stdtrit,
)

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats, Interval, wilson_interval

Integers = NDArray[np.int64]


class ClusterSums(NamedTuple):
    """Sums over items and clusters, of equal shape, one entry a mean.

    Attributes:
        n_items: Items that count.
        n_clusters: Clusters with such an item.
        n_nonzero: Clusters whose total is not zero.
        total: Sum of the values.
        item_squares: Sum of their squares.
        squares: Sum over clusters of the squared total.
        products: Sum over clusters of total times number of items.
        sizes: Sum over clusters of the squared number of items.
    """

    n_items: Floats
    n_clusters: Floats
    n_nonzero: Floats
    total: Floats
    item_squares: Floats
    squares: Floats
    products: Floats
    sizes: Floats

    def plus(self, other: Self) -> "ClusterSums":
        """Sums of both, for sets of items that share no cluster."""
        return ClusterSums(*(mine + its for mine, its in zip(self, other, strict=True)))

    def part(self, key: object) -> "ClusterSums":
        """The same sums of some of the means: ``key`` indexes each array."""
        index = cast("Integers", key)
        return ClusterSums(*(values[index] for values in self))


class Membership(NamedTuple):
    """Which items are in which group; groups may overlap.

    Attributes:
        group: Group of each membership, from 0 to ``n_groups``.
        item: Its item, from 0 to ``n_items``; each pair stands once.
        n_groups: Number of groups, empty ones included.
        n_items: Number of items, those in no group included.
    """

    group: Integers
    item: Integers
    n_groups: int
    n_items: int

    def sums(self, values: Floats) -> Floats:
        """Sum over the items of each group, of the columns of ``values``."""
        return sparse_sums(self.group, self.item, values, n_rows=self.n_groups)

    def part(self, groups: Integers) -> "Membership":
        """Some of the groups, renumbered in the order given; each stands once."""
        place = np.full(self.n_groups, -1)
        place[groups] = np.arange(groups.size)
        inside = place[self.group] >= 0
        return Membership(
            place[self.group[inside]], self.item[inside], groups.size, self.n_items
        )


def sparse_sums(
    rows: Integers, columns: Integers, values: Floats, *, n_rows: int
) -> Floats:
    """Sums of rows of ``values``: of those in ``columns``, into those in ``rows``.

    In the order of ``rows``, with the type of ``values``, on one thread.
    """
    ones = np.ones(rows.size, values.dtype)
    shape = (n_rows, values.shape[0])
    return cast("Floats", csr_array((ones, (rows, columns)), shape=shape) @ values)


def cluster_sums(
    membership: Membership,
    values: Floats,
    clusters: Integers,
    *,
    is_counted: NDArray[np.bool_] | None = None,
) -> ClusterSums:
    """Sums of each group of items and each column of values.

    Args:
        membership: Items of the groups.
        values: Shape ``(n_items, n_columns)``: scores, or differences of scores, with
            epochs averaged within the item beforehand.
        clusters: Cluster of each item, codes from 0, shape ``(n_items,)``.
        is_counted: Which values count, shape of ``values``; all that are not NaN when
            left out.

    Returns:
        Sums of shape ``(n_groups, n_columns)`` each; 0 for an empty group.

    Raises:
        InvalidInputError: If the numbers of items differ.
    """
    if not membership.n_items == values.shape[0] == clusters.shape[0]:
        raise InvalidInputError(
            "membership, values and clusters must have one entry an item each, got "
            f"{membership.n_items}, {values.shape[0]} and {clusters.shape[0]}"
        )
    counted = (~np.isnan(values) if is_counted is None else is_counted).astype(float)
    known = np.where(counted > 0, values, 0.0)
    n_clusters = int(clusters.max(initial=-1)) + 1
    keys, cell = np.unique(
        membership.group * n_clusters + clusters[membership.item], return_inverse=True
    )
    total = sparse_sums(cell, membership.item, known, n_rows=keys.size)
    size = sparse_sums(cell, membership.item, counted, n_rows=keys.size)
    owner = Membership(
        keys // max(n_clusters, 1),
        np.arange(keys.size),
        membership.n_groups,
        keys.size,
    )
    return ClusterSums(
        n_items=owner.sums(size),
        n_clusters=owner.sums((size > 0).astype(float)),
        n_nonzero=owner.sums((np.abs(total) > _ROUNDING).astype(float)),
        total=owner.sums(total),
        item_squares=membership.sums(known**2),
        squares=owner.sums(total**2),
        products=owner.sums(total * size),
        sizes=owner.sums(size**2),
    )


# Sums of fractions in [0, 1] that should cancel miss zero by far less.
_ROUNDING = 1e-9


def mean(sums: ClusterSums) -> Floats:
    """Mean value of each group; NaN for an empty one."""
    with np.errstate(invalid="ignore"):
        return np.where(
            sums.n_items > 0, sums.total / np.maximum(sums.n_items, 1), np.nan
        )


def standard_error(sums: ClusterSums) -> Floats:
    """Standard error of each mean as if its items were independent.

    Returns:
        In the unit of the values; NaN for fewer than two items.

    Source:
        Miller (2024), arXiv 2411.00640.
    """
    n = sums.n_items
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = np.maximum(sums.item_squares - sums.total**2 / n, 0.0)
        return np.where(n > 1, np.sqrt(deviations / (n * (n - 1))), np.nan)


def clustered_standard_error(sums: ClusterSums) -> Floats:
    """Standard error of each mean when only clusters are independent draws.

    Returns:
        In the unit of the values; NaN for fewer than two clusters, whose variance
        nothing tells. With one item a cluster it is `standard_error`.

    Source:
        Miller (2024), arXiv 2411.00640, times C/(C-1) as usual for few
        clusters, which the paper leaves out; use with C-1 degrees of freedom.
    """
    n, n_clusters = sums.n_items, sums.n_clusters
    with np.errstate(invalid="ignore", divide="ignore"):
        average = sums.total / n
        squares = sums.squares - 2 * average * sums.products + average**2 * sums.sizes
        # What rounding leaves of equal totals is no variance.
        squares = np.where(squares > _ROUNDING * (1 + sums.squares), squares, 0.0)
        variance = n_clusters / (n_clusters - 1) * squares / n**2
        return np.where(n_clusters > 1, np.sqrt(variance), np.nan)


def design_effect(sums: ClusterSums, *, error: Floats | None = None) -> Floats:
    """How many times larger the variance is than that of independent items.

    Args:
        sums: Of any values.
        error: Their clustered standard errors, if they are known already.

    Returns:
        Above 0; NaN where either standard error is unknown or the items' is 0.
    """
    simple = standard_error(sums)
    clustered = clustered_standard_error(sums) if error is None else error
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(simple > 0, (clustered / simple) ** 2, np.nan)


def effective_items(sums: ClusterSums, *, error: Floats | None = None) -> Floats:
    """Number of independent items that tell as much as these do.

    Args:
        sums: Of any values.
        error: Their clustered standard errors, if they are known already.

    Returns:
        At most ``n_items``: a design effect below 1 is mostly chance and buys
        nothing. The number of clusters where the design effect is unknown.
    """
    effect = design_effect(sums, error=error)
    effective = sums.n_items / np.maximum(effect, 1.0)
    return np.where(np.isnan(effect), sums.n_clusters, effective)


def t_quantile(n_clusters: Floats, *, confidence_level: float = 0.95) -> Floats:
    """Two-sided quantile of Student's t with ``n_clusters - 1`` degrees of freedom.

    Returns:
        Shape of ``n_clusters``; infinite for fewer than two clusters.
    """
    _check_level(confidence_level)
    # Few distinct numbers of clusters, many cells; the quantile is slow, and so is
    # sorting the cells.
    counts = n_clusters.astype(np.int64)
    present = np.flatnonzero(np.bincount(counts.ravel()))
    table = np.full(int(counts.max(initial=0)) + 1, np.inf)
    known = present[present > 1]
    quantile = 0.5 + confidence_level / 2
    table[known] = cast("Floats", stdtrit(known - 1.0, quantile))
    return table[counts]


def widened_items(
    effective: Floats, n_clusters: Floats, *, confidence_level: float = 0.95
) -> Floats:
    """Effective items with which a normal interval is as wide as a t interval.

    Returns:
        Shape of ``effective``; 0 for fewer than two clusters.

    Source:
        Korn and Graubard (1998), Survey Methodology 24, 193-201.
    """
    _check_level(confidence_level)
    z = float(ndtri(0.5 + confidence_level / 2))
    t = t_quantile(n_clusters, confidence_level=confidence_level)
    return effective * (z / t) ** 2


def clustered_wilson_interval(
    sums: ClusterSums, *, confidence_level: float = 0.95
) -> Interval:
    """Wilson interval of each mean with the effective number of items.

    Args:
        sums: Of scores in [0, 1].
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Bounds in [0, 1], as wide as fewer items and C-1 degrees of freedom ask for
        where items share clusters, and `wilson_interval` where they do not. [0, 1]
        for several items of a single cluster; NaN for no items.
    """
    effective = effective_items(sums)
    widened = widened_items(
        effective, sums.n_clusters, confidence_level=confidence_level
    )
    n = np.where(sums.n_clusters < sums.n_items, widened, sums.n_items)
    average = np.clip(np.nan_to_num(mean(sums)), 0.0, 1.0)
    low, high = wilson_interval(
        np.minimum(average * n, n), n, confidence_level=confidence_level
    )
    says_nothing = (n == 0) & (sums.n_items > 0)
    return Interval(np.where(says_nothing, 0.0, low), np.where(says_nothing, 1.0, high))


def clustered_t_interval(
    sums: ClusterSums, *, confidence_level: float = 0.95
) -> Interval:
    """Mean plus and minus t times its clustered standard error.

    Returns:
        Bounds in the unit of the values, not clipped. NaN for fewer than two
        clusters, and of no width where all clusters agree: see `effective_items`.
    """
    t = t_quantile(sums.n_clusters, confidence_level=confidence_level)
    with np.errstate(invalid="ignore"):
        half = t * clustered_standard_error(sums)
    return Interval(mean(sums) - half, mean(sums) + half)


def clustered_p_value(sums: ClusterSums, *, error: Floats | None = None) -> Floats:
    """Two-sided p of the hypothesis that each mean is 0, by clustered t.

    Never below the least p that flipping the signs of whole clusters can give,
    2 ** (1 - k) for k clusters that are not zero: a handful of equal differences has
    no variance to divide by, and is still only a handful.

    Args:
        sums: Of values whose mean is 0 by the hypothesis.
        error: Their clustered standard errors, if they are known already.

    Returns:
        In (0, 1]; 1 where every cluster is zero. NaN for fewer than two clusters.
    """
    average = mean(sums)
    if error is None:
        error = clustered_standard_error(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(sums.total == 0, 0.0, np.abs(average) / error)
        degrees = np.maximum(sums.n_clusters - 1, 1)
        p = 2 * cast("Floats", stdtr(degrees, -t))
    least = np.exp2(1 - np.maximum(sums.n_nonzero, 1))
    return np.where(sums.n_clusters > 1, np.clip(p, least, 1.0), np.nan)


def _check_level(confidence_level: float) -> None:
    if not 0 < confidence_level < 1:
        raise InvalidInputError(
            f"confidence_level must be between 0 and 1, got {confidence_level}"
        )
