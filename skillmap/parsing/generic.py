"""The generic form: one record per item, or per item and model, in any container."""

from skillmap.errors import ParseError
from skillmap.parsing.documents import Document
from skillmap.parsing.generic_columns import assign_fields
from skillmap.parsing.generic_frames import (
    distinct_items,
    distinct_results,
    rationale_rows,
    skill_rows,
)
from skillmap.parsing.generic_records import raw_records, read_records
from skillmap.parsing.importer import Confidence, Format, Reading
from skillmap.parsing.source import ParseOptions

_NAMING_FIELDS = frozenset({"item_id", "question"})
_RESULT_FIELDS = frozenset({"score", "outcome", "prediction", "response"})
_TELLING_FIELDS = _RESULT_FIELDS | {
    "question",
    "choices",
    "answer",
    "category",
    "skill",
    "rationale",
}


def _sniff(document: Document) -> Confidence:
    names = document.columns if document.is_table else document.first_object()
    fields = assign_fields(names).column_of.keys()
    fits = bool(fields & _NAMING_FIELDS) and bool(fields & _TELLING_FIELDS)
    return Confidence.POSSIBLE if fits else Confidence.NO


def _read(document: Document, options: ParseOptions) -> Reading:
    raw, strangers = raw_records(document)
    column_of, passed_over = assign_fields(raw.columns)
    fields = column_of.keys()
    if not fields & _NAMING_FIELDS:
        msg = (
            f"{document.name}: the generic form needs a column item_id or question, "
            f"found {sorted(raw.columns)[:8]}"
        )
        raise ParseError(msg)
    records, faults = read_records(raw, column_of, document)
    items, drift = distinct_items(records, options.category)
    results, repeats, contradictions = distinct_results(
        records if fields & _RESULT_FIELDS else records.clear(),
        has_skills="skill" in fields,
    )
    other_names = [
        (None, f"column is not used: {taken!r} is taken for {field}", column)
        for column, field, taken in passed_over
    ]
    return Reading(
        items=items,
        results=results,
        skills=skill_rows(records, options.annotator),
        rationales=rationale_rows(records, options.annotator),
        rejects=[*strangers, *faults, *repeats],
        warnings=[*other_names, *drift, *contradictions],
    )


FORMAT = Format(
    name="generic",
    version="1",
    summary="Records with item_id, model, score and optional columns, in any container",
    match="id",
    sniff=_sniff,
    read=_read,
)
