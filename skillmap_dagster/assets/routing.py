"""What choosing a model item by item would gain."""

import dataclasses

import numpy as np
import polars as pl

from skillmap.contracts import core, mart
from skillmap.routing.evaluation import RoutingEvaluation, route_evaluation
from skillmap.routing.evidence import RoutingItems, routing_items
from skillmap_dagster import pictures
from skillmap_dagster.assets.marts import item_scores
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.settings import Route, Settings

# A question beyond this says little more about which model is better at it, and
# embedding grows with its square.
_MOST_CHARACTERS = 600


@table_asset(
    mart.ROUTING_EVALUATION,
    group="marts",
    reads=[core.SCORES, core.ITEMS, core.ITEM_GROUPS, core.SLICE_ITEMS],
    settings=["routes", "embedder"],
    picture=pictures.values_of("accuracy", label="policy"),
)
def routing_evaluation(
    lake: Lake, settings: Settings, embedding: Embedding
) -> pl.DataFrame:
    """Every way to choose among the candidate models, beside its baselines."""
    embedder = settings.read().embedder
    rows = [mart.ROUTING_EVALUATION.empty()]
    for route in settings.read().routes:
        evaluated, _ = evaluation(route, lake, embedding, embedder)
        scope = pl.lit(route.benchmark or "all").alias("scope")
        rows.append(evaluated.policies.with_columns(scope).select(rows[0].columns))
    return pl.concat(rows).unique(
        ["candidate_models", "scope", "policy"], keep="last", maintain_order=True
    )


def evaluation(
    route: Route, lake: Lake, embedding: Embedding, embedder: str
) -> tuple[RoutingEvaluation, RoutingItems]:
    """Policies compared on the common items of a route's models.

    Args:
        route: The candidates and the scope.
        lake: Scores, items, duplicate groups and slices.
        embedding: Used only if the route looks at the text of the items.
        embedder: Name in the settings.
    """
    keys = {"benchmark": route.benchmark} if route.benchmark else {}
    items = lake.read(core.ITEMS, **keys)
    evidence = routing_items(
        item_scores(lake).join(items, on="item_id", how="semi"),
        items.select("item_id", "category", "origin"),
        model_ids=sorted(route.models),
        item_groups=lake.read(core.ITEM_GROUPS),
        slice_items=lake.read(core.SLICE_ITEMS).select("slice_id", "item_id"),
    )
    if route.uses_text:
        texts = _texts(items, evidence.item_ids)
        vectors = embedding.vectors(embedder, texts).astype(np.float64)
        evidence = dataclasses.replace(evidence, vectors=vectors)
    return route_evaluation(evidence), evidence


def _texts(items: pl.DataFrame, item_ids: pl.Series) -> list[str]:
    question = pl.concat_str(
        pl.col("question").fill_null(""),
        pl.col("choices").list.join(" "),
        separator=" ",
    )
    texts = items.select("item_id", text=question.str.head(_MOST_CHARACTERS))
    return (
        item_ids.to_frame("item_id")
        .join(texts, on="item_id", how="left", maintain_order="left")["text"]
        .fill_null("")
        .to_list()
    )
