from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.membership import membership
from skillmap.routing.policies import (
    BestSinglePolicy,
    LabelPolicy,
    NeighbourPolicy,
    PublishedPolicy,
    RoutingPolicy,
    SingleModelPolicy,
)
from skillmap.routing.published import first_best
from skillmap.routing.skill_policy import SkillPolicy
from tests.routing.worlds import planted_items

LEARNED, ASKED = np.arange(1_000), np.arange(1_000, 1_200)


def label_codes(membership: object) -> Floats:
    return np.asarray(membership.argmax(axis=1)).ravel()  # type: ignore[attr-defined]


def test_the_best_single_model_is_the_best_on_the_items_learned_from() -> None:
    items = planted_items(1_200, gap=0.2, n_labels=4)

    expected = BestSinglePolicy().fit(items, LEARNED).expected_scores(items, ASKED)

    best = int(items.scores[LEARNED].mean(axis=0).argmax())
    assert first_best(expected).tolist() == [best] * len(ASKED)


def test_a_single_model_is_always_chosen() -> None:
    items = planted_items(1_200)

    fit = SingleModelPolicy("b").fit(items, LEARNED)

    assert first_best(fit.expected_scores(items, ASKED)).tolist() == [1] * len(ASKED)


def test_the_category_policy_chooses_as_a_group_by_does() -> None:
    items = planted_items(1_200, gap=0.1)
    label = label_codes(items.labels["category"].membership)
    means = (
        pl.DataFrame(items.scores[LEARNED], schema=["a", "b", "c"])
        .with_columns(label=pl.Series(label[LEARNED]))
        .group_by("label")
        .mean()
        .sort("label")
        .select("a", "b", "c")
        .to_numpy()
    )

    expected = LabelPolicy().fit(items, LEARNED).expected_scores(items, ASKED)

    best = means.argmax(axis=1)[label[ASKED]]
    assert first_best(expected).tolist() == best.tolist()


def test_neighbours_vote_as_in_a_full_sort() -> None:
    items = planted_items(1_200, gap=0.3)
    assert items.vectors is not None
    near = np.argsort(-items.vectors[ASKED] @ items.vectors[LEARNED].T, axis=1)[:, :25]

    fit = NeighbourPolicy(25).fit(items, LEARNED)
    expected = fit.expected_scores(items, ASKED)

    gaps = items.scores[LEARNED] - items.scores[LEARNED].mean(axis=1, keepdims=True)
    shift = expected - gaps[near].mean(axis=1)
    # The overall advantage is shrunk by its prior: the same shift on every item.
    assert_allclose(shift, np.tile(shift[0], (len(ASKED), 1)), atol=1e-9)
    assert np.abs(shift).max() < 1e-3


def test_equally_near_questions_all_count() -> None:
    items = planted_items(1_200)
    items = replace(items, vectors=np.ones((1_200, 1)))

    fit = NeighbourPolicy(5).fit(items, LEARNED)
    expected = fit.expected_scores(items, ASKED)

    overall = BestSinglePolicy().fit(items, LEARNED).expected_scores(items, ASKED)
    assert_allclose(expected, overall, atol=1e-12)


def test_an_item_without_a_slice_goes_to_the_best_single_model() -> None:
    items = planted_items(1_200, gap=0.3)
    nothing = membership(np.zeros(0, np.int64), np.zeros(0, np.int64), (1_200, 2))
    category = items.labels["category"]
    none = replace(category, names=("s", "t"), membership=nothing)
    items = replace(items, labels={"skill": none})

    expected = PublishedPolicy().fit(items, LEARNED).expected_scores(items, ASKED)

    overall = BestSinglePolicy().fit(items, LEARNED).expected_scores(items, ASKED)
    assert_array_equal(expected, overall)


def test_the_papers_policy_finds_planted_slices() -> None:
    items = planted_items(1_200, gap=0.4)
    label = label_codes(items.labels["category"].membership)
    items = replace(items, labels={"skill": items.labels["category"]})

    expected = PublishedPolicy().fit(items, LEARNED).expected_scores(items, ASKED)

    assert first_best(expected).tolist() == (label[ASKED] % 3).tolist()


@pytest.mark.parametrize(
    "policy",
    [
        BestSinglePolicy(),
        LabelPolicy(),
        NeighbourPolicy(30),
        PublishedPolicy(kind="category"),
        SkillPolicy(),
    ],
    ids=lambda policy: policy.name,
)
def test_what_is_asked_teaches_nothing(policy: RoutingPolicy) -> None:
    items = planted_items(1_200, gap=0.2, n_labels=4)
    items = replace(items, related_scores=items.scores[:, [1, 0]])
    random = np.random.default_rng(1)
    scores, related = items.scores.copy(), items.scores[:, [1, 0]]
    scores[ASKED] = random.permutation(1 - scores[ASKED])
    related[ASKED] = np.nan
    other = replace(items, scores=scores, related_scores=related)

    found = policy.fit(items, LEARNED).expected_scores(items, ASKED)
    again = policy.fit(other, LEARNED).expected_scores(other, ASKED)

    assert_array_equal(found, again)


@pytest.mark.parametrize(
    "policy",
    [BestSinglePolicy(), LabelPolicy(), NeighbourPolicy(), SkillPolicy()],
    ids=lambda policy: policy.name,
)
def test_a_model_without_results_is_no_crash(policy: RoutingPolicy) -> None:
    items = planted_items(1_200)
    scores = items.scores.copy()
    scores[:, 0] = np.nan
    items = replace(items, scores=scores)

    expected = policy.fit(items, LEARNED).expected_scores(items, ASKED)

    assert np.isfinite(expected).all()


def test_missing_evidence_is_named() -> None:
    items = replace(planted_items(30), vectors=None)

    with pytest.raises(InvalidInputError, match=r"'origin', only \['category'\]"):
        LabelPolicy("origin").fit(items, np.arange(30))
    with pytest.raises(InvalidInputError, match="no text vectors"):
        NeighbourPolicy().fit(items, np.arange(30))
