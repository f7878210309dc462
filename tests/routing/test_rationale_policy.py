"""One model's response tells which skill an item needs, and nothing else does."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from skillmap.errors import InvalidInputError
from skillmap.routing.evaluation import RoutingEvaluation, route_evaluation
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.folds import group_folds
from skillmap.routing.rationale_policy import RationalePolicy
from skillmap.routing.responses import ModelResponses
from skillmap.routing.skill_policy import SkillPolicy
from tests.routing.worlds import planted_responses

POLICIES = (SkillPolicy(), RationalePolicy())
NAME = "skill_with_rationale"


def evaluated(items: RoutingItems, **options: object) -> RoutingEvaluation:
    return route_evaluation(items, policies=POLICIES, **options)  # pyright: ignore[reportArgumentType]


def row(found: RoutingEvaluation, policy: str = NAME) -> dict[str, float]:
    return found.policies.row(by_predicate=pl.col("policy") == policy, named=True)


def chosen(found: RoutingEvaluation, policy: str = NAME) -> pl.DataFrame:
    return found.choices.filter(pl.col("policy") == policy)


def shuffled(read: ModelResponses, places: np.ndarray) -> ModelResponses:
    order = np.arange(read.texts.len())
    order[places] = np.random.default_rng(1).permutation(places)
    return ModelResponses(read.texts.gather(order), read.predictions.gather(order))


def test_a_response_that_tells_the_skill_is_made_use_of() -> None:
    items, _ = planted_responses(3_000, gap=0.3)

    found = evaluated(items)

    assert row(found, "skill")["gain"] < 0.03
    assert row(found)["gain_low"] > 0.1


def test_three_equal_models_gain_nothing() -> None:
    gains = [row(evaluated(planted_responses(900, seed=seed)[0])) for seed in range(20)]

    # At the 95 % level, one of 20 may be off; three are not within chance.
    assert sum(gain["gain_low"] > 0 for gain in gains) <= 2
    assert abs(np.mean([gain["gain"] for gain in gains])) < 0.01


def test_responses_of_other_items_say_nothing() -> None:
    items, read = planted_responses(3_000, gap=0.3)
    everywhere = np.arange(3_000)

    found = evaluated(replace(items, responses={"a": shuffled(read, everywhere)}))

    assert row(found)["gain_low"] < 0.02


def test_no_item_is_judged_by_what_it_taught() -> None:
    items, _ = planted_responses(900, gap=0.3)
    fold = group_folds(items.groups, n_folds=5, seed=0)
    scores = items.scores.copy()
    scores[fold == 2] = np.random.default_rng(0).permutation(1 - scores[fold == 2])

    before = chosen(evaluated(items))
    after = chosen(evaluated(replace(items, scores=scores)))

    in_fold = pl.col("fold") == 2
    assert before.filter(in_fold).equals(after.filter(in_fold))
    assert not before.filter(~in_fold).equals(after.filter(~in_fold))


def test_a_response_to_an_item_changes_no_other_items_choice_in_its_fold() -> None:
    items, read = planted_responses(900, gap=0.3)
    fold = group_folds(items.groups, n_folds=5, seed=0)
    first = int(np.flatnonzero(fold == 2)[0])
    texts = read.texts.to_list()
    texts[first] = "quite another text"
    other = ModelResponses(pl.Series(texts), read.predictions)

    before = evaluated(items).expected[NAME]
    after = evaluated(replace(items, responses={"a": other})).expected[NAME]

    rest = np.setdiff1d(np.flatnonzero(fold == 2), [first])
    assert_array_equal(before[rest], after[rest])
    assert not np.array_equal(before[first], after[first])


def test_no_response_of_a_model_that_is_not_asked_is_looked_at() -> None:
    items, read = planted_responses(900, gap=0.3)
    # The first model is best by far, so that every fold asks it first.
    scores = items.scores.copy()
    scores[:, 0] = np.maximum(scores[:, 0], np.arange(900) % 2)
    unread = ModelResponses(read.texts.reverse(), read.predictions)
    both = replace(items, scores=scores, responses={"a": read, "b": unread})
    permuted = replace(
        both, responses={"a": read, "b": shuffled(unread, np.arange(900))}
    )

    before, after = evaluated(both), evaluated(permuted)

    assert row(before)["reads_response_of"] == "a"
    assert before.choices.equals(after.choices)
    assert_array_equal(before.expected[NAME], after.expected[NAME])
    # Not even worked out.
    assert set(vars(unread)) <= {"texts", "predictions", "is_known"}


def test_the_model_to_ask_first_is_the_best_of_the_folds_learned_from() -> None:
    items, read = planted_responses(900)
    fold = group_folds(items.groups, n_folds=5, seed=0)
    # Whom to read is told by the other folds, whoever is best in this one.
    scores = np.zeros((900, 3))
    scores[fold != 2, 1] = 1
    scores[fold == 2, 0] = 1
    items = replace(items, scores=scores, responses={"a": read, "b": read})

    reads = evaluated(items).reads

    assert set(reads[NAME][fold == 2]) == {1}
    assert set(reads["skill"]) == {-1}


def test_a_model_can_be_told_to_be_read() -> None:
    items, read = planted_responses(900)
    items = replace(items, responses={"a": read, "b": read})

    found = route_evaluation(items, policies=[RationalePolicy(reads="b")])

    assert row(found)["reads_response_of"] == "b"
    with pytest.raises(InvalidInputError, match=r"no responses of 'c', only of \['a'"):
        RationalePolicy(reads="c").fit(items, np.arange(900))


def test_the_model_read_is_paid_for_on_every_item() -> None:
    items, _ = planted_responses(900, gap=0.3)
    costs = np.random.default_rng(0).uniform(1, 2, (900, 3)) * [1, 4, 9]
    items = replace(items, costs=costs)

    found = evaluated(items, seeds=(0, 1))

    spent = [
        costs[item, 0] + (costs[item, "abc".index(model)] if model != "a" else 0)
        for item, model in zip(
            2 * list(range(900)), chosen(found)["model_id"], strict=True
        )
    ]
    assert chosen(found)["item_id"][:900].equals(items.item_ids)
    assert row(found)["mean_cost"] == pytest.approx(np.mean(spent))
    assert row(found)["mean_cost"] > costs[:, 0].mean()


def test_an_item_without_a_response_is_routed_by_what_else_is_known() -> None:
    items, read = planted_responses(900, gap=0.3)
    texts = [None if place % 3 == 0 else text for place, text in enumerate(read.texts)]
    gone = ModelResponses(pl.Series(texts), read.predictions)
    items = replace(items, responses={"a": gone})

    fit = RationalePolicy().fit(items, np.arange(600))
    expected = fit.expected_scores(items, np.arange(600, 900))

    # Nothing else is known here, so that all of them are expected to be the same.
    unknown = expected[::3]
    assert np.ptp(unknown, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.ptp(expected[1::3], axis=0).max() > 0.1
    assert unknown[0] == pytest.approx(fit.pooled.relative.advantages, abs=0.02)


def test_empty_responses_are_routed() -> None:
    items, read = planted_responses(600, gap=0.3)
    empty = ModelResponses(pl.Series([""] * 600), read.predictions.clear(600))

    found = evaluated(replace(items, responses={"a": empty}))

    assert row(found)["gain_low"] <= 0 <= row(found)["gain_high"]


@pytest.mark.parametrize("known", [0, 100])
def test_a_model_with_few_responses_is_not_read(known: int) -> None:
    items, read = planted_responses(600, gap=0.3)
    texts = read.texts.to_list()[:known] + [None] * (600 - known)
    few = ModelResponses(pl.Series(texts, dtype=pl.String), read.predictions)

    found = evaluated(replace(items, responses={"a": few}))

    assert row(found)["reads_response_of"] is None
    assert_array_equal(found.expected[NAME], found.expected["skill"])


def test_the_same_items_give_the_same_bytes() -> None:
    items, read = planted_responses(600, gap=0.3)
    again = ModelResponses(read.texts.clone(), read.predictions.clone())

    first = evaluated(items)
    second = evaluated(replace(items, responses={"a": again}))

    assert first.policies.write_ndjson() == second.policies.write_ndjson()
    assert first.expected[NAME].tobytes() == second.expected[NAME].tobytes()


def test_the_pieces_of_an_explanation_add_up_and_name_the_words() -> None:
    items, _ = planted_responses(900, gap=0.4)
    items = replace(items, related_scores=items.scores[:, ::-1])
    fit = RationalePolicy().fit(items, np.arange(800))

    found = fit.explanations(items, np.arange(800, 900))

    sums = found.group_by("item_id", maintain_order=True).agg(
        pieces=pl.col("difference").filter(pl.col("evidence") != "total").sum(),
        total=pl.col("difference").filter(pl.col("evidence") == "total").sum(),
    )
    assert sums["pieces"].to_list() == pytest.approx(sums["total"].to_list(), abs=1e-12)
    own = pl.col("evidence") == "response_words"
    first = found.filter(own).row(0, named=True)
    assert first["n_items"] == 800
    assert first["words"].startswith("words of a's response: +")
    # The word that tells the skill is the one that counts most.
    skills = [text.split()[1] for text in items.responses["a"].texts[800:].to_list()]
    named = [name.split()[0] for name in found.filter(own)["name"]]
    assert np.mean([a == b for a, b in zip(named, skills, strict=True)]) > 0.7
