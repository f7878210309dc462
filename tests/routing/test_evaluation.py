from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from skillmap.errors import InvalidInputError
from skillmap.routing.evaluation import route_evaluation
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.folds import group_folds
from skillmap.routing.policies import LabelPolicy
from skillmap.routing.skill_policy import SkillPolicy
from tests.routing.worlds import planted_items


def row(policies: pl.DataFrame, policy: str) -> dict[str, float]:
    return policies.row(by_predicate=pl.col("policy") == policy, named=True)


def with_skills(items: RoutingItems) -> RoutingItems:
    labels = {**items.labels, "skill": items.labels["category"]}
    return replace(items, labels=labels)


def test_every_policy_stands_beside_its_baselines() -> None:
    items = with_skills(planted_items(600, gap=0.2))

    found = route_evaluation(items).policies

    assert found["policy"].to_list() == [
        *("model:a", "model:b", "model:c", "best_single", "category", "knn"),
        *("paper", "paper_uniform", "skill", "random", "oracle"),
    ]
    assert found["candidate_models"][0].to_list() == ["a", "b", "c"]
    assert set(found["n_items"]) == {600}


def test_accuracies_are_those_of_the_models() -> None:
    items = planted_items(600, gap=0.2)

    found = route_evaluation(items).policies

    accuracy = dict(found.select("policy", "accuracy").iter_rows())
    assert accuracy["model:b"] == items.scores[:, 1].mean()
    assert accuracy["random"] == pytest.approx(items.scores.mean())
    assert accuracy["oracle"] == items.scores.max(axis=1).mean()
    assert row(found, "best_single")["gain"] == 0


def test_choices_are_what_the_accuracy_is_made_of() -> None:
    items = planted_items(600, gap=0.2)

    found = route_evaluation(items, seeds=(0, 1))

    models = pl.Series(items.model_ids)
    long = pl.DataFrame(
        {
            "item_id": items.item_ids.gather(np.repeat(np.arange(600), 3)),
            "model_id": models.gather(np.tile(np.arange(3), 600)),
            "score": items.scores.ravel(),
        }
    )
    scored = found.choices.join(long, on=["item_id", "model_id"])
    by_policy = scored.group_by("policy").agg(pl.col("score").mean())
    for policy, accuracy in by_policy.iter_rows():
        assert row(found.policies, policy)["accuracy"] == pytest.approx(accuracy)


def test_planted_strengths_are_gained() -> None:
    items = planted_items(3_000, gap=0.3)

    found = route_evaluation(items).policies

    # Always the model that is .3 better on its label: 2/3 of .3 over the mean.
    skill = row(found, "skill")
    assert skill["gain_low"] > 0.1
    assert skill["gain"] == pytest.approx(0.2, abs=0.04)


def test_three_equal_models_gain_nothing() -> None:
    gains = [
        row(route_evaluation(planted_items(900, seed=seed)).policies, "skill")
        for seed in range(20)
    ]

    # At the 95 % level, one of 20 may be off; three are not within chance.
    is_off = [gain["gain_low"] > 0 for gain in gains]
    assert sum(is_off) <= 2
    assert abs(np.mean([gain["gain"] for gain in gains])) < 0.01


def test_no_item_is_judged_by_what_it_taught() -> None:
    items = planted_items(600, gap=0.2, group_size=2)
    fold = group_folds(items.groups, n_folds=5, seed=0)
    scores = items.scores.copy()
    scores[fold == 2] = np.random.default_rng(0).permutation(1 - scores[fold == 2])

    before = route_evaluation(items).choices
    after = route_evaluation(replace(items, scores=scores)).choices

    in_fold = pl.col("fold") == 2
    assert before.filter(in_fold).equals(after.filter(in_fold))
    assert not before.filter(~in_fold).equals(after.filter(~in_fold))


