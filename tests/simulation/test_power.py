import numpy as np
import pytest

from skillmap.errors import InvalidInputError
from skillmap.metrics.power import discordance_variance, required_items
from skillmap.simulation.power import simulated_power


@pytest.mark.parametrize(("difference", "discordance"), [(0.05, 0.25), (0.1, 0.3)])
def test_the_items_required_find_the_difference_four_times_in_five(
    difference: float, discordance: float
) -> None:
    n = required_items(
        np.array([difference]), variance=discordance_variance(discordance, difference)
    )

    found = simulated_power(n, difference=difference, discordance=discordance)

    # The exact test is a little short of the normal one.
    assert found[0] == pytest.approx(0.78, abs=0.04)


def test_no_difference_is_found_no_more_often_than_allowed() -> None:
    found = simulated_power(np.array([20.0, 200.0]), difference=0, discordance=0.3)

    assert (found <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)).all()


def test_more_items_find_more_and_corrections_less() -> None:
    sizes = np.array([0.0, 50.0, 200.0, 800.0])

    plain = simulated_power(sizes, difference=0.1, discordance=0.3)
    strict = simulated_power(sizes, difference=0.1, discordance=0.3, n_tests=400)

    assert plain[0] == 0
    assert (np.diff(plain) > 0).all()
    assert (strict <= plain).all()


def test_models_that_never_differ_are_never_told_apart() -> None:
    assert simulated_power(np.array([100.0]), difference=0, discordance=0)[0] == 0


def test_impossible_differences_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"difference=0\.4, discordance=0\.3"):
        simulated_power(np.array([10.0]), difference=0.4, discordance=0.3)
