from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.costs import (
    NOTHING_READ,
    call_costs,
    choices_within_budget,
    cost_aware_choices,
    frontier_choices,
    is_dominated,
    usual_costs,
)


def world(n_items: int, n_models: int = 3, seed: int = 0) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    expected = random.uniform(size=(n_items, n_models))
    costs = random.uniform(0.5, 1.5, (n_items, n_models)) * 4.0 ** np.arange(n_models)
    return expected, costs


def test_without_a_price_the_best_is_chosen() -> None:
    expected, costs = world(200)

    choices = cost_aware_choices(expected, costs, price_of_quality=0.0)

    assert_array_equal(choices, expected.argmax(axis=1))


def test_at_any_price_the_cheapest_is_chosen() -> None:
    expected, costs = world(200)

    choices = cost_aware_choices(expected, costs, price_of_quality=np.inf)

    assert_array_equal(choices, costs.argmin(axis=1))


def test_of_equally_cheap_models_the_better_is_chosen() -> None:
    expected, costs = np.array([[0.1, 0.9, 1.0]]), np.array([[1.0, 1.0, 2.0]])

    choices = cost_aware_choices(expected, costs, price_of_quality=np.inf)

    assert choices.tolist() == [1]


@given(st.integers(0, 50), st.floats(0, 1))
def test_a_budget_is_kept(seed: int, share: float) -> None:
    expected, costs = world(40, seed=seed)
    cheapest, dearest = costs.min(axis=1).mean(), costs.max(axis=1).mean()
    budget = cheapest + share * (dearest - cheapest)

    found = choices_within_budget(expected, costs, budget=budget)

    assert found.mean_cost <= budget * (1 + 1e-9)
    assert found.mean_cost == costs[np.arange(40), found.choices].mean()


@pytest.mark.parametrize("seed", range(5))
def test_no_other_choices_are_better_for_as_much(seed: int) -> None:
    expected, costs = world(6, seed=seed)
    budget = float(costs.mean())
    at = np.arange(6)

    found = choices_within_budget(expected, costs, budget=budget)

    best = max(
        expected[at, list(choices)].mean()
        for choices in product(range(3), repeat=6)
        if costs[at, list(choices)].mean() <= found.mean_cost + 1e-12
    )
    assert expected[at, found.choices].mean() == pytest.approx(best)


def test_a_large_budget_buys_the_best() -> None:
    expected, costs = world(40)

    found = choices_within_budget(expected, costs, budget=1e9)

    assert found.price_of_quality == 0
    assert_array_equal(found.choices, expected.argmax(axis=1))


def test_a_budget_below_the_cheapest_is_refused() -> None:
    expected, costs = np.array([[0.1, 0.2]]), np.array([[2.0, 3.0]])

    with pytest.raises(InvalidInputError, match="2 an item, got 1"):
        choices_within_budget(expected, costs, budget=1.0)


def test_no_items_cost_nothing() -> None:
    nothing = np.zeros((0, 2))

    assert choices_within_budget(nothing, nothing, budget=0.0).mean_cost == 0


def test_the_sweep_runs_from_the_best_to_the_cheapest() -> None:
    expected, costs = world(400)

    found = frontier_choices(expected, costs, n_prices=9)

    assert len(found) == 9
    assert_array_equal(found[0].choices, expected.argmax(axis=1))
    assert_array_equal(found[-1].choices, costs.argmin(axis=1))
    spent = np.array([point.mean_cost for point in found])
    assert (np.diff(spent) <= 0).all()
    # What was expected is what was got, so no point is worse than another.
    got = np.array([expected[np.arange(400), point.choices].mean() for point in found])
    _, first = np.unique(spent, return_index=True)
    assert not is_dominated(spent[first], got[first]).any()


def test_a_point_that_is_worse_for_more_is_dominated() -> None:
    found = is_dominated(np.array([2.0, 1.0, 1.0]), np.array([0.1, 0.9, 0.9]))

    assert found.tolist() == [True, False, False]


def test_asking_first_is_paid_for_and_its_answer_costs_no_more() -> None:
    costs = np.array([[1.0, 2.0, 4.0]] * 3)

    found = call_costs(costs, np.array([0, NOTHING_READ, 2]))

    assert found.tolist() == [[1, 3, 5], [1, 2, 4], [5, 6, 4]]
    assert costs.tolist() == [[1, 2, 4]] * 3


def test_what_a_call_will_cost_is_the_models_mean() -> None:
    assert usual_costs(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist() == [[2, 5]] * 2


@pytest.mark.parametrize("cost", [np.nan, -1.0, np.inf])
def test_every_cost_is_known(cost: float) -> None:
    costs = np.array([[1.0, 1.0], [1.0, cost]])

    with pytest.raises(InvalidInputError, match="first at item 1, model 1"):
        frontier_choices(np.ones((2, 2)), costs)


def test_shapes_and_prices_are_checked() -> None:
    two = np.ones((2, 2))

    with pytest.raises(InvalidInputError, match=r"\(2, 2\) and \(2, 1\)"):
        cost_aware_choices(two, np.ones((2, 1)), price_of_quality=0.0)
    with pytest.raises(InvalidInputError, match="at least 0, got -1"):
        cost_aware_choices(two, two, price_of_quality=-1)
