"""What quality costs where a model is chosen item by item."""

from dataclasses import dataclass

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.formatting import amount_text, cut, estimate_text, n_text
from skillmap.report.frontier_plot import (
    CostCurve,
    CostPoint,
    FrontierPlot,
    frontier_plot,
)
from skillmap.report.policies import is_single, policy_label, reading
from skillmap.report.tables import (
    Column,
    HtmlTable,
    Row,
    amount_column,
    count_column,
    difference_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
    text_cell,
)

_N_SINGLES = 12
_N_ROWS = 120
# Less than this share of a cost is less of it.
_CHEAPER = 0.995
_KEYS = ("candidate_models", "scope")
_UNITS = {"usd": "USD per item", "tokens": "tokens per item"}


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """Quality against cost; no plot and no table where no cost is known."""

    text: str
    plot: Plotted | None
    table: HtmlTable | None


def frontier_of(
    policies: pl.DataFrame, frontier: pl.DataFrame, *, name: str
) -> Frontier:
    """What quality costs for one set of candidates and scope.

    Args:
        policies: Rows of ``routing.sql`` of that set and scope.
        frontier: All rows of ``frontier.sql``.
        name: Identifier within the page.
    """
    rows = frontier.join(
        policies.select(_KEYS).unique(), on=_KEYS, how="semi", maintain_order="left"
    )
    if rows.is_empty():
        return Frontier(text="", plot=None, table=None)
    unit = _UNITS[rows.item(0, "cost_unit")]
    # Of a policy, only what no other of its points beats; of a model, its one point.
    kept = rows.filter(~pl.col("is_dominated") | is_single(rows))
    return Frontier(
        text=_text(kept, unit),
        plot=_plot(kept, unit, name),
        table=html_table(
            kept,
            _columns(unit),
            name=name,
            caption="Accuracy by cost, without the points that another one beats",
            query="frontier",
            limit=_N_ROWS,
            noun="points",
        ),
    )


def _columns(unit: str) -> tuple[Column, ...]:
    return (
        name_column("policy", "policy", limit=40),
        amount_column(unit, "mean_cost", "All calls for an item, on average"),
        fraction_column("accuracy", "accuracy"),
        interval_column("accuracy"),
        difference_column("gain", "gain", "Over the best single model"),
        interval_column("gain", is_signed=True),
        Column(
            heading="against best single",
            is_number=False,
            cell=lambda row: text_cell(reading(row, "gain"), limit=34),
        ),
        count_column("n", "n_items", "Items that every candidate has a score on"),
    )


def _text(rows: pl.DataFrame, unit: str) -> str:
    """What as good as the best single model costs by choosing, and what more buys."""
    single = rows.filter(is_single(rows))
    chosen = rows.filter(~is_single(rows))
    if single.is_empty() or chosen.is_empty():
        return ""
    best = _first(single.sort("accuracy", "mean_cost", descending=[True, False]))
    text = f"{cut(best['policy'].removeprefix('model:'), 50)} for every item gets "
    text += f"{_accuracy(best)}, at {amount_text(best['mean_cost'])} {unit}. "
    text += _cheaper(chosen, best)
    clear = chosen.filter(pl.col("gain_low") > 0).sort("mean_cost")
    if clear.height:
        first = _first(clear)
        text += f"A gain surely above zero starts at {amount_text(first['mean_cost'])}"
        text += f"{_times(first, best)}, with {_named(first)}. "
    else:
        text += "No gain of a policy is surely above zero at any cost. "
    top = _first(chosen.sort("accuracy", "mean_cost", descending=[True, False]))
    return (
        f"{text}Most is had at {amount_text(top['mean_cost'])}{_times(top, best)}, by "
        f"{_named(top)}. The best points of a sweep are best partly by luck."
    )


def _cheaper(chosen: pl.DataFrame, best: Row) -> str:
    """As much as the best single model for less, where that is to be had."""
    found = chosen.filter(
        pl.col("accuracy") >= best["accuracy"],
        pl.col("mean_cost") < best["mean_cost"] * _CHEAPER,
    )
    if found.is_empty():
        return ""
    first = _first(found.sort("mean_cost"))
    return (
        f"As much or more is had for less, from {amount_text(first['mean_cost'])}"
        f"{_times(first, best)} on, with {_named(first)}. "
    )


def _times(row: Row, best: Row) -> str:
    if not best["mean_cost"]:
        return ""
    return f" ({row['mean_cost'] / best['mean_cost']:.2f} times that)"


def _first(rows: pl.DataFrame) -> Row:
    return rows.row(0, named=True)


def _accuracy(row: Row) -> str:
    numbers = estimate_text(
        row["accuracy"], row["accuracy_low"], row["accuracy_high"], is_signed=False
    )
    return f"{numbers}, {n_text(row['n_items'])}"


def _named(row: Row) -> str:
    gain = estimate_text(row["gain"], row["gain_low"], row["gain_high"], is_signed=True)
    read = reading(row, "gain")
    told = f": {read}" if read else ""
    return f"{cut(row['policy'], 40)} ({_accuracy(row)}; gain {gain}{told})"


def _plot(rows: pl.DataFrame, unit: str, name: str) -> Plotted:
    curves = [_curve(own) for own in rows.partition_by("policy", maintain_order=True)]
    policies = [curve for curve in curves if not curve.is_single]
    singles = sorted(
        (curve for curve in curves if curve.is_single),
        key=lambda curve: (-curve.best.accuracy, curve.label),
    )
    shown = [*policies, *singles[:_N_SINGLES]]
    n_more = len(curves) - len(shown)
    plot = FrontierPlot(
        name=name,
        description=(
            f"Accuracy of {len(policies)} policies and {len(singles)} single models "
            f"against {unit}, with 95 % intervals. The table below has the same "
            "numbers."
        ),
        curves=shown,
        n_items=rows.item(0, "n_items"),
        cost_name=unit,
    )
    return Plotted(
        heading="What quality costs",
        title="What quality costs",
        svg=frontier_plot(plot),
        note=f"{n_more} more single models are in the table." if n_more > 0 else "",
    )


def _curve(rows: pl.DataFrame) -> CostCurve:
    first = _first(rows)
    single = bool(is_single(rows).any())
    columns = ("mean_cost", "accuracy", "accuracy_low", "accuracy_high")
    return CostCurve(
        label=policy_label(first),
        points=tuple(CostPoint(*row) for row in rows.select(columns).iter_rows()),
        is_single=single,
        note="" if single or rows.height == 1 else "at its best",
    )
