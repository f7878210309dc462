"""What a format is: a name, a test for it, and a reader."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, TypeAlias

import polars as pl

from skillmap.parsing.documents import Document
from skillmap.parsing.source import (
    ITEMS_SCHEMA,
    RATIONALES_SCHEMA,
    RESULTS_SCHEMA,
    SKILLS_SCHEMA,
    ParsedSource,
    ParseOptions,
    Remark,
    remarks_frame,
)

Match: TypeAlias = Literal["id", "position", "question", "own"]
"""How a source's records find their items: by native id, by their place in the file,
by question text; or not at all, because the source defines its own items."""


class Confidence(IntEnum):
    """How sure a format is that a document is one of its own."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in a document; frames that are left out have no rows.

    Attributes:
        items: `ITEMS_SCHEMA`.
        results: `RESULTS_SCHEMA`.
        skills: `SKILLS_SCHEMA`.
        rationales: `RATIONALES_SCHEMA`.
        rejects: Records, or parts of them, that were left out.
        warnings: What was kept but looks wrong.
        notes: Texts about the whole file.
        n_records: Records met, where that is not the document's own count.
    """

    items: pl.DataFrame | None = None
    results: pl.DataFrame | None = None
    skills: pl.DataFrame | None = None
    rationales: pl.DataFrame | None = None
    rejects: Sequence[Remark] = ()
    warnings: Sequence[Remark] = ()
    notes: tuple[str, ...] = ()
    n_records: int | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file and its reader.

    Attributes:
        name: As given to ``--format``.
        version: Of the reader; changed whenever its output changes.
        summary: What the file holds, one line.
        match: How its records find their items unless the caller says otherwise.
        sniff: Looks at names and the first records only.
        read: Makes frames of a document that may turn out not to fit after all.
    """

    name: str
    version: str
    summary: str
    match: Match
    sniff: Callable[[Document], Confidence]
    read: Callable[[Document, ParseOptions], Reading]


def parsed_source(
    importer: Format, document: Document, reading: Reading
) -> ParsedSource:
    """A reading made complete: empty frames, and what the decoder had to report."""
    counted = reading.n_records
    return ParsedSource(
        format=importer.name,
        importer_version=importer.version,
        n_records=document.n_records if counted is None else counted,
        items=_or_empty(reading.items, ITEMS_SCHEMA),
        results=_or_empty(reading.results, RESULTS_SCHEMA),
        skills=_or_empty(reading.skills, SKILLS_SCHEMA),
        rationales=_or_empty(reading.rationales, RATIONALES_SCHEMA),
        rejects=remarks_frame([*document.rejects, *reading.rejects]),
        warnings=remarks_frame([*document.warnings, *reading.warnings]),
        notes=reading.notes,
    )


def _or_empty(frame: pl.DataFrame | None, schema: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame(schema=schema) if frame is None else frame
