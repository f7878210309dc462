"""Rows of interval plots from rows of tables."""

from collections.abc import Callable

import polars as pl

from skillmap.report.plots import Bounds, Estimate
from skillmap.report.tables import Row


def interval_rows(
    rows: pl.DataFrame,
    column: str,
    *,
    label: str | Callable[[Row], str],
    bounds: str = "",
    after: str = "",
    detail: Callable[[Row], str] | None = None,
    verdict: str | Callable[[Row], str] = "",
) -> list[Estimate]:
    """One row of a plot for each row of a table, with its n from ``n_items``.

    Args:
        rows: Any rows with the columns that the other arguments name.
        column: The values; the bounds are beside it in ``_low`` and ``_high``.
        label: Column of the labels, or what makes one.
        bounds: Column whose ``_low`` and ``_high`` are drawn instead.
        after: Column of the same in another way of measuring, with its bounds.
        detail: What to write behind the label.
        verdict: Column of the verdicts, or what makes one; none by default.
    """
    of = bounds or column
    return [
        Estimate(
            label=_text(row, label),
            value=row[column],
            low=row[f"{of}_low"],
            high=row[f"{of}_high"],
            n_items=row["n_items"],
            detail=detail(row) if detail else "",
            verdict=_text(row, verdict) if verdict else "",
            after=_bounds(row, after) if after else None,
        )
        for row in rows.iter_rows(named=True)
    ]


def _bounds(row: Row, column: str) -> Bounds:
    return Bounds(row[column], row[f"{column}_low"], row[f"{column}_high"])


def _text(row: Row, told: str | Callable[[Row], str]) -> str:
    text: str = row[told] if isinstance(told, str) else told(row)
    return text
