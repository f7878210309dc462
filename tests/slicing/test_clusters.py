import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from skillmap.errors import InvalidInputError
from skillmap.slicing.clusters import average_linkage_clusters, leader_clusters
from skillmap.slicing.neighbours import Neighbours, threshold_neighbours
from tests.slicing.planted import planted_vectors, unit_rows


def groups(labels: NDArray[np.int64]) -> list[list[int]]:
    """Members of each cluster, the cluster with the earliest member first."""
    members: dict[int, list[int]] = {}
    for row, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(row)
    return list(members.values())


def linked(vectors: NDArray[np.float32], *, threshold: float) -> NDArray[np.int64]:
    neighbours = threshold_neighbours(vectors, threshold=threshold)
    return average_linkage_clusters(neighbours, vectors, threshold=threshold)


def linked_by_scipy(
    vectors: NDArray[np.float32], *, threshold: float
) -> NDArray[np.int64]:
    product = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    distance = np.maximum(1 - product[np.triu_indices(len(vectors), k=1)], 0)
    tree = linkage(distance, method="average")
    return fcluster(tree, 1 - threshold, criterion="distance")


def communities(similarity: NDArray[np.float64], threshold: float) -> list[list[int]]:
    """Brute force, from the description: largest first, minus what is assigned."""
    hoods = [np.flatnonzero(row >= threshold).tolist() for row in similarity]
    taken: set[int] = set()
    found: list[list[int]] = []
    for hood in sorted(hoods, key=len, reverse=True):
        left = [row for row in hood if row not in taken]
        taken.update(left)
        if left:
            found.append(left)
    return sorted(found)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize(
    ("noise", "n_dimensions"), [(0.5, 16), (0.8, 8), (0.7, 32), (1.5, 4)]
)
def test_average_linkage_makes_the_clusters_of_scipy(
    threshold: float, noise: float, n_dimensions: int
) -> None:
    vectors = planted_vectors(400, seed=4, noise=noise, n_dimensions=n_dimensions)

    labels = linked(vectors, threshold=threshold)

    assert groups(labels) == groups(linked_by_scipy(vectors, threshold=threshold))


@given(
    n=st.integers(2, 40),
    threshold=st.floats(0.05, 0.95),
    noise=st.floats(0.1, 2),
    seed=st.integers(0, 2**32 - 1),
)
def test_average_linkage_makes_the_clusters_of_scipy_whatever_the_spread(
    n: int, threshold: float, noise: float, seed: int
) -> None:
    vectors = planted_vectors(n, seed=seed, noise=noise, n_dimensions=6, n_crowds=4)

    labels = linked(vectors, threshold=threshold)

    assert groups(labels) == groups(linked_by_scipy(vectors, threshold=threshold))


def test_the_average_decides_and_not_the_closest_pair() -> None:
    # cos 39 = .78 makes a pair of the first two. The third is cos 41 = .75 from one
    # of them, but (cos 41 + cos 80) / 2 = .464 from the pair.
    angles = np.deg2rad([0.0, 39.0, 80.0])
    vectors = unit_rows(np.column_stack([np.cos(angles), np.sin(angles)]))

    assert groups(linked(vectors, threshold=0.48)) == [[0, 1], [2]]
    assert groups(linked(vectors, threshold=0.46)) == [[0, 1, 2]]


@pytest.mark.parametrize("copies", [2, 7, 64])
def test_equal_vectors_are_one_cluster(copies: int) -> None:
    vectors = np.repeat(planted_vectors(30, seed=5, noise=3), copies, axis=0)

    labels = linked(vectors, threshold=0.99)

    assert groups(labels) == [
        list(range(n * copies, (n + 1) * copies)) for n in range(30)
    ]


