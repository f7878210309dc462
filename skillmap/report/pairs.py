"""Where two models differ most on the items that both answered."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from skillmap.report.accuracy import Plotted
from skillmap.report.facts import Facts
from skillmap.report.formatting import counted, cut, estimate_text, fraction_text
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
    difference_column("A less B", "difference"),
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
    rows = top.join(
        facts.slice_pairs, on=["model_a", "model_b"], maintain_order="left_right"
    )
    n_more = ranked.height - top.height
    note = (
        f"{counted(ranked.height, 'pair')} of models with a common slice; the "
        f"{top.height} that differ most clearly are here."
    )
    chosen = ranked.head(_N_SELECTABLE)
    return PairSection(
        plots=tuple(_plots(top, rows, facts.pair_totals)),
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


def _plots(
    top: pl.DataFrame, rows: pl.DataFrame, totals: pl.DataFrame
) -> Iterator[Plotted]:
    limit = axis_limit(rows, "difference")
    whole = {(row["model_a"], row["model_b"]): row for row in totals.iter_rows(named=True)}
    for index, (model_a, model_b) in enumerate(top.iter_rows()):
        own = rows.filter(pl.col("model_a") == model_a, pl.col("model_b") == model_b)
        yield _plot(own, whole.get((model_a, model_b)), limit, name=f"pairs{index}")


def _plot(own: pl.DataFrame, whole: Row | None, limit: float, *, name: str) -> Plotted:
    first = own.row(0, named=True)
    model_a, model_b = first["model_a"], first["model_b"]
    plot = IntervalPlot(
        name=name,
        description=(
            f"Accuracy of {cut(model_a, 80)} less that of {cut(model_b, 80)} on the "
            f"common items of {own.height} of {first['n_pair_slices']} slices, with "
            "paired 95 % intervals. The table below has the same numbers."
        ),
        rows=[
            Estimate(
                label=row["slice_name"],
                value=row["difference"],
                low=row["difference_low"],
                high=row["difference_high"],
                n_items=row["n_items"],
            )
            for row in own.iter_rows(named=True)
        ],
        limits=(-limit, limit),
        reference=0.0,
        reference_name="dashed: no difference",
        is_signed=True,
    )
    return Plotted(
        heading=f"{cut(model_a, 40)} less {cut(model_b, 40)}",
        title=f"{model_a} less {model_b}",
        svg=interval_plot(plot),
        note=" ".join(_notes(own.height, first["n_pair_slices"], whole)),
    )


def _notes(n_shown: int, n_slices: int, whole: Row | None) -> Iterator[str]:
    if n_shown < n_slices:
        yield f"{n_shown} of {n_slices:,} slices, the clearest."
    if whole is not None:
        numbers = estimate_text(
            whole["difference"],
            whole["difference_low"],
            whole["difference_high"],
            is_signed=True,
        )
        yield (
            f"On all {counted(whole['n_items'], 'common item')}: "
            f"{fraction_text(whole['accuracy_a'])} and "
            f"{fraction_text(whole['accuracy_b'])}, {numbers}."
        )


def _selectable(chosen: pl.DataFrame, facts: Facts) -> dict[str, Any]:
    models, slices = _Names(), _Names()
    for name in sorted({*chosen["model_a"], *chosen["model_b"]}):
        models.place(name)
    rows = chosen.join(
        facts.slice_pairs, on=["model_a", "model_b"], maintain_order="left_right"
    )
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
    return {"models": list(models.places), "slices": list(slices.places), "pairs": pairs}
