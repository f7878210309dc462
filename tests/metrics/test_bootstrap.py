import numpy as np
import pytest
from scipy.stats import norm, poisson

from skillmap.errors import InvalidInputError
from skillmap.metrics.bootstrap import (
    Bootstrap,
    accuracy_spread,
    difference_spread,
    paired_bootstrap,
    poisson_weights,
    simultaneous,
)
from skillmap.metrics.clustered import (
    Membership,
    cluster_sums,
    clustered_standard_error,
)


def two_slices(n_items: int) -> Membership:
    """All items, and the first half of them."""
    group = np.repeat([0, 1], [n_items, n_items // 2])
    item = np.append(np.arange(n_items), np.arange(n_items // 2))
    return Membership(group, item, 2, n_items)


def drawn_scores(n_items: int, n_models: int, *, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    difficulty = random.random((n_items, 1))
    return (random.random((n_items, n_models)) + difficulty < 1.2).astype(np.float64)


def test_weights_are_draws_of_poisson_with_mean_1() -> None:
    weights = poisson_weights(2000, 128, seed=1)

    share = np.bincount(weights.ravel(), minlength=9)[:9] / weights.size
    assert weights.dtype == np.uint8
    assert share == pytest.approx(poisson(1).pmf(np.arange(9)), abs=2e-3)
    assert weights.mean() == pytest.approx(1, abs=0.01)


def test_standard_errors_agree_with_the_closed_form_under_clusters() -> None:
    scores = np.repeat(drawn_scores(300, 3), 2, axis=0)
    clusters = np.repeat(np.arange(300), 2)
    member = two_slices(600)

    bootstrap = paired_bootstrap(member, scores, clusters, n_replicates=4000)

    accuracies = accuracy_spread(bootstrap).standard_error
    differences = difference_spread(bootstrap, np.array([0, 1]), np.array([1, 2]))
    expected = clustered_standard_error(cluster_sums(member, scores, clusters))
    steps = scores[:, :2] - scores[:, 1:]
    of_steps = clustered_standard_error(cluster_sums(member, steps, clusters))
    # The error of a standard deviation of 4000 draws is 1.1 %.
    assert accuracies == pytest.approx(expected, rel=0.05)
    assert differences.standard_error == pytest.approx(of_steps, rel=0.05)


def test_percentile_intervals_agree_with_normal_ones_for_many_items() -> None:
    scores = drawn_scores(2000, 2)
    bootstrap = paired_bootstrap(
        two_slices(2000), scores, np.arange(2000), n_replicates=4000
    )

    spread = accuracy_spread(bootstrap)

    half = norm.ppf(0.975) * spread.standard_error
    assert spread.low == pytest.approx(bootstrap.accuracy - half, abs=1e-3)
    assert spread.high == pytest.approx(bootstrap.accuracy + half, abs=1e-3)


def test_equal_seeds_give_equal_replicates_and_fewer_are_the_first_of_more() -> None:
    scores, member, clusters = drawn_scores(50, 2), two_slices(50), np.arange(50)

    more = paired_bootstrap(member, scores, clusters, n_replicates=300, seed=7)
    again = paired_bootstrap(member, scores, clusters, n_replicates=200, seed=7)
    other = paired_bootstrap(member, scores, clusters, n_replicates=200, seed=8)

    assert np.array_equal(more.replicates[..., :200], again.replicates)
    assert not np.array_equal(again.replicates, other.replicates)


def test_a_slice_that_is_not_drawn_is_left_out_of_the_replicate() -> None:
    member = Membership(np.array([0, 0, 1]), np.array([0, 1, 2]), 3, 3)
    scores = np.array([[1.0], [0.0], [1.0]])

    bootstrap = paired_bootstrap(member, scores, np.arange(3), n_replicates=500)
    spread = accuracy_spread(bootstrap)

    undrawn = np.isnan(bootstrap.replicates[1, 0]).mean()
    assert undrawn == pytest.approx(np.exp(-1), abs=0.06)
    assert (spread.low[1, 0], spread.high[1, 0]) == (1, 1)
    assert np.isnan(bootstrap.accuracy[2, 0])


def test_equal_models_differ_by_nothing_in_any_replicate() -> None:
    scores = np.repeat(drawn_scores(40, 1), 2, axis=1)
    bootstrap = paired_bootstrap(two_slices(40), scores, np.arange(40))

    spread = difference_spread(bootstrap, np.array([0]), np.array([1]))

    assert not any(part.any() for part in spread)


def test_simultaneous_critical_values_are_those_of_the_largest_of_normals() -> None:
    random = np.random.default_rng(0)
    noise = random.standard_normal((20, 20_000))

    found = simultaneous(np.zeros(20), noise)

    # Sidak: the largest of 20 independent |z| is below 3.0 nineteen times in twenty.
    expected = norm.ppf(0.5 + 0.95 ** (1 / 20) / 2)
    assert found.critical_value == pytest.approx(expected, abs=0.05)
    assert (found.p_values == 1).all()


def test_an_effect_beyond_all_deviations_has_the_least_p() -> None:
    replicates = 1 + np.random.default_rng(0).normal(0, 0.1, (1, 99))

    found = simultaneous(np.array([1.0]), replicates)

    assert found.p_values[0] == pytest.approx(1 / 100)
    assert found.interval.low[0] > 0.5


def test_replicates_without_any_spread_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="none varies"):
        simultaneous(np.zeros(2), np.zeros((2, 10)))


def test_missing_scores_and_wrong_shapes_are_refused() -> None:
    member, clusters = two_slices(4), np.arange(4)
    missing = np.array([[1.0], [np.nan], [0.0], [1.0]])

    with pytest.raises(InvalidInputError, match="first at item 1, model 0"):
        paired_bootstrap(member, missing, clusters)
    with pytest.raises(InvalidInputError, match="got 4, 3 and 4"):
        paired_bootstrap(member, missing[:3], clusters)
    with pytest.raises(InvalidInputError, match="got 0"):
        paired_bootstrap(member, np.ones((4, 1)), clusters, n_replicates=0)
    with pytest.raises(InvalidInputError, match="got 2"):
        accuracy_spread(
            Bootstrap(np.zeros((1, 1)), np.zeros((1, 1, 2), np.float32)),
            confidence_level=2,
        )


def test_a_single_replicate_has_no_spread() -> None:
    bootstrap = paired_bootstrap(
        two_slices(4), np.ones((4, 1)), np.arange(4), n_replicates=1
    )

    assert np.isnan(accuracy_spread(bootstrap).standard_error).all()
