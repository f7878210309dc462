"""What the commands print: tables, progress, and one line when something is wrong."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from skillmap.calls.progress import CallProgress

# Piped output has no width of its own, and rich would cut it at 80.
_PIPED_WIDTH = 160
CONSOLE = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
ERRORS = Console(stderr=True, highlight=False)

_MOST_CHARACTERS = 60
_BOUNDS = ("_low", "_high")


@contextmanager
def progress(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on the error stream, so that output can be piped.

    Yields a function that takes what is done next, its number and how many there are.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    bar = Progress(
        *columns, console=ERRORS, transient=True, disable=not ERRORS.is_terminal
    )
    with bar:
        task = bar.add_task(title, total=None)

        def advance(what: str, number: int, n: int) -> None:
            cut = what[: _MOST_CHARACTERS - 1] + "…"
            shown = what if len(what) <= _MOST_CHARACTERS else cut
            bar.update(task, description=f"{title}: {shown}", completed=number, total=n)

        yield advance


class CallScreen:
    """Shows how far calls to language models are, with their rate and their cost.

    Args:
        bar: Where they are shown.
        title: What is done.
    """

    def __init__(self, bar: Progress, title: str) -> None:
        self._bar = bar
        self._title = title
        self._task = bar.add_task(title, total=None, facts="")

    def beginning(self, what: str, number: int, n: int) -> None:
        """What is asked about next."""
        self._bar.reset(
            self._task,
            description=f"{self._title} {number + 1} of {n}: {what}",
            total=None,
            facts="",
        )

    def progress(self, now: "CallProgress") -> None:
        """How far it is."""
        facts = [
            f"{now.calls_per_second:.1f}/s",
            f"{now.tokens_per_second:,.0f} tokens/s",
            f"{now.cost_usd:.4f} USD",
        ]
        if now.left_usd is not None:
            facts.append(f"{now.left_usd:.4f} USD left")
        if now.left_tokens is not None:
            facts.append(f"{now.left_tokens:,} tokens left")
        if now.n_errors:
            facts.append(f"{now.n_errors} errors")
        self._bar.update(
            self._task,
            completed=now.n_done,
            total=now.n_calls,
            facts=", ".join(facts),
        )


@contextmanager
def calls(title: str) -> Iterator[CallScreen]:
    """A bar for calls to language models, on the error stream."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", markup=False),
        TimeElapsedColumn(),
    )
    bar = Progress(
        *columns, console=ERRORS, transient=True, disable=not ERRORS.is_terminal
    )
    with bar:
        yield CallScreen(bar, title)


def show(rows: pl.DataFrame, *, title: str | None = None) -> None:
    """Print rows as a table; an accuracy and its bounds share a column."""
    table = Table(title=title, title_justify="left", title_style="bold")
    columns = [name for name in rows.columns if not _is_bound(name, rows.columns)]
    for name in columns:
        is_number = rows.schema[name].is_numeric()
        table.add_column(
            name.replace("_", " "),
            justify="right" if is_number else "left",
            overflow="fold",
        )
    for row in rows.iter_rows(named=True):
        # As text: square brackets of a question are no markup.
        table.add_row(*(Text(_cell(row, name)) for name in columns))
    CONSOLE.print(table)


def show_findings(findings: pl.DataFrame) -> None:
    """Print findings a line each: they are sentences, which no table column fits."""
    CONSOLE.print("[bold]suspicious[/bold]")
    for finding in findings.iter_rows(named=True):
        about = " × ".join(filter(None, (finding["benchmark"], finding["model"])))
        CONSOLE.print(
            f"  {finding['severity']}: {about}: {finding['message']} "
            f"({finding['code']}; first {', '.join(finding['examples'][:3])})",
            markup=False,
            soft_wrap=True,
        )


def _is_bound(name: str, columns: list[str]) -> bool:
    """Whether a column is shown beside the one that it bounds."""
    return any(
        name.endswith(bound) and name.removesuffix(bound) in columns
        for bound in _BOUNDS
    )


def _cell(row: dict[str, object], name: str) -> str:
    value = _text(row[name])
    low, high = (row.get(name + bound) for bound in _BOUNDS)
    if low is None or high is None:
        return value
    return f"{value} [{_text(low)}, {_text(high)}]"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return str(value)


def stop(message: str) -> None:
    """Say why, and exit with an error."""
    ERRORS.print(f"skillmap: {message}", style="red", markup=False, soft_wrap=True)
    sys.exit(1)
