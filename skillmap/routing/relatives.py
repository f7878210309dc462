"""What other models' results on the same items say about the candidates' effects.

A model shares its strengths with its relatives: what one of a family does well on, the
others tend to. Their results on the items learned from make the effects less noisy.
Nothing of them is needed for the item that is routed.
"""

from dataclasses import replace
from typing import Final, cast

import numpy as np

from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.membership import Integers
from skillmap.routing.pooling import PooledFit, blocks
from skillmap.routing.relative import relative_scores

# Pull towards leaving the candidates' own effects as they are, as a share of the mean
# square of what is combined. Results do not hang on it: .03 and .3 gave much the same.
_PULL: Final = 0.03


def with_relatives(fit: PooledFit, items: RoutingItems, rows: Integers) -> PooledFit:
    """The fit, its effects combined with those of other models.

    Each item's expectation, from a fit without that item, is regressed on the
    expectations of all models; the combination found is applied to the effects, so
    what comes out is still a sum over the evidence.

    Args:
        fit: Learned from ``rows``.
        items: With ``related_scores``.
        rows: Learned from.

    Returns:
        The fit with other effects. The same fit where there are no relatives, or
        candidates differ in the items they have scores on.

    Source:
        Breiman and Friedman (1997), JRSS B 59, 3-54, curds and whey: predictions of
        several responses combined to predict each; leave-one-out and the pull are
        ours.
    """
    if items.related_scores is None or len(fit.covariances) != 1 or not len(rows):
        return fit
    own = fit.relative.residuals
    everyone = np.hstack([items.scores, items.related_scores])[rows]
    targets = np.hstack([own, relative_scores(everyone).residuals])
    inverse = fit.covariances[0]
    products = np.zeros((len(fit.design.names), targets.shape[1]))
    start = 0
    for some in blocks(rows):
        away = fit.design.rows(items, some) - fit.centres[:, 0]
        products += away.T @ targets[start : start + len(some)]
        start += len(some)
    effects = inverse @ products
    left_out = _left_out(fit, items, rows, targets, effects)
    combination = _combination(left_out, own)
    return replace(fit, effects=effects @ combination)


def _left_out(
    fit: PooledFit,
    items: RoutingItems,
    rows: Integers,
    targets: Floats,
    effects: Floats,
) -> Floats:
    """Expectation of each target from a fit that has not seen the item."""
    found = np.empty_like(targets)
    start = 0
    for some in blocks(rows):
        away = fit.design.rows(items, some) - fit.centres[:, 0]
        leverage = ((away @ fit.covariances[0]) * away).sum(axis=1, keepdims=True)
        block = slice(start, start + len(some))
        found[block] = (away @ effects - leverage * targets[block]) / (1 - leverage)
        start += len(some)
    return found


def _combination(expected: Floats, own: Floats) -> Floats:
    """Weights by which the expectations best add up to the own residuals."""
    n_all, n_own = expected.shape[1], own.shape[1]
    as_it_is = np.eye(n_all, n_own)
    gram = expected.T @ expected
    gram += np.eye(n_all) * max(_PULL * float(np.trace(gram)) / n_all, 1e-12)
    missed = expected.T @ (own - expected @ as_it_is)
    return as_it_is + cast("Floats", np.linalg.solve(gram, missed))
