"""How often a difference would be found, by drawing the data many times."""

import numpy as np

from skillmap.comparisons.paired import mcnemar_p_values
from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats


def simulated_power(
    n_items: Floats,
    *,
    difference: float,
    discordance: float,
    n_tests: int = 1,
    alpha: float = 0.05,
    n_draws: int = 2000,
    seed: int = 0,
) -> Floats:
    """Share of slices of each size on which exact McNemar finds the difference.

    The check of `required_items`, whose normal approximation is short for few items.

    Args:
        n_items: Items of a slice, whole and from 0, shape ``(n_sizes,)``.
        difference: True difference of the two accuracies.
        discordance: Share of items that exactly one model gets right, at least the
            size of ``difference``.
        n_tests: Tests shown together; each is held to ``alpha / n_tests``.
        alpha: Two-sided level.
        n_draws: Slices drawn of each size.
        seed: Equal seeds give equal shares.

    Returns:
        In [0, 1], shape of ``n_items``; off by up to 1 / sqrt(n_draws).

    Raises:
        InvalidInputError: If |difference| <= discordance <= 1 does not hold, or
            ``n_tests`` or ``n_draws`` is below 1.
    """
    if not abs(difference) <= discordance <= 1 or min(n_tests, n_draws) < 1:
        raise InvalidInputError(
            "|difference| <= discordance <= 1, n_tests >= 1 and n_draws >= 1 must "
            f"hold, got difference={difference}, discordance={discordance}, "
            f"n_tests={n_tests}, n_draws={n_draws}"
        )
    random = np.random.default_rng(seed)
    whole = n_items.astype(np.int64)
    differing = random.binomial(whole, discordance, (n_draws, whole.size))
    share = 0.5 + difference / (2 * discordance) if discordance else 0.5
    only_a = random.binomial(differing, share)
    p = mcnemar_p_values(
        only_a.astype(np.float64), (differing - only_a).astype(np.float64)
    )
    return (p <= alpha / n_tests).mean(axis=0)
