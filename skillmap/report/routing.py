"""What choosing a model for each item would have gained."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts
from skillmap.report.formatting import (
    counted,
    cut,
    estimate_text,
    interval_text,
    n_text,
    not_shown,
    signed_text,
)
from skillmap.report.frontier import Frontier, frontier_of
from skillmap.report.interval_rows import interval_rows
from skillmap.report.plots import IntervalPlot, interval_plot
from skillmap.report.policies import (
    CATEGORY,
    ORACLE,
    by_item,
    chooses_by,
    is_single,
    policy_label,
    reading,
    verdict,
)
from skillmap.report.skills import axis_limit
from skillmap.report.tables import (
    Cell,
    Column,
    HtmlTable,
    Row,
    amount_column,
    count_column,
    difference_column,
    fraction_column,
    html_table,
    interval_column,
    missing_cell,
    name_column,
    text_cell,
)

_N_COMPARISONS = 12
_N_ROWS = 60
_N_DRAWN = 16
_N_SINGLES = 6
_N_NAMES = 4
_READS = "The candidate that is asked first, and whose response is read"


@dataclass(frozen=True, kw_only=True)
class RoutingComparison:
    """Policies of one set of candidates on one scope."""

    heading: str
    title: str
    verdict: str
    plots: tuple[Plotted, ...]
    table: HtmlTable
    frontier: Frontier


@dataclass(frozen=True, kw_only=True)
class RoutingSection:
    """The section on routing; no comparisons where routing was not evaluated."""

    comparisons: tuple[RoutingComparison, ...]
    note: str


def routing_section(facts: Facts) -> RoutingSection:
    """Tables and plots per set of candidates and scope."""
    parts = routing_parts(facts.routing)
    return RoutingSection(
        comparisons=tuple(
            _comparison(rows, facts.frontier, index)
            for index, rows in enumerate(parts[:_N_COMPARISONS])
        ),
        note=not_shown(
            min(len(parts), _N_COMPARISONS), len(parts), "sets of models and scopes"
        ),
    )


def routing_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows of each set of candidates and scope."""
    if rows.is_empty():
        return []
    return rows.partition_by("candidate_models", "scope", maintain_order=True)


def candidates_text(rows: pl.DataFrame) -> str:
    """The first few candidates by name, and where they were compared."""
    candidates: list[str] = rows["candidate_models"][0].to_list()
    n_more = len(candidates) - _N_NAMES
    names = ", ".join(cut(model, 40) for model in candidates[:_N_NAMES])
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return f"{names}{more}: {cut(_place(rows), 60)}"


def clearest_gain(rows: pl.DataFrame) -> Row | None:
    """The policy with the largest of the gains that are surely above zero."""
    clear = by_item(rows).filter(pl.col("gain_low") > 0)
    return clear.row(0, named=True) if clear.height else None


def _place(rows: pl.DataFrame) -> str:
    scope: str = rows.item(0, "scope")
    return "all benchmarks together" if scope == "all" else scope


def _comparison(
    rows: pl.DataFrame, frontier: pl.DataFrame, index: int
) -> RoutingComparison:
    candidates: list[str] = rows["candidate_models"][0].to_list()
    place, name = _place(rows), f"routing{index}"
    policies = by_item(rows).filter(pl.col("gain").is_not_null())
    return RoutingComparison(
        heading=candidates_text(rows),
        title=f"{', '.join(candidates)[:2000]}: {place}",
        verdict=_verdict(rows, policies),
        plots=tuple(_plots(rows, policies, name, place)),
        table=html_table(
            rows,
            _columns(rows),
            name=name,
            caption=f"Policies on {cut(place, 60)}, largest gain first",
            query="routing",
            limit=_N_ROWS,
            noun="policies",
        ),
        frontier=frontier_of(rows, frontier, name=f"frontier{index}"),
    )


def _columns(rows: pl.DataFrame) -> tuple[Column, ...]:
    """The columns that say something of these rows."""
    units: list[str] = rows["cost_unit"].drop_nulls().unique().sort().to_list()
    some = {
        "reads": rows["reads_response_of"].is_not_null().any(),
        "splits": (rows["n_splits"] > 1).any(),
        "category": rows["gain_over_category"].is_not_null().any(),
        "cost": rows["mean_cost"].is_not_null().any(),
    }
    found: list[tuple[str, Column]] = [
        ("", name_column("policy", "policy", limit=40)),
        ("", count_column("n", "n_items", "Items that every candidate has a score on")),
        ("", fraction_column("accuracy", "accuracy", "Of the chosen models")),
        ("", interval_column("accuracy")),
        ("", difference_column("gain", "gain", "Over the best single model")),
        ("", interval_column("gain", is_signed=True)),
        (
            "",
            _words_column(
                "against best single",
                lambda row: (
                    None if row["policy"] == "best_single" else reading(row, "gain")
                ),
                limit=34,
            ),
        ),
        (
            "category",
            difference_column(
                "over category", "gain_over_category", "Over choosing by category"
            ),
        ),
        ("category", interval_column("gain_over_category", is_signed=True)),
        (
            "cost",
            amount_column(
                f"{'/'.join(units)} an item".replace("usd", "USD"),
                "mean_cost",
                "All calls that the policy makes for an item, on average",
            ),
        ),
        ("splits", _splits_column()),
        ("reads", name_column("reads", "reads_response_of", _READS, limit=40)),
        ("", count_column("groups", "n_groups", "Independent groups of those items")),
        ("", _words_column("goes by", chooses_by, limit=90)),
    ]
    return tuple(column for key, column in found if some.get(key, True))


