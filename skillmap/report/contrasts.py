"""Which model is better at what, corrected for how many comparisons were made."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts
from skillmap.report.formatting import (
    counted,
    cut,
    fraction_text,
    is_missing,
    probability_text,
)
from skillmap.report.interval_rows import interval_rows
from skillmap.report.plots import IntervalPlot, interval_plot
from skillmap.report.skills import axis_limit
from skillmap.report.tables import (
    Column,
    HtmlTable,
    Row,
    count_column,
    difference_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
    probability_column,
    text_cell,
)

_N_PAIRS = 6
# Slices of each verdict in one plot.
_N_OF_VERDICT = 4
_N_TOTALS = 120
_N_ROWS = 120
_N_GAINS = 60
_CONFIRMED = "\N{CHECK MARK}"

_TOTALS = (
    name_column("model A", "model_a", limit=34),
    name_column("model B", "model_b", limit=34),
    count_column("slices", "n_slices", "Slices with common items"),
    count_column("A better", "n_better", "q at most 0.05, A ahead"),
    count_column("A worse", "n_worse", "q at most 0.05, B ahead"),
    count_column("tied", "n_tied", "The whole interval is close to 0"),
    count_column("not enough evidence", "n_open", "Neither different nor tied"),
    count_column("confirmed", "n_confirmed", "Found on one half, again on the other"),
    count_column("least n", "n_items_least", "Common items of the smallest slice"),
    count_column("most n", "n_items_most", "Common items of the largest slice"),
    fraction_column(
        "detectable",
        "median_detectable",
        "Median over the slices of the minimum detectable difference",
    ),
)
_COLUMNS = (
    name_column("slice", "slice_name", limit=130),
    name_column("model A", "model_a", limit=34),
    name_column("model B", "model_b", limit=34),
    name_column("A is", "verdict", limit=34),
    count_column("n", "n_items", "Common items in the slice"),
    difference_column("A minus B", "difference"),
    interval_column("fcr", is_signed=True, heading="interval if selected"),
    probability_column("q", "q_value", "p-value corrected over all comparisons"),
    Column(
        heading="confirmed",
        title="Found on one half of the items, again on the other",
        is_number=False,
        cell=lambda row: text_cell("yes" if row["is_confirmed"] else "no"),
    ),
    fraction_column(
        "detectable", "minimum_detectable_difference", "Found in four of five tries"
    ),
    fraction_column("accuracy A", "accuracy_a"),
    fraction_column("accuracy B", "accuracy_b"),
    interval_column("difference", is_signed=True),
    count_column("clusters", "n_clusters", "Independent groups of those items"),
)
_GAINS = (
    name_column("benchmark", "benchmark_id", limit=28),
    name_column("slice", "slice_name", limit=130),
    name_column("model", "model_id", limit=34),
    count_column("n", "n_items", "Items that all models of the benchmark answered"),
    fraction_column("accuracy", "accuracy"),
    fraction_column("others", "others_accuracy", "Mean of the other models"),
    difference_column("gain", "gain"),
    interval_column("gain", is_signed=True, heading="95 % interval, all together"),
    probability_column("p", "p_value", "Held against the largest deviation anywhere"),
)


@dataclass(frozen=True, kw_only=True)
class ContrastSection:
    """The section on corrected comparisons; no plots without a contrast."""

    summary: str
    plots: tuple[Plotted, ...]
    note: str
    totals: HtmlTable
    table: HtmlTable
    gains: HtmlTable


def contrast_section(facts: Facts) -> ContrastSection:
    """Plots of the most informative pairs, and what holds for every pair."""
    pairs = facts.contrast_totals
    return ContrastSection(
        summary=contrast_summary(pairs),
        plots=tuple(_plots(facts)),
        note=(
            f"{counted(pairs.height, 'pair')} of models have contrasts; {_N_PAIRS} are "
            "drawn: first those in which each model is ahead on most slices, then "
            "those with most confirmed slices."
            if pairs.height > _N_PAIRS
            else ""
        ),
        totals=html_table(
            pairs,
            _TOTALS,
            name="contrast-totals",
            caption="Verdicts on the slices of each pair",
            query="contrast_totals",
            limit=_N_TOTALS,
            noun="pairs",
            empty="No two models have been compared yet.",
        ),
        table=html_table(
            facts.contrasts,
            _COLUMNS,
            name="contrasts",
            caption="Slices and pairs, confirmed first, then the smallest q",
            query="contrasts",
            limit=_N_ROWS,
            noun="comparisons",
            empty="No comparison yet.",
        ),
        gains=html_table(
            facts.gains,
            _GAINS,
            name="gains",
            caption="Each model against the mean of the others, smallest p first",
            query="gains",
            limit=_N_GAINS,
            noun="gains",
            empty="No benchmark has several models with common items in a slice.",
        ),
    )


def contrast_summary(pairs: pl.DataFrame) -> str:
    """How many comparisons there are, by verdict; empty without any."""
    if pairs.is_empty():
        return ""
    n = pairs.select(pl.col(r"^n_.*$").sum()).row(0, named=True)
    n_found = n["n_better"] + n["n_worse"]
    return (
        f"Of {counted(n['n_slices'], 'comparison')} of two models on a slice, "
        f"{n_found:,} show one ahead, {n['n_tied']:,} show a tie, and "
        f"{counted(n['n_open'], 'has', 'have')} not enough evidence. "
        f"{counted(n['n_confirmed'], 'was', 'were')} confirmed."
    )


def _plots(facts: Facts) -> Iterator[Plotted]:
    top = facts.contrast_totals.head(_N_PAIRS)
    keys = ["model_a", "model_b"]
    shown = drawn_interval(
        top.select(keys).join(
            _of_each_verdict(facts.contrasts), on=keys, maintain_order="left_right"
        )
    )
    limit = axis_limit(_decided(shown), "drawn")
    pairs = shown.partition_by(keys, maintain_order=True)
    for index, own in enumerate(pairs):
        total = top.row(index, named=True)
        yield _plot(own, total, limit=limit, name=f"contrasts{index}")


def _of_each_verdict(contrasts: pl.DataFrame) -> pl.DataFrame:
    """The surest few slices of each pair and verdict, model A's best first."""
    place = pl.int_range(pl.len()).over("model_a", "model_b", "verdict")
    return contrasts.filter(place < _N_OF_VERDICT).sort(
        "difference", "slice_id", descending=[True, False]
    )


