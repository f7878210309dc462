"""Every call that was made, so that none is paid for twice."""

import functools
import hashlib
import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import polars as pl

from skillmap.calls import FINISHED_STATUSES, Call, Image, Parameters, Reply
from skillmap.calls.chat_requests import without_surrogates
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.call_owner import CallOwner, is_alive
from skillmap_dagster.resources.locking import exclusive

_VERSION: Final = 1
_BUSY_SECONDS: Final = 60.0
_KEYS_PER_QUERY: Final = 2_000
_REPLY_SCHEMA: Final = pl.Schema(
    {
        "key": pl.String(),
        "status": pl.String(),
        "text": pl.String(),
        "reasoning": pl.String(),
        "finish_reason": pl.String(),
        "n_prompt_tokens": pl.Int64(),
        "n_completion_tokens": pl.Int64(),
        "latency_seconds": pl.Float64(),
        "n_attempts": pl.Int64(),
        "cost_usd": pl.Float64(),
        "served_model": pl.String(),
        "structure_form": pl.String(),
        "error": pl.String(),
    }
)
_TOTALS_SCHEMA: Final = pl.Schema(
    {
        "model": pl.String(),
        "n_calls": pl.Int64(),
        "n_answered": pl.Int64(),
        "n_refused": pl.Int64(),
        "n_filtered": pl.Int64(),
        "n_empty": pl.Int64(),
        "n_truncated": pl.Int64(),
        "n_error": pl.Int64(),
        "n_prompt_tokens": pl.Int64(),
        "n_completion_tokens": pl.Int64(),
        "cost_usd": pl.Float64(),
    }
)
_PARAMETERS: Final = tuple(field.name for field in fields(Parameters))
_FINISHED: Final = (
    "select key from calls where is_finished "
    "and key in (select value from json_each(?))"
)
_CLAIMED_BY_OTHERS: Final = (
    "select key, owner from claims where owner <> ? "
    "and key in (select value from json_each(?))"
)


class Claimed(NamedTuple):
    """What stands in the way of making calls.

    Attributes:
        finished: Keys of calls that need not be made.
        busy: Keys of calls that another process is making.
    """

    finished: set[str]
    busy: set[str]


