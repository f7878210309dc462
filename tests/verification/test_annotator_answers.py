import polars as pl
import pytest

from skillmap.errors import InvalidInputError
from skillmap.verification.annotator_answers import annotator_correctness

ITEMS = pl.DataFrame(
    {
        "item_id": ["b:1", "b:2", "b:3"],
        "choices": [["red", "blue"], [], ["x", "y"]],
        "answer": ["B", "1200", None],
    }
)


def test_a_rationales_answer_is_compared_with_the_reference() -> None:
    answers = [
        ("b:1", "B"),
        ("b:1", "(A)"),
        ("b:1", "blue"),
        ("b:2", "1,200"),
        ("b:2", "13"),
        ("b:2", None),
        ("b:3", "A"),
        ("b:4", "A"),
    ]
    rationales = pl.DataFrame(
        answers, schema=["item_id", "answer"], orient="row"
    ).with_columns(annotator=pl.lit("big"))

    found = annotator_correctness(rationales, ITEMS)

    assert found["item_id"].to_list() == [item for item, _ in answers]
    assert found["annotator_is_right"].to_list() == [
        True,
        False,
        True,
        True,
        False,
        None,
        None,
        None,
    ]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InvalidInputError, match="annotator"):
        annotator_correctness(ITEMS, ITEMS)
