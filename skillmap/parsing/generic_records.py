"""From raw columns of the generic form to one typed frame of its good records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import polars as pl

from skillmap.items.content import with_content_hashes
from skillmap.parsing.documents import Document
from skillmap.parsing.generic_values import (
    Cell,
    read_choices,
    read_epoch,
    read_outcome,
    read_phrases,
    read_text,
)
from skillmap.parsing.scores import read_score
from skillmap.parsing.source import (
    ITEMS_SCHEMA,
    RESULTS_SCHEMA,
    Remark,
    typed_frame,
)
from skillmap.parsing.values import (
    excerpt,
    is_nan,
    is_object,
    native_id,
    native_id_from_untyped_text,
)

RECORDS_SCHEMA = pl.Schema(
    {
        **ITEMS_SCHEMA,
        **RESULTS_SCHEMA,
        "stated_outcome": pl.String(),
        "skill": pl.List(pl.String()),
        "rationale": pl.String(),
        "annotator": pl.String(),
    }
)
"""Everything that a record of the generic form may state. `outcome` is the score's,
`stated_outcome` that of a column of its own."""

_READERS: Mapping[str, Callable[[object], Cell]] = {
    "choices": read_choices,
    "skill": read_phrases,
    "outcome": read_outcome,
    "epoch": read_epoch,
}


class RawRecords(NamedTuple):
    """Undecoded cells by column, one per position."""

    positions: Sequence[int]
    columns: Mapping[str, Sequence[object]]


class _Read(NamedTuple):
    """Columns made of one field, and by index what is wrong with its values."""

    columns: dict[str, list[object]]
    faults: dict[int, str]


def raw_records(document: Document) -> tuple[RawRecords, list[Remark]]:
    """The columns of a document, and its records that are no objects."""
    if document.is_table:
        return RawRecords(document.positions, document.columns), []
    strangers: list[Remark] = []
    positions: list[int] = []
    records: list[dict[str, object]] = []
    for position, record in zip(document.positions, document.records, strict=True):
        if is_object(record):
            positions.append(position)
            records.append(record)
        else:
            strangers.append((position, "record is not an object", excerpt(record)))
    keys = dict.fromkeys(chain.from_iterable(records))
    columns = {key: [record.get(key) for record in records] for key in keys}
    return RawRecords(positions, columns), strangers


def read_records(
    raw: RawRecords, column_of: Mapping[str, str], document: Document
) -> tuple[pl.DataFrame, list[Remark]]:
    """Typed records, and those that break a rule with the first rule they break.

    Args:
        raw: Cells by column.
        column_of: The column of each field that is there.
        document: Where they come from.

    Returns:
        One row per good record (`RECORDS_SCHEMA`, hashes filled), and the faults.
    """
    columns: dict[str, object] = {
        "position": raw.positions,
        "expects_prediction": "prediction" in column_of,
        "has_replaced_characters": [p in document.replaced for p in raw.positions],
    }
    faults: dict[int, tuple[str, str]] = {}
    for field in sorted(column_of):
        values = raw.columns[column_of[field]]
        read = _read_field(field, values, is_csv=document.shape == "CSV table")
        columns.update(read.columns)
        for index, fault in sorted(read.faults.items()):
            faults.setdefault(index, (f"{field} {fault}", excerpt(values[index])))
    records = typed_frame(RECORDS_SCHEMA, columns)
    for index in records.select(_is_nameless().arg_true()).to_series():
        fault = "record has neither an item id nor a question"
        value = {name: cells[index] for name, cells in raw.columns.items()}
        faults.setdefault(index, (fault, excerpt(value)))
    is_good = [index not in faults for index in range(records.height)]
    good = with_content_hashes(records.filter(pl.Series(is_good, dtype=pl.Boolean)))
    remarks: list[Remark] = [
        (raw.positions[index], *fault) for index, fault in faults.items()
    ]
    return good, remarks


def _read_field(field: str, values: Sequence[object], *, is_csv: bool) -> _Read:
    if field == "item_id":
        return _identities(values, is_csv=is_csv)
    if field == "score":
        return _scores(values)
    reader = _READERS.get(field, read_text)
    if reader is read_text and all(isinstance(value, str) for value in values):
        read, faults = list(values), dict[int, str]()
    else:
        cells = [reader(value) for value in values]
        read = [cell.value for cell in cells]
        faults = _faults(cell.fault for cell in cells)
    # That a response is empty is worth knowing; other blanks state nothing.
    if field != "response":
        read = [None if value == "" else value for value in read]
    return _Read({"stated_outcome" if field == "outcome" else field: read}, faults)


def _identities(values: Sequence[object], *, is_csv: bool) -> _Read:
    read = native_id_from_untyped_text if is_csv else native_id
    ids = [read(value) for value in values]
    faults = {
        index: "is neither an integer nor a text"
        for index, value in enumerate(values)
        if ids[index][0] is None and not _is_missing(value)
    }
    columns: dict[str, list[object]] = {
        "native_id": [text for text, _ in ids],
        "native_id_type": [kind for _, kind in ids],
    }
    return _Read(columns, faults)


def _scores(values: Sequence[object]) -> _Read:
    scores = [read_score(value) for value in values]
    columns: dict[str, list[object]] = {
        "score": [score.value for score in scores],
        "outcome": [score.outcome for score in scores],
    }
    return _Read(columns, _faults(score.fault for score in scores))


def _faults(faults: Iterable[str | None]) -> dict[int, str]:
    return {index: fault for index, fault in enumerate(faults) if fault}


def _is_missing(value: object) -> bool:
    return (
        value is None or is_nan(value) or (isinstance(value, str) and not value.strip())
    )


def _is_nameless() -> pl.Expr:
    return pl.col("native_id").is_null() & pl.col("question").is_null()
