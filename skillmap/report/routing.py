"""What choosing a model for each item would have gained."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts
from skillmap.report.formatting import cut, estimate_text, n_text, not_shown
from skillmap.report.plots import Estimate, IntervalPlot, interval_plot
from skillmap.report.skills import axis_limit
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

_N_COMPARISONS = 12
_N_ROWS = 60
_N_DRAWN = 16
_N_NAMES = 4
_ORACLE = "oracle"
# Comparisons that choose nothing for an item, and the choice that no one can make.
_YARDSTICKS = ("best_single", "random", _ORACLE)

_COLUMNS = (
    name_column("policy", "policy", limit=40),
    count_column("n", "n_items", "Items that every candidate has a score on"),
    count_column("groups", "n_groups", "Independent groups of those items"),
    fraction_column("accuracy", "accuracy", "Mean score of the chosen models"),
    interval_column("accuracy"),
    difference_column("gain", "gain", "Over the best single model"),
    interval_column("gain", is_signed=True),
    difference_column(
        "over category", "gain_over_category", "Over choosing by category"
    ),
    interval_column("gain_over_category", is_signed=True),
)


@dataclass(frozen=True, kw_only=True)
class RoutingComparison:
    """Policies of one set of candidates on one scope."""

    heading: str
    title: str
    verdict: str
    plots: tuple[Plotted, ...]
    table: HtmlTable


@dataclass(frozen=True, kw_only=True)
class RoutingSection:
    """The section on routing; no comparisons where routing was not evaluated."""

    comparisons: tuple[RoutingComparison, ...]
    note: str


def routing_section(facts: Facts) -> RoutingSection:
    """A table and a plot per set of candidates and scope."""
    parts = (
        facts.routing.partition_by("candidate_models", "scope", maintain_order=True)
        if facts.routing.height
        else []
    )
    return RoutingSection(
        comparisons=tuple(
            _comparison(rows, f"routing{index}")
            for index, rows in enumerate(parts[:_N_COMPARISONS])
        ),
        note=not_shown(
            min(len(parts), _N_COMPARISONS), len(parts), "sets of models and scopes"
        ),
    )


def _comparison(rows: pl.DataFrame, name: str) -> RoutingComparison:
    candidates: list[str] = rows["candidate_models"][0].to_list()
    scope = rows.item(0, "scope")
    place = "all benchmarks together" if scope == "all" else scope
    policies = rows.filter(
        ~pl.col("policy").is_in([*_YARDSTICKS, *candidates]),
        pl.col("gain").is_not_null(),
    )
    n_more = len(candidates) - _N_NAMES
    names = ", ".join(cut(model, 40) for model in candidates[:_N_NAMES])
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return RoutingComparison(
        heading=f"{names}{more}: {cut(place, 60)}",
        title=f"{', '.join(candidates)[:2000]}: {place}",
        verdict=_verdict(rows, policies),
        plots=tuple(_plots(rows, policies, name, place)),
        table=html_table(
            rows,
            _COLUMNS,
            name=name,
            caption=f"Policies on {cut(place, 60)}, largest gain first",
            query="routing",
            limit=_N_ROWS,
            noun="policies",
        ),
    )


def _verdict(rows: pl.DataFrame, policies: pl.DataFrame) -> str:
    """Whether choosing by item is surely better than one model for all."""
    if policies.is_empty():
        return "No policy that chooses by item has a gain here."
    clear = policies.filter(pl.col("gain_low") > 0)
    if clear.is_empty():
        text = (
            "No policy's gain is surely above zero: by these items, no way to choose "
            "is better than the best single model for all."
        )
    else:
        best = clear.row(0, named=True)
        text = f"Of the gains surely above zero, {cut(best['policy'], 40)}'s is the "
        text += f"largest, {_gain(best)}; it is the largest partly by luck."
    worse = policies.filter(pl.col("gain_high") < 0)["policy"].to_list()
    if worse:
        text += f" Surely below zero: {', '.join(cut(w, 40) for w in worse[:6])}."
    oracle = rows.filter(pl.col("policy") == _ORACLE, pl.col("gain").is_not_null())
    if oracle.height:
        text += (
            " The oracle, which knows who is right, would gain "
            f"{_gain(oracle.row(0, named=True))}; it is not drawn."
        )
    return text


def _gain(row: Row) -> str:
    numbers = estimate_text(
        row["gain"], row["gain_low"], row["gain_high"], is_signed=True
    )
    return f"{numbers}, {n_text(row['n_items'])}"


def _plots(
    rows: pl.DataFrame, policies: pl.DataFrame, name: str, place: str
) -> Iterator[Plotted]:
    """One plot, or none without a policy that chooses; chance beside the others."""
    random = rows.filter(pl.col("policy") == "random", pl.col("gain").is_not_null())
    drawn = pl.concat([policies.head(_N_DRAWN), random])
    if policies.is_empty():
        return
    # A gain on a single group of items has no bounds.
    ends = drawn.select(
        gain_low=pl.coalesce("gain_low", "gain"),
        gain_high=pl.coalesce("gain_high", "gain"),
    )
    limit = axis_limit(ends, "gain")
    plot = IntervalPlot(
        name=name,
        description=(
            f"Gain of {drawn.height} policies over the best single model on "
            f"{cut(place, 80)}, with 95 % intervals. The table below has the same "
            "numbers."
        ),
        rows=[
            Estimate(
                label=row["policy"],
                value=row["gain"],
                low=row["gain_low"],
                high=row["gain_high"],
                n_items=row["n_items"],
            )
            for row in drawn.iter_rows(named=True)
        ],
        limits=(-limit, limit),
        reference=0.0,
        reference_name="dashed: no gain",
        is_signed=True,
    )
    yield Plotted(
        heading="Gain over the best single model",
        title=f"Gain over the best single model on {place}",
        svg=interval_plot(plot),
        note=not_shown(min(policies.height, _N_DRAWN), policies.height, "policies"),
    )
