"""Random rows of any table, mostly lawful, and a second opinion on which are."""

import math
import random
from collections import Counter

import duckdb
import polars as pl

from skillmap.contracts.table import Column, Table

_VALUES: dict[str, tuple[object, ...]] = {
    "varchar": ("quiz", "quiz:0", "quiz:1", "exam:0", ""),
    "bigint": (0, 1, 2, 3, 40),
    "double": (0.0, 0.25, 0.5, 1.0),
    "boolean": (True, False),
    "varchar[]": ([], ["quiz"], ["exam", "quiz"]),
}
_STRANGE: dict[str, tuple[object, ...]] = {
    "varchar": ("", "elsewhere", "quiz:0'"),
    "bigint": (-1, 10**12),
    "double": (-0.5, 1.5, math.nan, math.inf),
    "boolean": (None,),
    "varchar[]": ([None], None),
}


def random_rows(
    table: Table, seed: int, *, n: int = 12, strange: float = 0.02
) -> pl.DataFrame:
    """Rows of ``table``; a value in fifty is likely unlawful or missing."""
    generator = random.Random(f"{table}{seed}")  # noqa: S311  no secret
    rows = [
        [_value(column, generator, strange) for column in table.columns]
        for _ in range(n)
    ]
    return pl.DataFrame(rows, schema=table.polars_schema, orient="row")


def broken_rules(table: Table, frame: pl.DataFrame) -> dict[str, int]:
    """How many rows break each rule: by loops, and the table's own rules by DuckDB."""
    rows = frame.rows(named=True)
    counts: Counter[str] = Counter()
    for column in table.columns:
        values = [row[column.name] for row in rows]
        if not column.nullable:
            counts[f"{column.name}_is_known"] = values.count(None)
        known = [value for value in values if value is not None]
        counts[f"{column.name}_in_range"] = sum(
            not _is_lawful(column, v) for v in known
        )
    # As text, since a list in a key has no hash.
    keys = Counter(str([row[name] for name in table.primary_key]) for row in rows)
    counts["primary_key_is_unique"] = sum(n for n in keys.values() if n > 1)
    with duckdb.connect() as connection:
        connection.register("frame", frame.to_arrow())
        for name, rule in table.checks.items():
            found = connection.sql(f"from frame where not ({rule})")
            counts[name] = len(found)
    return {rule: n for rule, n in counts.items() if n}


def lawful_rows(table: Table, seed: int) -> pl.DataFrame:
    """Rows of ``table`` that break no rule, at most ten."""
    frame = random_rows(table, seed, n=400, strange=0.0)
    rules = " and ".join(f"coalesce({rule}, true)" for rule in table.checks.values())
    with duckdb.connect() as connection:
        connection.register("frame", frame.to_arrow())
        kept = connection.sql(f"from frame where {rules or 'true'}").pl()
    keyed = kept.unique(table.primary_key, keep="first", maintain_order=True)
    return table.conform(keyed.head(10))


def _value(column: Column, generator: random.Random, strange: float) -> object:
    draw = generator.random()
    if draw < strange:
        return generator.choice((*_STRANGE[column.type], None))
    if column.nullable and draw > 0.8:
        return None
    if column.allowed:
        return generator.choice(column.allowed)
    lawful = [v for v in _VALUES[column.type] if _is_lawful(column, v)]
    return generator.choice(lawful)


def _is_lawful(column: Column, value: object) -> bool:
    if column.allowed:
        return value in column.allowed
    if not isinstance(value, int | float):
        return True
    # As in DuckDB and Polars, and unlike in Python, NaN is above every number.
    number = math.inf if math.isnan(value) else float(value)
    above = column.minimum is None or number >= column.minimum
    return above and (column.maximum is None or number <= column.maximum)
