"""What choosing a model item by item would gain, and cost."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from skillmap.contracts import core, routing
from skillmap.metrics.intervals import Floats
from skillmap.routing import frontier
from skillmap.routing.evaluation import route_evaluation
from skillmap.routing.evidence import RoutingItems, routing_items
from skillmap.routing.responses import ModelResponses, model_responses
from skillmap_dagster import pictures
from skillmap_dagster.assets.marts import item_scores
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.settings import Route, Settings

# A question beyond this says little more about which model is better at it, and
# embedding grows with its square.
_MOST_CHARACTERS = 600

# Columns of core.responses that add up to what a call cost, by unit, in the order
# in which one is preferred.
_SPENT = {
    "usd": ("cost_usd",),
    "tokens": ("n_prompt_tokens", "n_completion_tokens"),
}
_READS = (
    core.SCORES,
    core.RESPONSES,
    core.ITEMS,
    core.ITEM_GROUPS,
    core.SLICE_ITEMS,
)


class RouteEvidence(NamedTuple):
    """What is known of a route's items.

    Attributes:
        items: With costs, if they are known, and responses, if they may be read.
        cost_unit: What the costs are counted in; None if they are not known.
    """

    items: RoutingItems
    cost_unit: str | None


def _responses_of_routes(
    partition: Partition, resources: Mapping[str, Any]
) -> Sequence[str]:
    """The responses of the candidates; those of other models do not matter."""
    del partition
    lake = resources["lake"]
    return [
        f"{cell}={stored.content if stored else None}"
        for route in resources["settings"].read().routes
        for model in route.models
        for cell in _cells(route, model, lake)
        for stored in [lake.stored(core.RESPONSES, cell)]
    ]


@table_asset(
    routing.ROUTING_EVALUATION,
    group="marts",
    reads=_READS,
    narrowed={core.RESPONSES.key: _responses_of_routes},
    settings=["routes", "embedder"],
    code_version="2",
    picture=pictures.values_of("accuracy", label="policy"),
)
def routing_evaluation(
    lake: Lake, settings: Settings, embedding: Embedding
) -> pl.DataFrame:
    """Every way to choose among the candidate models, beside its baselines."""
    chosen = settings.read()
    rows = [routing.ROUTING_EVALUATION.empty()]
    for route in chosen.routes:
        found = evidence(route, lake, embedding, chosen.embedder)
        evaluated = route_evaluation(found.items, seeds=range(route.n_splits))
        policies = evaluated.policies
        rows.append(_of_route(policies, route, found).select(rows[0].columns))
    return pl.concat(rows).unique(
        ["candidate_models", "scope", "policy"], keep="last", maintain_order=True
    )


@table_asset(
    routing.ROUTING_FRONTIER,
    group="marts",
    reads=_READS,
    narrowed={core.RESPONSES.key: _responses_of_routes},
    settings=["routes", "embedder"],
)
def routing_frontier(
    lake: Lake, settings: Settings, embedding: Embedding
) -> pl.DataFrame:
    """Accuracy at what it costs, where what a route's calls cost is known."""
    chosen = settings.read()
    rows = [routing.ROUTING_FRONTIER.empty()]
    for route in chosen.routes:
        found = evidence(route, lake, embedding, chosen.embedder)
        if found.cost_unit is None:
            continue
        evaluated = route_evaluation(
            found.items, policies=frontier.priced_policies(found.items)
        )
        points = frontier.routing_frontier(found.items, evaluated)
        rows.append(_of_route(points, route, found).select(rows[0].columns))
    return pl.concat(rows).unique(
        ["candidate_models", "scope", "policy", "point"],
        keep="last",
        maintain_order=True,
    )


