"""One file as decoded records, before anything is known about their meaning."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

import polars as pl

from skillmap.errors import ParseError
from skillmap.parsing.delimited_text import parse_delimited_text
from skillmap.parsing.json_text import JsonDocument, parse_json_text
from skillmap.parsing.source import ParseOptions, Remark
from skillmap.parsing.unpacking import unpack
from skillmap.parsing.values import (
    has_lone_surrogate,
    is_array,
    is_object,
    replace_lone_surrogates,
    without_lone_surrogates,
)

Shape: TypeAlias = Literal[
    "JSON object", "JSON array", "JSON lines", "CSV table", "Parquet table"
]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_PARQUET_MAGIC = b"PAR1"
_N_RECORDS_LOOKED_AT = 1000

# Most are halves of a whole pair, which the JSON decoder joins; the rest are not.
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Document:
    """The records of one file.

    Attributes:
        name: The file, for messages.
        shape: What the file is.
        positions: Place of each good record among all records.
        records: Decoded JSON values, one per position; empty for a table.
        columns: Cells by column, one per position; empty unless a table.
        n_records: Records met, good or bad.
        replaced: Positions of records in which characters had to be replaced.
        rejects: Records that could not be decoded.
        warnings: What was noticed on the way in.
    """

    name: str
    shape: Shape
    positions: Sequence[int]
    records: Sequence[object] = ()
    columns: Mapping[str, list[object]] = field(default_factory=dict[str, list[object]])
    n_records: int = 0
    replaced: frozenset[int] = frozenset()
    rejects: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()

    @property
    def is_table(self) -> bool:
        """Whether records are rows of named columns."""
        return self.shape in {"CSV table", "Parquet table"}

    def head(self) -> list[object]:
        """The first records, at most 1,000; rows of a table as objects."""
        if not self.is_table:
            return list(self.records[:_N_RECORDS_LOOKED_AT])
        return self._rows(_N_RECORDS_LOOKED_AT)

    def values(self) -> list[object]:
        """Every good record; rows of a table as objects."""
        return self._rows(None) if self.is_table else list(self.records)

    def first_object(self) -> dict[str, object]:
        """The first record that is an object; empty when none of the head is."""
        objects = (record for record in self.head() if is_object(record))
        return next(objects, dict[str, object]())

    def _rows(self, n_rows: int | None) -> list[object]:
        names = list(self.columns)
        columns = [column[:n_rows] for column in self.columns.values()]
        return [
            dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
        ]


def read_document(
    path: str | PathLike[str], *, options: ParseOptions | None = None
) -> Document:
    """Decode a file, whatever its suffix says.

    Args:
        path: A file; anything with ``read_bytes`` (a remote path, say) serves too.
        options: ``max_bytes`` is used.

    Returns:
        The records.

    Raises:
        ParseError: If the file cannot be read, is empty, damaged or cut off.
    """
    file = Path(path) if isinstance(path, str) else path
    try:
        content = file.read_bytes() if isinstance(file, Path) else _bytes_of(file)
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise ParseError(msg) from error
    return decode_document(content, name=str(path), options=options)


def decode_document(
    content: bytes, *, name: str, options: ParseOptions | None = None
) -> Document:
    """As `read_document`, for bytes that are already in memory."""
    max_bytes = (options or ParseOptions()).max_bytes
    unpacked = unpack(content, name=name, max_bytes=max_bytes)
    if unpacked.content.startswith(_PARQUET_MAGIC):
        document = _parquet_document(unpacked.content, name)
    else:
        document = _text_document(unpacked.content, name)
    if not document.n_records:
        msg = f"{name}: {document.shape} without any record"
        raise ParseError(msg)
    return replace(document, warnings=tuple(unpacked.warnings))


def _bytes_of(file: PathLike[str]) -> bytes:
    reader = getattr(file, "read_bytes", None)
    if reader is None:
        return Path(file).read_bytes()
    content: bytes = reader()
    return content


def _text_document(content: bytes, name: str) -> Document:
    if content.startswith(_UTF_16_MARKS):
        msg = f"{name}: text must be UTF-8, found UTF-16. Save it as UTF-8"
        raise ParseError(msg)
    # Bytes that are not UTF-8 become lone surrogates, and those are replaced and
    # flagged record by record, together with the ones that JSON escapes spell out.
    text = content.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogateescape")
    start = text.lstrip()[:1]
    if not start:
        msg = f"{name}: the file is empty"
        raise ParseError(msg)
    return _json_document(text, name) if start in "[{" else _csv_document(text, name)


def _json_document(text: str, name: str) -> Document:
    parsed = parse_json_text(text, name=name)
    if isinstance(parsed, JsonDocument):
        whole = parsed.value
        records = whole if is_array(whole) else [whole]
        shape: Shape = "JSON array" if is_array(whole) else "JSON object"
        positions: Sequence[int] = range(len(records))
        rejects: list[Remark] = []
    else:
        shape = "JSON lines"
        positions, records, rejects = parsed
    replaced: set[int] = set()
    if _SURROGATE_ESCAPE.search(text) or has_lone_surrogate(text):
        for index, position in enumerate(positions):
            records[index], changed = replace_lone_surrogates(records[index])
            if changed:
                replaced.add(position)
    return Document(
        name=name,
        shape=shape,
        positions=positions,
        records=records,
        n_records=len(records) + len(rejects),
        replaced=frozenset(replaced),
        rejects=tuple(rejects),
    )


def _csv_document(text: str, name: str) -> Document:
    positions, texts, rejects = parse_delimited_text(text, name=name)
    columns: dict[str, list[object]] = {c: list(texts[c]) for c in texts}
    replaced: set[int] = set()
    if has_lone_surrogate(text):
        for cells in columns.values():
            for index, position in enumerate(positions):
                cells[index], changed = replace_lone_surrogates(cells[index])
                if changed:
                    replaced.add(position)
        columns = {without_lone_surrogates(c): cells for c, cells in columns.items()}
    return Document(
        name=name,
        shape="CSV table",
        positions=positions,
        columns=columns,
        n_records=len(positions) + len(rejects),
        replaced=frozenset(replaced),
        rejects=tuple(rejects),
    )


def _parquet_document(content: bytes, name: str) -> Document:
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    # Damaged metadata can make the Rust reader panic, which is no `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        msg = f"{name}: damaged Parquet file: {reason}. Fetch the file again"
        raise ParseError(msg) from error
    return Document(
        name=name,
        shape="Parquet table",
        positions=range(frame.height),
        columns={column.name: column.to_list() for column in frame},
        n_records=frame.height,
    )