def drawn_interval(rows: pl.DataFrame) -> pl.DataFrame:
    """The interval that allows for selection where there is one."""
    return rows.with_columns(
        drawn_low=pl.coalesce("fcr_low", "difference_low"),
        drawn_high=pl.coalesce("fcr_high", "difference_high"),
    )


def _decided(rows: pl.DataFrame) -> pl.DataFrame:
    """What the axis has to hold: a slice of one item would flatten all others.

    Of rows with not enough evidence it is their values; their intervals may be cut.
    """
    is_open = pl.col("verdict") == "not enough evidence"
    if rows.select(is_open.all()).item():
        return rows
    return rows.with_columns(
        pl.when(is_open)
        .then("difference")
        .otherwise(f"drawn_{end}")
        .alias(f"drawn_{end}")
        for end in ("low", "high")
    )


def _plot(own: pl.DataFrame, total: Row, *, limit: float, name: str) -> Plotted:
    model_a, model_b = total["model_a"], total["model_b"]
    plot = IntervalPlot(
        name=name,
        description=(
            f"Accuracy of {cut(model_a, 80)} minus that of {cut(model_b, 80)} on "
            f"{own.height} of {total['n_slices']} slices, with intervals, n, q and "
            "verdict. The table below has the surest of these numbers."
        ),
        rows=interval_rows(
            own,
            "difference",
            label="slice_name",
            bounds="drawn",
            detail=_detail,
            verdict="verdict",
        ),
        limits=(-limit, limit),
        reference=0.0,
        reference_name="dashed: no difference",
        is_signed=True,
    )
    return Plotted(
        heading=f"{cut(model_a, 40)} minus {cut(model_b, 40)}",
        title=f"{model_a} minus {model_b}",
        svg=interval_plot(plot),
        note=_verdicts(own.height, total),
    )


def _detail(row: Row) -> str:
    q = f"q {probability_text(row['q_value'])}"
    return f"{q} {_CONFIRMED}" if row["is_confirmed"] else q


def _verdicts(n_shown: int, total: Row) -> str:
    """What holds on all slices of a pair, drawn or not."""
    n_slices = total["n_slices"]
    shown = "" if n_shown == n_slices else f"{n_shown} of {n_slices:,} slices drawn. "
    detectable = total["median_detectable"]
    power = (
        ""
        if is_missing(detectable)
        else (
            " On half of the slices, only differences of at least "
            f"{fraction_text(detectable)} would likely be found."
        )
    )
    return (
        f"{shown}On all: {total['n_better']:,} better, {total['n_worse']:,} worse, "
        f"{total['n_tied']:,} tied, {total['n_open']:,} not enough evidence; "
        f"{total['n_confirmed']:,} confirmed.{power}"
    )
