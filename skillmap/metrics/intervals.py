"""Confidence intervals of accuracies and of their differences, in closed form."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """Lower and upper bounds, one of each per group."""

    low: Floats
    high: Floats


def wilson_interval(
    n_correct: Floats, n_items: Floats, *, confidence_level: float = 0.95
) -> Interval:
    """Wilson score interval of the accuracy of each group of items.

    Keeps its width where all items are right or all wrong, which the normal interval
    does not, and never leaves [0, 1]. For graded scores in [0, 1] it is conservative:
    their variance is at most that of right and wrong with the same mean.

    Args:
        n_correct: Sum of the scores, shape ``(n_groups,)``, each in [0, n_items].
        n_items: Items scored, or the effective number of independent items, shape
            ``(n_groups,)``.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Bounds as fractions in [0, 1]. NaN for a group of no items.

    Raises:
        InvalidInputError: If shapes differ, a sum is outside its range, or the
            level is outside (0, 1).

    Source:
        Wilson (1927), JASA 22, 209-212; in Newcombe (1998), Statistics in Medicine
        17, 857-872, as method 3.

    Examples:
        >>> low, high = wilson_interval(np.array([17.0]), np.array([20.0]))
        >>> low.round(4), high.round(4)
        (array([0.6396]), array([0.9476]))
    """
    _check_counts(n_correct, n_items)
    z = _normal_quantile(confidence_level)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = n_correct / n_items
        shrink = 1 + z**2 / n_items
        centre = (p + z**2 / (2 * n_items)) / shrink
        half = z / shrink * np.sqrt(p * (1 - p) / n_items + (z / (2 * n_items)) ** 2)
    # At the ends the formula is exactly 0 or 1, which rounding can miss by 1e-17; next
    # to the ends rounding can put a bound past the accuracy itself.
    low = np.where(n_correct == 0, 0.0, np.clip(centre - half, 0.0, p))
    high = np.where(n_correct == n_items, 1.0, np.clip(centre + half, p, 1.0))
    known = n_items > 0
    return Interval(np.where(known, low, np.nan), np.where(known, high, np.nan))


def part_to_whole_interval(
    part: tuple[Floats, Floats],
    whole: tuple[Floats, Floats],
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Interval of a part's accuracy less that of the whole that contains it.

    The part is in the whole, so the two are not independent. But the difference is
    that of the part and the rest, which are, shrunk by the rest's share of the
    items; the hybrid score interval serves for those two.

    Args:
        part: Sum of the scores and number of items of the part, shape ``(n,)`` each.
        whole: The same of the whole, part included.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Bounds in [-1, 1]. Where the part is the whole both are 0: there is nothing
        to differ from. NaN for an empty part.

    Source:
        Newcombe (1998), Statistics in Medicine 17, 873-890, method 10, for the two
        independent proportions; the reduction to part and rest is ours.
    """
    part_correct, part_items = part
    rest_correct = whole[0] - part_correct
    rest_items = whole[1] - part_items
    inside = wilson_interval(
        part_correct, part_items, confidence_level=confidence_level
    )
    outside = wilson_interval(
        # Sums of fractional scores can leave the rest at -1e-12.
        np.clip(rest_correct, 0.0, rest_items),
        rest_items,
        confidence_level=confidence_level,
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        p = part_correct / part_items
        q = rest_correct / rest_items
        share = rest_items / whole[1]
        low = p - q - np.hypot(p - inside.low, outside.high - q)
        high = p - q + np.hypot(inside.high - p, q - outside.low)
    is_whole = (rest_items == 0) & (part_items > 0)
    return Interval(
        np.where(is_whole, 0.0, share * low), np.where(is_whole, 0.0, share * high)
    )


def _normal_quantile(confidence_level: float) -> float:
    if not 0 < confidence_level < 1:
        raise InvalidInputError(
            f"confidence_level must be between 0 and 1, got {confidence_level}"
        )
    return float(ndtri(0.5 + confidence_level / 2))


def _check_counts(n_correct: Floats, n_items: Floats) -> None:
    if n_correct.shape != n_items.shape:
        raise InvalidInputError(
            "n_correct and n_items must have one entry a group each, got shapes "
            f"{n_correct.shape} and {n_items.shape}"
        )
    bad = np.flatnonzero(~((n_correct >= 0) & (n_correct <= n_items)))
    if bad.size:
        first = int(bad[0])
        raise InvalidInputError(
            f"{bad.size} of {n_items.size} groups break 0 <= n_correct <= n_items, "
            f"first at index {first}: n_correct={n_correct[first]:g}, "
            f"n_items={n_items[first]:g}"
        )
