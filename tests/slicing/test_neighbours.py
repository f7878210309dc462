import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.slicing.neighbours import paired_dots, threshold_neighbours
from tests.slicing.planted import planted_vectors, unit_rows


def all_pairs(
    vectors: NDArray[np.float32], threshold: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Brute force: the full product, in fp64."""
    product = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    rows, columns = np.nonzero(np.triu(product >= threshold, k=1))
    return rows, columns


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("n_components", [1, 5, 24, 64])
def test_finds_the_pairs_of_the_full_product(
    threshold: float, n_components: int
) -> None:
    vectors = planted_vectors(700, seed=1, noise=0.3)
    rows, columns = all_pairs(vectors, threshold)

    found = threshold_neighbours(
        vectors, threshold=threshold, n_components=n_components, block_rows=128
    )

    assert len(rows) > 10
    assert found.rows.tolist() == rows.tolist()
    assert found.columns.tolist() == columns.tolist()


@given(
    n=st.integers(0, 40),
    n_dimensions=st.integers(1, 8),
    threshold=st.floats(0.05, 0.99),
    block_rows=st.integers(1, 50),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_pair_is_missing_or_extra(
    n: int, n_dimensions: int, threshold: float, block_rows: int, seed: int
) -> None:
    vectors = planted_vectors(n, seed=seed, n_dimensions=n_dimensions, n_crowds=3)
    rows, columns = all_pairs(vectors, threshold)

    found = threshold_neighbours(
        vectors, threshold=threshold, n_components=3, block_rows=block_rows
    )

    assert found.rows.tolist() == rows.tolist()
    assert found.columns.tolist() == columns.tolist()


@pytest.mark.parametrize("block_rows", [1, 7, 64, 10_000])
@pytest.mark.parametrize("n_components", [2, 24])
def test_blocks_and_components_do_not_change_a_bit(
    block_rows: int, n_components: int
) -> None:
    vectors = planted_vectors(200, seed=2)
    expected = threshold_neighbours(vectors, threshold=0.7)

    found = threshold_neighbours(
        vectors, threshold=0.7, n_components=n_components, block_rows=block_rows
    )

    for part, expected_part in zip(found, expected, strict=True):
        assert part.tobytes() == expected_part.tobytes()


@pytest.mark.parametrize("threshold", [0.4, 0.8])
def test_the_components_of_its_own_choice_find_the_same_pairs(threshold: float) -> None:
    vectors = planted_vectors(2_100, seed=3, noise=0.3)
    expected = threshold_neighbours(vectors, threshold=threshold, n_components=24)

    found = threshold_neighbours(vectors, threshold=threshold)

    assert len(expected.rows) > 100
    for part, expected_part in zip(found, expected, strict=True):
        assert part.tobytes() == expected_part.tobytes()


def test_a_pair_at_the_threshold_is_in() -> None:
    vectors = unit_rows(np.array([[1.0, 0.0], [0.6, 0.8]]))
    cosine = float(paired_dots(vectors[:1].astype(float), vectors[1:].astype(float))[0])

    at = threshold_neighbours(vectors, threshold=cosine)
    above = threshold_neighbours(vectors, threshold=np.nextafter(cosine, 1))

    assert at.similarity.tolist() == [cosine]
    assert len(above.rows) == 0


def test_equal_vectors_are_neighbours_of_each_other() -> None:
    vectors = np.repeat(planted_vectors(1, seed=0), 4, axis=0)

    found = threshold_neighbours(vectors, threshold=0.999)

    pairs = list(zip(found.rows.tolist(), found.columns.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert found.similarity == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_rows_have_no_pairs(n: int) -> None:
    found = threshold_neighbours(planted_vectors(n, seed=0), threshold=0.8)

    assert [len(part) for part in found] == [0, 0, 0]


def test_a_dot_product_is_symmetric_and_the_same_in_any_company() -> None:
    left = planted_vectors(500, seed=3, n_dimensions=384).astype(np.float64)
    right = left[::-1].copy()
    expected = paired_dots(left, right)

    swapped = paired_dots(right, left)
    alone = [paired_dots(left[n : n + 1], right[n : n + 1])[0] for n in range(500)]
    against_one = paired_dots(left, right[:1])

    assert swapped.tobytes() == expected.tobytes()
    assert np.array(alone).tobytes() == expected.tobytes()
    assert against_one[0] == expected[0]
    assert expected == pytest.approx(np.sum(left * right, axis=1), abs=1e-12)


@pytest.mark.parametrize("value", [2.0, 0.0, np.nan])
def test_a_row_that_is_not_of_length_one_is_named(value: float) -> None:
    vectors = planted_vectors(5, seed=0)
    vectors[3] *= value

    with pytest.raises(InvalidInputError, match=r"1 of 5 rows .* first at index 3"):
        threshold_neighbours(vectors, threshold=0.8)


@pytest.mark.parametrize("threshold", [0.0, -0.5, 1.01, np.nan])
def test_a_threshold_that_is_no_cosine_above_zero_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidInputError, match=r"threshold must be in \(0, 1\]"):
        threshold_neighbours(planted_vectors(2, seed=0), threshold=threshold)


def test_vectors_that_are_no_table_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"got \(3,\)"):
        threshold_neighbours(np.ones(3, np.float32), threshold=0.8)


def test_no_components_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="got 0 and 2048"):
        threshold_neighbours(planted_vectors(2, seed=0), threshold=0.8, n_components=0)
