import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from skillmap.errors import InvalidInputError
from skillmap.metrics.multiplicity import (
    benjamini_hochberg,
    benjamini_yekutieli,
    selected_interval_level,
)

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=60)

# The 15 p values of the example in Benjamini and Hochberg (1995).
THROMBOLYSIS = np.array(
    [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
        *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
    ]
)


def test_the_published_example_selects_four() -> None:
    adjusted = benjamini_hochberg(THROMBOLYSIS)

    assert (adjusted <= 0.05).sum() == 4


@given(p_lists)
def test_agrees_with_scipy(p_values: list[float]) -> None:
    p = np.array(p_values)

    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))
    assert benjamini_yekutieli(p) == pytest.approx(
        false_discovery_control(p, method="by")
    )


@given(p_lists, st.integers(1, 5))
def test_what_could_not_be_tested_is_not_one_of_the_family(
    p_values: list[float], n_missing: int
) -> None:
    p = np.array(p_values)

    with_missing = benjamini_hochberg(np.append(p, [np.nan] * n_missing))

    assert with_missing[: p.size].tolist() == benjamini_hochberg(p).tolist()
    assert np.isnan(with_missing[p.size :]).all()


@given(p_lists)
def test_adjusted_values_are_never_below_and_keep_the_order(
    p_values: list[float],
) -> None:
    p = np.array(p_values)

    adjusted = benjamini_hochberg(p)

    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_tables_keep_their_shape_and_nothing_stays_nothing() -> None:
    assert benjamini_hochberg(np.full((2, 3), 0.5)).shape == (2, 3)
    assert benjamini_yekutieli(np.array([])).size == 0


def test_intervals_of_all_are_at_the_usual_level_and_of_few_much_higher() -> None:
    assert selected_interval_level(20, 20, q=0.05) == pytest.approx(0.95)
    assert selected_interval_level(2, 1000, q=0.05) == pytest.approx(0.9999)


def test_errors_name_what_is_outside() -> None:
    with pytest.raises(InvalidInputError, match=r"first at index 1: 1\.5"):
        benjamini_hochberg(np.array([0.5, 1.5]))
    with pytest.raises(InvalidInputError, match="n_selected=0"):
        selected_interval_level(0, 10, q=0.05)
