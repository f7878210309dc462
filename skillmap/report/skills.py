"""Slices on which each model does worse or better than its results lead to expect."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts, one_line
from skillmap.report.formatting import (
    MISSING,
    counted,
    cut,
    estimate_text,
    fraction_text,
    n_text,
    not_shown,
    signed_text,
)
from skillmap.report.interval_rows import interval_rows
from skillmap.report.plots import IntervalPlot, interval_plot
from skillmap.report.tables import (
    Cell,
    HtmlTable,
    Row,
    count_column,
    difference_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
    with_wilson_bounds,
)

_N_MODELS = 24
_N_ENDS = 5
_N_HEAT_SLICES = 40
_N_HEAT_MODELS = 40
# Smallest difference of each step of colour.
_STEPS = (0.02, 0.05, 0.1, 0.2)

_COLUMNS = (
    name_column("model", "model_id", limit=34),
    name_column("slice", "slice_name", limit=60),
    count_column("n", "n_items", "Items of the slice that count for the model"),
    fraction_column("accuracy", "accuracy"),
    interval_column("accuracy"),
    fraction_column("expected", "expected_accuracy", "On the slice's benchmark mix"),
    difference_column("difference", "difference_to_expected"),
    interval_column("difference_to_expected", is_signed=True),
)


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Differences to expected, slices by models.

    Attributes:
        models: Column headings, cut, with the full name.
        rows: A slice's name, its number of items, and a cell for every model.
        note: What was left out.
        query: The query behind it in one line.
    """

    models: tuple[Cell, ...]
    rows: tuple[tuple[Cell, Cell, tuple[Cell, ...]], ...]
    note: str
    query: str


@dataclass(frozen=True, kw_only=True)
class SkillSection:
    """The third section."""

    caution: str
    plots: tuple[Plotted, ...]
    note: str
    table: HtmlTable
    heat_map: HeatMap


def skill_section(facts: Facts) -> SkillSection:
    """Ends of every model's list of slices, and the map of all."""
    rows = facts.slice_accuracy
    models = _models(rows, _N_MODELS)
    ends = rows.filter(pl.col("model_id").is_in(models.implode())).filter(_is_end())
    return SkillSection(
        caution=_caution(rows.height),
        plots=tuple(_plots(rows, ends, models)),
        note=_models_note(models.len(), rows["model_id"].n_unique()),
        table=html_table(
            ends,
            _COLUMNS,
            name="slices",
            caption="Weakest and strongest slices of each model",
            query="slice_accuracy",
            limit=2 * _N_ENDS * _N_MODELS,
            noun="rows",
            empty="No slice has a result yet.",
        ),
        heat_map=heat_map(rows),
    )


def _models(rows: pl.DataFrame, limit: int) -> pl.Series:
    """Names of the models with most items, in the order of their names."""
    sizes = rows.group_by("model_id").agg(pl.col("n_overall_items").max())
    largest = sizes.sort("n_overall_items", "model_id", descending=[True, False])
    return largest.head(limit)["model_id"].sort()


def _models_note(n_shown: int, n_all: int) -> str:
    note = not_shown(n_shown, n_all, "models")
    return f"{note} Those with most items are." if note else ""


def _is_end() -> pl.Expr:
    """Whether a row is among the first or last few of its model."""
    position = pl.int_range(pl.len()).over("model_id")
    n_slices = pl.len().over("model_id")
    return (position < _N_ENDS) | (position >= n_slices - _N_ENDS)


def _caution(n_intervals: int) -> str:
    """What the intervals do not say, in numbers."""
    if not n_intervals:
        return ""
    chance = max(1, round(0.05 * n_intervals))
    return (
        "Intervals are not corrected for how many slices were looked at: of "
        f"{counted(n_intervals, 'interval')} here, about {chance:,} would leave out "
        "the true value by chance alone, most likely those at the ends of a list. "
        "Take an end as a candidate to test on new items, and look at its n."
    )


def _plots(
    rows: pl.DataFrame, ends: pl.DataFrame, models: pl.Series
) -> Iterator[Plotted]:
    limit = axis_limit(ends, "difference_to_expected")
    for index, model in enumerate(models):
        own = ends.filter(pl.col("model_id") == model)
        n_all = rows.filter(pl.col("model_id") == model).height
        yield _plot(model, own, n_all, limit=limit, name=f"skills{index}")


