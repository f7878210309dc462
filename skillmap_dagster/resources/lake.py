"""The Parquet lake: one file per asset partition, replaced whole or not at all."""

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import dagster as dg
import duckdb
import polars as pl
import pyarrow.parquet as pq
from upath import UPath

from skillmap.contracts.table import DIMENSION_COLUMNS, Table
from skillmap.errors import ContractError

# Partition key by dimension, such as {"benchmark": "gsm8k", "model": "gpt-4"}.
Partition = Mapping[str, str]
WHOLE: Partition = {}
# A table and the rows that are to replace its partition.
Beside = tuple[Table, pl.DataFrame]

_CONTENT = "skillmap.content"
_INPUTS = "skillmap.inputs"
# A file that is scanned stays open, and a process may have but some hundred open.
_MOST_OPEN = 100


class Stored(NamedTuple):
    """What a partition's file says of itself.

    Attributes:
        content: Hash of the rows.
        inputs: Hash of all that the rows were made from.
        n_rows: Number of rows.
    """

    content: str
    inputs: str
    n_rows: int


class Lake(dg.ConfigurableResource):
    """Reads and replaces asset partitions under one root.

    Each partition is ``<root>/<schema>/<table>/<dimension>=<key>/part.parquet``. A new
    version is written under another name and renamed over the old: any number of
    processes write at once, readers see the old file or the new, and a killed writer
    leaves the old one. On object storage the upload itself replaces the object whole.

    Attributes:
        root: Folder, or URI that fsspec understands (``s3://bucket/lake``).
    """

    root: str

    def file(self, table: Table, partition: Partition) -> UPath:
        """Where the partition's rows are, or would be."""
        if sorted(partition) != sorted(table.dimensions):
            raise ContractError(
                f"{table} is partitioned by {list(table.dimensions)}, "
                f"got a partition of {sorted(partition)}"
            )
        folder = UPath(self.root) / table.schema / table.name
        for dimension in table.dimensions:
            folder /= f"{dimension}={_quoted(partition[dimension])}"
        return folder / "part.parquet"

    def write(
        self, table: Table, partition: Partition, rows: pl.DataFrame, *, inputs: str
    ) -> Stored:
        """Make ``rows`` the whole content of the partition.

        Args:
            table: Contract that the rows conform to.
            partition: Key by dimension.
            rows: In the order to store them.
            inputs: Hash of all that the rows were made from.

        Returns:
            What the file says of itself.
        """
        stored = Stored(content_of(rows), inputs, rows.height)
        target = self.file(table, partition)
        target.parent.mkdir(parents=True, exist_ok=True)
        metadata = {_CONTENT: stored.content, _INPUTS: stored.inputs}
        options = {"compression": "zstd", "metadata": metadata, "statistics": True}
        if _is_local(target):
            temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
            try:
                rows.write_parquet(str(temporary), **options)
                _flush(str(temporary))
                Path(str(temporary)).replace(str(target))
            finally:
                temporary.unlink(missing_ok=True)
        else:
            with target.open("wb") as remote:
                rows.write_parquet(remote, **options)
        return stored

    def remove(self, table: Table, partition: Partition) -> None:
        """Forget the partition, if it is there."""
        self.file(table, partition).unlink(missing_ok=True)

    def quarantine(self, table: Table, partition: Partition, rows: pl.DataFrame) -> str:
        """Keep rows that were rejected beside the lake, and say where.

        The last rejected version of each partition is kept.
        """
        inside = self.file(table, partition).relative_to(UPath(self.root))
        place = UPath(self.root).parent / "quarantine" / str(inside)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            rows.write_parquet(file)
        return str(place)

    def stored(self, table: Table, partition: Partition) -> Stored | None:
        """What the partition's file says of itself; None where there is none."""
        return stored_in(self.file(table, partition))

    def partitions(self, table: Table, **keys: str) -> list[Partition]:
        """Partitions of ``table`` that are there and have the given keys, sorted."""
        if not keys.keys() <= set(table.dimensions):
            return []
        root = UPath(self.root) / table.schema / table.name
        # A key that is known is not searched for: with many partitions, that counts.
        folders = [
            f"{dimension}={_quoted(keys[dimension])}" if dimension in keys else "*"
            for dimension in table.dimensions
        ]
        pattern = "/".join([*folders, "part.parquet"])
        found = [
            {
                dimension: unquote(part.removeprefix(f"{dimension}="))
                for dimension, part in zip(
                    table.dimensions,
                    file.parts[-1 - len(table.dimensions) : -1],
                    strict=True,
                )
            }
            for file in root.glob(pattern)
        ]
        return sorted(found, key=lambda p: [p[d] for d in table.dimensions])

    def scan(self, table: Table, **keys: str) -> pl.LazyFrame:
        """Rows of the partitions that have the given keys, lazily.

        Partitions that are not there have no rows; what is missing is for the caller
        to say. Row order is that of the sorted partitions.
        """
        files = [
            self.file(table, partition) for partition in self.partitions(table, **keys)
        ]
        if not files:
            return table.empty().lazy()
        if len(files) <= _MOST_OPEN:
            return pl.concat([_scanned(file) for file in files])
        starts = range(0, len(files), _MOST_OPEN)
        parts = (files[start : start + _MOST_OPEN] for start in starts)
        read = [pl.concat([_scanned(f) for f in part]).collect() for part in parts]
        return pl.concat(read).lazy()

    def read(self, table: Table, **keys: str) -> pl.DataFrame:
        """Rows of the partitions that have the given keys."""
        return self.scan(table, **keys).collect()

    @contextmanager
    def session(
        self,
        tables: Iterable[Table],
        *,
        candidate: tuple[Table, Partition, pl.DataFrame] | None = None,
        beside: Sequence[Beside] = (),
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """An in-memory DuckDB in which ``tables`` can be queried by their names.

        Args:
            tables: What the queries read.
            candidate: A table, partition and rows that are to replace it: queries
                see the lake as it would be with them. Only the partitions that
                share the candidate's keys are read of the other tables, which is
                all that rules about it need.
            beside: Tables and rows that are to be published with the candidate.
        """
        replaced = {table.key: rows for table, rows in beside}
        if candidate:
            replaced[candidate[0].key] = candidate[2]
        keys: Partition = candidate[1] if candidate else WHOLE
        with duckdb.connect() as connection:
            for schema in ("raw", "core", "mart"):
                connection.sql(f"create schema {schema}")
            for table in tables:
                shared = {d: k for d, k in keys.items() if d in table.dimensions}
                rows = replaced.get(table.key)
                if rows is None:
                    rows = self.read(table, **shared)
                name = f"rows_of_{table.schema}_{table.name}"
                connection.register(name, rows.to_arrow())
                connection.sql(f"create view {table} as from {name}")
            yield connection


def stored_in(file: UPath) -> Stored | None:
    """What a partition's file says of itself; None where there is none."""
    try:
        with file.open("rb") as parquet:
            footer = pq.read_metadata(parquet)
    except FileNotFoundError:
        return None
    told = footer.metadata or {}
    return Stored(
        told.get(_CONTENT.encode(), b"").decode(),
        told.get(_INPUTS.encode(), b"").decode(),
        footer.num_rows,
    )


def content_of(rows: pl.DataFrame) -> str:
    """Hash of a frame's column names, types, values and row order.

    Stable over processes, threads and ``PYTHONHASHSEED``, for one release of Polars;
    with another release everything counts as changed once.
    """
    digest = hashlib.sha256(str(rows.schema).encode())
    hashed = rows.hash_rows(seed=0) if rows.width else []
    digest.update(pl.Series(hashed, dtype=pl.UInt64).to_numpy().tobytes())
    return digest.hexdigest()[:32]


def inputs_of(parts: Sequence[str]) -> str:
    """Hash of what a partition is made from, each part a text of its own."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()[:32]


def partition_filter(partition: Partition) -> pl.Expr:
    """Rows that carry the partition's keys in their key columns."""
    matches = [
        pl.col(DIMENSION_COLUMNS[dimension]) == key
        for dimension, key in partition.items()
    ]
    return pl.all_horizontal(matches) if matches else pl.lit(value=True)


def _quoted(key: str) -> str:
    # "." and ".." would climb; every other odd character is escaped by quote.
    return quote(key, safe=" -_.()+") if key.strip(".") else key.replace(".", "%2E")


def _is_local(file: UPath) -> bool:
    return file.protocol in {"", "file"}


def _scanned(file: UPath) -> pl.LazyFrame:
    # Opened here and once: Polars keeps the descriptor, so the rows stay those of this
    # version of the file even if another is renamed over it before they are read.
    with file.open("rb") as opened:
        if _is_local(file):
            return pl.scan_parquet(opened)
        return pl.read_parquet(opened).lazy()


def _flush(path: str) -> None:
    """Wait until the file is on the disk, so that a crash cannot leave it empty."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
