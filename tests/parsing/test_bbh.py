"""BIG-Bench Hard task files."""

import json

import pytest

from skillmap.errors import ParseError
from skillmap.parsing.formats import parse_bytes
from skillmap.parsing.source import ParsedSource, ParseOptions

CANARY = "canary GUID 0"


def parsed(*examples: object, **options: str) -> ParsedSource:
    task = {"canary": CANARY, "examples": list(examples)}
    return parse_bytes(
        json.dumps(task).encode(), name="file", options=ParseOptions(**options)
    )


def test_lettered_options_are_choices_and_the_question_stays_whole() -> None:
    question = "It draws a\nOptions:\n(A) circle\n(B) kite"

    source = parsed({"input": question, "target": "(B)"}, task="geometric_shapes")

    assert source.format == "bbh_task"
    columns = ["position", "native_id", "question", "choices", "answer", "category"]
    assert source.items.select(columns).rows() == [
        (0, None, question, ["circle", "kite"], "B", "geometric_shapes")
    ]


@pytest.mark.parametrize(
    ("question", "target"),
    [
        ("not ( True ) is", "False"),
        ("Did it?\nOptions:\n- Yes\n- No", "No"),
        ("Close: [ (", ") ]"),
        ("Options:\n(A) x\nand then?", "(A) x"),
    ],
)
def test_other_questions_are_free_form(question: str, target: str) -> None:
    source = parsed({"input": question, "target": target})

    assert source.items.select("choices", "answer").rows() == [([], target)]


def test_the_canary_is_noted_and_in_no_column() -> None:
    source = parsed({"input": "a", "target": "b"})

    assert source.notes == (CANARY,)
    assert CANARY not in json.dumps(source.items.to_dicts())


def test_a_bad_example_is_rejected() -> None:
    source = parsed({"input": "a", "target": "b"}, {"input": "a"}, "c")

    assert source.n_records == 3
    assert source.rejects["position"].to_list() == [1, 2]


def test_only_the_example_with_replaced_characters_is_flagged() -> None:
    source = parsed({"input": "a\ud835", "target": "b"}, {"input": "a", "target": "b"})

    assert source.items["has_replaced_characters"].to_list() == [True, False]


def test_a_forced_format_explains_what_it_needs() -> None:
    with pytest.raises(ParseError, match=r"needs a list 'examples', found .*\['id'\]"):
        parse_bytes(b'{"id": 1}', name="file", format_name="bbh_task")
