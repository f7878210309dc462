"""Corrections for having looked at many groups at once.

The family is every test that is shown together. A value that could not be tested is
NaN, stays NaN and is not one of the family.
"""

import numpy as np

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Adjusted p values: select those up to q, and at most q are expected false.

    Holds for independent tests and for tests that depend positively, as those of
    overlapping slices do; `benjamini_yekutieli` needs no such assumption.

    Args:
        p_values: In [0, 1] or NaN, any shape.

    Returns:
        Same shape, in [0, 1], never below the p value; NaN where it is.

    Raises:
        InvalidInputError: If a value is outside [0, 1].

    Source:
        Benjamini and Hochberg (1995), JRSS B 57, 289-300.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.04, np.nan, 0.03])).round(3)
        array([0.03, 0.04,  nan, 0.04])
    """
    return _step_up(p_values, strictness=1.0)


def benjamini_yekutieli(p_values: Floats) -> Floats:
    """Adjusted p values as by `benjamini_hochberg`, whatever the dependence.

    Source:
        Benjamini and Yekutieli (2001), Annals of Statistics 29, 1165-1188:
        the factor 1 + 1/2 + ... + 1/m.
    """
    n_tests = int(np.count_nonzero(~np.isnan(p_values)))
    harmonic = float((1 / np.arange(1, n_tests + 1)).sum())
    return _step_up(p_values, strictness=harmonic)


def selected_interval_level(n_selected: int, n_tests: int, *, q: float) -> float:
    """Confidence level of intervals shown for selected groups only.

    Of intervals at this level around the groups that a procedure at level ``q``
    selected, at most a share ``q`` is expected to miss.

    Args:
        n_selected: Tests that were selected, from 1.
        n_tests: Tests of the family.
        q: In (0, 1).

    Returns:
        1 - n_selected * q / n_tests, in (0, 1).

    Raises:
        InvalidInputError: If not 1 <= n_selected <= n_tests, or q is outside (0, 1).

    Source:
        Benjamini and Yekutieli (2005), JASA 100, 71-81.
    """
    if not 1 <= n_selected <= n_tests or not 0 < q < 1:
        raise InvalidInputError(
            "1 <= n_selected <= n_tests and 0 < q < 1 must hold, got "
            f"n_selected={n_selected}, n_tests={n_tests}, q={q}"
        )
    return 1 - n_selected * q / n_tests


def _step_up(p_values: Floats, *, strictness: float) -> Floats:
    flat = p_values.ravel()
    known = np.flatnonzero(~np.isnan(flat))
    values = flat[known]
    bad = known[(values < 0) | (values > 1)]
    if bad.size:
        raise InvalidInputError(
            f"{bad.size} of {flat.size} p values are outside [0, 1], first at index "
            f"{bad[0]}: {flat[bad[0]]}"
        )
    # Equal values end up equal in whatever order they are sorted.
    order = np.argsort(values)
    # Multiplied before it is divided: m/m * p must not round below p.
    scaled = values[order] * (strictness * order.size)
    scaled /= np.arange(1, order.size + 1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[known[order]] = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0)
    return np.fmax(adjusted, flat).reshape(p_values.shape)
