"""Effects drawn towards their mean by as much as their noise calls for.

The largest of many noisy effects is large partly by luck. With the spread of the true
effects estimated from all of them, each gets the estimate that would be right on
average over all.
"""

from typing import Literal, NamedTuple

import numpy as np

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats

Method = Literal["paule-mandel", "dersimonian-laird"]

# Newton's steps from 0 rise to the root without passing it; ten suffice in practice.
_MOST_STEPS = 100
_CLOSE = 1e-10


class Shrunk(NamedTuple):
    """Shrunk effects of each family.

    Attributes:
        effect: Posterior mean of each effect, shape of the effects.
        standard_deviation: Its posterior standard deviation.
        family_mean: Mean of the true effects, one a family.
        family_variance: Variance of the true effects, one a family.
    """

    effect: Floats
    standard_deviation: Floats
    family_mean: Floats
    family_variance: Floats


def between_variance(
    effects: Floats, standard_errors: Floats, *, method: Method = "paule-mandel"
) -> Floats:
    """Variance of the true effects behind noisy estimates of them.

    Args:
        effects: Estimates, shape ``(n_effects, ...)``; each column is one family.
        standard_errors: Above 0, same shape. A NaN in either leaves the effect out.
        method: "paule-mandel" solves for the variance that makes the estimates as
            scattered as they are; "dersimonian-laird" is one step, and too small
            where variances are unequal.

    Returns:
        One a family, from 0. 0 for fewer than two effects.

    Raises:
        InvalidInputError: If shapes differ or a standard error is not above 0.

    Source:
        DerSimonian and Laird (1986), Controlled Clinical Trials 7, 177-188; Paule and
        Mandel (1982), J. Res. NBS 87, 377-385, by Newton's method as in DerSimonian
        and Kacker (2007), Contemporary Clinical Trials 28, 105-114.
    """
    known, values, variances = _checked(effects, standard_errors)
    n = known.sum(axis=0)
    if method == "dersimonian-laird":
        weights = known / variances
        excess = _scatter(values, weights) - (n - 1)
        total = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        scale = total - (weights**2).sum(axis=0) / total
        return np.where((n > 1) & (excess > 0), excess / np.where(n > 1, scale, 1), 0.0)
    found = np.zeros(n.shape)
    for _ in range(_MOST_STEPS):
        weights = known / (variances + found)
        centred = values - _weighted_mean(values, weights)
        excess = (weights * centred**2).sum(axis=0) - (n - 1)
        slope = (weights**2 * centred**2).sum(axis=0)
        step = np.where((n > 1) & (excess > 0), excess / np.maximum(slope, 1e-300), 0.0)
        found = found + step
        if (step <= _CLOSE * (found + _CLOSE)).all():
            break
    return found


def shrunk_effects(
    effects: Floats, standard_errors: Floats, *, method: Method = "paule-mandel"
) -> Shrunk:
    """Each effect drawn towards its family's mean, with what is left uncertain.

    Args:
        effects: Estimates, shape ``(n_effects, ...)``; each column is one family.
        standard_errors: Above 0, same shape. A NaN in either leaves the effect out.
        method: As in `between_variance`.

    Returns:
        Posterior means and standard deviations; NaN where the effect was left out. A
        family of one effect keeps it.

    Raises:
        InvalidInputError: If shapes differ or a standard error is not above 0.

    Source:
        Normal-normal empirical Bayes, Morris (1983), JASA 78, 47-55, with the mean's
        own variance added but not that of the estimated spread.
    """
    known, values, variances = _checked(effects, standard_errors)
    spread = between_variance(effects, standard_errors, method=method)
    weights = known / (variances + spread)
    average = _weighted_mean(values, weights)
    total = weights.sum(axis=0)
    share = variances / (variances + spread)
    mean_variance = 1 / np.where(total > 0, total, np.nan)
    variance = (1 - share) * variances + share**2 * mean_variance
    effect = share * average + (1 - share) * values
    return Shrunk(
        effect=np.where(known, effect, np.nan),
        standard_deviation=np.where(known, np.sqrt(variance), np.nan),
        family_mean=np.where(total > 0, average, np.nan),
        family_variance=spread,
    )


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    total = weights.sum(axis=0)
    return (weights * values).sum(axis=0) / np.where(total > 0, total, 1.0)


def _scatter(values: Floats, weights: Floats) -> Floats:
    return (weights * (values - _weighted_mean(values, weights)) ** 2).sum(axis=0)


def _checked(effects: Floats, standard_errors: Floats) -> tuple[Floats, Floats, Floats]:
    """1 where the effect is known, the effects and their variances."""
    if effects.shape != standard_errors.shape:
        raise InvalidInputError(
            "effects and standard_errors must have one shape, got "
            f"{effects.shape} and {standard_errors.shape}"
        )
    known = ~(np.isnan(effects) | np.isnan(standard_errors))
    bad = np.flatnonzero(known & ~(standard_errors > 0))
    if bad.size:
        raise InvalidInputError(
            f"{bad.size} of {effects.size} standard errors are not above 0, first at "
            f"index {bad[0]}: {standard_errors.ravel()[bad[0]]}"
        )
    return (
        known.astype(np.float64),
        np.where(known, effects, 0.0),
        np.where(known, standard_errors, 1.0) ** 2,
    )
