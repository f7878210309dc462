"""Evaluates routing among models that a person names."""

import math
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from skillmap.errors import InvalidInputError
from skillmap_dagster.cli import screen
from skillmap_dagster.cli.options import Home

if TYPE_CHECKING:
    from skillmap.routing.evaluation import RoutingEvaluation
    from skillmap_dagster.assets.routing import RouteEvidence
    from skillmap_dagster.resources.settings import Route
    from skillmap_dagster.runs import Platform

# Points of the sweep that are shown; the table has them all.
_N_SHOWN = 12


def route(
    models: Annotated[str, typer.Option(help="Candidates, separated by commas.")],
    home: Home = None,
    benchmark: Annotated[
        str | None, typer.Option(help="The benchmark. Default: all items.")
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(help="MODEL=USD, what an item costs with it; repeatable."),
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(help="Most USD an item, on average.")
    ] = None,
    splits: Annotated[
        int, typer.Option(min=1, help="Splits into folds, to tell luck from gain.")
    ] = 3,
    reads: Annotated[
        str | None,
        typer.Option(
            help="The model to ask first, whose response is read. Default: the best."
        ),
    ] = None,
    uses_text: Annotated[
        bool, typer.Option("--text", help="Also embed and look at the questions.")
    ] = False,
) -> None:
    """Evaluate choosing among models item by item, with every baseline."""
    from skillmap.routing.evaluation import route_evaluation
    from skillmap_dagster.assets.routing import evidence
    from skillmap_dagster.resources.home import home_folder
    from skillmap_dagster.resources.settings import Route
    from skillmap_dagster.runs import Platform

    platform = Platform.at(home_folder(home))
    names = tuple(sorted(dict.fromkeys(name.strip() for name in models.split(","))))
    asked = Route(
        models=names,
        benchmark=benchmark,
        uses_text=uses_text,
        reads_response_of=_read(reads, names),
        prices=_prices(price or [], names),
        n_splits=splits,
    )
    _check(platform, asked)
    settings = platform.resources["settings"]
    chosen = settings.read()
    with screen.progress("routing") as progress:
        progress("cross-fitting", 0, 2)
        found = evidence(
            asked,
            platform.resources["lake"],
            platform.resources["embedding"],
            chosen.embedder,
        )
        evaluated = route_evaluation(found.items, seeds=range(splits))
        kept = [
            r for r in chosen.routes if r.models != names or r.benchmark != benchmark
        ]
        settings.write(chosen.model_copy(update={"routes": (*kept, asked)}))
        progress("publishing", 1, 2)
        failures = platform.bring_up_to_date().failures
    screen.show(
        evaluated.policies.select(
            "policy",
            "n_items",
            *("accuracy", "accuracy_low", "accuracy_high"),
            *("gain", "gain_low", "gain_high"),
            *(f"gain_over_category{end}" for end in ("", "_low", "_high")),
            *("gain_lowest_split", "gain_highest_split"),
            "reads_response_of",
            *(["mean_cost"] if found.cost_unit else []),
        ),
        title=f"{', '.join(names)} on {benchmark or 'all items'}, cross-fitted",
    )
    if found.cost_unit:
        _show_costs(evaluated, found, budget_usd)
    elif budget_usd is not None:
        screen.stop("--budget-usd needs --price: no response's cost is known")
    if failures:
        screen.stop(failures[0])


def _check(platform: "Platform", asked: "Route") -> None:
    registry = platform.resources["registry"]
    known = {model for _, model in registry.cells()}
    unknown = sorted(set(asked.models) - known)
    if unknown:
        raise InvalidInputError(
            f"no model {unknown[0]!r}; there are: {', '.join(sorted(known))}"
        )
    if asked.benchmark and asked.benchmark not in registry.benchmarks():
        raise InvalidInputError(
            f"no benchmark {asked.benchmark!r}; there are: "
            f"{', '.join(registry.benchmarks())}"
        )


def _read(told: str | None, models: tuple[str, ...]) -> str | None:
    if told is not None and told not in models:
        raise InvalidInputError(
            f"--reads must be one of {', '.join(models)}, got {told!r}"
        )
    return told


def _prices(told: list[str], models: tuple[str, ...]) -> dict[str, float]:
    prices: dict[str, float] = {}
    for entry in told:
        model, _, usd = entry.rpartition("=")
        try:
            prices[model] = float(usd)
        except ValueError as error:
            raise InvalidInputError(
                f"--price must be MODEL=USD, got {entry!r}"
            ) from error
    if any(not 0 <= usd < math.inf for usd in prices.values()):
        raise InvalidInputError(f"--price must be at least 0, got {told}")
    if prices and set(models) != prices.keys():
        missing = sorted(set(models) - prices.keys())
        raise InvalidInputError(
            f"--price is missing for {', '.join(missing)}"
            if missing
            else f"--price is only for the models, got {told}"
        )
    return prices


def _show_costs(
    evaluated: "RoutingEvaluation", found: "RouteEvidence", budget_usd: float | None
) -> None:
    import numpy as np

    from skillmap.routing.costs import call_costs, choices_within_budget, usual_costs
    from skillmap.routing.frontier import priced_policies, routing_frontier

    items = found.items
    points = routing_frontier(items, evaluated, n_prices=_N_SHOWN)
    screen.show(
        points.filter(~pl.col("is_dominated")).select(
            "policy",
            pl.col("mean_cost").alias(f"{found.cost_unit} per item"),
            *("accuracy", "accuracy_low", "accuracy_high", "n_items"),
        ),
        title="what quality costs, at a sweep of prices",
    )
    if budget_usd is None or found.cost_unit != "usd" or items.costs is None:
        return
    scores, costs = items.scores[items.is_common], items.costs[items.is_common]
    usual = usual_costs(costs) if len(costs) else costs
    for policy in priced_policies(items):
        reads = evaluated.reads[policy.name]
        planned = call_costs(usual, reads)
        least = planned.min(axis=1).mean() if len(planned) else 0.0
        if least > budget_usd and policy.name != "skill":
            screen.CONSOLE.print(
                f"{policy.name}: asking first costs {least:g} USD an item already"
            )
            continue
        within = choices_within_budget(
            evaluated.expected[policy.name], planned, budget=budget_usd
        )
        reached = scores[np.arange(len(scores)), within.choices].mean()
        screen.CONSOLE.print(
            f"{policy.name} within {budget_usd:g} USD an item: accuracy "
            f"{reached:.4f} at {within.mean_cost:g} USD, n = {len(scores):,}"
        )
