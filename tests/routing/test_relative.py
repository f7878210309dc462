import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skillmap.routing.relative import relative_scores


def test_complete_scores_split_as_a_two_way_table() -> None:
    random = np.random.default_rng(0)
    scores = (random.uniform(size=(5_000, 3)) < [0.5, 0.6, 0.8]).astype(float)

    found = relative_scores(scores)

    gaps = scores - scores.mean(axis=1, keepdims=True)
    # The prior of .1 moves an advantage known to .005 by a quarter of a percent.
    assert_allclose(found.advantages, gaps.mean(axis=0), rtol=0.005)
    assert_allclose(found.residuals, gaps - gaps.mean(axis=0), atol=1e-12)


def test_the_error_is_that_of_the_mean_difference() -> None:
    random = np.random.default_rng(0)
    scores = (random.uniform(size=(5_000, 2)) < 0.5).astype(float)
    difference = scores[:, 0] - scores[:, 1]

    found = relative_scores(scores)

    error = difference.std() / np.sqrt(len(difference))
    assert_allclose(np.hypot(*found.advantage_errors), error, rtol=0.01)


def test_a_model_scored_on_easy_items_only_is_not_better_for_it() -> None:
    random = np.random.default_rng(0)
    chance = np.repeat([[0.9], [0.2]], 4_000, axis=0) + np.zeros((1, 3))
    scores = (random.uniform(size=chance.shape) < chance).astype(float)
    scores[4_000:, 2] = np.nan

    found = relative_scores(scores)

    assert np.abs(found.advantages).max() < 0.02


def test_a_model_without_results_has_the_prior() -> None:
    scores = np.column_stack([np.tile([1.0, 0.0], 50), np.full(100, np.nan)])
    scores = np.column_stack([scores, 1 - scores[:, 0]])

    found = relative_scores(scores)

    assert found.advantages[1] == 0
    assert found.advantage_errors[1] == 0.1
    assert not found.is_observed[:, 1].any()


def test_an_item_with_one_score_compares_nothing() -> None:
    found = relative_scores(np.array([[1.0, np.nan], [np.nan, 0.0]]))

    assert not found.is_observed.any()
    assert found.advantages.tolist() == [0.0, 0.0]


@given(st.integers(0, 4), st.integers(1, 3), st.integers(0, 2**16))
def test_any_scores_give_numbers(n_items: int, n_models: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.choice([0.0, 0.5, 1.0, np.nan], size=(n_items, n_models))

    found = relative_scores(scores)

    assert np.isfinite(found.advantages).all()
    assert (found.advantage_errors > 0).all()
    assert np.isfinite(found.residuals).all()
