"""Slices on which one model is worse, or better, than on the rest of its items."""

from typing import NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]

from skillmap.comparisons.result_matrix import ResultMatrix, result_matrix
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers, Membership, sparse_sums, t_quantile
from skillmap.metrics.intervals import Floats
from skillmap.metrics.multiplicity import benjamini_hochberg


class _Part(NamedTuple):
    """Items, clusters and sum of scores of a part, shape (n_slices, n_models)."""

    n_items: Floats
    n_clusters: Floats
    total: Floats

    @property
    def mean(self) -> Floats:
        return self.total / np.maximum(self.n_items, 1)

    def part(self, index: NDArray[np.bool_]) -> "_Part":
        return _Part(self.n_items[index], self.n_clusters[index], self.total[index])


def slice_weaknesses(
    item_scores: pl.DataFrame,
    slice_items: pl.DataFrame,
    slices: pl.DataFrame,
    clusters: pl.DataFrame | None = None,
    *,
    q: float = 0.05,
    confidence_level: float = 0.95,
) -> pl.DataFrame:
    """Each model's accuracy on each slice less that on its other items.

    Args:
        item_scores: As for `slice_contrasts`.
        slice_items: ``slice_id`` and ``item_id``, each pair once.
        slices: ``slice_id`` and ``slice_name``.
        clusters: ``item_id`` and ``cluster_id``; items not named are their own.
        q: Share of false discoveries to be expected at most, over all rows.
        confidence_level: Of the intervals, two-sided.

    Returns:
        One row per slice and model with items in and outside of it, sorted:
        ``slice_id``, ``slice_name``, ``model_id``, ``n_items``, ``n_clusters``,
        ``accuracy``, ``rest_accuracy``, ``difference``, ``difference_low``,
        ``difference_high``, ``p_value``, ``q_value``, ``is_weak``, ``is_strong``.
        Null bounds, p and q where the slice or the rest is a single cluster.

    Raises:
        InvalidInputError: If q or the level is outside (0, 1), or a frame breaks its
            grain.

    Source:
        Linearised difference of two domain means, as in Cochran (1977), Sampling
        Techniques, section 9A.5, with C-1 degrees of freedom of the part with fewer
        clusters.
    """
    if not 0 < q < 1:
        raise InvalidInputError(f"q must be between 0 and 1, got {q}")
    results = result_matrix(item_scores, slice_items, slices, clusters)
    inside, rest, variance = _parts(results)
    has_both = (inside.n_items > 0) & (rest.n_items > 0)
    slice_index, model = np.nonzero(has_both)
    difference = (inside.mean - rest.mean)[has_both]
    n_clusters = np.minimum(inside.n_clusters, rest.n_clusters)[has_both]
    error = np.where(n_clusters > 1, np.sqrt(variance[has_both]), np.nan)
    half = t_quantile(n_clusters, confidence_level=confidence_level) * error
    values = {
        "accuracy": inside.mean[has_both],
        "rest_accuracy": rest.mean[has_both],
        "difference": difference,
        "difference_low": np.maximum(difference - half, -1.0),
        "difference_high": np.minimum(difference + half, 1.0),
        "p_value": _p_values(inside.part(has_both), rest.part(has_both), error),
    }
    q_value = benjamini_hochberg(values["p_value"])
    return pl.DataFrame(
        [
            results.slices["slice_id"].gather(slice_index),
            results.slices["slice_name"].gather(slice_index),
            results.models.gather(model).alias("model_id"),
            pl.Series("n_items", inside.n_items[has_both]).cast(pl.Int64),
            pl.Series("n_clusters", inside.n_clusters[has_both]).cast(pl.Int64),
            *(
                pl.Series(name, array, nan_to_null=True)
                for name, array in values.items()
            ),
            pl.Series("q_value", q_value, nan_to_null=True),
            pl.Series("is_weak", (q_value <= q) & (difference < 0)),
            pl.Series("is_strong", (q_value <= q) & (difference > 0)),
        ]
    )


