import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from skillmap.comparisons.paired import (
    mcnemar_p_values,
    newcombe_paired_interval,
    scaled_mcnemar_p_values,
)
from skillmap.errors import InvalidInputError

tables = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda counts: sum(counts) > 0)


def newcombe(both: int, only_a: int, only_b: int, neither: int) -> tuple[float, float]:
    n = both + only_a + only_b + neither
    low, high = newcombe_paired_interval(
        np.array([(both + only_a) / n]),
        np.array([(both + only_b) / n]),
        np.array([both / n]),
        np.array([float(n)]),
    )
    return float(low[0]), float(high[0])


def mcnemar(only_a: float, only_b: float, **rest: bool) -> float:
    return float(mcnemar_p_values(np.array([only_a]), np.array([only_b]), **rest)[0])


def test_the_published_interval_of_a_consolidation_therapy() -> None:
    """Cavo et al. (2012), in Fagerland, Lydersen and Laake (2017), chapter 8."""
    assert newcombe(59, 6, 16, 80) == pytest.approx((-0.1186, -0.0046), abs=5e-5)


def test_the_published_p_values_of_a_consolidation_therapy() -> None:
    assert mcnemar(6, 16) == pytest.approx(0.052479, abs=5e-7)
    assert mcnemar(6, 16, mid_p=True) == pytest.approx(0.034690, abs=5e-7)


@given(tables)
def test_the_difference_is_inside_and_swapping_models_mirrors(
    table: tuple[int, int, int, int],
) -> None:
    both, only_a, only_b, neither = table
    difference = (only_a - only_b) / sum(table)

    low, high = newcombe(both, only_a, only_b, neither)
    swapped = newcombe(both, only_b, only_a, neither)

    assert -1 <= low <= difference + 1e-12
    assert difference - 1e-12 <= high <= 1
    assert swapped == pytest.approx((-high, -low))


def test_models_that_never_differ_still_have_an_interval() -> None:
    low, high = newcombe(20, 0, 0, 0)

    assert low < -0.1
    assert high > 0.1


def test_no_items_have_no_interval() -> None:
    low, high = newcombe_paired_interval(*[np.zeros(1)] * 4)

    assert np.isnan([low[0], high[0]]).all()


@given(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), min_size=1))
def test_the_exact_p_is_that_of_the_binomial_test(
    counts: list[tuple[int, int]],
) -> None:
    only_a, only_b = np.array(counts, dtype=np.float64).T

    found = mcnemar_p_values(only_a, only_b)

    expected = [binomtest(a, a + b).pvalue if a + b else 1.0 for a, b in counts]
    assert found == pytest.approx(np.array(expected))
    assert scaled_mcnemar_p_values(only_a, only_b) == pytest.approx(found)


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_mid_p_is_below_the_exact_one_and_above_half_of_it(a: int, b: int) -> None:
    exact, middle = mcnemar(a, b), mcnemar(a, b, mid_p=True)

    assert exact / 2 - 1e-12 <= middle <= exact


def test_tables_keep_their_shape() -> None:
    assert mcnemar_p_values(np.ones((2, 3)), np.zeros((2, 3))).shape == (2, 3)
    assert mcnemar_p_values(np.array([]), np.array([])).size == 0


def test_counts_that_are_not_counts_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"index 1: 0\.5 and 2"):
        mcnemar_p_values(np.array([1.0, 0.5]), np.array([1.0, 2.0]))
    with pytest.raises(InvalidInputError, match="one shape"):
        mcnemar_p_values(np.zeros(2), np.zeros(1))
