"""Tables as the page shows them: cells of text with a full title and a sort value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from skillmap.metrics.intervals import wilson_interval
from skillmap.report.facts import one_line
from skillmap.report.formatting import (
    MISSING,
    amount_text,
    count_text,
    cut,
    fraction_text,
    interval_text,
    not_shown,
    probability_text,
    signed_text,
)

Row = Mapping[str, Any]
_NAME_LIMIT = 56
# Names up to this are kept on one line.
_SHORT_LIMIT = 40


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell.

    Attributes:
        text: What is shown.
        title: The full text or an explanation, where it says more.
        sort: Value to sort by; empty sorts last, as missing.
        css: Class names.
    """

    text: str
    title: str = ""
    sort: str = ""
    css: str = ""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A heading, its explanation, and how a row gives the cell beneath."""

    heading: str
    cell: Callable[[Row], Cell]
    title: str = ""
    is_number: bool = True


@dataclass(frozen=True, kw_only=True)
class HtmlTable:
    """A table ready for the template; an empty one shows its ``empty`` sentence.

    Attributes:
        caption: What one row is.
        columns: In order; the first is the row's header.
        rows: Cells, one a column.
        query: The query behind it in one line, so that it can be repeated.
        note: What was left out, and warnings.
        empty: Sentence to show in place of a table without rows.
        name: Identifier within the page; unique.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    query: str
    note: str = ""
    empty: str = "Nothing here."


def html_table(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    name: str,
    caption: str,
    query: str,
    limit: int = 200,
    noun: str = "rows",
    empty: str = "Nothing here.",
) -> HtmlTable:
    """A table of the first ``limit`` rows of a frame, with what is cut told.

    Args:
        frame: Rows in the order to show.
        columns: What to make of each row.
        name: Identifier within the page.
        caption: What one row is.
        query: Name of the query that gave the frame.
        limit: Rows shown at most.
        noun: What the rows are, for the sentence on those not shown.
        empty: Sentence for a frame without rows.
    """
    shown = frame.head(limit)
    return HtmlTable(
        name=name,
        caption=caption,
        columns=tuple(columns),
        rows=tuple(
            tuple(column.cell(row) for column in columns)
            for row in shown.iter_rows(named=True)
        ),
        query=one_line(query),
        note=not_shown(shown.height, frame.height, noun),
        empty=empty,
    )


def name_column(
    heading: str, column: str, title: str = "", *, limit: int = _NAME_LIMIT
) -> Column:
    """A column of names or texts, cut, with the full text in the title."""
    return Column(
        heading=heading,
        title=title,
        is_number=False,
        cell=lambda row: text_cell(row[column], limit=limit),
    )


def count_column(heading: str, column: str, title: str = "") -> Column:
    """A column of counts."""
    return Column(heading=heading, title=title, cell=lambda row: _count(row[column]))


def fraction_column(heading: str, column: str, title: str = "") -> Column:
    """A column of fractions in [0, 1]."""
    return Column(
        heading=heading,
        title=title,
        cell=lambda row: _number(row[column], fraction_text(row[column])),
    )


def probability_column(heading: str, column: str, title: str = "") -> Column:
    """A column of p or q values."""
    return Column(
        heading=heading,
        title=title,
        cell=lambda row: _number(row[column], probability_text(row[column])),
    )


def difference_column(heading: str, column: str, title: str = "") -> Column:
    """A column of signed differences."""
    return Column(
        heading=heading,
        title=title,
        cell=lambda row: _number(row[column], signed_text(row[column])),
    )


def amount_column(heading: str, column: str, title: str = "") -> Column:
    """A column of positive amounts, such as costs."""
    return Column(
        heading=heading,
        title=title,
        cell=lambda row: _number(row[column], amount_text(row[column])),
    )


def interval_column(
    column: str, *, is_signed: bool = False, heading: str = "95 % interval"
) -> Column:
    """The interval of ``column``, from its ``_low`` and ``_high``."""

    def cell(row: Row) -> Cell:
        low, high = row[f"{column}_low"], row[f"{column}_high"]
        return _number(low, interval_text(low, high, is_signed=is_signed))

    return Column(heading=heading, cell=cell, title="Sorted by lower bound")


def text_cell(text: str | None, *, limit: int = _NAME_LIMIT) -> Cell:
    """A text, cut; a dash for none."""
    if text is None:
        return missing_cell()
    shown = cut(text, limit)
    title = "" if shown == text else text[:2000]
    css = "short" if limit <= _SHORT_LIMIT else ""
    return Cell(text=shown, title=title, sort=text[:200], css=css)


def with_wilson_bounds(rows: pl.DataFrame, column: str, n: str) -> pl.DataFrame:
    """``<column>_low`` and ``_high``: the 95 % Wilson interval of an accuracy.

    Args:
        rows: Any rows with the two columns.
        column: Accuracies in [0, 1], or unknown.
        n: Name of the column of the items behind each.
    """
    items = rows[n].fill_null(0).cast(pl.Float64).to_numpy()
    sums = (rows[column] * rows[n]).fill_null(0.0).to_numpy()
    # A mean times its count can leave the range by rounding.
    low, high = wilson_interval(np.clip(sums, 0, items), items)
    return rows.with_columns(
        pl.Series(f"{column}_low", low, nan_to_null=True),
        pl.Series(f"{column}_high", high, nan_to_null=True),
    )


def missing_cell() -> Cell:
    """A dash that says that the value is not known."""
    return Cell(text=MISSING, title="not known", css="missing")


def _count(value: int | None) -> Cell:
    return _number(value, count_text(value))


def _number(value: float | None, text: str) -> Cell:
    if text == MISSING:
        return missing_cell()
    css = "zero" if value == 0 else ""
    # Sums made in another order differ in digits beyond these.
    return Cell(text=text, sort=f"{value:.9g}", css=css)
