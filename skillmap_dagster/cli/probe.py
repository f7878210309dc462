"""Probes models with small questions about single steps of rationales."""

from typing import Annotated

import typer

from skillmap_dagster.cli import making, screen
from skillmap_dagster.cli.ask import BudgetTokens, BudgetUsd, ask_for
from skillmap_dagster.cli.options import Home


def probe(
    language_model: Annotated[
        list[str],
        typer.Option(help="A configured language model to probe; repeatable."),
    ],
    maker: Annotated[
        str, typer.Option(help="The language model that makes the questions.")
    ],
    judge: Annotated[
        str | None,
        typer.Option(help="The language model that judges. Default: the maker."),
    ] = None,
    home: Home = None,
    skills: Annotated[
        int, typer.Option(min=1, help="Skills of low, middle and high accuracy, each.")
    ] = 20,
    steps: Annotated[
        int, typer.Option(min=1, help="Steps of rationales a skill, at most.")
    ] = 20,
    fewest_items: Annotated[
        int, typer.Option(min=1, help="Items that a skill must have.")
    ] = 25,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
) -> None:
    """Ask models about one step in several ways: do the answers agree?"""
    from skillmap.contracts import probing
    from skillmap_dagster.resources.language_models.configuration import Probing

    platform = making.platform(home)
    settings = platform.resources["settings"]
    chosen = settings.read()
    for name in (*language_model, maker, judge or maker):
        chosen.language_model(name)
    plan = Probing(
        maker=maker,
        language_models=tuple(sorted(set(language_model))),
        judge=judge or maker,
        n_skills=skills,
        n_steps=steps,
        fewest_items=fewest_items,
    )
    settings.write(chosen.model_copy(update={"probing": plan}))
    failures = ask_for(platform, probing.SKILL_PROBES, [{}], budget_usd, budget_tokens)
    failures += making.bring_up_to_date(platform)
    screen.show(
        making.warehouse(home).query("from mart.probe_inconsistency"),
        title="how often answers about one step contradict each other",
    )
    making.exit_if(failures)
