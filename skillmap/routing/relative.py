"""How much better each model does than the others on the same item.

Most of what decides an outcome is how hard the item is, which all models share.
Routing needs the rest, so policies learn from scores less the item's own level.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skillmap.metrics.intervals import Floats

# Prior standard deviation of one model's advantage over the mean of the candidates.
# Only a model with a handful of results is moved by it.
_ADVANTAGE_PRIOR: Final = 0.1
# Score variance assumed where no item shows any: that of a fair coin.
_COIN_VARIANCE: Final = 0.25
_N_ROUNDS: Final = 30


@dataclass(frozen=True, eq=False)
class RelativeScores:
    """Scores split into each model's advantage and what an item adds to it.

    Attributes:
        advantages: Over the mean of the candidates, shape ``(n_models,)``.
        advantage_errors: Posterior standard deviation of each.
        residuals: Shape ``(n_items, n_models)``, 0 where not observed.
        is_observed: Where the item has a score of this model and of another.
    """

    advantages: Floats
    advantage_errors: Floats
    residuals: Floats
    is_observed: NDArray[np.bool_]


def relative_scores(scores: Floats) -> RelativeScores:
    """Scores less the level of the item and the advantage of the model.

    Args:
        scores: Shape ``(n_items, n_models)``, NaN where a model has no score.

    Returns:
        The split. A model with no result that can be compared has the advantage 0
        with the prior's standard deviation, and no residuals.

    Examples:
        >>> split = relative_scores(np.array([[1.0, 0.0], [1.0, 1.0]] * 500))
        >>> split.advantages.round(2)
        array([ 0.25, -0.25])
    """
    is_scored = ~np.isnan(scores)
    is_observed = is_scored & (is_scored.sum(axis=1, keepdims=True) > 1)
    filled = np.where(is_observed, scores, 0.0)
    n_models, n_items = is_observed.sum(axis=1), is_observed.sum(axis=0)
    advantages = np.zeros(scores.shape[1])
    # One round suffices if no score is missing; else the two levels are found in turn.
    for _ in range(_N_ROUNDS if is_observed.any() else 0):
        level = _item_level(filled, is_observed, advantages, n_models)
        gaps = np.where(is_observed, filled - level[:, np.newaxis], 0.0)
        found = gaps.sum(axis=0) / np.maximum(n_items, 1)
        found -= found[n_items > 0].mean()
        found[n_items == 0] = 0.0
        if np.allclose(found, advantages, rtol=0, atol=1e-12):
            break
        advantages = found
    level = _item_level(filled, is_observed, advantages, n_models)
    residuals = np.where(is_observed, filled - level[:, np.newaxis] - advantages, 0.0)
    variance = _variance(residuals, is_observed) / np.maximum(n_items, 1)
    weight = _ADVANTAGE_PRIOR**2 / (_ADVANTAGE_PRIOR**2 + variance)
    weight[n_items == 0] = 0.0
    errors = np.sqrt(np.where(n_items == 0, _ADVANTAGE_PRIOR**2, weight * variance))
    return RelativeScores(weight * advantages, errors, residuals, is_observed)


def _item_level(
    filled: Floats,
    is_observed: NDArray[np.bool_],
    advantages: Floats,
    n_models: NDArray[np.int64],
) -> Floats:
    above = np.where(is_observed, filled - advantages, 0.0)
    return above.sum(axis=1) / np.maximum(n_models, 1)


def _variance(residuals: Floats, is_observed: NDArray[np.bool_]) -> float:
    # One degree of freedom an item went into its level.
    n_free = is_observed.sum() - is_observed.any(axis=1).sum()
    if n_free == 0:
        return _COIN_VARIANCE
    return max(float(np.square(residuals).sum() / n_free), 1e-6)
