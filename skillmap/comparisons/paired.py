"""Two models on the same items, right or wrong: interval and test in closed form."""

from typing import cast

import numpy as np
from scipy.special import (  # pyright: ignore[reportMissingTypeStubs]
    bdtr,
    betainc,
    gammaln,
)

from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats, Interval, wilson_interval


def newcombe_paired_interval(
    accuracy_a: Floats,
    accuracy_b: Floats,
    both_right: Floats,
    n_items: Floats,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Interval of one model's accuracy less another's on the same items.

    Hybrid of the two Wilson intervals, narrowed by how alike the models are. Unlike
    the normal interval it has width where the models never differ.

    Args:
        accuracy_a: Of the first model, in [0, 1], any shape.
        accuracy_b: Of the second, same shape.
        both_right: Share of items that both get right (mean product of the scores,
            for graded ones), same shape.
        n_items: Items, or the effective number of independent ones; 0 or more.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Bounds in [-1, 1]. NaN for no items.

    Raises:
        InvalidInputError: If an accuracy is outside [0, 1] or the level outside
            (0, 1).

    Source:
        Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10, with its
        correction of half an item in the correlation.
    """
    p, q = accuracy_a, accuracy_b
    a = wilson_interval(
        np.minimum(p * n_items, n_items), n_items, confidence_level=confidence_level
    )
    b = wilson_interval(
        np.minimum(q * n_items, n_items), n_items, confidence_level=confidence_level
    )
    phi = _correlation(p, q, both_right, n_items)
    below = _hybrid(p - a.low, b.high - q, phi)
    above = _hybrid(a.high - p, q - b.low, phi)
    return Interval(np.maximum(p - q - below, -1.0), np.minimum(p - q + above, 1.0))


def _hybrid(first: Floats, second: Floats, correlation: Floats) -> Floats:
    squared = first**2 - 2 * correlation * first * second + second**2
    return np.sqrt(np.maximum(squared, 0.0))


def _correlation(p: Floats, q: Floats, both: Floats, n_items: Floats) -> Floats:
    covariance = both - p * q
    with np.errstate(divide="ignore", invalid="ignore"):
        corrected = np.maximum(covariance - 1 / (2 * n_items), 0.0)
        scale = np.sqrt(p * (1 - p) * q * (1 - q))
        phi = np.where(covariance > 0, corrected, covariance) / scale
    return np.where(scale > 0, np.clip(phi, -1.0, 1.0), 0.0)


def mcnemar_p_values(
    n_only_a: Floats, n_only_b: Floats, *, mid_p: bool = False
) -> Floats:
    """Two-sided p that each of two models is as often the only one right.

    Args:
        n_only_a: Items that only the first model gets right, whole, any shape.
        n_only_b: Items that only the second gets right, same shape.
        mid_p: Count only half of the chance of what was seen. Less strict, close to
            the nominal level on average; the exact p never exceeds it.

    Returns:
        In (0, 1]; 1 where the models never differ.

    Raises:
        InvalidInputError: If shapes differ, or a count is negative or not whole.

    Source:
        Exact: McNemar (1947), Psychometrika 12, 153-157, as a binomial test. Mid-p:
        Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91.

    Examples:
        >>> mcnemar_p_values(np.array([6.0]), np.array([16.0])).round(6)
        array([0.052479])
        >>> mcnemar_p_values(np.array([6.0]), np.array([16.0]), mid_p=True).round(6)
        array([0.03469])
    """
    _check_discordant(n_only_a, n_only_b)
    fewer = np.minimum(n_only_a, n_only_b).astype(np.int64).ravel()
    discordant = (n_only_a + n_only_b).astype(np.int64).ravel()
    # Many cells share their counts, and a tail of the binomial is slow. Bounded by
    # items squared, which an int64 holds.
    base = int(discordant.max(initial=0)) + 1
    keys, inverse = np.unique(discordant * base + fewer, return_inverse=True)
    n, k = np.divmod(keys, base)
    p = np.minimum(2 * cast("Floats", bdtr(k.astype(np.float64), n, 0.5)), 1.0)
    if mid_p:
        # Both tails hold a tie, which is counted once in all.
        seen = np.where(2 * k == n, 0.5, 1.0) * _chance_of_half(k, n)
        p = np.where(n > 0, p - seen, 1.0)
    return p[inverse].reshape(n_only_a.shape)


def scaled_mcnemar_p_values(n_only_a: Floats, n_only_b: Floats) -> Floats:
    """Exact p of counts that need not be whole, such as effective ones.

    Args:
        n_only_a: From 0, any shape.
        n_only_b: From 0, same shape.

    Returns:
        In (0, 1]; `mcnemar_p_values` for whole counts.

    Source:
        The binomial tail as an incomplete beta integral, which has no gaps; counts
        over a design effect as in Rao and Scott (1992), Biometrics 48, 577-585.
    """
    fewer = np.minimum(n_only_a, n_only_b)
    more = np.maximum(n_only_a, n_only_b)
    # I(n - k, k + 1) at one half; no such integral where nothing differs.
    tail = cast("Floats", betainc(np.maximum(more, 1e-300), fewer + 1, 0.5))
    return np.where(more > 0, np.minimum(2 * tail, 1.0), 1.0)


def _chance_of_half(k: Integers, n: Integers) -> Floats:
    """Chance of k heads among n fair coins."""
    log_ways = (
        cast("Floats", gammaln(n + 1))
        - cast("Floats", gammaln(k + 1))
        - cast("Floats", gammaln(n - k + 1))
    )
    return np.exp(log_ways - n * np.log(2))


def _check_discordant(n_only_a: Floats, n_only_b: Floats) -> None:
    if n_only_a.shape != n_only_b.shape:
        raise InvalidInputError(
            "n_only_a and n_only_b must have one shape, got "
            f"{n_only_a.shape} and {n_only_b.shape}"
        )
    is_whole = (n_only_a >= 0) & (n_only_b >= 0)
    is_whole &= (n_only_a % 1 == 0) & (n_only_b % 1 == 0)
    bad = np.flatnonzero(~is_whole)
    if bad.size:
        first = int(bad[0])
        raise InvalidInputError(
            f"{bad.size} of {n_only_a.size} pairs of counts are not whole and from 0, "
            f"first at index {first}: {n_only_a.ravel()[first]:g} and "
            f"{n_only_b.ravel()[first]:g}"
        )
