"""The contract of one table: its name, grain, columns and rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from skillmap.errors import ContractError

ColumnType = Literal["varchar", "bigint", "double", "boolean", "varchar[]"]
Partitions = Literal["benchmark", "model", "benchmark_model"]

POLARS_TYPES: Mapping[ColumnType, pl.DataType] = {
    "varchar": pl.String(),
    "bigint": pl.Int64(),
    "double": pl.Float64(),
    "boolean": pl.Boolean(),
    "varchar[]": pl.List(pl.String()),
}
# The columns that hold a partition's key, by dimension.
DIMENSION_COLUMNS: Mapping[str, str] = {
    "benchmark": "benchmark_id",
    "model": "model_id",
}
DIMENSIONS: Mapping[Partitions | None, tuple[str, ...]] = {
    None: (),
    "benchmark": ("benchmark",),
    "model": ("model",),
    "benchmark_model": ("benchmark", "model"),
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column; the same name means the same thing in every table.

    Attributes:
        name: Snake case, unit as a suffix where there is one.
        type: DuckDB type.
        description: A sentence for a person who reads the table.
        nullable: Whether "unknown" is a lawful value.
        minimum: Smallest lawful value, inclusive.
        maximum: Largest lawful value, inclusive.
        allowed: All lawful values, where they can be listed.
    """

    name: str
    type: ColumnType
    description: str
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    allowed: tuple[str, ...] = ()

    @property
    def bounds(self) -> str | None:
        """SQL that holds when a value is within the bounds, or None without any."""
        if self.minimum is not None and self.maximum is not None:
            return f"{self.name} between {self.minimum} and {self.maximum}"
        if self.minimum is not None:
            return f"{self.name} >= {self.minimum}"
        if self.maximum is not None:
            return f"{self.name} <= {self.maximum}"
        if self.allowed:
            values = ", ".join(f"'{value}'" for value in self.allowed)
            return f"{self.name} in ({values})"
        return None


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of the warehouse.

    Attributes:
        schema: DuckDB schema, and first part of the Dagster asset key.
        name: DuckDB table, Dagster asset and asset function alike.
        grain: What one row is, as a sentence fragment after "one row per".
        description: A sentence for a person in the catalogue.
        columns: In the order they are stored.
        primary_key: Columns that identify a row.
        checks: Rule name to a SQL boolean that holds for every row.
        cross_checks: Names of the queries in ``sql/checks`` that this table can
            break; each selects the offending rows.
        cautions: Names of the queries in ``sql/cautions``: rows they select are
            shown as a warning and stop nothing.
        partitions: The Dagster partitions, one Parquet file each.
        keyed_in_duckdb: Whether the published table carries the primary key, which
            costs six times the load; the largest facts do without.
        published_as: ``table``, or ``view`` over the Parquet files for what is
            too large to copy at every publication.
    """

    schema: Literal["raw", "core", "mart"]
    name: str
    grain: str
    description: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    checks: Mapping[str, str] = field(default_factory=dict[str, str])
    cross_checks: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    partitions: Partitions | None = None
    keyed_in_duckdb: bool = True
    published_as: Literal["table", "view"] = "table"

    @property
    def key(self) -> tuple[str, str]:
        """``(schema, name)``, which is also the Dagster asset key."""
        return self.schema, self.name

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The partition dimensions, such as ``("benchmark", "model")``."""
        return DIMENSIONS[self.partitions]

    @property
    def polars_schema(self) -> pl.Schema:
        """Column names and Polars types, in the stored order."""
        return pl.Schema({c.name: POLARS_TYPES[c.type] for c in self.columns})

    def __str__(self) -> str:
        """``schema.name``, safe to put in SQL since it comes from code only."""
        return f"{self.schema}.{self.name}"

    def row_rules(self) -> Mapping[str, str]:
        """Every rule of one row: column bounds, then the table's own checks.

        A rule that gives NULL holds, as in SQL: whether a value may be missing is
        the column's ``nullable``.
        """
        bounds = {f"{c.name}_in_range": c.bounds for c in self.columns if c.bounds}
        return bounds | dict(self.checks)

    def ddl(self) -> str:
        """``create table`` with the constraints DuckDB can enforce."""
        parts = [
            f"{c.name} {c.type}{'' if c.nullable else ' not null'}"
            for c in self.columns
        ]
        if self.keyed_in_duckdb:
            parts.append(f"primary key ({', '.join(self.primary_key)})")
            parts += [f"check ({rule})" for rule in self.row_rules().values()]
        return f"create table {self} ({', '.join(parts)})"

    def comments(self) -> tuple[str, ...]:
        """``comment on`` statements for the table and each of its columns."""
        kind = self.published_as
        text = _sql_text(f"{self.description} One row per {self.grain}.")
        return (
            f"comment on {kind} {self} is {text}",
            *(
                f"comment on column {self}.{c.name} is {_sql_text(c.description)}"
                for c in self.columns
            ),
        )

    def conform(self, frame: pl.DataFrame) -> pl.DataFrame:
        """``frame`` with exactly the contract's columns, types and column order.

        Raises:
            ContractError: If a column is missing, unexpected, or holds a value that
                its type cannot hold.
        """
        wanted = self.polars_schema
        missing = sorted(wanted.keys() - frame.schema.keys())
        unexpected = sorted(frame.schema.keys() - wanted.keys())
        if missing or unexpected:
            msg = (
                f"{self}: columns do not match the contract: "
                f"missing {missing}, unexpected {unexpected}"
            )
            raise ContractError(msg)
        self._check_whole_numbers(frame)
        try:
            return frame.select(
                pl.col(name).cast(dtype) for name, dtype in wanted.items()
            )
        except pl.exceptions.InvalidOperationError as error:
            msg = f"{self}: a value does not fit its column's type: {error}"
            raise ContractError(msg) from error

    def _check_whole_numbers(self, frame: pl.DataFrame) -> None:
        """Refuse fractions in a column of whole numbers: a cast would cut them off."""
        for column in self.columns:
            if column.type != "bigint" or not frame.schema[column.name].is_float():
                continue
            values = frame[column.name].drop_nulls()
            fractions = values.filter(values.is_finite() & (values != values.floor()))
            if fractions.len():
                msg = (
                    f"{self}: a value does not fit its column's type: {column.name} "
                    f"holds {fractions.len()} fractions, first {fractions[0]}, and is "
                    "of whole numbers"
                )
                raise ContractError(msg)

    def empty(self) -> pl.DataFrame:
        """A frame with the contract's columns and no rows."""
        return pl.DataFrame(schema=self.polars_schema)


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
