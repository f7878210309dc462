"""Plots of single assets for the UI. The report's plots are in ``report``."""

from collections.abc import Callable

import numpy as np
import polars as pl
from matplotlib.figure import Figure

Picture = Callable[[pl.DataFrame], Figure]

_N_BARS = 20
_INK, _PALE = "#2f5d8a", "#c9d6e4"


def counts_of(column: str) -> Picture:
    """A picture of how many rows have each value of ``column``, most first."""

    def picture(rows: pl.DataFrame) -> Figure:
        counts = (
            rows.group_by(pl.col(column).cast(pl.String).fill_null("unknown"))
            .len()
            .sort("len", column, descending=[True, False])
        )
        return _bars(counts, column, "len", title=f"{rows.height:,} rows by {column}")

    return picture


def values_of(column: str, *, label: str) -> Picture:
    """A picture of the largest values of ``column``, named by ``label``."""

    def picture(rows: pl.DataFrame) -> Figure:
        largest = rows.sort(column, label, descending=[True, False])
        return _bars(largest, label, column, title=f"{column}, {rows.height:,} rows")

    return picture


def intervals(*, label: tuple[str, ...]) -> Picture:
    """A picture of accuracies with their intervals, lowest at the bottom."""

    def picture(rows: pl.DataFrame) -> Figure:
        shown = rows.sort("accuracy", *label).head(2 * _N_BARS)
        figure = Figure(figsize=(7, 0.7 + 0.22 * shown.height), layout="constrained")
        axes = figure.subplots()
        y = np.arange(shown.height)
        accuracy = shown["accuracy"].to_numpy()
        axes.errorbar(
            accuracy,
            y,
            xerr=(
                accuracy - shown["accuracy_low"].to_numpy(),
                shown["accuracy_high"].to_numpy() - accuracy,
            ),
            fmt="o",
            color=_INK,
            ecolor=_PALE,
            elinewidth=3,
            markersize=4,
        )
        names = shown.select(pl.concat_str(label, separator=" · ")).to_series()
        axes.set_yticks(y, [_shortened(name) for name in names], fontsize=7)
        axes.set_xlim(0, 1)
        cut = (
            f", lowest {shown.height} of {rows.height}"
            if shown.height < rows.height
            else ""
        )
        axes.set_xlabel(f"accuracy, 95 % Wilson interval{cut}")
        return figure

    return picture


def _bars(rows: pl.DataFrame, label: str, value: str, *, title: str) -> Figure:
    shown = rows.head(_N_BARS).reverse()
    figure = Figure(figsize=(6, 0.7 + 0.24 * shown.height), layout="constrained")
    axes = figure.subplots()
    axes.barh(range(shown.height), shown[value].to_numpy(), color=_INK)
    names = [_shortened(str(name)) for name in shown[label]]
    axes.set_yticks(range(shown.height), names, fontsize=7)
    if rows.height > _N_BARS:
        title += f" (first {_N_BARS} of {rows.height:,})"
    axes.set_title(title, fontsize=9)
    return figure


def _shortened(name: str) -> str:
    limit = 48
    return name if len(name) <= limit else name[: limit - 1] + "…"