class CallLog:
    """An SQLite file of calls and their replies, by the calls' keys.

    Each reply is there for good as soon as ``write`` returns, whatever becomes of the
    process. Any number of processes of one machine use a log at once. Nothing is made
    until something is written or claimed.

    Args:
        folder: Where the log is; ``<home>/calls``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "calls.sqlite"
        self._turn = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, call: Call, reply: Reply) -> None:
        """Keep what came of a call, and give up the claim on it."""
        if reply.status == "not_attempted":
            raise InvalidInputError("a call that was not attempted is not logged")
        row = {name: getattr(reply, name) for name in _REPLY_SCHEMA} | {
            "is_finished": reply.status in FINISHED_STATUSES,
            "model": call.model,
            "served_name": call.served_name,
            "revision": call.revision,
            "epoch": call.epoch,
            "about": without_surrogates(call.about),
            "parameters": json.dumps(
                {name: getattr(call.parameters, name) for name in _PARAMETERS}
            ),
            "request": zlib.compress(_request(call)),
            "finished_at": time.time(),
        }
        images = {_sha256(i): i for m in call.messages for i in m.images}
        with self._transaction() as connection:
            if images:
                connection.executemany(
                    "insert or ignore into images values (?, ?, ?)",
                    [(name, i.media_type, i.base64) for name, i in images.items()],
                )
            connection.execute(_sql("write_call"), row)
            connection.execute("delete from claims where key = ?", [call.key])

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The replies to calls, errors among them, by key."""
        parts = (self._rows(_sql("replies"), part) for part in _parts(keys))
        return {row[0]: Reply(*row) for rows in parts for row in rows}

    def frame(self, keys: Sequence[str]) -> pl.DataFrame:
        """Likewise as a frame, for many calls.

        Returns:
            The attributes of ``Reply``, one row a call, in no order.
        """
        parts = [pl.DataFrame(schema=_REPLY_SCHEMA)]
        for part in _parts(keys):
            rows = self._rows(_sql("replies"), part)
            parts.append(pl.DataFrame(rows, schema=_REPLY_SCHEMA, orient="row"))
        return pl.concat(parts)

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Keys of the calls that are to be made: never made, or without an answer."""
        finished = {
            key for part in _parts(keys) for (key,) in self._rows(_FINISHED, part)
        }
        return [key for key in keys if key not in finished]

    def request(self, key: str) -> dict[str, Any] | None:
        """The messages and the schema that were sent; images by their hashes."""
        query = (
            "select request from calls where key in (select value from json_each(?))"
        )
        rows = self._rows(query, [key])
        return json.loads(zlib.decompress(rows[0][0])) if rows else None

    def image(self, sha256: str) -> Image | None:
        """An image that was sent, by the hash of its base64 text."""
        with self._turn:
            row = self._connection.execute(
                "select media_type, base64 from images where sha256 = ?", [sha256]
            ).fetchone()
        return Image(*row) if row else None

    def totals(self) -> pl.DataFrame:
        """Calls, statuses, tokens and cost of each model, sorted by model."""
        if not self._file.exists():
            return pl.DataFrame(schema=_TOTALS_SCHEMA)
        with self._turn:
            rows = self._connection.execute(_sql("call_totals")).fetchall()
        return pl.DataFrame(rows, schema=_TOTALS_SCHEMA, orient="row")

    def claim(self, keys: Sequence[str]) -> Claimed:
        """Take calls on, but for those that are finished or that another makes.

        A claim ends when the reply is written, when it is released, and with the
        process that made it.
        """
        given = json.dumps(list(keys))
        with self._transaction() as connection:
            me = self._owner.name
            finished = connection.execute(_FINISHED, [given]).fetchall()
            done = {key for (key,) in finished}
            others = connection.execute(_CLAIMED_BY_OTHERS, [me, given]).fetchall()
            owners = {owner for _, owner in others}
            dead = {owner for owner in owners if not is_alive(self._owners, owner)}
            connection.executemany(
                "delete from claims where owner = ?", [(owner,) for owner in dead]
            )
            busy = {key for key, owner in others if owner not in dead} - done
            connection.executemany(
                "insert or ignore into claims values (?, ?)",
                [(key, me) for key in keys if key not in done and key not in busy],
            )
        return Claimed(done, busy)

    def release(self, keys: Iterable[str]) -> None:
        """Give up claims on calls that will not be made."""
        with self._transaction() as connection:
            connection.executemany(
                "delete from claims where key = ? and owner = ?",
                [(key, self._owner.name) for key in keys],
            )

    def close(self) -> None:
        """Close the file and give up all claims; the next use opens it again."""
        with self._turn:
            if owner := self.__dict__.pop("_owner", None):
                self._connection.execute(
                    "delete from claims where owner = ?", [owner.name]
                )
                owner.close()
            if connection := self.__dict__.pop("_connection", None):
                connection.close()

    @property
    def _owners(self) -> Path:
        return self.folder / "owners"

    @functools.cached_property
    def _owner(self) -> CallOwner:
        return CallOwner(self._owners)

    @functools.cached_property
    def _connection(self) -> sqlite3.Connection:
        self.folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._file,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        with exclusive(self.folder / "calls.lock"):
            (version,) = connection.execute("pragma user_version").fetchone()
            if version > _VERSION:
                connection.close()
                raise InvalidInputError(
                    f"{self._file} was written by a later release of skillmap"
                )
            connection.execute("pragma journal_mode = wal")
            if version == 0:
                _create(connection)
        # Safe against the end of the process; after a power cut, calls of the last
        # moments may have to be made again.
        connection.execute("pragma synchronous = normal")
        return connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._turn:
            connection = self._connection
            connection.execute("begin immediate")
            try:
                yield connection
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")

    def _rows(self, query: str, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        if not self._file.exists():
            return []
        with self._turn:
            return self._connection.execute(query, [json.dumps(keys)]).fetchall()


@functools.cache
def _sql(name: str) -> str:
    file = resources.files(__package__ or "").joinpath("sql", f"{name}.sql")
    return file.read_text("utf-8")


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript(
        f"begin; {_sql('call_log')}; pragma user_version = {_VERSION}; commit;"
    )


def _parts(keys: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        yield list(keys[start : start + _KEYS_PER_QUERY])


def _request(call: Call) -> bytes:
    structure = call.structure
    told = {
        "messages": [
            [m.role, m.content, *([[_sha256(i) for i in m.images]] if m.images else [])]
            for m in call.messages
        ],
        "structure": structure and [structure.name, structure.schema],
    }
    return json.dumps(told).encode("ascii")


def _sha256(image: Image) -> str:
    return hashlib.sha256(image.base64.encode("ascii", "replace")).hexdigest()
