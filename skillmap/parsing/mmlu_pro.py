"""Result files of the MMLU-Pro project: one model, one JSON array."""

from collections.abc import Container
from string import ascii_uppercase

import polars as pl

from skillmap.parsing.documents import Document
from skillmap.parsing.importer import Confidence, Format, Reading
from skillmap.parsing.source import (
    ParseOptions,
    Remark,
    items_frame,
    results_frame,
)
from skillmap.parsing.values import NativeId, excerpt, is_array, is_object, native_id

_REQUIRED = frozenset({"question_id", "question", "options", "answer", "pred"})

# Two data set scripts and their forks name the field differently; the first that a
# record has counts.
RESPONSE_FIELDS = (
    "generated_text",
    "model_outputs",
    "model_output",
    "output",
    "response",
)

# How the data set fills up items that have fewer than ten options.
_NO_OPTION = "N/A"

_TEXT_FIELDS = ("question", "answer")
_NULLABLE_TEXT_FIELDS = ("pred", "category", "src", *RESPONSE_FIELDS)


def _sniff(document: Document) -> Confidence:
    fits = document.first_object().keys() >= _REQUIRED
    return Confidence.CERTAIN if fits else Confidence.NO


def _read(document: Document, options: ParseOptions) -> Reading:
    rejects: list[Remark] = []
    good: dict[NativeId, tuple[int, dict[str, object]]] = {}
    for position, record in zip(document.positions, document.values(), strict=True):
        fault = _fault(record, good)
        if fault is not None:
            rejects.append((position, *fault))
        elif is_object(record):
            good[native_id(record["question_id"])] = (position, record)
    positions = [position for position, _ in good.values()]
    records = [record for _, record in good.values()]
    shared = _shared_columns(document, options, positions, records)
    items = items_frame(
        {
            **shared,
            "question": [record["question"] for record in records],
            "choices": [_choices(record["options"]) for record in records],
            "answer": [record["answer"] for record in records],
            "category": [
                record.get("category") or options.category for record in records
            ],
            "origin": [record.get("src") for record in records],
        }
    )
    return Reading(
        items=items,
        results=_results(shared, records, options, items),
        rejects=rejects,
        warnings=_answer_warnings(positions, records),
    )


def _results(
    shared: dict[str, object],
    records: list[dict[str, object]],
    options: ParseOptions,
    items: pl.DataFrame,
) -> pl.DataFrame:
    results = results_frame(
        {
            **shared,
            "model": options.model,
            # An extractor that found nothing writes null, or "" in some forks.
            "prediction": [record["pred"] or None for record in records],
            "expects_prediction": True,
            "response": [_response(record) for record in records],
        },
        items=items,
    )
    is_blank = pl.Series(
        [_has_blank_response(record) for record in records], dtype=pl.Boolean
    )
    is_right = pl.col("prediction") == items["answer"]
    unparsed = pl.when(is_blank).then(pl.lit("empty")).otherwise(pl.lit("unparsed"))
    return results.with_columns(
        score=is_right.cast(pl.Float64),
        outcome=pl.when(pl.col("prediction").is_null()).then(unparsed),
    )


def _shared_columns(
    document: Document,
    options: ParseOptions,
    positions: list[int],
    records: list[dict[str, object]],
) -> dict[str, object]:
    ids = [native_id(record["question_id"]) for record in records]
    return {
        "position": positions,
        "benchmark": options.benchmark,
        "native_id": [text for text, _ in ids],
        "native_id_type": [kind for _, kind in ids],
        "has_replaced_characters": [p in document.replaced for p in positions],
    }


def _fault(record: object, met: Container[NativeId]) -> tuple[str, str] | None:
    """The first rule that a record breaks, and the value that breaks it."""
    if not is_object(record):
        return "record is not an object", excerpt(record)
    missing = sorted(_REQUIRED - record.keys())
    if missing:
        return f"record has no {missing[0]}", excerpt(record)
    identity = native_id(record["question_id"])
    if identity[0] is None:
        reason = "question_id is neither an integer nor text"
        return reason, excerpt(record["question_id"])
    if identity in met:
        return "question_id was met before", excerpt(record["question_id"])
    return _text_fault(record)


def _text_fault(record: dict[str, object]) -> tuple[str, str] | None:
    for name in _TEXT_FIELDS:
        if not isinstance(record[name], str):
            return f"{name} is not text", excerpt(record[name])
    for name in _NULLABLE_TEXT_FIELDS:
        value = record.get(name)
        if value is not None and not isinstance(value, str):
            return f"{name} is neither text nor null", excerpt(value)
    choices = record["options"]
    if not is_array(choices) or not all(isinstance(c, str) for c in choices):
        return "options is not a list of texts", excerpt(choices)
    return None


def _choices(value: object) -> list[object]:
    choices = value if is_array(value) else []
    return [choice for choice in choices if choice != _NO_OPTION]


def _response(record: dict[str, object]) -> object:
    return next((record[name] for name in RESPONSE_FIELDS if name in record), None)


def _has_blank_response(record: dict[str, object]) -> bool:
    if not any(name in record for name in RESPONSE_FIELDS):
        return False
    response = _response(record)
    return response is None or not str(response).strip()


def _answer_warnings(
    positions: list[int], records: list[dict[str, object]]
) -> list[Remark]:
    """Items whose two statements of the answer disagree; the letter is the one used."""
    warnings: list[Remark] = []
    for position, record in zip(positions, records, strict=True):
        letter, index = record["answer"], record.get("answer_index")
        if isinstance(index, int) and ascii_uppercase[index : index + 1] != letter:
            value = excerpt({"answer": letter, "answer_index": index})
            warnings.append((position, "answer and answer_index disagree", value))
    return warnings


FORMAT = Format(
    name="mmlu_pro_results",
    version="1",
    summary="MMLU-Pro results: question_id, question, options, answer, pred, response",
    match="id",
    sniff=_sniff,
    read=_read,
)
