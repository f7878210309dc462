from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import (
    Floats,
    Interval,
    part_to_whole_interval,
    wilson_interval,
)

counts = st.integers(1, 5_000).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n))
)
parts = st.tuples(st.integers(1, 200), st.integers(0, 200)).flatmap(
    lambda n: st.tuples(
        st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1])
    )
)


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def wilson(n_correct: float, n_items: float, **rest: float) -> tuple[float, float]:
    low, high = wilson_interval(floats(n_correct), floats(n_items), **rest)
    return float(low[0]), float(high[0])


def part_and_rest(
    part_correct: float, part_items: float, rest_correct: float, rest_items: float
) -> tuple[float, float]:
    low, high = part_to_whole_interval(
        (floats(part_correct), floats(part_items)),
        (floats(part_correct + rest_correct), floats(part_items + rest_items)),
    )
    return float(low[0]), float(high[0])


@pytest.mark.parametrize(
    ("n_correct", "n_items", "low", "high"),
    [
        (0, 10, 0, 0.2775),
        (10, 10, 0.7225, 1),
        (17, 20, 0.6396, 0.9476),
        (850, 1000, 0.8265, 0.8708),
        (1, 1, 0.2065, 1),
        # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_known_wilson_intervals(
    n_correct: int, n_items: int, low: float, high: float
) -> None:
    assert wilson(n_correct, n_items) == pytest.approx((low, high), abs=5e-5)


@settings(deadline=None)
@given(counts, st.floats(0.5, 0.999))
def test_agrees_with_scipy(count: tuple[int, int], level: float) -> None:
    expected = binomtest(*count).proportion_ci(level, method="wilson")

    found = wilson(*count, confidence_level=level)

    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(counts)
def test_swapping_right_and_wrong_mirrors_the_interval(count: tuple[int, int]) -> None:
    n_correct, n_items = count

    low, high = wilson(n_correct, n_items)

    assert wilson(n_items - n_correct, n_items) == pytest.approx((1 - high, 1 - low))


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_the_accuracy_is_within_its_interval_for_graded_scores(
    n_items: int, accuracy: float
) -> None:
    low, high = wilson(accuracy * n_items, n_items)

    assert 0 <= low <= accuracy * n_items / n_items <= high <= 1


@given(counts)
def test_more_items_of_the_same_accuracy_narrow_the_interval(
    count: tuple[int, int],
) -> None:
    low, high = wilson(*count)
    low_twice, high_twice = wilson(2 * count[0], 2 * count[1])

    assert high_twice - low_twice < high - low


def test_an_all_wrong_slice_still_has_width() -> None:
    low, high = wilson(0, 10)

    assert low == 0
    assert high == pytest.approx(3.8415 / (10 + 3.8415), abs=1e-4)  # z²/(n + z²)


def test_an_empty_group_has_no_accuracy() -> None:
    assert np.isnan(wilson(0, 0)).all()


def test_no_groups_have_no_intervals() -> None:
    low, high = wilson_interval(floats(), floats())

    assert low.shape == high.shape == (0,)


def test_the_error_names_the_first_bad_group() -> None:
    with pytest.raises(
        InvalidInputError, match=r"2 of 3 groups .*index 1: n_correct=6, n_items=5"
    ):
        wilson_interval(floats(1, 6, -1), floats(5, 5, 5))


def test_nan_is_no_sum_of_scores() -> None:
    with pytest.raises(InvalidInputError, match="index 0"):
        wilson_interval(floats(np.nan), floats(5))


def test_shapes_that_differ_are_told() -> None:
    with pytest.raises(InvalidInputError, match=r"\(1,\) and \(2,\)"):
        wilson_interval(floats(1), floats(5, 5))


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -0.5, float("nan")])
def test_a_level_is_between_0_and_1(level: float) -> None:
    with pytest.raises(InvalidInputError, match=f"got {level}"):
        wilson(1, 5, confidence_level=level)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_wilson_holds_the_truth_nearly_as_often_as_it_says(p: float) -> None:
    n = 60
    right = np.arange(n + 1)
    low, high = wilson_interval(right.astype(float), np.full(n + 1, float(n)))

    coverage = binom.pmf(right, n, p)[(low <= p) & (p <= high)].sum()

    assert 0.92 < coverage < 0.98


