"""The names under which sources store the same thing."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "benchmark": (
            "dataset",
            "dataset_name",
            "benchmark_name",
            "benchmark_id",
            "eval_name",
            "task",
            "task_name",
        ),
        "item_id": (
            "native_id",
            "id",
            "item",
            "sample_id",
            "doc_id",
            "question_id",
            "example_id",
            "instance_id",
            "data_point_id",
            "task_id",
            "question_ind",
            "uid",
            "index",
            "idx",
        ),
        "model": ("model_name", "model_id", "llm"),
        "score": (
            "acc",
            "accuracy",
            "correct",
            "is_correct",
            "correctness",
            "exact_match",
            "em",
            "passed",
            "performance",
            "grade",
        ),
        "question": ("prompt", "input", "instruction", "problem", "query"),
        "choices": ("options",),
        "answer": (
            "target",
            "gold",
            "ground_truth",
            "reference",
            "reference_answer",
            "correct_answer",
            "answer_key",
            "expected",
            "label",
        ),
        "response": (
            "output",
            "model_output",
            "model_outputs",
            "generated_text",
            "completion",
            "generation",
            "model_response",
            "raw_response",
        ),
        "prediction": (
            "pred",
            "parsed",
            "predicted",
            "parsed_answer",
            "extracted_answer",
            "model_answer",
        ),
        "outcome": (),
        "skill": ("skills", "skill_name", "capability", "capabilities"),
        "rationale": ("rationales", "explanation"),
        "annotator": ("annotator_name", "annotator_model"),
        "category": ("subject", "topic", "domain"),
        "origin": ("src", "source"),
        "epoch": ("repeat", "trial", "data_repeat_id"),
    }
)
"""Other names of each field of the generic form, in order of preference."""

_BETWEEN_WORDS = str.maketrans("", "", " _-\t")


class Assignment(NamedTuple):
    """Which column holds which field, and the columns that lost to a better name."""

    column_of: dict[str, str]
    passed_over: list[tuple[str, str, str]]


def field_of(column: str) -> str | None:
    """The field that a column name means; null if it means none.

    Examples:
        >>> field_of("Sample ID"), field_of("isCorrect"), field_of("latency")
        ('item_id', 'score', None)
    """
    known = _FIELDS.get(_squeezed(column))
    return known[0] if known else None


def assign_fields(columns: Iterable[str]) -> Assignment:
    """Choose a column for each field.

    Args:
        columns: Column names of a table, or keys of its objects.

    Returns:
        For each field that is there its column: the field's own name first, then
        its aliases in the order of `ALIASES`. ``passed_over`` lists column, field and
        the column that was taken instead.
    """
    column_of: dict[str, str] = {}
    passed_over: list[tuple[str, str, str]] = []
    known = [(_FIELDS[_squeezed(c)], c) for c in columns if _squeezed(c) in _FIELDS]
    for (field, _), column in sorted(known, key=lambda entry: entry[0][1]):
        if field in column_of:
            passed_over.append((column, field, column_of[field]))
        else:
            column_of[field] = column
    return Assignment(column_of, sorted(passed_over))


def _squeezed(column: str) -> str:
    return column.lower().translate(_BETWEEN_WORDS)


# The field and its rank, 0 for the field's own name.
_FIELDS: dict[str, tuple[str, int]] = {
    _squeezed(name): (field, rank)
    for field, aliases in ALIASES.items()
    for rank, name in enumerate((field, *aliases))
}