def _plot(
    model: str, own: pl.DataFrame, n_all: int, *, limit: float, name: str
) -> Plotted:
    n_between = n_all - own.height
    plot = IntervalPlot(
        name=name,
        description=(
            f"Accuracy of {cut(model, 80)} on {own.height} of {n_all} slices, minus "
            "what it gets on their mix of benchmarks, weakest first, with 95 % "
            "intervals. The table below has the same numbers."
        ),
        rows=interval_rows(own, "difference_to_expected", label="slice_name"),
        limits=(-limit, limit),
        reference=0.0,
        reference_name="dashed: as expected",
        is_signed=True,
        gap_after=_N_ENDS - 1 if n_between else None,
        gap_text=f"… {counted(n_between, 'slice')} between, not shown …",
    )
    return Plotted(
        heading=cut(model, 60),
        title=model,
        svg=interval_plot(plot),
        note=_overall(own),
    )


def _overall(own: pl.DataFrame) -> str:
    """What the model gets on all its items."""
    row = with_wilson_bounds(own.head(1), "overall_accuracy", "n_overall_items").row(
        0, named=True
    )
    numbers = estimate_text(
        row["overall_accuracy"],
        row["overall_accuracy_low"],
        row["overall_accuracy_high"],
        is_signed=False,
    )
    return (
        f"Overall {numbers}, {n_text(row['n_overall_items'])}, without drifted items."
    )


def axis_limit(rows: pl.DataFrame, column: str) -> float:
    """Half width of a symmetric axis that holds every interval of ``column``.

    Examples:
        >>> axis_limit(pl.DataFrame({"d_low": [-0.31], "d_high": [0.1]}), "d")
        0.4
    """
    bounds = rows.select(
        pl.max_horizontal(
            pl.col(f"{column}_low").abs().max(), pl.col(f"{column}_high").abs().max()
        )
    ).item()
    widest: float = bounds or 0.0
    return next(
        limit for limit in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0) if widest <= limit
    )


def heat_map(rows: pl.DataFrame) -> HeatMap:
    """Slices by models, the slices on which models differ most first.

    Args:
        rows: Rows of ``slice_accuracy.sql``.

    Returns:
        At most 40 slices and 40 models. A slice's spread is its largest difference
        to expected less its smallest; a slice of one model has none and comes last.
    """
    models = _models(rows, _N_HEAT_MODELS)
    shown = rows.filter(pl.col("model_id").is_in(models.implode()))
    order = _by_spread(shown)
    top = order.head(_N_HEAT_SLICES)
    cells = {
        (row["slice_id"], row["model_id"]): row for row in shown.iter_rows(named=True)
    }
    notes = (
        not_shown(top.height, rows["slice_id"].n_unique(), "slices"),
        _models_note(models.len(), rows["model_id"].n_unique()),
    )
    return HeatMap(
        models=tuple(Cell(text=cut(m, 28), title=m) for m in models),
        rows=tuple(
            (
                Cell(text=cut(s["slice_name"], 60), title=s["slice_name"]),
                Cell(text=f"{s['n_slice_items']:,}"),
                tuple(_heat_cell(cells.get((s["slice_id"], m))) for m in models),
            )
            for s in top.iter_rows(named=True)
        ),
        note=" ".join(note for note in notes if note),
        query=one_line("slice_accuracy"),
    )


def _by_spread(rows: pl.DataFrame) -> pl.DataFrame:
    differences = pl.col("difference_to_expected")
    return (
        rows.group_by("slice_id", "slice_name")
        .agg(
            pl.col("n_slice_items").max(),
            spread=pl.when(pl.len() > 1).then(differences.max() - differences.min()),
        )
        .sort(
            "spread",
            "n_slice_items",
            "slice_id",
            descending=[True, True, False],
            nulls_last=True,
        )
    )


def _heat_cell(row: Row | None) -> Cell:
    if row is None:
        return Cell(text=MISSING, title="no result", css="missing")
    difference: float = row["difference_to_expected"]
    low, high = row["difference_to_expected_low"], row["difference_to_expected_high"]
    numbers = estimate_text(difference, low, high, is_signed=True)
    css = _step(difference)
    if low > 0 or high < 0:
        css += " clear"
    return Cell(
        text=signed_text(difference, n_decimals=2),
        title=(
            f"{numbers}, {n_text(row['n_items'])}; accuracy "
            f"{fraction_text(row['accuracy'])}, expected "
            f"{fraction_text(row['expected_accuracy'])}"
        ),
        sort=f"{row['n_items']:,}",
        css=css,
    )


def _step(difference: float) -> str:
    step = sum(abs(difference) >= least for least in _STEPS)
    side = "low" if math.copysign(1, difference) < 0 else "high"
    return f"{side}{step}" if step else "even"
