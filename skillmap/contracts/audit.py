"""Whether a frame keeps its contract, told rule by rule.

Structure and single rows only, in Polars and in milliseconds. Rules that need
another table are queries in ``sql/checks``; the great-expectations suite made
from the same contract is in ``expectations``.
"""

from typing import NamedTuple

import polars as pl

from skillmap.contracts.table import Table


class Violation(NamedTuple):
    """A broken rule: how many rows break it, and the first of them."""

    rule: str
    n_rows: int
    first: dict[str, object]

    def __str__(self) -> str:
        """``rule: n rows, first ...``, with long values cut."""
        shown = {name: _short(value) for name, value in self.first.items()}
        return f"{self.rule}: {self.n_rows} rows, first {shown}"


def violations(table: Table, frame: pl.DataFrame) -> list[Violation]:
    """Rules of ``table`` that rows of ``frame`` break.

    Args:
        table: The contract.
        frame: Rows that already conform to the contract's columns and types.

    Returns:
        One violation a broken rule, in the order: missing values, duplicate keys,
        row rules. An empty list says that the frame keeps the contract.
    """
    broken = {
        f"{c.name}_is_known": pl.col(c.name).is_null()
        for c in table.columns
        if not c.nullable
    }
    broken["primary_key_is_unique"] = pl.struct(table.primary_key).is_duplicated()
    for name, rule in table.row_rules().items():
        broken[name] = ~pl.sql_expr(rule).fill_null(value=True)
    counts = frame.select(
        condition.sum().alias(rule) for rule, condition in broken.items()
    ).row(0, named=True)
    return [
        Violation(rule, counts[rule], _first(table, frame, condition))
        for rule, condition in broken.items()
        if counts[rule]
    ]


def _first(table: Table, frame: pl.DataFrame, condition: pl.Expr) -> dict[str, object]:
    row = frame.filter(condition).row(0, named=True)
    named = [name for name in table.primary_key if name in row]
    rest = [name for name in row if name not in named]
    return {name: row[name] for name in (*named, *rest)[:8]}


def _short(value: object) -> object:
    limit = 80
    if isinstance(value, str) and len(value) > limit:
        return value[:limit] + "…"
    return value
