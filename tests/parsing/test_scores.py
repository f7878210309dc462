"""Scores: missing is not zero, and a percentage is not a fraction."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.parsing.scores import Score, read_score

NAN = float("nan")
UNSCORED = Score(None, "unscored", None)


@given(st.floats(0, 1))
def test_a_fraction_is_read_as_it_is_in_a_number_or_a_text(fraction: float) -> None:
    assert read_score(fraction) == Score(fraction, None, None)
    assert read_score(repr(fraction)) == Score(fraction, None, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, Score(1.0, None, None)),
        (False, Score(0.0, None, None)),
        (1, Score(1.0, None, None)),
        ("True", Score(1.0, None, None)),
        (" 0 ", Score(0.0, None, None)),
        ("C", Score(1.0, "correct", None)),
        ("I", Score(0.0, "wrong", None)),
        ("P", Score(0.5, "partial", None)),
        ("N", Score(None, "not_attempted", None)),
        ("incorrect", Score(0.0, "wrong", None)),
    ],
)
def test_booleans_letters_and_words_are_scores(value: object, expected: Score) -> None:
    assert read_score(value) == expected


@pytest.mark.parametrize("value", [None, NAN, "", " ", "N/A", "n/a", "NaN", "null"])
def test_a_missing_score_is_unscored_and_not_zero(value: object) -> None:
    """I-45: FLASK writes "N/A" among its numbers."""
    assert read_score(value) == UNSCORED


@pytest.mark.parametrize(
    "value",
    [
        {"value": [NAN, 1.0]},
        {"a": NAN},
        {"value": None},
        {"a": {"b": [0.5, "N/A"]}},
        [],
        {},
    ],
)
def test_a_hole_in_a_list_or_object_leaves_it_unscored(value: object) -> None:
    """I-13: a tool reloaded such scores as 0, or crashed."""
    assert read_score(value) == UNSCORED


def test_a_list_or_object_of_one_number_is_that_number() -> None:
    assert read_score({"value": [1.0]}) == Score(1.0, None, None)
    assert read_score([{"acc": "I"}]) == Score(0.0, "wrong", None)


def test_several_numbers_are_no_score() -> None:
    """I-36: the same metric is a number in one row and a list in another."""
    fault = read_score({"a": 1.0, "b": 0.0}).fault

    assert fault is not None
    assert fault.startswith("holds several numbers")


@pytest.mark.parametrize(
    "value", [1.01, -0.5, 85, "85", math.inf, 10**400, "1e999", "-1e-3"]
)
def test_a_number_outside_0_and_1_says_how_to_rescale(value: object) -> None:
    score = read_score(value)

    assert (score.value, score.outcome) == (None, None)
    assert score.fault is not None
    assert "divide a percentage by 100" in score.fault


@pytest.mark.parametrize("value", ["85%", "great", "1_0", "٣", b"1", "0x1"])
def test_anything_else_is_a_fault(value: object) -> None:
    assert read_score(value).fault == "is neither a number nor a known word"


def test_deep_nesting_does_not_crash() -> None:
    nest: object = 1.0
    for _ in range(50_000):
        nest = [nest]

    assert read_score(nest) == Score(1.0, None, None)