def test_the_whole_does_not_differ_from_itself() -> None:
    assert part_and_rest(7, 10, 0, 0) == (0, 0)


def test_an_empty_part_has_no_difference() -> None:
    assert np.isnan(part_and_rest(0, 0, 7, 10)).all()


@settings(deadline=None)
@given(parts)
def test_the_difference_is_within_its_interval(part: tuple[int, int, int, int]) -> None:
    part_correct, part_items, rest_correct, rest_items = part
    total = (part_correct + rest_correct) / (part_items + rest_items)

    low, high = part_and_rest(*part)

    assert -1 <= low <= part_correct / part_items - total + 1e-12
    assert part_correct / part_items - total - 1e-12 <= high <= 1


@settings(deadline=None)
@given(parts)
def test_swapping_right_and_wrong_mirrors_the_difference(
    part: tuple[int, int, int, int],
) -> None:
    a, n, b, m = part

    low, high = part_and_rest(a, n, b, m)

    assert part_and_rest(n - a, n, m - b, m) == pytest.approx((-high, -low), abs=1e-12)


@settings(deadline=None)
@given(parts.filter(lambda part: part[3] > 0))
def test_part_and_rest_differ_from_the_whole_in_opposite_ways(
    part: tuple[int, int, int, int],
) -> None:
    """n · (part - whole) = -m · (rest - whole), and so do the bounds."""
    a, n, b, m = part

    low, high = part_and_rest(a, n, b, m)
    rest_low, rest_high = part_and_rest(b, m, a, n)

    assert (n * low, n * high) == pytest.approx((-m * rest_high, -m * rest_low))


@pytest.mark.parametrize(
    ("counts_of_both", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10.
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((10, 10, 0, 10), 0.6075, 1.0),
        ((10, 10, 0, 20), 0.6791, 1.0),
    ],
)
def test_it_is_the_published_interval_of_part_and_rest_shrunk(
    counts_of_both: tuple[int, int, int, int], low: float, high: float
) -> None:
    _, n, _, m = counts_of_both
    share = m / (n + m)

    found = part_and_rest(*counts_of_both)

    assert found == pytest.approx((share * low, share * high), abs=5e-5)


def test_rounding_in_sums_of_graded_scores_is_no_error() -> None:
    scores = np.full(10, 0.1)

    low, high = part_to_whole_interval(
        (floats(scores.sum()), floats(10)), (floats(1.0 - 1e-12), floats(12))
    )

    assert np.isfinite([low[0], high[0]]).all()


@pytest.mark.parametrize(
    ("n_part", "n_rest", "p", "q"),
    [
        (n, m, p, q)
        for (n, m), (p, q) in product([(20, 200), (60, 60)], [(0.5, 0.8), (0.95, 0.9)])
    ],
)
def test_the_true_difference_is_covered_nearly_as_often_as_it_says(
    n_part: int, n_rest: int, p: float, q: float
) -> None:
    """Exact coverage, by summing over every outcome of both."""
    right = np.arange(n_part + 1.0)[:, None], np.arange(n_rest + 1.0)[None, :]
    part, rest = (grid.ravel() for grid in np.broadcast_arrays(*right))
    chance = binom.pmf(part, n_part, p) * binom.pmf(rest, n_rest, q)
    n_whole = n_part + n_rest
    truth = (p - q) * n_rest / n_whole

    interval: Interval = part_to_whole_interval(
        (part, np.full_like(part, n_part)),
        (part + rest, np.full_like(part, n_whole)),
    )

    covered = (interval.low <= truth) & (truth <= interval.high)
    assert 0.92 < chance[covered].sum() < 0.98
