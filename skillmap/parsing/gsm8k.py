"""Files of the grade-school-math repository: its test set and model solutions."""

import re

from skillmap.parsing.documents import Document
from skillmap.parsing.importer import Confidence, Format, Reading
from skillmap.parsing.scores import read_score
from skillmap.parsing.source import (
    ParseOptions,
    Remark,
    items_frame,
    results_frame,
)
from skillmap.parsing.values import excerpt, is_object

_GOLD_MARK = "####"
_GOLD_LINE = "\nA:"
_PREDICTION_MARK = "A: "
_THOUSANDS_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def _sniff_items(document: Document) -> Confidence:
    first = document.first_object()
    fits = first.keys() == {"question", "answer"}
    fits = fits and _GOLD_MARK in str(first["answer"])
    return Confidence.CERTAIN if fits else Confidence.NO


def _sniff_solutions(document: Document) -> Confidence:
    first = document.first_object()
    fits = {"question", "ground_truth"} <= first.keys() and any(
        _is_solution(value) for value in first.values()
    )
    return Confidence.CERTAIN if fits else Confidence.NO


def _read_items(document: Document, options: ParseOptions) -> Reading:
    positions, records, rejects = _good_records(document, "answer")
    items = items_frame(_item_columns(document, options, positions, records, "answer"))
    return Reading(items=items, rejects=rejects)


def _read_solutions(document: Document, options: ParseOptions) -> Reading:
    positions, records, rejects = _good_records(document, "ground_truth")
    items = items_frame(
        _item_columns(document, options, positions, records, "ground_truth")
    )
    rows: list[tuple[int, str, float | None, str | None, str]] = []
    for position, record in zip(positions, records, strict=True):
        for model, value in record.items():
            if not is_object(value):
                continue
            row = _result(value)
            if row is None:
                reason = f"solution of {model!r} lacks the text or a score in [0, 1]"
                rejects.append((position, reason, excerpt(value)))
            else:
                rows.append((position, model, *row))
    results = results_frame(
        {
            "position": [row[0] for row in rows],
            "benchmark": options.benchmark,
            "model": [row[1] for row in rows],
            "score": [row[2] for row in rows],
            "outcome": [row[3] for row in rows],
            "prediction": [_prediction(row[4]) for row in rows],
            "expects_prediction": True,
            "response": [row[4] for row in rows],
            "has_replaced_characters": [row[0] in document.replaced for row in rows],
        },
        items=items,
    )
    return Reading(items=items, results=results, rejects=rejects)


def _good_records(
    document: Document, gold_field: str
) -> tuple[list[int], list[dict[str, object]], list[Remark]]:
    rejects: list[Remark] = []
    positions: list[int] = []
    records: list[dict[str, object]] = []
    for position, record in zip(document.positions, document.values(), strict=True):
        fields = record if is_object(record) else {}
        if isinstance(fields.get("question"), str) and _gold(fields.get(gold_field)):
            positions.append(position)
            records.append(fields)
        else:
            reason = f"record has no question, or no final answer in {gold_field}"
            rejects.append((position, reason, excerpt(record)))
    return positions, records, rejects


def _item_columns(
    document: Document,
    options: ParseOptions,
    positions: list[int],
    records: list[dict[str, object]],
    gold_field: str,
) -> dict[str, object]:
    return {
        "position": positions,
        "benchmark": options.benchmark,
        "question": [record["question"] for record in records],
        "answer": [_gold(record[gold_field]) for record in records],
        "category": options.category,
        "has_replaced_characters": [p in document.replaced for p in positions],
    }


def _gold(worked_solution: object) -> str | None:
    """The final answer, without thousands commas, so that both files state the same."""
    if not isinstance(worked_solution, str):
        return None
    _, mark, after = f"\n{worked_solution}".rpartition(_GOLD_MARK)
    if not mark:
        _, mark, after = after.rpartition(_GOLD_LINE)
    return _THOUSANDS_COMMA.sub("", after.strip()) or None if mark else None


def _prediction(solution: str) -> str | None:
    _, mark, after = solution.rpartition(_PREDICTION_MARK)
    return after.strip() or None if mark else None


def _is_solution(value: object) -> bool:
    return is_object(value) and value.keys() >= {"is_correct", "solution"}


def _result(value: dict[str, object]) -> tuple[float | None, str | None, str] | None:
    solution, score = value.get("solution"), read_score(value.get("is_correct"))
    if not isinstance(solution, str) or score.fault:
        return None
    return score.value, score.outcome, solution


ITEMS = Format(
    name="gsm8k_items",
    version="1",
    summary="GSM8K test set: question, and a worked answer that ends in #### <number>",
    match="own",
    sniff=_sniff_items,
    read=_read_items,
)

SOLUTIONS = Format(
    name="gsm8k_model_solutions",
    version="1",
    summary="GSM8K solutions: question, ground_truth, {is_correct, solution} by model",
    match="question",
    sniff=_sniff_solutions,
    read=_read_solutions,
)
