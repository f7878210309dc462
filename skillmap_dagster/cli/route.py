"""Evaluates routing among models that a person names."""

from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from skillmap.errors import InvalidInputError
from skillmap_dagster.cli import screen
from skillmap_dagster.cli.options import Home

if TYPE_CHECKING:
    from skillmap.routing.evaluation import RoutingEvaluation
    from skillmap.routing.evidence import RoutingItems
    from skillmap_dagster.resources.settings import Route
    from skillmap_dagster.runs import Platform

_POLICY = "skill"


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
    uses_text: Annotated[
        bool, typer.Option("--text", help="Also embed and look at the questions.")
    ] = False,
) -> None:
    """Evaluate choosing among models item by item, with every baseline."""
    from skillmap_dagster.assets.routing import evaluation
    from skillmap_dagster.resources.home import home_folder
    from skillmap_dagster.resources.settings import Route
    from skillmap_dagster.runs import Platform

    platform = Platform.at(home_folder(home))
    names = tuple(sorted(dict.fromkeys(name.strip() for name in models.split(","))))
    asked = Route(models=names, benchmark=benchmark, uses_text=uses_text)
    _check(platform, asked)
    prices = _prices(price or [], asked.models)
    settings = platform.resources["settings"]
    chosen = settings.read()
    with screen.progress("routing") as progress:
        progress("cross-fitting", 0, 2)
        evaluated, items = evaluation(
            asked,
            platform.resources["lake"],
            platform.resources["embedding"],
            chosen.embedder,
        )
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
        ),
        title=f"{', '.join(names)} on {benchmark or 'all items'}, cross-fitted",
    )
    if prices:
        _show_costs(evaluated, items, prices, budget_usd)
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


def _prices(told: list[str], models: tuple[str, ...]) -> dict[str, float]:
    prices = {}
    for entry in told:
        model, _, usd = entry.rpartition("=")
        try:
            prices[model] = float(usd)
        except ValueError as error:
            raise InvalidInputError(
                f"--price must be MODEL=USD, got {entry!r}"
            ) from error
    missing = sorted(set(models) - prices.keys())
    if prices and missing:
        raise InvalidInputError(f"--price is missing for {', '.join(missing)}")
    return prices


def _show_costs(
    evaluated: "RoutingEvaluation",
    items: "RoutingItems",
    prices: dict[str, float],
    budget_usd: float | None,
) -> None:
    import numpy as np

    from skillmap.routing.costs import choices_within_budget, cost_frontier

    scores = items.scores[items.is_common]
    costs = np.broadcast_to([prices[m] for m in items.model_ids], scores.shape).copy()
    expected = evaluated.expected[_POLICY]
    frontier = cost_frontier(expected, scores, costs, n_prices=12)
    screen.show(
        frontier.filter(~pl.col("is_dominated")).select(
            pl.col("mean_cost").alias("usd per item"), "accuracy", "n_items"
        ),
        title="what quality costs: the skill policy at a sweep of prices",
    )
    if budget_usd is not None:
        within = choices_within_budget(expected, costs, budget=budget_usd)
        reached = scores[np.arange(len(scores)), within.choices].mean()
        screen.CONSOLE.print(
            f"within {budget_usd:g} USD an item: accuracy {reached:.4f} at "
            f"{within.mean_cost:g} USD, n = {len(scores):,}"
        )
