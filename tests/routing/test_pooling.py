from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from skillmap.routing.pooling import fit_pooled
from tests.routing.worlds import planted_items


def test_effects_are_those_of_a_penalised_regression() -> None:
    items = planted_items(600, gap=0.3)
    rows = np.arange(600)

    fit = fit_pooled(items, rows, kinds=("category", "text"))

    # Least squares with one made-up row a column is the same penalised fit.
    away = fit.design.rows(items, rows) - fit.centres[:, 0]
    penalty = np.sqrt(fit.penalties[fit.design.kind_of])
    stacked = np.vstack([away, np.diag(penalty)])
    padded = np.vstack([fit.relative.residuals, np.zeros((len(penalty), 3))])
    expected = np.linalg.lstsq(stacked, padded)[0]
    assert_allclose(fit.effects, expected, atol=1e-10)


def test_a_label_that_says_nothing_is_turned_off() -> None:
    without, with_gap = planted_items(3_000), planted_items(3_000, gap=0.3)

    nothing = fit_pooled(without, np.arange(3_000), kinds=("category",))
    something = fit_pooled(with_gap, np.arange(3_000), kinds=("category",))

    assert np.abs(nothing.effects).max() < 0.02
    assert nothing.penalties.min() > 10 * something.penalties.max()


def test_a_large_label_is_hardly_shrunk() -> None:
    items = planted_items(6_000, gap=0.3)

    fit = fit_pooled(items, np.arange(6_000), kinds=("category",))

    # A label's own model is .3 better than the others, .2 above the mean of all.
    own = fit.effects[np.arange(6), np.arange(6) % 3]
    assert_allclose(own, 0.2, atol=0.04)


def test_expectations_of_planted_labels_are_within_their_errors() -> None:
    items = planted_items(2_000, gap=0.2, n_labels=30, seed=3)
    rows = np.arange(2_000)
    label = items.labels["category"].membership.argmax(axis=1)
    truth = 0.2 * ((np.asarray(label)[:, np.newaxis] % 3 == np.arange(3)) - 1 / 3)

    fit = fit_pooled(items, rows, kinds=("category",))

    missed = np.abs(fit.expected_scores(items, rows) - truth)
    covered = missed < 1.96 * fit.standard_errors(items, rows)
    assert covered.mean() > 0.85


def test_a_model_without_results_has_a_prior_and_the_widest_interval() -> None:
    items = planted_items(400, gap=0.3)
    scores = items.scores.copy()
    scores[:, 2] = np.nan
    items = replace(items, scores=scores)
    rows = np.arange(400)

    fit = fit_pooled(items, rows, kinds=("category", "text"))

    expected = fit.expected_scores(items, rows)
    errors = fit.standard_errors(items, rows)
    assert np.abs(expected[:, 2]).max() == 0
    assert (errors[:, 2] > 2 * errors[:, 0]).all()


def test_a_model_with_few_results_on_a_label_is_less_certain_there() -> None:
    items = planted_items(600, gap=0.3, n_labels=2)
    label = np.asarray(items.labels["category"].membership.argmax(axis=1)).ravel()
    scores = items.scores.copy()
    scores[np.flatnonzero(label == 0)[3:], 1] = np.nan
    items = replace(items, scores=scores)

    fit = fit_pooled(items, np.arange(600), kinds=("category",))

    at = np.array([np.flatnonzero(label == 0)[0], np.flatnonzero(label == 1)[0]])
    errors = fit.standard_errors(items, at)
    assert errors[0, 1] > 1.5 * errors[1, 1]
    assert errors[0, 1] > 1.5 * errors[0, 0]


def test_no_items_leave_the_prior() -> None:
    items = planted_items(30)

    fit = fit_pooled(items, np.zeros(0, np.int64), kinds=("category", "text"))

    assert np.abs(fit.expected_scores(items, np.arange(30))).max() == 0
    assert fit.standard_errors(items, np.arange(30)).min() > 0.05


def test_no_evidence_leaves_the_overall_advantage() -> None:
    items = planted_items(300, gap=0.3)

    fit = fit_pooled(items, np.arange(300), kinds=())

    expected = fit.expected_scores(items, np.arange(2))
    assert_allclose(expected, np.tile(fit.relative.advantages, (2, 1)))
