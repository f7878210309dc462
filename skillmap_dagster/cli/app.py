"""The commands of ``skillmap``.

Dagster and what else is slow to import waits for the command that needs it, so that
``skillmap query`` and ``--help`` answer at once.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from skillmap.errors import InvalidInputError, SkillmapError
from skillmap_dagster.cli import making, screen
from skillmap_dagster.cli.ask import annotate, evaluate, verify
from skillmap_dagster.cli.demo import demo
from skillmap_dagster.cli.options import (
    Annotator,
    Benchmark,
    Format,
    Home,
    Model,
    Paths,
    Root,
)
from skillmap_dagster.cli.power import power
from skillmap_dagster.cli.probe import probe
from skillmap_dagster.cli.route import route

if TYPE_CHECKING:
    from skillmap_dagster.importing import Request
    from skillmap_dagster.planning import Selection
    from skillmap_dagster.runs import Platform

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Which skills a model has or lacks, with evidence.",
)


class Output(StrEnum):
    """Forms in which ``query`` prints rows."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


@app.command("import")
def import_(
    paths: Paths,
    home: Home = None,
    root: Root = None,
    benchmark: Benchmark = None,
    model: Model = None,
    format_name: Format = None,
    annotator: Annotator = None,
) -> None:
    """Read result files, register them, bring everything up to date, and report."""
    from skillmap_dagster.import_report import reports
    from skillmap_dagster.importing import register

    request = _request(paths, root, benchmark, model, format_name, annotator)
    platform = making.platform(home)
    with screen.progress("reading") as progress:
        registered = register(
            request, platform.resources["registry"], progress=progress
        )
    making.tell_registered(registered)
    failed = making.bring_up_to_date(platform)
    _show_reports(reports(platform.resources["lake"]))
    making.exit_if(failed)


@app.command()
def audit(
    paths: Paths,
    root: Root = None,
    benchmark: Benchmark = None,
    model: Model = None,
    format_name: Format = None,
    annotator: Annotator = None,
) -> None:
    """Print the report of an import without importing anything."""
    from skillmap_dagster.import_report import audit as audited

    request = _request(paths, root, benchmark, model, format_name, annotator)
    with screen.progress("auditing") as progress:
        registered, reports = audited(request, progress=progress)
    making.tell_registered(registered)
    _show_reports(reports)


@app.command()
def run(
    home: Home = None,
    select: Annotated[
        list[str] | None, typer.Option(help="A table such as core.items; repeatable.")
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="A benchmark; repeatable.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A model; repeatable.")
    ] = None,
) -> None:
    """Make what is missing or out of date, and nothing else."""
    platform = making.platform(home)
    selection = _selection(platform, select, benchmark, model)
    making.exit_if(making.bring_up_to_date(platform, selection))


@app.command()
def backfill(
    model: Annotated[list[str], typer.Option(help="A model; repeatable.")],
    home: Home = None,
) -> None:
    """Make everything of a model anew: its cells, and what is made from them."""
    platform = making.platform(home)
    selection = _selection(platform, None, None, model)
    with screen.progress("making") as progress:
        outcome = platform.backfill(selection.models, progress=progress)
    making.tell_outcome(outcome.n_runs, outcome.failures)
    making.exit_if(outcome.failures)


@app.command()
def forget(
    paths: Annotated[list[str], typer.Argument(help="Files as in raw.sources.uri.")],
    home: Home = None,
) -> None:
    """Forget imported files, and all that came of them and of nothing else."""
    platform = making.platform(home)
    registry = platform.resources["registry"]
    known = {source.uri: source.source_id for source in registry.sources()}
    for path in paths:
        uri = path if path in known else str(Path(path).resolve())
        if uri not in known:
            raise InvalidInputError(
                f'{path}: no imported file; `skillmap query "from raw.sources"` '
                "lists them"
            )
        registry.forget(known[uri])
    making.exit_if(making.bring_up_to_date(platform))