def _p_values(inside: _Part, rest: _Part, error: Floats) -> Floats:
    """By clustered t, and never below that with the variance of equal accuracies.

    A slice that is nearly all right or all wrong has little variance of its own, and
    none of that is evidence.
    """
    difference = inside.mean - rest.mean
    pooled = (inside.total + rest.total) / (inside.n_items + rest.n_items)
    of_one = 1 / inside.n_items + 1 / rest.n_items
    own = (
        inside.mean * (1 - inside.mean) / inside.n_items
        + rest.mean * (1 - rest.mean) / rest.n_items
    )
    effect = np.maximum(error**2 / np.where(own > 0, own, np.inf), 1.0)
    at_null = np.sqrt(effect * pooled * (1 - pooled) * of_one)
    n_clusters = np.minimum(inside.n_clusters, rest.n_clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(difference) / np.maximum(error, at_null)
    t = np.where(difference == 0, 0.0, t)
    p = 2 * cast("Floats", stdtr(np.maximum(n_clusters - 1, 1), -t))
    return np.where(n_clusters > 1, p, np.nan)


def _parts(results: ResultMatrix) -> tuple[_Part, _Part, Floats]:
    """The slice, the rest, and the variance of the difference of their means."""
    counted, membership = results.is_counted.astype(np.float64), results.membership
    n_clusters = results.cluster_ids.len()
    # Every item in its cluster; all clusters, not only those of the slice.
    every = np.arange(results.items.len())
    size = sparse_sums(results.clusters, every, counted, n_rows=n_clusters)
    total = sparse_sums(results.clusters, every, results.scores, n_rows=n_clusters)
    cells, cluster = _cells(results)
    cell_size = sparse_sums(cells, membership.item, counted, n_rows=cluster.size)
    cell_total = sparse_sums(
        cells, membership.item, results.scores, n_rows=cluster.size
    )
    owner = np.zeros(cluster.size, np.int64)
    owner[cells] = membership.group
    by_slice = Membership(
        owner, np.arange(cluster.size), membership.n_groups, cluster.size
    )
    rest_size, rest_total = size[cluster] - cell_size, total[cluster] - cell_total
    untouched = (size > 0).sum(axis=0) - by_slice.sums(
        (size[cluster] > 0).astype(float)
    )
    inside = _Part(
        by_slice.sums(cell_size),
        by_slice.sums((cell_size > 0).astype(float)),
        by_slice.sums(cell_total),
    )
    rest = _Part(
        size.sum(axis=0) - inside.n_items,
        untouched + by_slice.sums((rest_size > 0).astype(float)),
        total.sum(axis=0) - inside.total,
    )
    inner = (cell_total - inside.mean[owner] * cell_size) / np.maximum(
        inside.n_items[owner], 1
    )
    outer = (rest_total - rest.mean[owner] * rest_size) / np.maximum(
        rest.n_items[owner], 1
    )
    touched = by_slice.sums((inner - outer) ** 2)
    whole = (size, total)
    elsewhere = (
        _squares(*whole, rest)
        - by_slice.sums((total[cluster] - rest.mean[owner] * size[cluster]) ** 2)
        / np.maximum(rest.n_items, 1) ** 2
    )
    # Few clusters scatter too little around their own mean, in either part.
    grown = inside.n_clusters / np.maximum(inside.n_clusters - 1, 1)
    return inside, rest, grown * (touched + np.maximum(elsewhere, 0.0))


def _cells(results: ResultMatrix) -> tuple[Integers, Integers]:
    """Cell (slice and cluster) of each membership, and the cluster of each cell."""
    n_clusters = max(results.cluster_ids.len(), 1)
    key = results.membership.group * n_clusters
    key = key + results.clusters[results.membership.item]
    keys, cell = np.unique(key, return_inverse=True)
    return cell, keys % n_clusters


def _squares(size: Floats, total: Floats, rest: _Part) -> Floats:
    """Squared deviations of all clusters from the rest's mean, by slice and model."""
    mean = rest.mean
    squares = (
        (total**2).sum(axis=0)
        - 2 * mean * (total * size).sum(axis=0)
        + mean**2 * (size**2).sum(axis=0)
    )
    return squares / np.maximum(rest.n_items, 1) ** 2
