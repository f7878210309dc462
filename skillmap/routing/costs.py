"""Quality against cost: what a budget buys."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.published import first_best

# A budget met to this share of itself is met.
_TOLERANCE: Final = 1e-9


# In place of a candidate whose response was read: none was.
NOTHING_READ: Final = -1


class BudgetChoice(NamedTuple):
    """Models chosen so that the mean cost stays within a budget.

    Attributes:
        choices: Column of the model chosen for each item, shape ``(n_items,)``.
        price_of_quality: Expected score given up per unit of cost saved.
        mean_cost: Of the choices.
    """

    choices: NDArray[np.int64]
    price_of_quality: float
    mean_cost: float


def call_costs(costs: Floats, reads: NDArray[np.int64]) -> Floats:
    """What choosing each model costs when another was asked before.

    The one asked first is paid for on every item; its answer is then in hand, so
    keeping it costs nothing more.

    Args:
        costs: Of one call of each model, shape ``(n_items, n_models)``.
        reads: Column of the model asked first, `NOTHING_READ` where none was.

    Returns:
        Shape of ``costs``.

    Examples:
        >>> call_costs(np.array([[1.0, 3.0], [1.0, 3.0]]), np.array([0, -1]))
        array([[1., 4.],
               [1., 3.]])
    """
    is_read = reads >= 0
    at = np.flatnonzero(is_read)
    total = costs.copy()
    total[at] += costs[at, reads[at], np.newaxis]
    total[at, reads[at]] = costs[at, reads[at]]
    return total


def usual_costs(costs: Floats) -> Floats:
    """Each model's mean cost, for every item: what is known before a call is made."""
    return np.tile(costs.mean(axis=0), (len(costs), 1))


def cost_aware_choices(
    expected: Floats, costs: Floats, *, price_of_quality: float
) -> NDArray[np.int64]:
    """The model with the highest expected score less its cost at a price.

    Args:
        expected: Expected scores, shape ``(n_items, n_models)``.
        costs: Of each model on each item, of the same shape, in one unit (USD or
            tokens).
        price_of_quality: Expected score that one unit of cost must bring, at least
            0. Infinity asks the cheapest model, the better one if costs tie.

    Returns:
        Columns, shape ``(n_items,)``.

    Raises:
        InvalidInputError: If shapes differ, a cost is missing or negative, or the
            price is.

    Examples:
        >>> expected, costs = np.array([[0.6, 0.7]]), np.array([[1.0, 3.0]])
        >>> cost_aware_choices(expected, costs, price_of_quality=0.04).tolist()
        [1]
        >>> cost_aware_choices(expected, costs, price_of_quality=0.06).tolist()
        [0]
    """
    _check_costs(expected, costs)
    if not price_of_quality >= 0:
        raise InvalidInputError(
            f"price_of_quality must be at least 0, got {price_of_quality}"
        )
    if np.isinf(price_of_quality):
        cheapest = costs.min(axis=1, keepdims=True, initial=np.inf)
        return first_best(np.where(costs <= cheapest, expected, -np.inf))
    return first_best(expected - price_of_quality * costs)


def choices_within_budget(
    expected: Floats, costs: Floats, *, budget: float
) -> BudgetChoice:
    """The best choices whose mean cost per item is within the budget.

    The mean cost falls as the price of quality rises, and changes only where two
    models change places on some item: bisection over those prices finds the lowest
    that fits. Between two of them the budget is not used up to the last cent.

    Args:
        expected: Expected scores, shape ``(n_items, n_models)``.
        costs: Of the same shape, in the budget's unit.
        budget: Mean cost per item.

    Returns:
        The choices. With no items, none at a cost of 0.

    Raises:
        InvalidInputError: As `cost_aware_choices`, or if even the cheapest models
            cost more than the budget.
    """
    _check_costs(expected, costs)
    if not len(expected):
        return BudgetChoice(np.zeros(0, dtype=np.int64), 0.0, 0.0)
    prices = np.concatenate([[0.0], _turning_points(expected, costs), [np.inf]])
    limit = budget * (1 + _TOLERANCE)
    low, high = 0, len(prices) - 1
    if _at_price(expected, costs, np.inf).mean_cost > limit:
        least = float(costs.min(axis=1).mean())
        raise InvalidInputError(
            f"budget: must be at least the mean cost of the cheapest models, "
            f"{least:g} an item, got {budget:g}"
        )
    while low < high:
        middle = (low + high) // 2
        if _at_price(expected, costs, float(prices[middle])).mean_cost <= limit:
            high = middle
        else:
            low = middle + 1
    return _at_price(expected, costs, float(prices[low]))


def frontier_choices(
    expected: Floats, costs: Floats, *, n_prices: int = 41
) -> list[BudgetChoice]:
    """Choices at a sweep of prices of quality, from none to any.

    Args:
        expected: Cross-fitted expected scores, shape ``(n_items, n_models)``.
        costs: Of the same shape.
        n_prices: At most so many, the ends included; at least 2.

    Returns:
        The dearest first; the last at an infinite price, with the cheapest models.

    Raises:
        InvalidInputError: As `cost_aware_choices`.
    """
    _check_costs(expected, costs)
    turning = _turning_points(expected, costs)
    places = np.linspace(0, len(turning) - 1, max(n_prices - 2, 0))
    inner = turning[places.round().astype(np.intp)] if turning.size else turning
    prices = np.concatenate([[0.0], inner, [np.inf]])
    return [_at_price(expected, costs, float(price)) for price in np.unique(prices)]


def is_dominated(mean_cost: Floats, accuracy: Floats) -> NDArray[np.bool_]:
    """Whether another point is as good for less, or better for as much.

    Args:
        mean_cost: Of each point, shape ``(n_points,)``.
        accuracy: Of the same shape.

    Examples:
        >>> is_dominated(np.array([2.0, 1.0]), np.array([0.6, 0.6])).tolist()
        [True, False]
    """
    is_better = (accuracy > accuracy[:, np.newaxis]) & (
        mean_cost <= mean_cost[:, np.newaxis]
    )
    is_cheaper = (accuracy >= accuracy[:, np.newaxis]) & (
        mean_cost < mean_cost[:, np.newaxis]
    )
    return np.asarray((is_better | is_cheaper).any(axis=1))


def _at_price(expected: Floats, costs: Floats, price: float) -> BudgetChoice:
    choices = cost_aware_choices(expected, costs, price_of_quality=price)
    return BudgetChoice(choices, price, _mean(costs[np.arange(len(costs)), choices]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def _turning_points(expected: Floats, costs: Floats) -> Floats:
    """Prices just above those at which two models change places on an item."""
    a, b = np.triu_indices(expected.shape[1], k=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        prices = (expected[:, a] - expected[:, b]) / (costs[:, a] - costs[:, b])
    found = np.unique(prices[np.isfinite(prices) & (prices > 0)])
    # At the price itself the two tie, and the tie would go to the first model.
    return found * (1 + 1e-6)


def _check_costs(expected: Floats, costs: Floats) -> None:
    if expected.shape != costs.shape:
        raise InvalidInputError(
            "expected and costs must have one entry a model and item each, got shapes "
            f"{expected.shape} and {costs.shape}"
        )
    bad = np.argwhere(~(costs >= 0) | np.isinf(costs))
    if len(bad):
        item, model = (int(place) for place in bad[0])
        raise InvalidInputError(
            f"costs: must be known and at least 0: {len(bad)} are not, first at item "
            f"{item}, model {model}: {costs[item, model]}. Leave out models "
            "without a price"
        )
