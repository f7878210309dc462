"""What is known when an item is routed: labels and text, and who got what right."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.membership import Integers, membership

if TYPE_CHECKING:
    from skillmap.routing.responses import ModelResponses

# Kinds of label that the columns of core.items give, under the columns' names.
ITEM_LABELS: Final = ("category", "origin")


@dataclass(frozen=True, eq=False)
class Labels:
    """One kind of label on the items: none, one or several an item.

    Attributes:
        names: One name a label, in the order of the columns of ``membership``.
        membership: Shape ``(n_items, n_labels)``, 1 where the item has the label.
    """

    names: tuple[str, ...]
    membership: csr_array


@dataclass(frozen=True, eq=False)
class Block:
    """One kind of evidence in numbers, beside the labels and the text.

    Attributes:
        names: One name a column, empty where a column has none of its own.
        values: Shape ``(n_items, n_columns)``.
    """

    names: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class RoutingItems:
    """Items with the candidates' scores and all that a policy may look at.

    Attributes:
        item_ids: Shape ``(n_items,)``, sorted.
        model_ids: The candidates; the first wins a tie.
        scores: Shape ``(n_items, n_models)``, in [0, 1]; NaN where a model has none.
        groups: Name of each item's duplicate group, or its own id.
        labels: Kinds of label by name, such as ``category``.
        vectors: Of the items' text, unit length, shape ``(n_items, dimensions)``.
        costs: Of each model on each item, shape ``(n_items, n_models)``.
        related_scores: Of other models, shape ``(n_items, n_related)``; looked at
            on the items learned from only.
        responses: Responses of candidates by their name, for a policy that asks one
            of them before it decides.
        blocks: Further kinds of evidence by name, as a policy makes them.
    """

    item_ids: pl.Series
    model_ids: tuple[str, ...]
    scores: Floats
    groups: pl.Series
    labels: dict[str, Labels]
    vectors: Floats | None = None
    costs: Floats | None = None
    related_scores: Floats | None = None
    responses: dict[str, "ModelResponses"] = field(
        default_factory=dict[str, "ModelResponses"]
    )
    blocks: dict[str, Block] = field(default_factory=dict[str, Block])

    @property
    def is_common(self) -> NDArray[np.bool_]:
        """Which items every candidate has a score on, shape ``(n_items,)``."""
        return np.asarray(~np.isnan(self.scores).any(axis=1))


def routing_items(
    item_scores: pl.DataFrame,
    items: pl.DataFrame,
    *,
    model_ids: Sequence[str],
    item_groups: pl.DataFrame | None = None,
    slice_items: pl.DataFrame | None = None,
    related_model_ids: Sequence[str] = (),
    include_drifted: bool = False,
    common_only: bool = True,
) -> RoutingItems:
    """Candidates' scores on their common items, lined up with what is known of them.

    Text vectors, responses and costs are rows of other sources: add them in the order
    of ``item_ids`` by ``dataclasses.replace``.

    Args:
        item_scores: One row per model and item: ``model_id``, ``item_id``,
            ``score`` in [0, 1] or null, ``is_drifted``.
        items: ``item_id`` and, where known, ``category`` and ``origin``.
        model_ids: The candidates, at least one, each once.
        item_groups: ``item_id``, ``kind`` and ``group_id``; near groups hold the
            exact ones. An item in none is a group of its own.
        slice_items: ``slice_id`` and ``item_id``, for labels of the kind ``skill``.
        related_model_ids: Other models whose results help to learn about the
            candidates. They take no part in which items are kept.
        include_drifted: Whether an item counts although a candidate's source states
            another question or answer for it.
        common_only: Whether to leave out items some candidate has no score on. Such
            items are evidence, but no policy can be evaluated on them.

    Returns:
        Items sorted by id. No items are left if the candidates have none in common.

    Raises:
        InvalidInputError: If there is no candidate, or one twice.
    """
    _check_models(model_ids)
    _check_models([*model_ids, *related_model_ids])
    scores = _score_matrix(item_scores, model_ids, include_drifted=include_drifted)
    if common_only:
        scores = scores.drop_nulls()
    about = scores.select("item_id").join(
        items, on="item_id", how="left", maintain_order="left"
    )
    labels = {
        kind: _item_labels(about[kind]) for kind in ITEM_LABELS if kind in about.columns
    }
    if slice_items is not None:
        labels["skill"] = _slice_labels(slice_items, scores["item_id"])
    related = (
        _related(item_scores, related_model_ids, scores["item_id"])
        if related_model_ids
        else None
    )
    return RoutingItems(
        item_ids=scores["item_id"],
        model_ids=tuple(model_ids),
        scores=scores.select(model_ids).to_numpy().astype(np.float64),
        groups=_groups(scores["item_id"], item_groups),
        labels=labels,
        related_scores=related,
    )


def _check_models(model_ids: Sequence[str]) -> None:
    if not model_ids or len(set(model_ids)) < len(model_ids):
        raise InvalidInputError(
            f"model_ids: must name at least one model, each once, got {model_ids!r}"
        )


def _score_matrix(
    item_scores: pl.DataFrame, model_ids: Sequence[str], *, include_drifted: bool
) -> pl.DataFrame:
    own = item_scores.filter(
        pl.col("model_id").is_in(model_ids), pl.col("score").is_not_null()
    )
    if not include_drifted:
        is_kept = ~pl.col("is_drifted").any().over("item_id")
        own = own.filter(is_kept)
    wide = own.group_by("item_id").agg(
        pl.col("score").filter(pl.col("model_id") == model).first().alias(model)
        for model in model_ids
    )
    return wide.sort("item_id")


def _related(
    item_scores: pl.DataFrame, model_ids: Sequence[str], item_ids: pl.Series
) -> Floats:
    own = _score_matrix(item_scores, model_ids, include_drifted=True)
    lined_up = pl.DataFrame({"item_id": item_ids}).join(
        own, on="item_id", how="left", maintain_order="left"
    )
    return lined_up.select(model_ids).to_numpy().astype(np.float64)


def _item_labels(values: pl.Series) -> Labels:
    names = values.drop_nulls().unique().sort()
    rows = np.flatnonzero(values.is_not_null().to_numpy()).astype(np.int64)
    return _labels(names, rows, values.drop_nulls(), values.len())


def _slice_labels(slice_items: pl.DataFrame, item_ids: pl.Series) -> Labels:
    places = pl.DataFrame({"item_id": item_ids}).with_row_index("row")
    known = (
        slice_items.select("slice_id", "item_id")
        .unique()
        .join(places, on="item_id")
        .sort("row", "slice_id")
    )
    names = known["slice_id"].unique().sort()
    rows = known["row"].to_numpy().astype(np.int64)
    return _labels(names, rows, known["slice_id"], item_ids.len())


def _labels(
    names: pl.Series, rows: Integers, values: pl.Series, n_items: int
) -> Labels:
    # The names are sorted and unique and hold every value, so this is its place.
    columns = names.search_sorted(values).to_numpy()
    shape = (n_items, names.len())
    return Labels(
        tuple(names.to_list()), membership(rows, columns.astype(np.int64), shape)
    )


def _groups(item_ids: pl.Series, item_groups: pl.DataFrame | None) -> pl.Series:
    if item_groups is None:
        return item_ids.rename("group_id")
    # An item is in a near group whenever it is in an exact one.
    widest = (
        item_groups.sort("item_id", pl.col("kind") != "near", "group_id")
        .unique("item_id", keep="first", maintain_order=True)
        .select("item_id", "group_id")
    )
    return (
        pl.DataFrame({"item_id": item_ids})
        .join(widest, on="item_id", how="left", maintain_order="left")
        .select(group_id=pl.coalesce("group_id", "item_id"))
        .to_series()
    )
