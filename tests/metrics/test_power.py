import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from skillmap.errors import InvalidInputError
from skillmap.metrics.power import (
    correlation_variance,
    discordance_variance,
    minimum_detectable_difference,
    required_items,
)


def test_the_published_example_needs_969_items() -> None:
    """Miller (2024), arXiv 2411.00640: variance 1/9, 3 points, 80 % power."""
    found = required_items(np.array([0.03]), variance=1 / 9, power=0.8)

    assert found[0] == 969


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_the_items_required_can_just_detect_the_difference(
    difference: float, variance: float
) -> None:
    n = required_items(np.array([difference]), variance=variance)

    least = minimum_detectable_difference(np.sqrt(variance / n))
    at_one_less = minimum_detectable_difference(
        np.sqrt(variance / np.maximum(n - 1, 0.5))
    )
    assert least[0] <= difference * (1 + 1e-6)
    assert n[0] == 1 or at_one_less[0] > difference * (1 - 1e-6)


def test_a_difference_that_large_is_found_four_times_in_five() -> None:
    least = float(minimum_detectable_difference(np.array([1.0]))[0])

    found = norm.sf(1.959964 - least) + norm.cdf(-1.959964 - least)
    assert found == pytest.approx(0.8, abs=1e-4)


def test_both_ways_to_say_how_alike_models_are_agree() -> None:
    """Two models of .7 with 26 % discordant: covariance .7 - .13 - .49 = .08."""
    by_correlation = correlation_variance(0.7, 0.7, 0.08 / 0.21)

    assert by_correlation == pytest.approx(discordance_variance(0.26))


def test_clusters_repetitions_and_corrections_cost_items() -> None:
    plain = required_items(np.array([0.05]), variance=0.25)

    clustered = required_items(np.array([0.05]), variance=0.25, design_effect=2)
    corrected = required_items(np.array([0.05]), variance=0.25, n_tests=100)
    sampled = required_items(np.array([0.05]), variance=0.25, sampling_variance=0.25)

    assert clustered[0] == sampled[0] == pytest.approx(2 * plain[0], abs=1)
    assert corrected[0] > 2 * plain[0]


@pytest.mark.parametrize(
    ("difference", "rest", "message"),
    [
        (0.0, {}, "first 0.0"),
        (0.1, {"variance": -1.0}, "variance=-1.0"),
        (0.1, {"power": 1.0}, "0.05 and 1.0"),
        (0.1, {"n_tests": 0}, "n_tests=0"),
    ],
)
def test_arguments_out_of_range_are_named(
    difference: float, rest: dict[str, float], message: str
) -> None:
    arguments = {"variance": 0.25, **rest}

    with pytest.raises(InvalidInputError, match=message):
        required_items(np.array([difference]), **arguments)


def test_impossible_pairs_of_models_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"discordance=0\.1"):
        discordance_variance(0.1, 0.2)
    with pytest.raises(InvalidInputError, match=r"2\.0"):
        correlation_variance(0.5, 0.5, 2.0)
