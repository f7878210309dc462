"""Cells of the generic form."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.parsing.generic_values import (
    Cell,
    read_choices,
    read_epoch,
    read_outcome,
    read_phrases,
    read_text,
)

NAN = float("nan")
printable = st.text(st.characters(exclude_categories=["Cs"]))


@settings(deadline=None)
@given(st.lists(printable))
def test_choices_are_read_from_lists_and_their_json_and_python_texts(
    choices: list[str],
) -> None:
    for value in (choices, json.dumps(choices), repr(choices), {"text": choices}):
        assert read_choices(value) == Cell(choices)


@pytest.mark.parametrize("value", [None, "", " ", NAN, []])
def test_no_choices_are_an_empty_list(value: object) -> None:
    assert read_choices(value) == Cell([])


def test_numbers_among_choices_are_texts() -> None:
    assert read_choices([1, 2.5, "x"]) == Cell(["1", "2.5", "x"])


def test_two_texts_that_numpy_printed_are_not_joined_into_one() -> None:
    fault = read_choices("['a' 'b']\n").fault

    assert fault == "is not a list of texts, or a text that spells one"


@pytest.mark.parametrize(
    "value",
    [
        "a, b",
        "[__import__('os').getcwd()]",
        "[1, 2",
        "[" * 5000,
        "(" * 5000,
        "{'a': 1}",
        5,
        {"a": ["b"]},
        "[-" + "-" * 90_000 + "1]",
    ],
)
def test_choices_of_no_known_kind_are_a_fault(value: object) -> None:
    assert read_choices(value).fault is not None


@pytest.mark.parametrize("value", [[None], [["a", "b"]], ["a", NAN]])
def test_an_option_that_is_no_text_is_a_fault(value: object) -> None:
    assert read_choices(value).fault == "has an option that is not a text"


def test_a_backslash_in_a_python_list_gives_no_warning() -> None:
    assert read_choices(r"['\d', 'x']") == Cell([r"\d", "x"])


def test_a_phrase_keeps_its_commas() -> None:
    """I-35: splitting skill names on commas tore phrases apart."""
    assert read_phrases("Adding, then dividing") == Cell(["Adding, then dividing"])
    assert read_phrases(["a, b", "c"]) == Cell(["a, b", "c"])
    assert read_phrases('["a, b", "c"]') == Cell(["a, b", "c"])
    assert read_phrases("['a, b']") == Cell(["a, b"])
    assert read_phrases("[a, b] intervals") == Cell(["[a, b] intervals"])


@pytest.mark.parametrize("value", [None, "", NAN, []])
def test_no_phrases_are_an_empty_list(value: object) -> None:
    assert read_phrases(value) == Cell([])


@pytest.mark.parametrize("value", [[""], ["a", None], [["a"]], 3, " "])
def test_a_phrase_that_is_blank_or_no_text_is_a_fault(value: object) -> None:
    assert read_phrases(value).fault == "has a phrase that is blank or not text"


@pytest.mark.parametrize(
    ("value", "text"),
    [("x", "x"), (3, "3"), (2.5, "2.5"), (True, "true"), (["x"], "x"), (NAN, None)],
)
def test_texts_are_read_from_plain_values(value: object, text: str | None) -> None:
    assert read_text(value) == Cell(text)


@pytest.mark.parametrize("value", [["x", "y"], {"a": "b"}, [1], []])
def test_a_list_or_an_object_is_no_text(value: object) -> None:
    assert read_text(value).fault == "is neither text nor a number"


@pytest.mark.parametrize(
    ("value", "epoch"),
    [(0, 0), ("3", 3), (2.0, 2), (None, 0), ("", 0), (NAN, 0), (" 4 ", 4)],
)
def test_epochs_count_from_zero(value: object, epoch: int) -> None:
    assert read_epoch(value) == Cell(epoch)


@pytest.mark.parametrize("value", [-1, 1.5, "x", True, [0], 2**31, "-1", float("inf")])
def test_any_other_epoch_is_a_fault(value: object) -> None:
    assert read_epoch(value).fault == "is not a whole number from 0"


def test_outcomes_are_read_in_any_spelling() -> None:
    assert read_outcome("Not Attempted") == Cell("not_attempted")
    assert read_outcome("incorrect") == Cell("wrong")
    assert read_outcome(None) == Cell(None)
    assert "one of correct, wrong" in str(read_outcome("success").fault)
