"""What a number of items can show, and how many it takes to show something."""

from typing import cast

import numpy as np
from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats


def discordance_variance(discordance: float, difference: float = 0.0) -> float:
    """Variance of one item's difference between two models that are right or wrong.

    Args:
        discordance: Share of items that exactly one model gets right, in [0, 1].
        difference: Accuracy of one model less that of the other, at most
            ``discordance`` in size.

    Returns:
        discordance - difference², from 0.

    Raises:
        InvalidInputError: If the two are out of their ranges.

    Examples:
        >>> discordance_variance(0.26, 0.1)
        0.25
    """
    if not abs(difference) <= discordance <= 1:
        raise InvalidInputError(
            "|difference| <= discordance <= 1 must hold, got "
            f"difference={difference}, discordance={discordance}"
        )
    return discordance - difference**2


def correlation_variance(
    accuracy_a: float, accuracy_b: float, correlation: float
) -> float:
    """Variance of one item's difference, from two accuracies and their correlation.

    Args:
        accuracy_a: In [0, 1].
        accuracy_b: In [0, 1].
        correlation: Of the two models' scores over items, in [-1, 1]; 0.4 to 0.6 is
            common.

    Returns:
        The variance, from 0.

    Raises:
        InvalidInputError: If an argument is out of its range.

    Source:
        Miller (2024), arXiv 2411.00640, on paired analysis.
    """
    in_range = 0 <= accuracy_a <= 1 and 0 <= accuracy_b <= 1 and abs(correlation) <= 1
    if not in_range:
        raise InvalidInputError(
            "accuracies must be in [0, 1] and correlation in [-1, 1], got "
            f"{accuracy_a}, {accuracy_b} and {correlation}"
        )
    a, b = accuracy_a * (1 - accuracy_a), accuracy_b * (1 - accuracy_b)
    return a + b - 2 * correlation * float(np.sqrt(a * b))


def minimum_detectable_difference(
    standard_errors: Floats, *, alpha: float = 0.05, power: float = 0.8
) -> Floats:
    """Least true difference that would be found with the given power.

    Args:
        standard_errors: Of the differences, any shape.
        alpha: Two-sided level of the test, in (0, 1).
        power: Chance of finding it, in (0, 1).

    Returns:
        In the unit of the standard errors; NaN where they are.

    Raises:
        InvalidInputError: If alpha or power is outside (0, 1).

    Source:
        Miller (2024), arXiv 2411.00640, on power.
    """
    return _quantiles(alpha, power) * standard_errors


def required_items(
    differences: Floats,
    *,
    variance: float,
    sampling_variance: float = 0.0,
    design_effect: float = 1.0,
    n_tests: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Floats:
    """Items that both models must answer for a difference to be found.

    Args:
        differences: True differences to be found, any shape, in (0, 1].
        variance: Of one item's difference: see `discordance_variance` and
            `correlation_variance`.
        sampling_variance: Variance of the answers to one item over repetitions,
            divided by the number of repetitions and summed over both models; where
            ``variance`` is that of single answers it is in there already.
        design_effect: Times the variance of independent items, for items in clusters.
        n_tests: Tests shown together; each is held to ``alpha / n_tests``, which is
            no less than any correction asks for.
        alpha: Two-sided level, in (0, 1).
        power: Chance of finding it, in (0, 1).

    Returns:
        Whole numbers, shape of ``differences``.

    Raises:
        InvalidInputError: If an argument is out of its range.

    Source:
        Miller (2024), arXiv 2411.00640, on power.

    Examples:
        >>> required_items(np.array([0.1, 0.05]), variance=0.25)
        array([197., 785.])
    """
    if not ((differences > 0) & (differences <= 1)).all():
        bad = differences[~((differences > 0) & (differences <= 1))]
        raise InvalidInputError(
            f"{bad.size} of {differences.size} differences are outside (0, 1], first "
            f"{bad[0]}"
        )
    if min(variance, sampling_variance) < 0 or min(design_effect, n_tests) <= 0:
        raise InvalidInputError(
            "variances must not be negative, design_effect and n_tests above 0, got "
            f"variance={variance}, sampling_variance={sampling_variance}, "
            f"design_effect={design_effect}, n_tests={n_tests}"
        )
    spread = (variance + sampling_variance) * design_effect
    quantiles = _quantiles(alpha / n_tests, power)
    # A whole number that rounding puts at 64.00000000000001 is still 64.
    return np.ceil(quantiles**2 * spread / differences**2 - 1e-9)


def _quantiles(alpha: float, power: float) -> float:
    if not (0 < alpha < 1 and 0 < power < 1):
        raise InvalidInputError(
            f"alpha and power must be between 0 and 1, got {alpha} and {power}"
        )
    quantiles = cast("Floats", ndtri(np.array([1 - alpha / 2, power])))
    return float(quantiles.sum())