def test_equally_distant_rows_are_one_cluster() -> None:
    # Rows like (2, 1, 1, 1): each two have the product 6, each alone has 7.
    vectors = unit_rows(np.eye(4) + 1)

    assert groups(linked(vectors, threshold=6 / 7 - 1e-6)) == [[0, 1, 2, 3]]
    assert groups(linked(vectors, threshold=6 / 7 + 1e-6)) == [[0], [1], [2], [3]]


def test_a_square_of_ties_pairs_by_first_member() -> None:
    # On a circle, 0-1, 1-2, 2-3 and 3-0 are equally close; no three average so much.
    angles = np.deg2rad([0.0, 90.0, 180.0, 270.0])
    lifted = np.column_stack([np.cos(angles), np.sin(angles), np.ones(4)])
    vectors = unit_rows(lifted)  # cosine of neighbours 1/2, of opposites 0

    assert groups(linked(vectors, threshold=0.4)) == [[0, 1], [2, 3]]


def test_leaders_are_the_communities_of_the_description() -> None:
    for seed in range(20):
        vectors = planted_vectors(150, seed=seed, noise=0.8, n_dimensions=8)
        neighbours = threshold_neighbours(vectors, threshold=0.7)
        product = vectors.astype(np.float64) @ vectors.astype(np.float64).T

        labels = leader_clusters(neighbours, len(vectors), threshold=0.7)

        assert groups(labels) == communities(product, 0.7)


def test_a_leader_that_was_taken_still_leads_the_rest_of_its_neighbourhood() -> None:
    # 1 has the largest neighbourhood and takes 4; 4 then keeps 5 and 6 together.
    pairs = np.array([[0, 1], [1, 2], [1, 3], [1, 4], [4, 5], [4, 6]])
    neighbours = Neighbours(pairs[:, 0], pairs[:, 1], np.full(len(pairs), 0.9))

    labels = leader_clusters(neighbours, 8, threshold=0.8)

    assert groups(labels) == [[0, 1, 2, 3, 4], [5, 6], [7]]


def test_leaders_ignore_pairs_below_their_threshold() -> None:
    neighbours = Neighbours(
        np.array([0, 1]), np.array([1, 2]), np.array([0.9, np.nextafter(0.8, 0)])
    )

    assert groups(leader_clusters(neighbours, 3, threshold=0.8)) == [[0, 1], [2]]


def test_labels_count_clusters_by_first_member() -> None:
    vectors = planted_vectors(200, seed=6)

    average = linked(vectors, threshold=0.8)
    leader = leader_clusters(
        threshold_neighbours(vectors, threshold=0.8), 200, threshold=0.8
    )

    for labels in (average, leader):
        _, first = np.unique(labels, return_index=True)
        assert np.all(np.diff(first) > 0)
        assert labels[0] == 0


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows_are_clusters_of_their_own(n: int) -> None:
    vectors = planted_vectors(n, seed=0)

    assert linked(vectors, threshold=0.8).tolist() == list(range(n))
    nothing = threshold_neighbours(vectors, threshold=0.8)
    assert leader_clusters(nothing, n, threshold=0.8).tolist() == list(range(n))


def test_pairs_below_the_cut_are_refused() -> None:
    vectors = planted_vectors(50, seed=7)
    wide = threshold_neighbours(vectors, threshold=0.5)

    with pytest.raises(InvalidInputError, match=r"below the threshold 0\.9"):
        average_linkage_clusters(wide, vectors, threshold=0.9)


def test_a_pair_of_a_row_that_is_not_there_is_named() -> None:
    neighbours = Neighbours(np.array([0, 1]), np.array([1, 9]), np.array([0.9, 0.9]))

    with pytest.raises(InvalidInputError, match=r"1 of 2 pairs .* first at index 1: 9"):
        leader_clusters(neighbours, 3, threshold=0.8)
    with pytest.raises(InvalidInputError, match=r"1 of 2 pairs .* first at index 1: 9"):
        average_linkage_clusters(neighbours, planted_vectors(3, seed=0), threshold=0.8)
