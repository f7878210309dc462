"""The published DuckDB file: built beside the old one, checked, renamed over it."""

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import duckdb
import polars as pl
from dagster_duckdb import DuckDBResource
from upath import UPath

from skillmap import sql
from skillmap.contracts import TABLES
from skillmap.contracts.table import Table
from skillmap.contracts.views import VIEWS
from skillmap.errors import ContractError, InvalidInputError
from skillmap_dagster.quality.audit import Finding, rule_finding
from skillmap_dagster.resources.lake import Lake, inputs_of, stored_in
from skillmap_dagster.resources.locking import exclusive

_READ_ONLY = 0o444
_WEEK_SECONDS = 7 * 24 * 3600.0


class Published(NamedTuple):
    """What a publication holds.

    Attributes:
        n_rows: Rows by table.
        n_partitions: Partitions by table.
        findings: Outcome of every cross-table rule on the whole.
    """

    n_rows: dict[str, int]
    n_partitions: dict[str, int]
    findings: list[Finding]


class Warehouse(dg.ConfigurableResource):
    """Publishes the lake as one DuckDB file, and queries it.

    Whoever has the file open keeps a whole, consistent snapshot, and neither waits for
    a publication nor holds one up. Tables too large to copy each time are views over
    Parquet files, which are pinned: hard links that no rename touches.

    Attributes:
        file: The DuckDB file.
        replaced_kept_seconds: How long files behind views are kept after the lake has
            replaced them, for whoever still reads an older publication.
    """

    file: str
    replaced_kept_seconds: float = _WEEK_SECONDS

    def publish(self, lake: Lake) -> Published:
        """Make the file hold what the lake holds now.

        Publications wait for each other, so that the last rename is of the newest
        content.

        Raises:
            ContractError: If a rule does not hold over all tables together; the old
                file stays.
        """
        target = Path(self.file)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{uuid.uuid4().hex}.duckdb")
        with exclusive(target.with_suffix(".lock")):
            try:
                published = self._build(temporary, lake)
                stopped = [f for f in published.findings if f.stops]
                if stopped:
                    told = {f.check: f.metadata["offending_rows"] for f in stopped}
                    raise ContractError(
                        f"{target}: not published, rules broken by so many rows: {told}"
                    )
                temporary.chmod(_READ_ONLY)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
            self._forget_old_pins()
        return published

    def is_current(self, lake: Lake) -> bool:
        """Whether the file was built from the lake as it is now."""
        if not Path(self.file).exists():
            return False
        try:
            with self.connection() as connection:
                built = connection.sql("select content from publication").fetchone()
        except duckdb.Error:
            # Damaged, or of an older version: publishing anew mends it.
            return False
        return built is not None and built[0] == self._content_of(lake)

    def query(self, select: str) -> pl.DataFrame:
        """Rows of one query on the published file, which is opened read-only.

        Raises:
            InvalidInputError: If nothing is published yet, or the query is wrong.
        """
        with self.connection() as connection:
            try:
                # An empty text and statements without rows have no relation.
                relation: duckdb.DuckDBPyRelation | None = connection.sql(select)
                rows = None if relation is None else relation.pl()
            except duckdb.Error as error:
                raise InvalidInputError(f"the query failed: {error}") from error
        if rows is None:
            raise InvalidInputError(f"not a query that has rows: {select[:80]!r}")
        return rows

    @contextmanager
    def connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The published file, opened read-only for the length of a ``with`` block."""
        if not Path(self.file).exists():
            raise InvalidInputError(
                f"{self.file}: nothing is published yet. Import something, or run "
                "`skillmap demo`"
            )
        opened = DuckDBResource(
            database=self.file, connection_config={"access_mode": "READ_ONLY"}
        )
        with opened.get_connection() as connection:
            yield connection

    def _build(self, file: Path, lake: Lake) -> Published:
        n_rows, n_partitions = {}, {}
        # Before any table is read: what changes meanwhile must count as a change.
        content = self._content_of(lake)
        with duckdb.connect(str(file)) as connection:
            connection.execute(
                "create table publication as select $1 as content", [content]
            )
            for schema in ("raw", "core", "mart"):
                connection.sql(f"create schema {schema}")
            for table in TABLES.values():
                n_partitions[str(table)] = len(lake.partitions(table))
                n_rows[str(table)] = (
                    self._add_view(connection, table, lake)
                    if table.published_as == "view"
                    else _add_table(connection, table, lake)
                )
                for comment in table.comments():
                    connection.sql(comment)
            for view in VIEWS:
                for statement in view.ddl():
                    connection.sql(statement)
            findings = [
                rule_finding(name, connection.sql(sql.load(f"checks/{name}")).pl())
                for name in sql.names("checks")
            ]
        return Published(n_rows, n_partitions, findings)

    def _add_view(
        self, connection: duckdb.DuckDBPyConnection, table: Table, lake: Lake
    ) -> int:
        files = [
            self._pinned(str(lake.file(table, partition)))
            for partition in lake.partitions(table)
        ]
        if not files:
            connection.register("nothing", table.empty().to_arrow())
            connection.sql(f"create table nothing_of_{table.name} as from nothing")
            connection.sql(f"create view {table} as from nothing_of_{table.name}")
            return 0
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        connection.sql(f"create view {table} as from read_parquet([{listed}])")
        return connection.sql(f"from {table}").count("*").fetchall()[0][0]

    def _pinned(self, file: str) -> str:
        """A name for this version of the file that is never given to another."""
        if not os.path.exists(file):  # noqa: PTH110  remote files pin themselves
            return file
        folder = self._pins()
        folder.mkdir(parents=True, exist_ok=True)
        # Linked first and named after what the link holds: the file's own name may
        # be given to another version at any moment.
        link = folder / f".{uuid.uuid4().hex}.tmp"
        os.link(file, link)
        stored = stored_in(UPath(link))
        pin = folder / f"{stored.content if stored else link.name}.parquet"
        link.replace(pin)
        # Renaming one link of a file to another of the same does nothing.
        link.unlink(missing_ok=True)
        return str(pin)

    def _pins(self) -> Path:
        return Path(self.file).parent.resolve() / "pinned"

    def _content_of(self, lake: Lake) -> str:
        """Hash of what the lake holds, and of how and where it is published."""
        parts = [str(self._pins()), *(q for view in VIEWS for q in view.ddl())]
        for table in TABLES.values():
            parts += [table.ddl(), *table.comments()]
            for partition in lake.partitions(table):
                stored = lake.stored(table, partition)
                parts.append(f"{partition}={stored.content if stored else None}")
        return inputs_of(parts)

    def _forget_old_pins(self) -> None:
        """Remove versions that the lake has replaced for longer than they are kept."""
        oldest = time.time() - self.replaced_kept_seconds
        for pin in self._pins().glob("*.parquet"):
            status = pin.stat()
            # A pin that the lake still has is a second link to its file; the change
            # time is when it ceased to be.
            if status.st_nlink == 1 and status.st_ctime <= oldest:
                pin.unlink(missing_ok=True)


def _add_table(connection: duckdb.DuckDBPyConnection, table: Table, lake: Lake) -> int:
    connection.sql(table.ddl())
    try:
        with _rows(connection, table, lake) as rows:
            connection.execute(f"insert into {table} by name {rows}")
    except duckdb.ConstraintException as error:
        raise ContractError(f"{table}: not published: {error}") from error
    return connection.sql(f"from {table}").count("*").fetchall()[0][0]


@contextmanager
def _rows(
    connection: duckdb.DuckDBPyConnection, table: Table, lake: Lake
) -> Iterator[str]:
    """SQL that gives the table's rows in the lake, a partition after the other.

    Files on this machine are read by DuckDB itself, which holds a part at a time.
    """
    files = [str(lake.file(table, partition)) for partition in lake.partitions(table)]
    if files and all(Path(file).exists() for file in files):
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        yield f"from read_parquet([{listed}], hive_partitioning = false)"
        return
    connection.register("rows", lake.read(table).to_arrow())
    yield "from rows"
    connection.unregister("rows")
