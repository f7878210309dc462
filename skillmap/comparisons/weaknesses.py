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
        Linearised difference of two domain means, by Taylor's expansion,
        clusters as primary units; with C-1 degrees of freedom of the part with fewer
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


class _Cells(NamedTuple):
    """Parts of clusters in slices, one row a cell, one column a model.

    Attributes:
        owner: Cells by slice.
        cluster: Cluster of each cell.
        size: Items of the cell.
        total: Sum of their scores.
        all_size: Items of each cluster, in the slice or not.
        all_total: Sum of their scores.
    """

    owner: Membership
    cluster: Integers
    size: Floats
    total: Floats
    all_size: Floats
    all_total: Floats


def _parts(results: ResultMatrix) -> tuple[_Part, _Part, Floats]:
    """The slice, the rest, and the variance of the difference of their means."""
    cells = _cells(results)
    by_slice, cluster = cells.owner, cells.cluster
    rest_size = cells.all_size[cluster] - cells.size
    untouched = (cells.all_size > 0).sum(axis=0) - by_slice.sums(
        (cells.all_size[cluster] > 0).astype(float)
    )
    inside = _Part(
        by_slice.sums(cells.size),
        by_slice.sums((cells.size > 0).astype(float)),
        by_slice.sums(cells.total),
    )
    rest = _Part(
        cells.all_size.sum(axis=0) - inside.n_items,
        untouched + by_slice.sums((rest_size > 0).astype(float)),
        cells.all_total.sum(axis=0) - inside.total,
    )
    return inside, rest, _variance(cells, inside, rest)


def _variance(cells: _Cells, inside: _Part, rest: _Part) -> Floats:
    """Squares of what each cluster adds to the difference, in both parts at once."""
    row = cells.owner.group
    n_inside = np.maximum(inside.n_items, 1)
    n_rest = np.maximum(rest.n_items, 1)
    size, total = cells.all_size[cells.cluster], cells.all_total[cells.cluster]
    inner = (cells.total - inside.mean[row] * cells.size) / n_inside[row]
    outer = total - cells.total - rest.mean[row] * (size - cells.size)
    touched = cells.owner.sums((inner - outer / n_rest[row]) ** 2)
    # Clusters that the slice does not touch: all, less those that it does.
    every = (
        (cells.all_total**2).sum(axis=0)
        - 2 * rest.mean * (cells.all_total * cells.all_size).sum(axis=0)
        + rest.mean**2 * (cells.all_size**2).sum(axis=0)
    )
    as_rest = cells.owner.sums((total - rest.mean[row] * size) ** 2)
    elsewhere = np.maximum(every - as_rest, 0.0) / n_rest**2
    # Few clusters scatter too little around their own mean.
    grown = inside.n_clusters / np.maximum(inside.n_clusters - 1, 1)
    return grown * (touched + elsewhere)


def _cells(results: ResultMatrix) -> _Cells:
    counted, item = results.is_counted.astype(np.float64), results.membership.item
    n_clusters = max(results.cluster_ids.len(), 1)
    key = results.membership.group * n_clusters + results.clusters[item]
    keys, cell = np.unique(key, return_inverse=True)
    slice_index, cluster = np.divmod(keys, n_clusters)
    every = np.arange(results.items.len())
    return _Cells(
        owner=Membership(
            slice_index, np.arange(keys.size), results.membership.n_groups, keys.size
        ),
        cluster=cluster,
        size=sparse_sums(cell, item, counted, n_rows=keys.size),
        total=sparse_sums(cell, item, results.scores, n_rows=keys.size),
        all_size=sparse_sums(results.clusters, every, counted, n_rows=n_clusters),
        all_total=sparse_sums(
            results.clusters, every, results.scores, n_rows=n_clusters
        ),
    )
