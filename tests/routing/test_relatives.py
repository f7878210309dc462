from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.pooling import fit_pooled
from skillmap.routing.relatives import with_relatives
from tests.routing.worlds import labels_of, planted_items


def family(n_items: int, seed: int) -> tuple[RoutingItems, Floats]:
    """Three candidates, and two relatives of each with the very same effects."""
    random = np.random.default_rng(seed)
    effects = 0.15 * random.standard_normal((40, 3))
    label = np.arange(n_items) % 40
    chance = np.clip(0.6 + effects[label], 0.05, 0.95)
    chance = np.hstack([chance] * 3)
    scores = (random.uniform(size=chance.shape) < chance).astype(np.float64)
    items = planted_items(n_items, n_labels=40, seed=seed)
    items = replace(
        items,
        labels={"category": labels_of(label)},
        scores=scores[:, :3],
        related_scores=scores[:, 3:],
    )
    return items, effects[label] - effects[label].mean(axis=1, keepdims=True)


def test_relatives_make_the_effects_less_noisy() -> None:
    rows = np.arange(1_000)
    errors: list[tuple[float, float]] = []
    for seed in range(5):
        items, truth = family(1_000, seed)
        alone = fit_pooled(items, rows, kinds=("category",))

        together = with_relatives(alone, items, rows)

        missed = [
            float(np.square(fit.expected_scores(items, rows) - truth).mean())
            for fit in (alone, together)
        ]
        errors.append((missed[0], missed[1]))

    before, after = np.mean(errors, axis=0)
    assert after < 0.8 * before


def test_without_relatives_nothing_changes() -> None:
    items = planted_items(200, gap=0.2)
    fit = fit_pooled(items, np.arange(200), kinds=("category",))

    assert with_relatives(fit, items, np.arange(200)) is fit


def test_a_relative_without_results_changes_little() -> None:
    items, _ = family(1_000, 0)
    items = replace(items, related_scores=np.full((1_000, 1), np.nan))
    fit = fit_pooled(items, np.arange(1_000), kinds=("category",))

    found = with_relatives(fit, items, np.arange(1_000))

    assert_allclose(found.effects, fit.effects, atol=0.05)


def test_leaving_out_an_item_is_refitting_without_it() -> None:
    items = planted_items(40, gap=0.3)
    rows = np.arange(40)
    fit = fit_pooled(items, rows, kinds=("category", "text"))
    away = fit.design.rows(items, rows) - fit.centres[:, 0]
    leverage = ((away @ fit.covariances[0]) * away).sum(axis=1, keepdims=True)
    residuals = fit.relative.residuals
    short_cut = (away @ fit.effects - leverage * residuals) / (1 - leverage)

    penalty = np.diag(fit.penalties[fit.design.kind_of])
    refitted = np.empty_like(residuals)
    for row in rows:
        some = rows != row
        gram = away[some].T @ away[some] + penalty
        effects = np.linalg.solve(gram, away[some].T @ residuals[some])
        refitted[row] = away[row] @ effects

    assert_allclose(short_cut, refitted, atol=1e-10)
