import numpy as np
import pytest
from numpy.testing import assert_allclose

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.membership import Integers, dense, membership
from skillmap.routing.published import (
    Weighting,
    first_best,
    leave_one_out_scores,
    slice_mean_scores,
    slice_sums,
)


def by_loop(
    held: Floats, scores: Floats, weighting: Weighting, minimum_items: int
) -> tuple[Floats, list[int]]:
    """The paper's rule as it is written, item by item and slice by slice."""
    n_items, n_models = scores.shape
    sizes = (held > 0).sum(axis=0)
    accuracy = [scores[held[:, s] > 0].mean(axis=0) for s in range(held.shape[1])]
    found, choices = np.full((n_items, n_models), np.nan), []
    for item in range(n_items):
        terms: list[Floats] = []
        for s in np.flatnonzero(held[item]):
            if sizes[s] <= minimum_items:
                continue
            without = (accuracy[s] * sizes[s] - scores[item]) / (sizes[s] - 1)
            weight = 1 / sizes[s] if weighting is Weighting.INVERSE_SIZE else 1.0
            terms += [weight * without] * int(held[item, s])
        if terms:
            found[item] = np.mean(terms, axis=0)
        ahead = np.round(found[item], 12) if terms else np.array([0.0, 0.0, 1.0])
        choices.append(int(ahead.argmax()))
    return found, choices


def world(seed: int, n_items: int = 3_000) -> tuple[Integers, Integers, Floats]:
    random = np.random.default_rng(seed)
    n_pairs = 4 * n_items
    # Slices of very unequal size; the same pair may come up twice.
    columns = np.minimum(random.zipf(1.4, n_pairs) - 1, 79)
    rows = random.integers(0, n_items, n_pairs)
    scores = (random.uniform(size=(n_items, 3)) < 0.7).astype(np.float64)
    return rows, columns.astype(np.int64), scores


@pytest.mark.parametrize("weighting", list(Weighting))
@pytest.mark.parametrize("seed", [0, 1])
def test_two_products_choose_as_the_loop_does(weighting: Weighting, seed: int) -> None:
    rows, columns, scores = world(seed)
    member = membership(rows, columns, (3_000, 80))
    expected, choices = by_loop(dense(member), scores, weighting, 100)

    sums = slice_sums(member, scores, weighting=weighting)
    found = leave_one_out_scores(member, scores, sums)

    assert_allclose(found, expected, atol=1e-12)
    assert first_best(found, default=2).tolist() == choices
    assert np.isnan(found).any()


def test_a_slice_of_exactly_the_minimum_does_not_count() -> None:
    scores = np.ones((3, 2))
    member = membership(np.arange(3), np.zeros(3, np.int64), (3, 1))

    uniform = Weighting.UNIFORM
    at_minimum = slice_sums(member, scores, weighting=uniform, minimum_items=3)
    above = slice_sums(member, scores, weighting=uniform, minimum_items=2)

    assert np.isnan(slice_mean_scores(member, at_minimum)).all()
    assert slice_mean_scores(member, above).tolist() == scores.tolist()


def test_leaving_out_the_own_score_is_the_accuracy_on_the_others() -> None:
    scores = np.array([[1.0], [0.0], [1.0], [1.0]])
    member = membership(np.arange(4), np.zeros(4, np.int64), (4, 1))
    sums = slice_sums(member, scores, weighting=Weighting.UNIFORM, minimum_items=1)

    found = leave_one_out_scores(member, scores, sums)

    assert found[:, 0].tolist() == pytest.approx([2 / 3, 1, 2 / 3, 2 / 3])


def test_the_published_rule_needs_every_score() -> None:
    member = membership(np.arange(2), np.zeros(2, np.int64), (2, 1))

    with pytest.raises(InvalidInputError, match="1 of 2 are missing"):
        slice_sums(member, np.array([[1.0], [np.nan]]))


def test_the_first_of_equals_is_chosen() -> None:
    nothing = np.nan
    expected = np.array(
        [[0.5, 0.5, 0.2], [0.3, 0.1 + 0.2, 0.0], [-1.0, -1.0, -2.0], [nothing] * 3]
    )

    assert first_best(expected, default=2).tolist() == [0, 0, 0, 2]


def test_no_items_have_no_choices() -> None:
    assert first_best(np.zeros((0, 3))).tolist() == []
