"""Where two models differ most on the items that both answered."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts
from skillmap.report.formatting import counted, cut, estimate_text, fraction_text
from skillmap.report.interval_rows import interval_rows
from skillmap.report.plots import IntervalPlot, interval_plot
from skillmap.report.skills import axis_limit
from skillmap.report.tables import (
    HtmlTable,
    count_column,
    difference_column,
    fraction_column,
    html_table,
    interval_column,
    name_column,
)

_N_PAIRS = 6
# All pairs of fifty models.
_N_SELECTABLE = 1225

_COLUMNS = (
    name_column("model A", "model_a", limit=34),
    name_column("model B", "model_b", limit=34),
    name_column("slice", "slice_name", limit=60),
    count_column("n", "n_items", "Common items in the slice"),
    fraction_column("accuracy A", "accuracy_a"),
    fraction_column("accuracy B", "accuracy_b"),
    difference_column("A minus B", "difference"),
    interval_column("difference", is_signed=True),
)


@dataclass(frozen=True, kw_only=True)
class PairSection:
    """The fourth section; ``selectable`` is what the page's script chooses from."""

    plots: tuple[Plotted, ...]
    note: str
    table: HtmlTable
    selectable: dict[str, Any]
    selectable_note: str


@dataclass
class _Names:
    """Names by the place they take in a list, so that each is written once."""

    places: dict[str, int] = field(default_factory=dict[str, int])

    def place(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places))


def pair_section(facts: Facts) -> PairSection:
    """The most different pairs in plots and a table, the others to select."""
    ranked = _ranked(facts.slice_pairs)
    top = ranked.head(_N_PAIRS)
    rows = better_first(_rows_of(top, facts.slice_pairs))
    n_more = ranked.height - top.height
    note = (
        f"{counted(ranked.height, 'pair')} of models with a common slice; the "
        f"{top.height} that differ most clearly are here."
    )
    chosen = ranked.head(_N_SELECTABLE)
    return PairSection(
        plots=tuple(_plots(rows, facts.pair_totals)),
        note=note if n_more > 0 else "",
        table=html_table(
            rows,
            _COLUMNS,
            name="pairs",
            caption="Most different slices of the most different pairs",
            query="slice_pairs",
            empty="No two models have common items in a slice.",
        ),
        selectable=_selectable(chosen, facts),
        selectable_note=(
            f"The {chosen.height:,} most different of {ranked.height:,} pairs."
            if chosen.height < ranked.height
            else ""
        ),
    )


def better_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Each pair turned so that model A is the better one on its first slice.

    Args:
        rows: Columns of ``slice_pairs.sql``, the rows of a pair together.
    """
    pairs = rows.partition_by("model_a", "model_b", maintain_order=True)
    return pl.concat(
        [turned(own) if own.item(0, "difference") < 0 else own for own in pairs]
        or [rows]
    )


def turned(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows with model A and model B exchanged."""
    return rows.with_columns(
        model_a="model_b",
        model_b="model_a",
        accuracy_a="accuracy_b",
        accuracy_b="accuracy_a",
        difference=-pl.col("difference"),
        difference_low=-pl.col("difference_high"),
        difference_high=-pl.col("difference_low"),
    )


def _rows_of(pairs: pl.DataFrame, slice_pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of the pairs, in the pairs' order."""
    return pairs.join(
        slice_pairs, on=["model_a", "model_b"], maintain_order="left_right"
    )


def _ranked(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs, first those whose interval on some slice is furthest from 0."""
    return (
        pairs.group_by("model_a", "model_b")
        .agg(pl.col("distance_from_zero").max(), pl.col("n_pair_slices").max())
        .sort(
            "distance_from_zero", "model_a", "model_b", descending=[True, False, False]
        )
        .select("model_a", "model_b")
    )


def _plots(rows: pl.DataFrame, totals: pl.DataFrame) -> Iterator[Plotted]:
    limit = axis_limit(rows, "difference")
    pairs = rows.partition_by("model_a", "model_b", maintain_order=True)
    for index, own in enumerate(pairs):
        yield _plot(own, _whole(own, totals), limit, name=f"pairs{index}")


def _whole(own: pl.DataFrame, totals: pl.DataFrame) -> str:
    """How the models of a pair do on all their common items."""
    both = pl.Series([own.item(0, "model_a"), own.item(0, "model_b")])
    whole = totals.filter(
        pl.col("model_a").is_in(both.implode()), pl.col("model_b").is_in(both.implode())
    )
    is_turned = whole.item(0, "model_a") != both[0]
    row = (turned(whole) if is_turned else whole).row(0, named=True)
    numbers = estimate_text(
        row["difference"], row["difference_low"], row["difference_high"], is_signed=True
    )
    return (
        f"On all {counted(row['n_items'], 'common item')}: "
        f"{fraction_text(row['accuracy_a'])} and {fraction_text(row['accuracy_b'])}, "
        f"{numbers}."
    )


def _plot(own: pl.DataFrame, whole: str, limit: float, *, name: str) -> Plotted:
    first = own.row(0, named=True)
    model_a, model_b = first["model_a"], first["model_b"]
    n_slices = first["n_pair_slices"]
    is_cut = own.height < n_slices
    shown = f"{own.height} of {n_slices:,} slices, the clearest. " if is_cut else ""
    plot = IntervalPlot(
        name=name,
        description=(
            f"Accuracy of {cut(model_a, 80)} minus that of {cut(model_b, 80)} on the "
            f"common items of {own.height} of {n_slices} slices, with "
            "paired 95 % intervals. The table below has the same numbers."
        ),
        rows=interval_rows(own, "difference", label="slice_name"),
        limits=(-limit, limit),
        reference=0.0,
        reference_name="dashed: no difference",
        is_signed=True,
    )
    return Plotted(
        heading=f"{cut(model_a, 40)} minus {cut(model_b, 40)}",
        title=f"{model_a} minus {model_b}",
        svg=interval_plot(plot),
        note=f"{shown}{whole}",
    )


def _selectable(chosen: pl.DataFrame, facts: Facts) -> dict[str, Any]:
    models, slices = _Names(), _Names()
    for name in sorted({*chosen["model_a"], *chosen["model_b"]}):
        models.place(name)
    rows = _rows_of(chosen, facts.slice_pairs)
    pairs: dict[str, list[list[float]]] = {}
    for row in rows.iter_rows(named=True):
        key = f"{models.place(row['model_a'])},{models.place(row['model_b'])}"
        numbers = ("accuracy_a", "accuracy_b", "difference", "difference_low")
        pairs.setdefault(key, []).append(
            [
                slices.place(cut(row["slice_name"], 120)),
                row["n_items"],
                *(round(row[name], 4) for name in (*numbers, "difference_high")),
            ]
        )
    start = better_first(rows.head(1)).select("model_a", "model_b").rows()
    return {
        "start": [models.place(name) for pair in start for name in pair],
        "models": list(models.places),
        "slices": list(slices.places),
        "pairs": pairs,
    }
