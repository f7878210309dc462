from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from skillmap.errors import InvalidInputError
from skillmap.routing.evaluation import route_evaluation
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.frontier import priced_policies, routing_frontier
from tests.routing.worlds import planted_responses

PRICES = np.array([1.0, 2.0, 5.0])


@pytest.fixture(scope="module")
def items() -> RoutingItems:
    found, _ = planted_responses(900, gap=0.3)
    return replace(found, costs=np.tile(PRICES, (900, 1)))


@pytest.fixture(scope="module")
def frontier(items: RoutingItems) -> pl.DataFrame:
    evaluated = route_evaluation(items, policies=priced_policies(items))
    return routing_frontier(items, evaluated, n_prices=9)


def of(frontier: pl.DataFrame, policy: str) -> pl.DataFrame:
    return frontier.filter(pl.col("policy") == policy)


def test_every_single_model_is_a_point(
    items: RoutingItems, frontier: pl.DataFrame
) -> None:
    for place, model in enumerate("abc"):
        row = of(frontier, f"model:{model}").row(0, named=True)
        assert row["mean_cost"] == PRICES[place]
        assert row["accuracy"] == pytest.approx(items.scores[:, place].mean())
        assert row["price_of_quality"] is None
        assert row["reads_response_of"] is None
        assert not row["is_dominated"]


@pytest.mark.parametrize("policy", ["skill", "skill_with_rationale"])
def test_a_policys_points_run_from_its_choices_to_the_cheapest(
    items: RoutingItems, frontier: pl.DataFrame, policy: str
) -> None:
    found = of(frontier, policy)

    evaluated = route_evaluation(items, policies=priced_policies(items)).policies
    own = evaluated.row(by_predicate=pl.col("policy") == policy, named=True)
    names = [
        *("accuracy", "accuracy_low", "accuracy_high", "gain", "gain_low", "gain_high"),
        "mean_cost",
    ]
    first = found.row(0, named=True)
    assert [first[name] for name in names] == pytest.approx([own[n] for n in names])
    assert found["point"].to_list() == list(range(found.height))
    assert found["mean_cost"].is_sorted(descending=True)
    # At any price, the first answer is kept: it is the cheapest model's too.
    assert found["mean_cost"][-1] == 1.0
    assert found["price_of_quality"].null_count() <= 1


def test_points_of_the_reading_policy_count_every_call(
    frontier: pl.DataFrame,
) -> None:
    found = of(frontier, "skill_with_rationale")

    assert set(found["reads_response_of"]) == {"a"}
    # The first model on all, and another on some: at most 1 + 5.
    assert found["mean_cost"].is_between(1, 6).all()
    assert found["mean_cost"][0] > 2


def test_choices_do_not_know_what_a_call_will_cost(items: RoutingItems) -> None:
    spread = np.random.default_rng(0).uniform(0, 2, (900, 3))
    spread /= spread.mean(axis=0)
    uneven = replace(items, costs=PRICES * spread)
    evaluated = route_evaluation(items, policies=priced_policies(items))

    even = routing_frontier(items, evaluated, n_prices=9)
    found = routing_frontier(uneven, evaluated, n_prices=9)

    # What was got is the same choices' score; what was spent is another sum.
    assert found["accuracy"].to_list() == pytest.approx(even["accuracy"].to_list())
    assert found["mean_cost"].to_list() != pytest.approx(even["mean_cost"].to_list())


def test_without_costs_there_is_no_frontier(items: RoutingItems) -> None:
    evaluated = route_evaluation(items, policies=priced_policies(items))

    with pytest.raises(InvalidInputError, match="have no costs"):
        routing_frontier(replace(items, costs=None), evaluated)


def test_without_common_items_there_are_no_points(items: RoutingItems) -> None:
    scores = items.scores.copy()
    scores[:, 0] = np.nan
    none = replace(items, scores=scores)
    evaluated = route_evaluation(none, policies=priced_policies(none))

    assert routing_frontier(none, evaluated).is_empty()