def _words_column(
    heading: str, told: Callable[[Row], str | None], *, limit: int
) -> Column:
    return Column(
        heading=heading,
        is_number=False,
        cell=lambda row: text_cell(told(row), limit=limit),
    )


def _splits_column() -> Column:
    def cell(row: Row) -> Cell:
        low, high = row["gain_lowest_split"], row["gain_highest_split"]
        if low is None or high is None:
            return missing_cell()
        return Cell(text=interval_text(low, high, is_signed=True), sort=f"{low:.9g}")

    return Column(
        heading="over splits",
        title="Lowest and highest gain over the splits of items into folds",
        cell=cell,
    )


def _verdict(rows: pl.DataFrame, policies: pl.DataFrame) -> str:
    """Whether choosing by item is surely better than one model for all."""
    if policies.is_empty():
        return "No policy that chooses by item has a gain here."
    best = clearest_gain(rows)
    if best is None:
        text = (
            "No policy's gain is surely above zero: by these items, no way to choose "
            "is better than the best single model for all."
        )
    else:
        text = f"Of the gains surely above zero, {cut(best['policy'], 40)}'s is the "
        text += f"largest, {gain_text(best)}; it is the largest partly by luck."
        text += _further(best)
    worse = policies.filter(pl.col("gain_high") < 0)["policy"].to_list()
    if worse:
        text += f" Surely below zero: {', '.join(cut(w, 40) for w in worse[:6])}."
    oracle = rows.filter(pl.col("policy") == ORACLE, pl.col("gain").is_not_null())
    if oracle.height:
        text += (
            " The oracle, which knows who is right, would gain "
            f"{gain_text(oracle.row(0, named=True))}; it is not drawn."
        )
    return text


def _further(best: Row) -> str:
    """How the best policy does against choosing by category, and by split."""
    text = ""
    over = reading(best, "gain_over_category")
    if over and best["policy"] != CATEGORY:
        numbers = estimate_text(
            best["gain_over_category"],
            best["gain_over_category_low"],
            best["gain_over_category_high"],
            is_signed=True,
        )
        text = f" Over choosing by category it gains {numbers}: {over}."
    low, high = best["gain_lowest_split"], best["gain_highest_split"]
    if best["n_splits"] > 1 and low is not None and high is not None:
        text += (
            f" Over {counted(best['n_splits'], 'split')} of the items into folds, its "
            f"gain lies between {signed_text(low)} and {signed_text(high)}."
        )
    return text


def gain_text(row: Row) -> str:
    """The gain over the best single model with its interval and n."""
    numbers = estimate_text(
        row["gain"], row["gain_low"], row["gain_high"], is_signed=True
    )
    return f"{numbers}, {n_text(row['n_items'])}"


def _plots(
    rows: pl.DataFrame, policies: pl.DataFrame, name: str, place: str
) -> Iterator[Plotted]:
    """Gains over the best single model and over choosing by category.

    None without a policy that chooses; chance and single models beside the others.
    """
    if policies.is_empty():
        return
    known = rows.filter(pl.col("gain").is_not_null())
    beside = pl.concat(
        [
            known.filter(is_single(known)).head(_N_SINGLES),
            known.filter(pl.col("policy") == "random"),
        ]
    )
    yield _plot(
        pl.concat([policies.head(_N_DRAWN), beside]),
        "gain",
        name=name,
        over="the best single model",
        place=place,
        note=not_shown(min(policies.height, _N_DRAWN), policies.height, "policies"),
    )
    others = policies.filter(
        pl.col("policy") != CATEGORY, pl.col("gain_over_category").is_not_null()
    ).head(_N_DRAWN)
    if others.height:
        yield _plot(
            others,
            "gain_over_category",
            name=f"{name}-category",
            over="choosing by category",
            place=place,
        )


def _plot(
    drawn: pl.DataFrame,
    column: str,
    *,
    name: str,
    over: str,
    place: str,
    note: str = "",
) -> Plotted:
    # A gain on a single group of items has no bounds.
    ends = drawn.select(
        pl.coalesce(f"{column}{end}", column).alias(f"{column}{end}")
        for end in ("_low", "_high")
    )
    limit = axis_limit(ends, column)
    plot = IntervalPlot(
        name=name,
        description=(
            f"Gain of {drawn.height} policies over {over} on {cut(place, 80)}, with "
            "95 % intervals. The table below has the same numbers."
        ),
        rows=interval_rows(
            drawn,
            column,
            label=policy_label,
            detail=lambda row: reading(row, column) or "",
            verdict=lambda row: verdict(row, column),
        ),
        limits=(-limit, limit),
        reference=0.0,
        reference_name="dashed: no gain",
        is_signed=True,
    )
    return Plotted(
        heading=f"Gain over {over}",
        title=f"Gain over {over} on {place}",
        svg=interval_plot(plot),
        note=note,
    )
