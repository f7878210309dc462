import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.errors import InvalidInputError
from skillmap.metrics.shrinkage import Method, between_variance, shrunk_effects

# Trials of BCG vaccine, Colditz et al. (1994), JAMA 271, 698-702: cases and healthy
# among the vaccinated, then among the others.
BCG = np.array(
    [
        *((4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209)),
        *((62, 13536, 248, 12619), (33, 5036, 47, 5761), (180, 1361, 372, 1079)),
        *((8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232)),
        *((17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338)),
        (27, 16886, 29, 17825),
    ],
    dtype=np.float64,
)
CASES, TOTALS = BCG[:, [0, 2]], BCG[:, [0, 2]] + BCG[:, [1, 3]]
LOG_RISK_RATIO = np.log(CASES[:, 0] / TOTALS[:, 0]) - np.log(CASES[:, 1] / TOTALS[:, 1])
ERRORS = np.sqrt((1 / CASES - 1 / TOTALS).sum(axis=1))


@pytest.mark.parametrize(
    ("method", "variance", "average"),
    # As R's metafor 4 gives for these data.
    [("dersimonian-laird", 0.3088, -0.7141), ("paule-mandel", 0.3181, -0.7150)],
)
def test_the_vaccine_trials_have_the_published_spread(
    method: Method, variance: float, average: float
) -> None:
    shrunk = shrunk_effects(LOG_RISK_RATIO, ERRORS, method=method)

    assert float(shrunk.family_variance) == pytest.approx(variance, abs=5e-5)
    assert float(shrunk.family_mean) == pytest.approx(average, abs=5e-4)


def test_paule_and_mandel_make_the_estimates_as_scattered_as_expected() -> None:
    variance = between_variance(LOG_RISK_RATIO, ERRORS)

    weights = 1 / (ERRORS**2 + variance)
    average = (weights * LOG_RISK_RATIO).sum() / weights.sum()
    assert (weights * (LOG_RISK_RATIO - average) ** 2).sum() == pytest.approx(12)


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 0.5)), min_size=1, max_size=20)
)
def test_shrunk_effects_lie_between_the_estimate_and_the_mean(
    rows: list[tuple[float, float]],
) -> None:
    effects, errors = np.array(rows).T

    shrunk = shrunk_effects(effects, errors)

    mean = float(shrunk.family_mean)
    assert (shrunk.effect >= np.minimum(effects, mean) - 1e-9).all()
    assert (shrunk.effect <= np.maximum(effects, mean) + 1e-9).all()
    assert (shrunk.standard_deviation > 0).all()


def test_families_are_columns_and_do_not_touch_each_other() -> None:
    effects = np.array([[0.1, 0.5], [0.3, 0.5], [-0.2, np.nan]])
    errors = np.full((3, 2), 0.1)

    both = shrunk_effects(effects, errors)
    first = shrunk_effects(effects[:, 0], errors[:, 0])

    assert both.effect[:, 0] == pytest.approx(first.effect)
    assert both.effect[:2, 1] == pytest.approx([0.5, 0.5])
    assert np.isnan(both.effect[2, 1])


def test_an_only_effect_keeps_its_value_and_its_error() -> None:
    shrunk = shrunk_effects(np.array([0.2]), np.array([0.1]))

    assert float(shrunk.effect[0]) == pytest.approx(0.2)
    assert float(shrunk.standard_deviation[0]) == pytest.approx(0.1)


def test_a_family_of_nothing_has_no_mean() -> None:
    shrunk = shrunk_effects(np.array([np.nan]), np.array([np.nan]))

    assert np.isnan(shrunk.family_mean)


def test_shrinking_brings_estimates_nearer_to_the_truth() -> None:
    random = np.random.default_rng(0)
    truth = random.normal(0.05, 0.03, (100, 50))
    errors = random.uniform(0.02, 0.08, (100, 50))
    effects = random.normal(truth, errors)

    shrunk = shrunk_effects(effects, errors)

    raw = np.square(effects - truth).mean()
    assert np.square(shrunk.effect - truth).mean() < 0.5 * raw
    covered = np.abs(shrunk.effect - truth) < 1.96 * shrunk.standard_deviation
    # A little below .95: that the spread is estimated is not counted.
    assert 0.92 < covered.mean() < 0.96


def test_errors_name_the_first_bad_one() -> None:
    with pytest.raises(InvalidInputError, match=r"index 1: 0\.0"):
        between_variance(np.array([0.1, 0.2]), np.array([0.1, 0.0]))
    with pytest.raises(InvalidInputError, match=r"\(2,\) and \(1,\)"):
        between_variance(np.zeros(2), np.ones(1))
