import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.stated_answer import Reading, reading, stated_letter, stated_number

CITIES = ["Lyon", "Rome", "Berlin", "Paris"]


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B", "B"),
        ("(D) Paris", "D"),
        ("The answer is (B)", "B"),
        ("**ANSWER: D**", "D"),
        ("Answer: D because it lies in France", "D"),
        ("Paris.", "D"),
        ("Answer: paris", "D"),
        ("Answer: - Paris", "D"),
        ("Answer: Paris. It is a large city.", "D"),
        ("The capital of France is Paris.", "D"),
        ("Paris is the capital of France.", "D"),
    ],
)
def test_a_stated_option_is_read(response: str, letter: str) -> None:
    assert stated_letter(response, CITIES) == letter


@pytest.mark.parametrize(
    "response",
    [
        "A. Lyon\nB. Rome\nC. Berlin\nD. Paris",
        "A. Paris",
        "Answer: B or C",
        "Answer: B, C",
        "The answer is A city in France",
        "Answer: E",
        "So, the answer is:\n- Lyon\n- Paris",
        "Answer: Paris, Rome",
        "It is not Paris",
        "It isn't Paris",
        "Paris is larger than Lyon",
        "The capital lies on a river.",
        "The city of Paris is large",
        "Paris was the seat of kings for long, and it is the seat of the state now.",
        "France",
    ],
)
def test_an_option_is_never_guessed(response: str) -> None:
    assert stated_letter(response, CITIES) is None


def test_the_last_stated_option_wins() -> None:
    assert stated_letter("Answer: B\nNo, the answer is C.", CITIES) == "C"


def test_two_options_with_one_text_cannot_be_told_apart() -> None:
    assert stated_letter("Answer: Paris", ["Paris", "paris", "Rome"]) is None


def test_an_article_does_not_hide_an_option() -> None:
    assert stated_letter("Answer: the heart", ["lungs", "heart", "ears"]) == "B"


def test_a_sign_is_part_of_an_option() -> None:
    assert stated_letter("Answer: -12", ["12", "-12", "0"]) == "B"


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("13", "13"),
        ("$1,250.00", "1250"),
        ("Answer: 13 dollars", "13"),
        ("Answer: 25%", "25"),
        ("The answer is 3/4.", "3/4"),
        ("Answer: 0.50", "0.5"),
        ("Answer: -4", "-4"),
        ("Answer:\n12", "12"),
        ("Answer: 20 - 7 = 13", "13"),
        ("Answer: 36 / 2 = 18\n\nThis is half.", "18"),
        ("First 2 + 2 = 4.\nSo 3 x 4 = 12 cakes.", "12"),
        ("The answer is 8. Wait, the answer is 9.", "9"),
        ("Take 25 and 3.\n\nSo, there are 9 students that walk.", "9"),
    ],
)
def test_a_stated_number_is_read(response: str, number: str) -> None:
    assert stated_number(response) == number


@pytest.mark.parametrize(
    "response",
    [
        "It is 20 or 30",
        "Answer: 20 - 7",
        "Answer: 2 hours and 15 minutes",
        "Answer: 12,5",
        "Answer: 7\u00bd",
        "12:15",
        "1. First, add the prices",
        "Step 1: add the prices",
        "She had 20 dollars in her purse before she went into the shop",
        "twelve",
    ],
)
def test_a_number_is_never_guessed(response: str) -> None:
    assert stated_number(response) is None


@given(st.integers(-(10**9), 10**9))
def test_any_whole_number_survives_its_printed_forms(number: int) -> None:
    printed = [f"Answer: {number}", f"ANSWER: {number:,}.", f"The answer is {number}%"]

    assert {stated_number(text) for text in printed} == {str(number)}


@given(st.decimals(-1000, 1000, places=2))
def test_a_decimal_keeps_its_value(number: Decimal) -> None:
    read = stated_number(f"Answer: {number}")

    assert read is not None
    assert Fraction(read) == Fraction(number)


@given(st.text(max_size=300))
def test_any_text_has_a_reading(response: str) -> None:
    for choices in (None, CITIES):
        answer = "1" if choices is None else "A"
        for finish_reason in ("stop", "length"):
            read = reading(
                response, answer=answer, choices=choices, finish_reason=finish_reason
            )

            assert (read.prediction is None) == (read.score is None)


@given(st.integers(0, 3))
def test_every_option_text_is_read_as_its_own_letter(position: int) -> None:
    assert stated_letter(CITIES[position], CITIES) == "ABCD"[position]


def test_the_end_of_a_cut_off_response_is_not_read() -> None:
    cut = reading("Answer: 12", answer="125", choices=None, finish_reason="length")
    whole = reading("Answer: 12", answer="125", choices=None, finish_reason="stop")

    assert cut == Reading("truncated", None, None)
    assert whole == Reading("wrong", "12", 0)


def test_an_answer_before_the_cut_counts() -> None:
    read = reading("Answer: 12 is", answer="12", choices=None, finish_reason="length")

    assert read == Reading("correct", "12", 1)


@pytest.mark.parametrize("response", ["", " \n", "Answer:", "ANSWER: "])
def test_nothing_after_the_marker_is_empty(response: str) -> None:
    read = reading(response, answer="12", choices=None, finish_reason="stop")

    assert read == Reading("empty", None, None)


def test_an_unreadable_response_has_no_score() -> None:
    read = reading("I do not know.", answer="A", choices=CITIES, finish_reason="stop")

    assert read == Reading("unparsed", None, None)


def test_equal_numbers_in_other_spelling_are_correct() -> None:
    read = reading("Answer: 3/4", answer="0.75", choices=None, finish_reason="stop")

    assert read == Reading("correct", "3/4", 1)


@pytest.mark.parametrize(
    "piece", ["answer ", "answer is 1 2 = ", "1,", "1" * 50 + " ", "A. ", "answer:\n"]
)
def test_long_responses_take_little_time(piece: str) -> None:
    response = piece * (400_000 // len(piece))
    start = time.process_time()

    stated_number(response)
    stated_letter(response, CITIES)

    assert time.process_time() - start < 5
