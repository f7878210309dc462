"""The routing rule of the skill-slices paper, as its code states it."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.membership import ones, products, transposed


class Weighting(StrEnum):
    """What a slice counts in the mean over an item's slices."""

    INVERSE_SIZE = "inverse_size"
    UNIFORM = "uniform"


@dataclass(frozen=True, eq=False)
class SliceSums:
    """What the slices that are large enough say, one row a slice.

    Attributes:
        weights: Shape ``(n_slices,)``; 0 for a slice that is too small.
        sizes: Items in each slice.
        n_correct: Sum of the scores by slice and model.
    """

    weights: Floats
    sizes: Floats
    n_correct: Floats


def slice_sums(
    membership: csr_array,
    scores: Floats,
    *,
    weighting: Weighting = Weighting.INVERSE_SIZE,
    minimum_items: int = 100,
) -> SliceSums:
    """Sums of the scores by slice, and the weight of each slice.

    Args:
        membership: Shape ``(n_items, n_slices)``: how often the item has the slice.
            An item with two phrases of one skill has it twice, and is one item of it.
        scores: Shape ``(n_items, n_models)``, no NaN.
        weighting: Whether a large slice counts less.
        minimum_items: A slice counts if it has more items than this.

    Raises:
        InvalidInputError: If a score is missing.
    """
    if np.isnan(scores).any():
        raise InvalidInputError(
            f"scores: the published rule needs a score of every model on every item: "
            f"{int(np.isnan(scores).sum())} of {scores.size} are missing. "
            "Keep the common items"
        )
    is_in = transposed(ones(membership))
    sizes = products(is_in, np.ones(len(scores)))
    is_large = sizes > max(minimum_items, 1)
    weights = is_large / np.where(
        is_large & (weighting is Weighting.INVERSE_SIZE), sizes, 1.0
    )
    return SliceSums(weights, sizes, products(is_in, scores))


def leave_one_out_scores(
    membership: csr_array, scores: Floats, sums: SliceSums
) -> Floats:
    """Mean accuracy of each model on an item's slices, the item's own score taken out.

    With W = weight / (size - 1), the sum over an item's slices of
    weight x (n_correct - own score) / (size - 1) is (K W n_correct) less the own score
    times (K W): two sparse products in place of a loop over items and slices.

    Args:
        membership: As for `slice_sums`, of the same items.
        scores: As for `slice_sums`.
        sums: Of these items.

    Returns:
        Shape ``(n_items, n_models)``; NaN for an item in no slice that counts.

    Source:
        Moayeri et al. (2024), Unearthing Skill-Level Insights, arXiv 2410.13826, in
        the form of the code the authors released; the two products are ours.
    """
    shares = sums.weights / np.maximum(sums.sizes - 1, 1)
    together = products(membership, shares[:, np.newaxis] * sums.n_correct)
    own = products(membership, shares)[:, np.newaxis] * scores
    return _per_slice(together - own, _n_slices(membership, sums))


def slice_mean_scores(membership: csr_array, sums: SliceSums) -> Floats:
    """Mean accuracy of each model on the slices of items not among those of ``sums``.

    Returns:
        Shape ``(n_items, n_models)``; NaN for an item in no slice that counts.
    """
    accuracy = sums.n_correct / np.maximum(sums.sizes, 1)[:, np.newaxis]
    together = products(membership, sums.weights[:, np.newaxis] * accuracy)
    return _per_slice(together, _n_slices(membership, sums))


def _n_slices(membership: csr_array, sums: SliceSums) -> Floats:
    return products(membership, np.where(sums.weights > 0, 1.0, 0.0)).astype(np.float64)


def _per_slice(together: Floats, n_slices: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            n_slices[:, np.newaxis] > 0, together / n_slices[:, np.newaxis], np.nan
        )


def first_best(expected: Floats, *, default: int = 0) -> NDArray[np.int64]:
    """Column of each row's highest value; the first of those that tie.

    Values within rounding of the highest tie with it, so that the choice does not
    hang on the order in which a sum was made.

    Args:
        expected: Shape ``(n_items, n_models)``. A row of NaN has no best.
        default: Column chosen for a row of NaN.

    Examples:
        >>> first_best(np.array([[0.1 + 0.2, 0.3], [0.1, 0.5]])).tolist()
        [0, 1]
    """
    known: Floats = np.where(np.isnan(expected), -np.inf, expected)
    best = known.max(axis=1, keepdims=True, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        ties = known >= best - 1e-10 * np.abs(best)
    is_unknown = best[:, 0] == -np.inf
    return np.where(is_unknown, default, ties.argmax(axis=1))