def test_duplicates_are_no_further_evidence() -> None:
    alone, doubled = planted_items(600, gap=0.2), planted_items(1_200, group_size=2)
    doubled = replace(
        doubled,
        scores=np.repeat(alone.scores, 2, axis=0),
        labels={},
        vectors=None,
    )
    alone = replace(alone, labels={}, vectors=None)

    one = row(route_evaluation(alone).policies, "oracle")
    two = row(route_evaluation(doubled).policies, "oracle")

    assert two["n_groups"] == one["n_groups"] == 600
    for bound in ("accuracy_low", "accuracy_high"):
        assert two[bound] == pytest.approx(one[bound], abs=1e-4)


def test_the_order_of_the_items_makes_no_difference() -> None:
    items = planted_items(600, gap=0.2)
    order = np.random.default_rng(0).permutation(600)
    category = items.labels["category"]
    assert items.vectors is not None
    shuffled = replace(
        items,
        item_ids=items.item_ids.gather(order),
        scores=items.scores[order],
        groups=items.groups.gather(order),
        labels={"category": replace(category, membership=category.membership[order])},
        vectors=items.vectors[order],
    )

    found = route_evaluation(items).choices
    other = route_evaluation(shuffled).choices

    key = ["seed", "policy", "item_id"]
    assert found.sort(key).equals(other.sort(key))


def test_the_same_seed_gives_the_same_bytes() -> None:
    items = with_skills(planted_items(300, gap=0.2))

    first, second = route_evaluation(items), route_evaluation(items)

    assert first.policies.write_ndjson() == second.policies.write_ndjson()
    assert first.choices.equals(second.choices)


def test_several_splits_are_averaged_within_the_item() -> None:
    items = planted_items(600, gap=0.1)
    policies = [LabelPolicy(), SkillPolicy()]

    apart = [
        row(route_evaluation(items, policies=policies, seeds=(seed,)).policies, "skill")
        for seed in (3, 4)
    ]
    found = route_evaluation(items, policies=policies, seeds=(3, 4)).policies
    both = row(found, "skill")

    gains = [one["gain"] for one in apart]
    assert both["gain"] == pytest.approx(np.mean(gains))
    assert both["gain_lowest_split"] == pytest.approx(min(gains))
    assert both["gain_highest_split"] == pytest.approx(max(gains))
    assert both["n_splits"] == 2


def test_a_single_candidate_is_the_best_and_the_oracle() -> None:
    items = with_skills(planted_items(300, n_models=1))

    found = route_evaluation(items).policies

    assert found["accuracy"].n_unique() == 1
    assert set(found["gain"]) == {0.0}


def test_without_common_items_there_are_no_numbers() -> None:
    items = planted_items(300)
    scores = items.scores.copy()
    scores[:, 0] = np.nan

    found = route_evaluation(replace(items, scores=scores)).policies

    assert set(found["n_items"]) == {0}
    assert found["accuracy"].null_count() == found.height
    assert found["gain_low"].null_count() == found.height


def test_items_without_any_evidence_are_routed_as_one() -> None:
    items = replace(planted_items(300), labels={}, vectors=None)

    found = route_evaluation(items).policies

    assert row(found, "skill")["gain"] == 0
    assert row(found, "skill")["gain_over_category"] is None


def test_costs_are_those_of_the_models_chosen() -> None:
    items = planted_items(300)
    costs = np.tile([1.0, 2.0, 6.0], (300, 1))

    found = route_evaluation(replace(items, costs=costs)).policies

    assert row(found, "model:c")["mean_cost"] == 6
    assert row(found, "random")["mean_cost"] == pytest.approx(3)
    assert 1 <= row(found, "skill")["mean_cost"] <= 6
    assert row(found, "oracle")["mean_cost"] is None


def test_names_and_seeds_are_checked() -> None:
    items = planted_items(60)

    with pytest.raises(InvalidInputError, match="names must differ"):
        route_evaluation(items, policies=[SkillPolicy(), SkillPolicy()])
    with pytest.raises(InvalidInputError, match="at least one, got none"):
        route_evaluation(items, seeds=())
    with pytest.raises(InvalidInputError, match="between 0 and 1, got 2"):
        route_evaluation(items, confidence_level=2)
