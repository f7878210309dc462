"""What several commands do: find the home, make what is stale, and say what came."""

from pathlib import Path
from typing import TYPE_CHECKING

from skillmap_dagster.cli import screen

if TYPE_CHECKING:
    from skillmap_dagster.importing import Registered
    from skillmap_dagster.planning import Selection
    from skillmap_dagster.resources.warehouse import Warehouse
    from skillmap_dagster.runs import Platform


def platform(home: Path | None) -> "Platform":
    """The platform in the home that is given, or in that of the environment."""
    from skillmap_dagster.resources.home import home_folder
    from skillmap_dagster.runs import Platform

    return Platform.at(home_folder(home))


def warehouse(home: Path | None) -> "Warehouse":
    """The published tables of a home."""
    from skillmap_dagster.resources.home import home_folder, home_resources

    return home_resources(home_folder(home))["warehouse"]


def bring_up_to_date(
    found: "Platform", selection: "Selection | None" = None
) -> list[str]:
    """Make what is stale, and say so; returns what failed and why."""
    from skillmap_dagster.planning import EVERYTHING

    with screen.progress("making") as progress:
        outcome = found.bring_up_to_date(selection or EVERYTHING, progress=progress)
    tell_outcome(outcome.n_runs, outcome.failures)
    return outcome.failures


def tell_outcome(n_runs: int, failures: list[str]) -> None:
    """Say how many runs there were, and why the failed ones failed."""
    if not n_runs:
        screen.CONSOLE.print("everything is up to date")
        return
    screen.CONSOLE.print(f"{n_runs} runs, {len(failures)} failures")
    for failure in failures:
        screen.ERRORS.print(failure, style="red", markup=False, soft_wrap=True)


def exit_if(failures: list[str]) -> None:
    """End with an error if anything failed."""
    if failures:
        raise SystemExit(1)


def tell_registered(registered: "Registered") -> None:
    """Say how many files are new, changed and passed over."""
    screen.CONSOLE.print(
        f"{len(registered.new)} new, {len(registered.changed)} changed, "
        f"{len(registered.unchanged)} unchanged files"
    )
    for skipped in registered.skipped:
        screen.ERRORS.print(f"passed over: {skipped}", markup=False, soft_wrap=True)
