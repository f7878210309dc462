"""Similar phrases to clusters: average linkage, or the leaders of the paper.

Both read the pairs that `threshold_neighbours` found. Labels are canonical: clusters
are numbered by their first member, so phrases in a fixed order give fixed labels.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.slicing.neighbours import (
    Neighbours,
    Vectors,
    check_threshold,
    check_unit_vectors,
    paired_dots,
)

Labels = NDArray[np.int64]
_Ids = NDArray[np.int64]
_Floats = NDArray[np.float64]

# Averages closer than this are a tie: rounding must not decide what merges first.
_TIE: Final = 1e-12
_PAIRS_AT_ONCE: Final = 4_096


def average_linkage_clusters(
    neighbours: Neighbours, vectors: Vectors, *, threshold: float
) -> Labels:
    """Clusters by average linkage, cut where the average cosine is ``threshold``.

    The average runs over all pairs between two clusters, also those below the
    threshold, so one bridge between two crowds does not join them. It equals
    <sum of A, sum of B> / (|A| |B|), hence no matrix of distances is held. And two
    clusters that reach the threshold on average have a pair that does, hence only
    clusters with a neighbour pair between them are ever compared.

    Args:
        neighbours: All pairs of ``vectors`` at ``threshold`` or above.
        vectors: Unit vectors, shape ``(n, d)``.
        threshold: Smallest average cosine at which two clusters merge, in (0, 1].

    Returns:
        The cluster of each row, shape ``(n,)``, numbered from 0 by first member.
        Among equal averages, the cluster with the earlier first member goes first.

    Raises:
        InvalidInputError: If ``neighbours`` names a row that is not there or holds a
            pair below the threshold, a vector is not of length 1, or the threshold is
            out of range.

    Source:
        UPGMA of Sokal and Michener (1958), by merging all pairs of clusters that are
        each other's nearest (Murtagh 1983, The Computer Journal 26, 354-359); the
        clusters of SciPy's ``linkage(method="average")`` on 1 - cosine.
    """
    check_unit_vectors(vectors)
    check_threshold(threshold)
    _check_pairs(neighbours, len(vectors))
    if len(neighbours.similarity) and neighbours.similarity.min() < threshold:
        raise InvalidInputError(
            f"neighbours hold pairs below the threshold {threshold}, the lowest at "
            f"{neighbours.similarity.min()}. Find them at the threshold of the cut"
        )

    linkage = _Linkage(neighbours, vectors, threshold)
    while linkage.has_pairs:
        linkage.merge_mutual()
    return _numbered_by_first_member(linkage.cluster)


def leader_clusters(neighbours: Neighbours, n: int, *, threshold: float) -> Labels:
    """Clusters of the paper: the largest neighbourhood first, then what is left.

    Every row, with all rows at the threshold or above, is a neighbourhood. They are
    taken by size, equal ones in the order of their rows, each without the rows that an
    earlier one took. So a row goes to the first neighbourhood that holds it, and
    members of a cluster need not be alike among themselves.

    Args:
        neighbours: All pairs at ``threshold``, or at a lower one.
        n: Number of rows.
        threshold: Smallest cosine to the centre of a neighbourhood, in (0, 1].

    Returns:
        The cluster of each row, shape ``(n,)``, numbered from 0 by first member.

    Raises:
        InvalidInputError: If ``neighbours`` names a row that is not there, or the
            threshold is out of range.

    Source:
        ``community_detection(min_community_size=1)`` of sentence-transformers 3.0.1,
        the release behind arXiv 2410.13826. Later ones (6.2 does) skip a neighbourhood
        whose centre is taken, and make other clusters.

    Examples:
        >>> near = Neighbours(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.9]))
        >>> leader_clusters(near, 4, threshold=0.8)
        array([0, 0, 0, 1])
    """
    check_threshold(threshold)
    _check_pairs(neighbours, n)
    reached = neighbours.similarity >= threshold
    rows, columns = neighbours.rows[reached], neighbours.columns[reached]
    sizes = np.bincount(rows, minlength=n) + np.bincount(columns, minlength=n)
    rank = np.empty(n, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n)

    first_taker = rank.copy()
    np.minimum.at(first_taker, rows, rank[columns])
    np.minimum.at(first_taker, columns, rank[rows])
    return _numbered_by_first_member(first_taker)


def _check_pairs(neighbours: Neighbours, n: int) -> None:
    for ends in (neighbours.rows, neighbours.columns):
        bad = np.flatnonzero((ends < 0) | (ends >= n))
        if len(bad):
            raise InvalidInputError(
                f"neighbours: {len(bad)} of {len(ends)} pairs name no row of {n}, "
                f"first at index {bad[0]}: {ends[bad[0]]}"
            )


def _numbered_by_first_member(labels: _Ids) -> Labels:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


class _Linkage:
    """Clusters so far, and which pairs of them average at least the threshold.

    Two clusters that are each other's nearest merge in any order of merging: no merge
    brings a cluster nearer to a third than the nearer of its halves was. So all of
    them merge at once. A pair of clusters that falls below the threshold is
    forgotten: neither can come back without another pair that is still above.

    Attributes:
        cluster: The cluster of each row so far, named by its first member.
    """

    def __init__(
        self, neighbours: Neighbours, vectors: Vectors, threshold: float
    ) -> None:
        n = len(vectors)
        self.cluster = np.arange(n)
        self._threshold = threshold
        self._left = np.minimum(neighbours.rows, neighbours.columns).astype(np.int64)
        self._right = np.maximum(neighbours.rows, neighbours.columns).astype(np.int64)
        self._average = neighbours.similarity
        self._size = np.ones(n)
        # Sums only of rows that can merge at all.
        linked = np.union1d(self._left, self._right)
        self._sum_row = np.full(n, -1)
        self._sum_row[linked] = np.arange(len(linked))
        self._sums = vectors[linked].astype(np.float64)

    @property
    def has_pairs(self) -> bool:
        """Whether any two clusters are left to merge."""
        return len(self._average) > 0

    def merge_mutual(self) -> None:
        """Merge every two clusters that are each other's nearest."""
        left, right = self._mutual()
        into = np.arange(len(self.cluster))
        into[right] = left
        self.cluster = into[self.cluster]
        self._size[left] += self._size[right]
        self._sums[self._sum_row[left]] += self._sums[self._sum_row[right]]

        is_changed = np.zeros(len(self.cluster), np.bool_)
        is_changed[left] = is_changed[right] = True
        is_new = is_changed[self._left] | is_changed[self._right]
        ends = into[self._left[is_new]], into[self._right[is_new]]
        pairs = np.unique(np.minimum(*ends) * len(into) + np.maximum(*ends))
        new_left, new_right = np.divmod(pairs, len(into))
        apart = new_left < new_right
        new_left, new_right = new_left[apart], new_right[apart]
        average = self._averages(new_left, new_right)
        reached = average >= self._threshold
        self._left = np.concatenate([self._left[~is_new], new_left[reached]])
        self._right = np.concatenate([self._right[~is_new], new_right[reached]])
        self._average = np.concatenate([self._average[~is_new], average[reached]])

    def _mutual(self) -> tuple[_Ids, _Ids]:
        """Pairs of clusters that are each other's nearest, at least one."""
        best = np.full(len(self.cluster), -np.inf)
        for ends in (self._left, self._right):
            np.maximum.at(best, ends, self._average)
        nearest = np.full(len(self.cluster), len(self.cluster))
        for ends, others in ((self._left, self._right), (self._right, self._left)):
            tied = self._average >= best[ends] - _TIE
            np.minimum.at(nearest, ends[tied], others[tied])
        is_mutual = (nearest[self._left] == self._right) & (
            nearest[self._right] == self._left
        )
        if not is_mutual.any():
            # A ring of ties: its nearest pair goes first.
            is_mutual[np.argmax(self._average)] = True
        return self._left[is_mutual], self._right[is_mutual]

    def _averages(self, left: _Ids, right: _Ids) -> _Floats:
        totals = [np.empty(0)]
        for start in range(0, len(left), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            rows, columns = self._sum_row[left[some]], self._sum_row[right[some]]
            totals.append(paired_dots(self._sums[rows], self._sums[columns]))
        return np.concatenate(totals) / (self._size[left] * self._size[right])
