from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction.said import read, value, values


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("It costs $29.00.", "29"),
        ("18 ...", "18"),
        ("3.5e3", "3500"),
        ("Answer: 3.5 × 10^3", "3500"),
        ("1/2", "1/2"),
        ("4/2", "2"),
        ("\\boxed{\\frac{1}{2}}", "1/2"),
        ("\\boxed{\\dfrac12}", "1/2"),
        ("\\boxed{-\\frac{3}{4}}", "-3/4"),
        ("1 234", "1234"),
        ("1,234", "1234"),
        ("12,345.50 dollars", "12345.5"),
        ("½", "1/2"),
        ("It takes 7½ hours", "15/2"),
        ("It takes 7 1/2 hours", "15/2"),
        ("\uff15", "5"),
        ("**18**.\n\n(2 + 16)", "18"),
        ("So 16 and 2.\n#### 70000", "70000"),
        ("the answer is \\[ \\boxed{42} \\]", "42"),
        ("\\boxed{42 \\text{ cm}^2}", "42"),
        ("A: 360", "360"),
        ("She sold 30 - 7 = 23 of them.", "23"),
        ("The answer is 20 + 30 = 50 apples. It took 3 days.", "50"),
        ("The answer is -5.", "-5"),
        ("The answer is \u22125.", "-5"),
        ("20-7 is 13", "13"),
        ("So 25% of them.", "25"),
        ("He needs <<4*4=16>>16 weeks (8 pounds).", "16"),
        (".5", "0.5"),
        ("#### $20.00", "20"),
    ],
)
def test_a_stated_number_is_read_in_its_shortest_spelling(
    said: str, expected: str
) -> None:
    assert value(said) == expected


@pytest.mark.parametrize("said", ["twelve", "I do not know.", "At 12:15", "..."])
def test_a_number_is_never_guessed(said: str) -> None:
    assert read(said, choices=[], answer="12") == (None, "unparsed", None)


def test_the_last_announcement_with_a_value_wins() -> None:
    assert value("The answer is 7. No, the answer is 8.") == "8"
    assert value("The answer is 7. The answer is hard to see.") == "7"


def test_answers_in_the_story_are_not_announcements() -> None:
    assert value("He gave 5 answers, worth 3 each. In all he has 15 points.") == "15"


@pytest.mark.parametrize(
    ("said", "answer", "method"),
    [
        ("It is $29.00.", "29", "closing_number"),
        ("#### 0.50", "1/2", "announced"),
        ("\\boxed{1{,}250}", "1,250", "announced"),
        ("A: 70000", "70000", "answer_line"),
        ("So it is **18** pounds.", "18", "bold"),
    ],
)
def test_numbers_are_compared_by_value(said: str, answer: str, method: str) -> None:
    _, outcome, read_by = read(said, choices=[], answer=answer)

    assert (outcome, read_by) == ("correct", method)


@pytest.mark.parametrize(
    ("said", "answer", "outcome"),
    [
        ("So the answer is Yes.", "yes", "correct"),
        ("The answer is **valid**.", "invalid", "wrong"),
        ("\\boxed{(1, \\frac{9}{2})}", "(1,4.5)", "correct"),
        ("\\boxed{2\\sqrt{3}}", "2\\sqrt{3}", "correct"),
        ("Nobody can say.", "yes", "unparsed"),
    ],
)
def test_answers_in_words_are_read_where_they_are_announced(
    said: str, answer: str, outcome: str
) -> None:
    assert read(said, choices=[], answer=answer)[1] == outcome


@given(st.lists(st.integers(-(10**9), 10**9), min_size=10))
@settings(max_examples=20)
def test_whole_numbers_survive_their_printed_forms(numbers: list[int]) -> None:
    forms = ["Answer: {}", "The answer is {:,}.", "\\boxed{{{}}}", "#### {}", "A: {}"]

    for form in forms:
        read = values([form.format(number) for number in numbers])

        assert read == [str(number) for number in numbers]


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=10))
@settings(max_examples=20)
def test_decimals_keep_their_value(numbers: list[Decimal]) -> None:
    read = values([f"The answer is ${number}" for number in numbers])

    assert [Fraction(text or "nan") for text in read] == list(map(Fraction, numbers))


@given(st.lists(st.fractions(-999, 999, max_denominator=999), min_size=10))
@settings(max_examples=20)
def test_fractions_keep_their_value(numbers: list[Fraction]) -> None:
    said = [
        f"\\boxed{{{'-' * (n < 0)}\\frac{{{abs(n.numerator)}}}{{{n.denominator}}}}}"
        for n in numbers
    ]

    assert values(said) == list(map(str, numbers))
