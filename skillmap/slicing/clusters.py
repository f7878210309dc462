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
        UPGMA of Sokal and Michener (1958), by the nearest-neighbour chain as in
        Müllner (2011), arXiv 1109.2378; the clusters of SciPy's
        ``linkage(method="average")`` on 1 - cosine.
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
    for start in range(len(vectors)):
        _follow_chain(linkage, start)
    return _numbered_by_first_member(linkage.current(np.arange(len(vectors))))


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


def _follow_chain(linkage: "_Linkage", start: int) -> None:
    """Merge along nearest neighbours until the cluster of ``start`` has none left.

    A merge never brings its cluster nearer to a third than the nearer of its halves
    was. So what lies earlier in the chain stays right, a cluster without a neighbour
    at the threshold is final, and the order of merging does not change the clusters.
    """
    chain = [linkage.current_of(start)]
    while chain:
        previous = chain[-2] if len(chain) > 1 else -1
        nearest = linkage.nearest(chain[-1], previous)
        if nearest is None:
            chain.pop()
        elif nearest == previous:
            merged = linkage.merge(chain.pop(), chain.pop())
            chain = chain or [merged]
        else:
            chain.append(nearest)


class _Linkage:
    """Clusters so far, and which of them average at least the threshold.

    A merge makes a new id, from n up. What other clusters know of the two old ids is
    brought up to date when they are next looked at. A pair of clusters that falls
    below the threshold is forgotten: neither can come back without another pair that
    is still above.
    """

    def __init__(
        self, neighbours: Neighbours, vectors: Vectors, threshold: float
    ) -> None:
        n = len(vectors)
        self._threshold = threshold
        self._n_ids = n
        self._merged_into = np.arange(2 * n)
        self._size = np.ones(2 * n)
        self._first_member = np.arange(2 * n)
        # Sums only of rows that can merge at all; a merge reuses the row of one half.
        linked = np.union1d(neighbours.rows, neighbours.columns)
        self._sum_row = np.full(2 * n, -1)
        self._sum_row[linked] = np.arange(len(linked))
        self._sums = vectors[linked].astype(np.float64)
        self._near: dict[int, tuple[_Ids, _Floats]] = _near_of_each(neighbours, n)

    def current_of(self, cluster: int) -> int:
        """The cluster that ``cluster`` is part of by now."""
        while (later := int(self._merged_into[cluster])) != cluster:
            cluster = later
        return cluster

    def current(self, clusters: _Ids) -> _Ids:
        """The clusters that ``clusters`` are part of by now."""
        while True:
            later = self._merged_into[clusters]
            if (later == clusters).all():
                return clusters
            clusters = later

    def nearest(self, cluster: int, previous: int) -> int | None:
        """The most similar cluster at the threshold or above; ``previous`` on a tie."""
        self._refresh(cluster)
        near, average = self._near[cluster]
        if len(near) == 0:
            return None
        tied = near[average >= average.max() - _TIE]
        if previous in tied:
            return previous
        return int(tied[np.argmin(self._first_member[tied])])

    def merge(self, left: int, right: int) -> int:
        """A new cluster out of two, and its id."""
        merged = self._n_ids
        self._n_ids += 1
        self._merged_into[[left, right]] = merged
        self._size[merged] = self._size[left] + self._size[right]
        self._first_member[merged] = self._first_member[[left, right]].min()
        kept, freed = self._sum_row[[left, right]]
        self._sums[kept] += self._sums[freed]
        self._sum_row[merged] = kept

        near = np.concatenate([self._near.pop(left)[0], self._near.pop(right)[0]])
        others = np.unique(self.current(near))
        self._near[merged] = self._at_threshold(merged, others[others != merged])
        return merged

    def _refresh(self, cluster: int) -> None:
        near, average = self._near[cluster]
        unchanged = self._merged_into[near] == near
        if unchanged.all():
            return
        changed = np.unique(self.current(near[~unchanged]))
        new, new_average = self._at_threshold(cluster, changed)
        self._near[cluster] = (
            np.concatenate([near[unchanged], new]),
            np.concatenate([average[unchanged], new_average]),
        )

    def _at_threshold(self, cluster: int, others: _Ids) -> tuple[_Ids, _Floats]:
        own_sum = self._sums[self._sum_row[cluster]]
        totals = paired_dots(self._sums[self._sum_row[others]], own_sum[np.newaxis])
        average = totals / (self._size[others] * self._size[cluster])
        reached = average >= self._threshold
        return others[reached], average[reached]


def _near_of_each(neighbours: Neighbours, n: int) -> dict[int, tuple[_Ids, _Floats]]:
    rows = np.concatenate([neighbours.rows, neighbours.columns])
    order = np.argsort(rows, kind="stable")
    columns = np.concatenate([neighbours.columns, neighbours.rows])[order]
    similarity = np.concatenate([neighbours.similarity, neighbours.similarity])[order]
    ends = np.cumsum(np.bincount(rows, minlength=n))[:-1]
    each = zip(
        np.split(columns.astype(np.int64), ends),
        np.split(similarity, ends),
        strict=True,
    )
    return dict(enumerate(each))
