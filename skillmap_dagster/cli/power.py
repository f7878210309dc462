"""How many items it takes to tell two models apart."""

from typing import Annotated

import polars as pl
import typer

from skillmap_dagster.cli import screen


def power(
    difference: Annotated[
        list[float],
        typer.Option(help="Difference of accuracies to be found; repeatable."),
    ],
    discordance: Annotated[
        float, typer.Option(help="Share of items that just one model gets right.")
    ] = 0.3,
    n_tests: Annotated[
        int, typer.Option(help="Comparisons shown together, which share the level.")
    ] = 1,
    alpha: Annotated[float, typer.Option(help="Level of the test, two-sided.")] = 0.05,
    chance: Annotated[
        float, typer.Option("--power", help="Chance of finding the difference.")
    ] = 0.8,
) -> None:
    """Say how many items of a slice two models must answer to be told apart."""
    import numpy as np

    from skillmap.metrics.power import discordance_variance, required_items
    from skillmap.simulation.power import simulated_power

    rows = []
    for each in difference:
        needed = required_items(
            np.array([each]),
            variance=discordance_variance(discordance, each),
            n_tests=n_tests,
            alpha=alpha,
            power=chance,
        )
        found = simulated_power(
            needed,
            difference=each,
            discordance=discordance,
            n_tests=n_tests,
            alpha=alpha,
        )
        rows.append((each, discordance, n_tests, int(needed[0]), float(found[0])))
    columns = ("difference", "discordance", "tests", "items needed", "found in trials")
    screen.show(pl.DataFrame(rows, schema=columns, orient="row"))
