"""Whether results hang on how the answers were read from the responses."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts
from skillmap.report.formatting import counted, cut, fraction_text, not_shown
from skillmap.report.interval_rows import interval_rows
from skillmap.report.plots import IntervalPlot, interval_plot
from skillmap.report.tables import (
    HtmlTable,
    Row,
    count_column,
    difference_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
)

_N_BENCHMARKS = 12
_N_MODELS = 24
_N_ROWS = 200

_COLUMNS = (
    name_column("benchmark", "benchmark_id", limit=28),
    name_column("model", "model_id", limit=34),
    count_column("n", "n_items", "Items with a stored response"),
    fraction_column("source", "accuracy_source", "By the source's reading"),
    interval_column("accuracy_source"),
    fraction_column("ours", "accuracy_reextracted", "By our reading"),
    interval_column("accuracy_reextracted"),
    difference_column("ours minus source", "change"),
    count_column(
        "read differently", "n_changed_predictions", "Both read an answer, not the same"
    ),
    count_column("only ours", "n_gained_predictions", "The source stores no answer"),
    count_column("only source", "n_lost_predictions", "Ours finds no answer"),
)
_TOTALS = (
    name_column("benchmark", "benchmark_id", limit=40),
    count_column("pairs", "n_pairs", "Pairs of models with stored responses"),
    count_column("swapped", "n_swapped", "Pairs in another order by our reading"),
    fraction_column("share", "swapped_share"),
)
_SWAPPED = (
    name_column("benchmark", "benchmark_id", limit=28),
    name_column("model A", "model_a", limit=34),
    name_column("model B", "model_b", limit=34),
    count_column("n", "n_items", "Common items with stored responses"),
    difference_column("A minus B, source", "difference_source"),
    interval_column("difference_source", is_signed=True),
    difference_column("A minus B, ours", "difference_reextracted"),
    interval_column("difference_reextracted", is_signed=True),
)


@dataclass(frozen=True, kw_only=True)
class ExtractionSection:
    """The section on readings; no plots where no responses are stored."""

    summary: str
    plots: tuple[Plotted, ...]
    note: str
    table: HtmlTable
    totals: HtmlTable
    swapped: HtmlTable


def extraction_section(facts: Facts) -> ExtractionSection:
    """Accuracies by either reading, and the pairs that change places."""
    names = facts.extraction["benchmark_id"].unique().sort()
    return ExtractionSection(
        summary=swap_text(facts),
        plots=tuple(_plots(facts.extraction, names.head(_N_BENCHMARKS))),
        note=not_shown(min(names.len(), _N_BENCHMARKS), names.len(), "benchmarks"),
        table=html_table(
            facts.extraction,
            _COLUMNS,
            name="extraction",
            caption="Accuracy by the source's reading and by ours",
            query="extraction",
            limit=_N_ROWS,
            noun="cells",
            empty="No responses are stored that could be read again.",
        ),
        totals=html_table(
            facts.swap_totals,
            _TOTALS,
            name="swap-totals",
            caption="Pairs that change places, by benchmark",
            query="swap_totals",
            limit=_N_ROWS,
            noun="benchmarks",
            empty="No two models have stored responses on the same items.",
        ),
        swapped=html_table(
            facts.swapped_pairs,
            _SWAPPED,
            name="swapped",
            caption="Pairs in another order by our reading, largest change first",
            query="swapped_pairs",
            limit=_N_ROWS,
            noun="pairs",
            empty="No pair of models changes places.",
        ),
    )


def swap_text(facts: Facts) -> str:
    """How many pairs swap, and for how many that is more than chance; empty for none.

    A swap is clear where each reading puts another model surely ahead.
    """
    n_pairs = int(facts.swap_totals["n_pairs"].sum())
    if not n_pairs:
        return ""
    n_swapped = int(facts.swap_totals["n_swapped"].sum())
    text = (
        f"{n_swapped:,} of {counted(n_pairs, 'pair')} of models on a benchmark "
        f"({fraction_text(n_swapped / n_pairs)}) change places when the answers are "
        "read again from the stored responses"
    )
    if not n_swapped:
        return f"{text}."
    surely = facts.swapped_pairs.filter(
        pl.min_horizontal("difference_source_high", "difference_reextracted_high") < 0,
        pl.max_horizontal("difference_source_low", "difference_reextracted_low") > 0,
    )
    clear = f"in {surely.height:,} of them" if surely.height else "in none of them"
    return f"{text}; {clear} do the two readings put different models surely ahead."


def largest_change(facts: Facts) -> Row | None:
    """The cell of which most depends on the reading; None without any that changes."""
    rows = facts.extraction.filter(pl.col("change").round(9) != 0).sort(
        pl.col("change").abs().round(9),
        "benchmark_id",
        "model_id",
        descending=[True, False, False],
    )
    return rows.row(0, named=True) if rows.height else None


def _plots(rows: pl.DataFrame, names: pl.Series) -> Iterator[Plotted]:
    for index, benchmark in enumerate(names):
        own = rows.filter(pl.col("benchmark_id") == benchmark)
        yield _plot(benchmark, own, f"extraction{index}")


def _plot(benchmark: str, rows: pl.DataFrame, name: str) -> Plotted:
    shown = rows.head(_N_MODELS)
    plot = IntervalPlot(
        name=name,
        description=(
            f"Accuracy on {cut(benchmark, 80)} of {shown.height} models, by the "
            "source's reading of the responses and by ours, with 95 % intervals. "
            "The table below has the same numbers."
        ),
        rows=interval_rows(
            shown, "accuracy_source", label="model_id", after="accuracy_reextracted"
        ),
    )
    return Plotted(
        heading=cut(benchmark, 60),
        title=benchmark,
        svg=interval_plot(plot),
        note=not_shown(shown.height, rows.height, "models"),
    )