def evidence(
    route: Route, lake: Lake, embedding: Embedding, embedder: str
) -> RouteEvidence:
    """What is known of the items that all of a route's models have a score on.

    Args:
        route: The candidates, the scope and what may be looked at.
        lake: Scores, responses, items, duplicate groups and slices.
        embedding: Used only if the route looks at the text of the items.
        embedder: Name in the settings.
    """
    items = lake.read(core.ITEMS, **_scope(route))
    found = routing_items(
        item_scores(lake).join(items, on="item_id", how="semi"),
        items.select("item_id", "category", "origin"),
        model_ids=sorted(route.models),
        item_groups=lake.read(core.ITEM_GROUPS),
        slice_items=lake.read(core.SLICE_ITEMS).select("slice_id", "item_id"),
    )
    if route.uses_text:
        texts = _texts(items, found.item_ids)
        vectors = embedding.vectors(embedder, texts).astype(np.float64)
        found = dataclasses.replace(found, vectors=vectors)
    responses = _responses(route, lake)
    if route.reads_responses:
        asked = [route.reads_response_of] if route.reads_response_of else route.models
        found = dataclasses.replace(
            found, responses=_to_read(found, responses, sorted(asked))
        )
    costs, cost_unit = _costs(route, found, responses)
    return RouteEvidence(dataclasses.replace(found, costs=costs), cost_unit)


def _of_route(rows: pl.DataFrame, route: Route, found: RouteEvidence) -> pl.DataFrame:
    return rows.with_columns(
        scope=pl.lit(route.benchmark or "all"),
        cost_unit=pl.lit(found.cost_unit, dtype=pl.String),
    )


def _cells(route: Route, model: str, lake: Lake) -> list[Partition]:
    return lake.partitions(core.RESPONSES, model=model, **_scope(route))


def _scope(route: Route) -> dict[str, str]:
    return {"benchmark": route.benchmark} if route.benchmark else {}


def _responses(route: Route, lake: Lake) -> dict[str, pl.DataFrame]:
    """The first epoch's responses of each candidate, of the runs that count."""
    runs = lake.scan(core.SCORES).filter("is_primary").select("eval_run_id").unique()
    keys = _scope(route)
    return {
        model: lake.scan(core.RESPONSES, model=model, **keys)
        .join(runs, on="eval_run_id", how="semi")
        .sort("item_id", "epoch")
        .unique("item_id", keep="first", maintain_order=True)
        .collect()
        for model in sorted(route.models)
    }


def _to_read(
    items: RoutingItems, responses: Mapping[str, pl.DataFrame], models: Iterable[str]
) -> dict[str, ModelResponses]:
    """Responses to read, of the models that have any text."""
    return {
        model: model_responses(items.item_ids, responses[model])
        for model in models
        if responses[model]["response"].count()
    }


def _costs(
    route: Route, items: RoutingItems, responses: Mapping[str, pl.DataFrame]
) -> tuple[Floats | None, str | None]:
    """What each call costs: as the route says, else as the responses did cost."""
    shape = items.scores.shape
    if route.prices:
        prices = [route.prices[model] for model in items.model_ids]
        return np.broadcast_to(prices, shape).astype(np.float64), route.cost_unit
    for unit, parts in _SPENT.items():
        costs = _lined_up(items, responses, parts)
        # A call that is not known to be free must not look as if it was.
        if costs.size and not np.isnan(costs).any():
            return costs, unit
    return None, None


def _lined_up(
    items: RoutingItems, responses: Mapping[str, pl.DataFrame], parts: Sequence[str]
) -> Floats:
    """Sum of the parts for each item and model, NaN where one is not known."""
    found = pl.DataFrame({"item_id": items.item_ids})
    for model in items.model_ids:
        written = responses[model]
        # A partition that was written before calls were counted has no such column.
        is_there = set(parts) <= set(written.columns)
        amount = (
            pl.sum_horizontal(parts, ignore_nulls=False) if is_there else pl.lit(None)
        )
        own = written.select("item_id", amount.cast(pl.Float64).alias(model))
        found = found.join(own, on="item_id", how="left", maintain_order="left")
    return found.select(items.model_ids).to_numpy().astype(np.float64)


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
