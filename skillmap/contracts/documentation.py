"""The page about every table and view, written from their contracts.

``python -m skillmap.contracts.documentation`` prints it; a test keeps the page in
``docs`` equal to what is printed.
"""

import sys
from collections.abc import Sequence

import duckdb

from skillmap import sql
from skillmap.contracts import TABLES
from skillmap.contracts.table import Column, Table
from skillmap.contracts.views import VIEWS, View

_HEAD = """\
# Tables and views

Written from the contracts by `make docs`; change the contracts, not this page.

A run's rows replace the old ones only if they keep the contract: the types, what may be
missing, the key, the rules of each row and the checks with other tables. A caution is
shown and stops nothing. Words are explained in [the glossary](glossary.md)."""

_PARTITIONS = {
    None: "none",
    "benchmark": "one a benchmark",
    "model": "one a model",
    "benchmark_model": "one a benchmark and model",
}


def tables_page() -> str:
    """The page, in Markdown: each table with columns and rules, then each view.

    Returns:
        One section a table, in the order they are made, and one a view. Ends in a
        line break.
    """
    sections = [
        _HEAD,
        _contents(),
        *(_table_section(table) for table in TABLES.values()),
        *_view_sections(),
    ]
    return "\n\n".join(sections) + "\n"


def _contents() -> str:
    rows = [
        (_link(str(table)), f"one row per {table.grain}") for table in TABLES.values()
    ]
    rows += [(_link(f"mart.{view.name}"), "view") for view in VIEWS]
    return _markdown_table(("table", "grain"), rows)


def _link(name: str) -> str:
    return f"[{name}](#{name.replace('.', '')})"


def _table_section(table: Table) -> str:
    parts = [
        f"## {table}",
        f"{table.description} One row per {table.grain}.",
        "\n".join(_facts(table)),
        _markdown_table(
            ("column", "type", "missing", "values", "meaning"),
            [_column_row(column) for column in table.columns],
        ),
        _listed(
            "Rules of each row:", [f"`{n}`: `{r}`" for n, r in table.checks.items()]
        ),
        _listed("Checks with other tables:", _told("checks", table.cross_checks)),
        _listed("Cautions:", _told("cautions", table.cautions)),
    ]
    return "\n\n".join(part for part in parts if part)


def _facts(table: Table) -> list[str]:
    key = ", ".join(f"`{name}`" for name in table.primary_key)
    enforced = "" if table.keyed_in_duckdb else " (checked before it is published)"
    return [
        f"- Key: {key}{enforced}",
        f"- Partitions: {_PARTITIONS[table.partitions]}",
        f"- In DuckDB: a {table.published_as}",
    ]


def _column_row(column: Column) -> tuple[str, ...]:
    return (
        f"`{column.name}`",
        column.type,
        "may be" if column.nullable else "never",
        _values(column),
        column.description,
    )


def _values(column: Column) -> str:
    if column.allowed:
        return ", ".join(column.allowed)
    if column.minimum is not None and column.maximum is not None:
        return f"{column.minimum} to {column.maximum}"
    if column.minimum is not None:
        return f"from {column.minimum}"
    return "" if column.maximum is None else f"to {column.maximum}"


def _told(folder: str, names: Sequence[str]) -> list[str]:
    return [
        f"`{name}`: selects {_lower(sql.description(f'{folder}/{name}'))}"
        for name in names
    ]


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _listed(title: str, entries: Sequence[str]) -> str:
    return (
        "\n".join([title, "", *(f"- {entry}" for entry in entries)]) if entries else ""
    )


def _view_sections() -> list[str]:
    """Views bind to the empty tables, which tells their columns and types."""
    with duckdb.connect() as connection:
        for schema in ("raw", "core", "mart"):
            connection.execute(f"create schema {schema}")
        for table in TABLES.values():
            connection.execute(table.ddl())
        for view in VIEWS:
            connection.execute(view.ddl()[0])
        return [_view_section(view, connection) for view in VIEWS]


def _view_section(view: View, connection: duckdb.DuckDBPyConnection) -> str:
    relation = connection.sql(f"from mart.{view.name}")
    columns = [
        (f"`{name}`", str(kind).lower())
        for name, kind in zip(relation.columns, relation.types, strict=True)
    ]
    return "\n\n".join(
        [
            f"## mart.{view.name}",
            f"View. {view.description}",
            _markdown_table(("column", "type"), columns),
        ]
    )


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
        for line in lines
    )


if __name__ == "__main__":
    sys.stdout.write(tables_page())
