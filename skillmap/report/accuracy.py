"""Accuracy by benchmark and model: plots, table, and which cells are filled."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from skillmap.report.facts import Facts
from skillmap.report.formatting import cut, fraction_text, not_shown
from skillmap.report.interval_rows import interval_rows
from skillmap.report.plots import IntervalPlot, interval_plot
from skillmap.report.tables import (
    HtmlTable,
    count_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
)

_N_BENCHMARKS = 24
_N_MODELS = 40
_N_ROWS = 600

_COLUMNS = (
    name_column("benchmark", "benchmark_id", limit=28),
    name_column("model", "model_id", limit=34),
    count_column("n", "n_items", "Items that count"),
    fraction_column("accuracy", "accuracy", "Mean score over n"),
    interval_column("accuracy"),
    fraction_column("chance", "chance_accuracy", "What guessing among options gets"),
    count_column("unparsed", "n_unparsed", "Answers not read; count as wrong"),
    count_column("refused", "n_refusal", "Count as wrong"),
    count_column("empty", "n_empty", "Empty responses; count as wrong"),
    count_column("cut off", "n_truncated", "Truncated responses; count as wrong"),
    count_column("left out", "n_left_out", "Error, not attempted or not scored"),
    fraction_column("coverage", "coverage", "Share of items with a response"),
    count_column("drifted", "n_drifted", "Items with other content in the source"),
    count_column(
        "unsupported",
        "n_unsupported_predictions",
        "Predictions that stand nowhere in the response",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Plotted:
    """A plot with its heading, and what was left out of it."""

    heading: str
    title: str
    svg: Markup
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class AccuracySection:
    """The second section."""

    plots: tuple[Plotted, ...]
    note: str
    table: HtmlTable


def accuracy_section(facts: Facts) -> AccuracySection:
    """Plots of every benchmark, and the table of all cells."""
    names = facts.accuracy["benchmark_id"].unique().sort()
    return AccuracySection(
        plots=tuple(_plots(facts.accuracy, names.head(_N_BENCHMARKS))),
        note=not_shown(min(names.len(), _N_BENCHMARKS), names.len(), "benchmarks"),
        table=html_table(
            facts.accuracy,
            _COLUMNS,
            name="accuracy",
            caption="Each benchmark and model",
            query="accuracy",
            limit=_N_ROWS,
            noun="cells",
            empty="No model has a result yet.",
        ),
    )


def _plots(accuracy: pl.DataFrame, names: pl.Series) -> Iterator[Plotted]:
    for index, benchmark in enumerate(names):
        rows = accuracy.filter(pl.col("benchmark_id") == benchmark).sort(
            "accuracy", "model_id", descending=[True, False], nulls_last=True
        )
        yield _plot(benchmark, rows, f"accuracy{index}")


def _plot(benchmark: str, rows: pl.DataFrame, name: str) -> Plotted:
    shown = rows.head(_N_MODELS)
    chance = shown["chance_accuracy"].drop_nulls().to_list()
    reference: float | None = chance[0] if chance else None
    known = "unknown" if reference is None else fraction_text(reference)
    plot = IntervalPlot(
        name=name,
        description=(
            f"Accuracy on {cut(benchmark, 80)} of {shown.height} models, highest "
            f"first, with 95 % intervals; chance level {known}. "
            "The table below has the same numbers."
        ),
        rows=interval_rows(shown, "accuracy", label="model_id"),
        reference=reference,
        reference_name="" if reference is None else f"dashed: chance {known}",
    )
    return Plotted(
        heading=cut(benchmark, 60),
        title=benchmark,
        svg=interval_plot(plot),
        note=not_shown(shown.height, rows.height, "models"),
    )