@app.command()
def query(
    sql: Annotated[str, typer.Argument(help="One query, such as 'from core.slices'.")],
    home: Home = None,
    output: Annotated[Output, typer.Option("--format")] = Output.table,
    limit: Annotated[int, typer.Option(help="Most rows of a table on screen.")] = 50,
) -> None:
    """Query the published tables, which are opened read-only."""
    rows = making.warehouse(home).query(sql)
    if output is Output.table:
        screen.show(rows.head(limit))
        if rows.height > limit:
            screen.ERRORS.print(f"{limit} of {rows.height:,} rows; more with --limit")
        return
    flat = rows.with_columns(
        pl.col(name).list.eval(pl.element().cast(pl.String)).list.join("; ")
        for name, dtype in rows.schema.items()
        if output is Output.csv and dtype == pl.List
    )
    write = {
        Output.csv: flat.write_csv,
        Output.json: rows.write_json,
        Output.parquet: rows.write_parquet,
    }[output]
    write(sys.stdout.buffer)


@app.command()
def report(
    home: Home = None,
    output: Annotated[
        Path | None, typer.Option(help="The HTML file. Default: report.html at home.")
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Open it in the browser.")
    ] = False,
) -> None:
    """Write one self-contained HTML file with the findings and plots."""
    from skillmap.report import html_report
    from skillmap_dagster.resources.home import home_folder

    file = output or home_folder(home) / "report.html"
    html = html_report(making.warehouse(home).query)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(html, "utf-8")
    screen.CONSOLE.print(f"{file}", soft_wrap=True)
    if open_:
        typer.launch(file.resolve().as_uri())


@app.command()
def status(home: Home = None) -> None:
    """Say what is there: benchmarks, models, partitions, and what failed."""
    from skillmap_dagster.status import status as told

    for title, rows in told(making.platform(home)).items():
        screen.show(rows, title=title)


app.command()(annotate)
app.command()(demo)
app.command()(evaluate)
app.command()(route)
app.command()(power)
app.command()(probe)
app.command()(verify)


def main() -> None:
    """Run the command line; an error of ours ends in one line and exit code 1."""
    try:
        app()
    except (SkillmapError, OSError, pl.exceptions.PolarsError) as error:
        screen.stop(" ".join(str(error).split()))
    except Exception as error:
        # DuckDB's own errors are told apart here: --help must not wait for it.
        if type(error).__module__.partition(".")[0] not in {"duckdb", "_duckdb"}:
            raise
        screen.stop(" ".join(str(error).split()))


def _request(
    paths: list[Path],
    root: Path | None,
    benchmark: str | None,
    model: str | None,
    format_name: str | None,
    annotator: str | None,
) -> "Request":
    from skillmap_dagster import importing

    if root and not any(importing.is_manifest(path) for path in paths):
        raise InvalidInputError("--root goes with a manifest, whose paths it is for")
    if any(importing.is_manifest(path) for path in paths):
        if len(paths) > 1 or any((benchmark, model, format_name, annotator)):
            raise InvalidInputError(
                f"{paths[0]}: a manifest is imported alone, and says itself what the "
                "options would"
            )
        return importing.manifest_request(paths[0], root or paths[0].parent)
    return importing.paths_request(
        paths,
        benchmark=benchmark,
        model=model,
        format_name=format_name,
        annotator=annotator,
    )


def _selection(
    platform: "Platform",
    select: list[str] | None,
    benchmarks: list[str] | None,
    models: list[str] | None,
) -> "Selection":
    from skillmap.contracts import TABLES
    from skillmap_dagster.planning import Selection

    registry = platform.resources["registry"]
    known = {
        "table": {str(table) for table in TABLES.values()},
        "benchmark": set(registry.benchmarks()),
        "model": {model for _, model in registry.cells()},
    }
    asked = {"table": select, "benchmark": benchmarks, "model": models}
    for kind, names in asked.items():
        unknown = sorted(set(names or ()) - known[kind])
        if unknown:
            raise InvalidInputError(
                f"no {kind} {unknown[0]!r}; there are: {', '.join(sorted(known[kind]))}"
            )
    return Selection(
        tables=frozenset(select or ()),
        benchmarks=frozenset(benchmarks or ()),
        models=frozenset(models or ()),
    )


def _show_reports(reports: dict[str, pl.DataFrame]) -> None:
    for title, rows in reports.items():
        if title == "suspicious":
            screen.show_findings(rows)
        else:
            screen.show(rows, title=title)
