import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import (
    ClusterSums,
    Membership,
    cluster_sums,
    clustered_p_value,
    clustered_standard_error,
    clustered_t_interval,
    clustered_wilson_interval,
    design_effect,
    effective_items,
    mean,
    standard_error,
    t_quantile,
)
from skillmap.metrics.intervals import Floats, wilson_interval

values_and_clusters = st.lists(
    st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 1.0]), st.integers(0, 5)),
    min_size=2,
    max_size=40,
)


def of_one_group(values: list[float], clusters: list[int]) -> ClusterSums:
    n = len(values)
    group = Membership(np.zeros(n, np.int64), np.arange(n), 1, n)
    return cluster_sums(
        group, np.array(values)[:, np.newaxis], np.array(clusters, dtype=np.int64)
    )


def of_rows(rows: list[tuple[float, int]]) -> ClusterSums:
    return of_one_group([value for value, _ in rows], [cluster for _, cluster in rows])


def number(values: Floats) -> float:
    return float(values.ravel()[0])


def test_one_item_a_cluster_gives_the_textbook_standard_error() -> None:
    scores = [1.0] * 17 + [0.0] * 3

    sums = of_one_group(scores, list(range(20)))

    expected = np.std(scores, ddof=1) / np.sqrt(20)
    assert number(standard_error(sums)) == pytest.approx(expected)
    assert number(clustered_standard_error(sums)) == pytest.approx(expected)
    assert number(design_effect(sums)) == pytest.approx(1)


def test_items_asked_k_times_count_once() -> None:
    """Copies change nothing: as wide as the originals, but for what n - 1 does."""
    originals = of_one_group([1.0, 0.0, 0.0, 1.0, 1.0], [0, 1, 2, 3, 4])

    copies = of_one_group([1.0, 0.0, 0.0, 1.0, 1.0] * 3, [0, 1, 2, 3, 4] * 3)

    assert number(clustered_standard_error(copies)) == pytest.approx(
        number(standard_error(originals))
    )
    # n / (SE clustered / SE)²: 5 but for n - 1 in one and C - 1 in the other.
    assert number(effective_items(copies)) == pytest.approx(5 * (4 / 5) / (14 / 15))


@given(values_and_clusters)
def test_the_clustered_error_is_the_sum_over_clusters(
    rows: list[tuple[float, int]],
) -> None:
    values = np.array([value for value, _ in rows])
    clusters = np.array([cluster for _, cluster in rows])
    n, used = values.size, np.unique(clusters)
    residuals = [(values[clusters == c] - values.mean()).sum() for c in used]

    found = number(clustered_standard_error(of_rows(rows)))

    if used.size == 1:
        assert np.isnan(found)
    else:
        squares = used.size / (used.size - 1) * np.square(residuals).sum()
        assert found == pytest.approx(np.sqrt(squares) / n, abs=1e-7)


@given(values_and_clusters, values_and_clusters)
def test_sums_of_sets_without_a_common_cluster_add_up(
    first: list[tuple[float, int]], second: list[tuple[float, int]]
) -> None:
    moved = [(value, cluster + 10) for value, cluster in second]

    parts = [of_rows(rows) for rows in (first, moved)]
    whole = of_rows(first + moved)

    for together, apart in zip(whole, parts[0].plus(parts[1]), strict=True):
        assert together == pytest.approx(apart)


def test_the_t_interval_and_test_agree_with_scipy_on_cluster_means() -> None:
    """Equal clusters: a t test of their means is the clustered one."""
    means = np.array([0.3, -0.1, 0.2, 0.4, 0.1])
    sums = of_one_group(list(np.repeat(means, 4)), list(np.repeat(range(5), 4)))
    error = means.std(ddof=1) / np.sqrt(5)

    low, high = clustered_t_interval(sums)
    p = clustered_p_value(sums)

    half = student.ppf(0.975, 4) * error
    assert (number(low), number(high)) == pytest.approx((0.18 - half, 0.18 + half))
    assert number(p) == pytest.approx(2 * student.sf(0.18 / error, 4))


def test_a_handful_of_equal_differences_is_no_certainty() -> None:
    sums = of_one_group([1.0, 1.0, 1.0], [0, 1, 2])

    assert number(clustered_p_value(sums)) == 0.25


def test_no_difference_at_all_has_a_p_of_1() -> None:
    sums = of_one_group([0.0, 0.0, 0.0], [0, 1, 2])

    assert number(clustered_p_value(sums)) == 1


def test_a_single_cluster_tells_nothing_of_others() -> None:
    sums = of_one_group([1.0, 0.0, 1.0], [0, 0, 0])

    low, high = clustered_wilson_interval(sums)

    assert np.isnan(number(clustered_p_value(sums)))
    assert np.isnan(number(clustered_standard_error(sums)))
    assert (number(low), number(high)) == (0, 1)


def test_an_empty_group_has_no_mean_and_no_interval() -> None:
    empty = Membership(np.array([0]), np.array([0]), 2, 1)

    sums = cluster_sums(empty, np.ones((1, 1)), np.array([0]))

    assert np.isnan(mean(sums)[1, 0])
    assert np.isnan(clustered_wilson_interval(sums).low[1, 0])


def test_scores_that_are_missing_do_not_count() -> None:
    with_missing = of_one_group([1.0, np.nan, 0.0], [0, 1, 2])
    without = of_one_group([1.0, 0.0], [0, 2])

    for found, expected in zip(with_missing, without, strict=True):
        assert found == pytest.approx(expected)


def test_the_wilson_interval_is_the_plain_one_without_clusters() -> None:
    sums = of_one_group([1.0] * 17 + [0.0] * 3, list(range(20)))

    low, high = clustered_wilson_interval(sums)

    plain = wilson_interval(np.array([17.0]), np.array([20.0]))
    assert (number(low), number(high)) == pytest.approx((plain.low[0], plain.high[0]))


def test_clusters_widen_the_wilson_interval() -> None:
    scores = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    alone = of_one_group(scores, list(range(8)))
    paired = of_one_group(scores, [0, 0, 1, 1, 2, 2, 3, 3])

    widths = [
        number(high - low)
        for low, high in map(clustered_wilson_interval, (alone, paired))
    ]

    assert widths[1] > widths[0]


def test_t_quantiles_agree_with_scipy() -> None:
    found = t_quantile(np.array([[2.0, 30.0], [1.0, 30.0]]))

    assert found[0] == pytest.approx(student.ppf(0.975, [1, 29]))
    assert found[1, 0] == np.inf


def test_the_error_names_the_numbers_of_items() -> None:
    group = Membership(np.array([0]), np.array([0]), 1, 3)

    with pytest.raises(InvalidInputError, match="got 3, 2 and 3"):
        cluster_sums(group, np.ones((2, 1)), np.zeros(3, np.int64))


def test_a_level_outside_of_its_range_is_refused() -> None:
    sums = of_one_group([1.0, 0.0], [0, 1])

    with pytest.raises(InvalidInputError, match=r"got 1\.5"):
        clustered_t_interval(sums, confidence_level=1.5)
