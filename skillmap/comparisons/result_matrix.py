"""Frames of results, slices and clusters as arrays that sums can be taken of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.comparisons.halves import confirmation_half
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers, Membership
from skillmap.metrics.intervals import Floats


@dataclass(frozen=True)
class ResultMatrix:
    """Scores of all models on the items of all slices.

    Attributes:
        models: Model ids, sorted.
        slices: ``slice_id`` and ``slice_name``, sorted by id.
        items: Item ids, sorted: those with a result, in a slice or not.
        scores: Shape ``(n_items, n_models)``; 0 where nothing counts.
        is_counted: Whether the model has a score that counts, same shape.
        benchmarks: Benchmark of each item, codes from 0.
        clusters: Cluster of each item, codes from 0.
        cluster_ids: Names of the clusters, sorted.
        membership: Items of the slices.
    """

    models: pl.Series
    slices: pl.DataFrame
    items: pl.Series
    scores: Floats
    is_counted: NDArray[np.bool_]
    benchmarks: Integers
    clusters: Integers
    cluster_ids: pl.Series
    membership: Membership

    @cached_property
    def is_binary(self) -> NDArray[np.bool_]:
        """Whether all scores of the model are 0 or 1, one a model."""
        return ((self.scores == 0) | (self.scores == 1)).all(axis=0)

    def halves(self, seed: int) -> Integers:
        """Half of each item, 0 to discover and 1 to confirm, one a cluster."""
        return confirmation_half(self.cluster_ids, seed=seed)[self.clusters]

    def complete_items(self) -> "ResultMatrix":
        """The items that all models answered."""
        kept = np.flatnonzero(self.is_counted.all(axis=1))
        place = np.full(self.items.len(), -1)
        place[kept] = np.arange(kept.size)
        inside = place[self.membership.item] >= 0
        membership = Membership(
            self.membership.group[inside],
            place[self.membership.item[inside]],
            self.membership.n_groups,
            kept.size,
        )
        return ResultMatrix(
            models=self.models,
            slices=self.slices,
            items=self.items.gather(kept),
            scores=self.scores[kept],
            is_counted=self.is_counted[kept],
            benchmarks=self.benchmarks[kept],
            clusters=self.clusters[kept],
            cluster_ids=self.cluster_ids,
            membership=membership,
        )


def result_matrix(
    item_scores: pl.DataFrame,
    slice_items: pl.DataFrame,
    slices: pl.DataFrame,
    clusters: pl.DataFrame | None = None,
) -> ResultMatrix:
    """Arrays of what counts: undrifted items with a score.

    Args:
        item_scores: One row per model and item: ``model_id``, ``item_id``,
            ``benchmark_id``, ``score`` in [0, 1] or null, ``is_drifted``.
        slice_items: ``slice_id`` and ``item_id``, each pair once. Items without a
            result are left out.
        slices: ``slice_id`` and ``slice_name``.
        clusters: ``item_id`` and ``cluster_id`` of the items that share a cluster
            with others, such as duplicates; an item not named is its own. Without
            it all are.

    Raises:
        InvalidInputError: If a model has several scores on an item, a score is
            outside [0, 1], an item is in several clusters, or a slice is unknown.
    """
    scored = item_scores.filter(
        pl.col("score").is_not_null() & ~pl.col("is_drifted").fill_null(value=False)
    ).select("model_id", "item_id", "benchmark_id", "score")
    models = scored["model_id"].unique().sort()
    items = scored["item_id"].unique().sort()
    item = _codes(scored["item_id"], items)
    cell = item * models.len() + _codes(scored["model_id"], models)
    scores = np.zeros((items.len(), models.len()))
    is_counted = np.zeros(scores.shape, dtype=np.bool_)
    scores.ravel()[cell] = scored["score"].to_numpy()
    is_counted.ravel()[cell] = True
    _check_scores(scored, n_cells=int(is_counted.sum()))
    order = slices.select("slice_id", "slice_name").sort("slice_id")
    cluster_of_item = _cluster_of_item(items, clusters)
    cluster_ids = cluster_of_item.unique().sort()
    # An item is of one benchmark: any of its rows tells which.
    any_row = np.zeros(items.len(), dtype=np.int64)
    any_row[item] = np.arange(item.size)
    benchmarks = scored["benchmark_id"].gather(any_row)
    return ResultMatrix(
        models=models,
        slices=order,
        items=items,
        scores=scores,
        is_counted=is_counted,
        benchmarks=_codes(benchmarks, benchmarks.unique().sort()),
        clusters=_codes(cluster_of_item, cluster_ids),
        cluster_ids=cluster_ids,
        membership=_membership(slice_items, order["slice_id"], items),
    )


def _membership(
    slice_items: pl.DataFrame, slice_ids: pl.Series, items: pl.Series
) -> Membership:
    group = _codes(slice_items["slice_id"], slice_ids)
    if (group < 0).any():
        unknown = slice_items["slice_id"].gather(np.flatnonzero(group < 0))
        raise InvalidInputError(
            f"slice_items: {unknown.len()} rows are of slices that are not in slices, "
            f"first {unknown[0]!r}"
        )
    item = _codes(slice_items["item_id"], items)
    known = item >= 0
    key = np.sort(group[known] * max(items.len(), 1) + item[known])
    if (key[1:] == key[:-1]).any():
        raise InvalidInputError("slice_items: an item stands twice in a slice")
    group, item = np.divmod(key, max(items.len(), 1))
    return Membership(group, item, slice_ids.len(), items.len())


def _cluster_of_item(items: pl.Series, clusters: pl.DataFrame | None) -> pl.Series:
    if clusters is None:
        return items
    if clusters["item_id"].n_unique() < clusters.height:
        twice = clusters.filter(pl.col("item_id").is_duplicated())["item_id"].sort()
        raise InvalidInputError(
            f"clusters: {twice.n_unique()} items are in several clusters, first "
            f"{twice[0]!r}. Give one kind of groups"
        )
    named = clusters.select("item_id", pl.col("cluster_id").cast(pl.String))
    return (
        items.to_frame("item_id")
        .join(named, on="item_id", how="left", maintain_order="left")
        .select(pl.coalesce("cluster_id", "item_id"))
        .to_series()
    )


def _codes(values: pl.Series, categories: pl.Series) -> Integers:
    """Place of each value in the categories; -1 where it is not among them."""
    kind = pl.Enum(categories)
    codes = values.cast(kind, strict=False).to_physical()
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()


def _check_scores(scored: pl.DataFrame, *, n_cells: int) -> None:
    if n_cells < scored.height:
        twice = scored.filter(pl.struct("model_id", "item_id").is_duplicated())
        first = twice.sort("model_id", "item_id").row(0, named=True)
        raise InvalidInputError(
            "item_scores: a model has one score an item: "
            f"{scored.height - n_cells} are too many, first of {first['model_id']!r} "
            f"on {first['item_id']!r}. Average epochs and choose an eval run before"
        )
    bad = scored.filter(~pl.col("score").is_between(0, 1))
    if not bad.is_empty():
        first = bad.sort("model_id", "item_id").row(0, named=True)
        raise InvalidInputError(
            f"item_scores: {bad.height} scores are outside [0, 1], first of "
            f"{first['model_id']!r} on {first['item_id']!r}: {first['score']}"
        )
