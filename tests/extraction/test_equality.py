from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.extraction.arithmetic import canonical_number, value_of
from skillmap.extraction.equality import answers_equal

answers = st.one_of(
    st.text(max_size=40),
    st.text("()[]{}1234567890,./^\\frac%-+x= ", max_size=40),
)


@pytest.mark.parametrize(
    ("prediction", "answer"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\frac{1}{2}", "0.5"),
        ("0.5", "1/2"),
        (r"\dfrac{1}{2}", r"\tfrac{1}{2}"),
        ("(1,4.5)", r"(1,\frac{9}{2})"),
        ("[1, 2)", "[1,2)"),
        ("{1, 2}", r"\{2,1\}"),
        ("2, 3", "3,2"),
        ("$29.00", "29"),
        ("1,234", "1234"),
        ("3.5e3", "3500"),
        (r"2.1\times10^{-3}", "0.0021"),
        ("50%", "0.5"),
        ("50%", "50"),
        (r"50\%", "50%"),
        ("½", "0.5"),
        ("7½", "15/2"),
        (r"7\frac12", "7.5"),
        ("\uff17", "7"),
        ("x = 5", "5"),
        (r"\text{Yes}", "yes"),
        ("-1/2", r"-\frac{1}{2}"),
        ("1/2^{99}", r"\frac{1}{2^{99}}"),
        (r"$2\sqrt{3}$", r"2\sqrt{3}"),
        ("((1,2),3)", "((1.0,2),3)"),
    ],
)
def test_one_value_has_many_spellings(prediction: str, answer: str) -> None:
    assert answers_equal(prediction, answer)


@pytest.mark.parametrize(
    ("prediction", "answer"),
    [
        ("1/2^{99}", "1/2^{98}"),
        ("12:00", "1:00"),
        (r"\pm 2021", "2021"),
        ("n=2,3,4", "n=1,2,3"),
        ("[1,2)", "(1,2)"),
        ("(1,2)", "(2,1)"),
        ("{1,1}", "{1}"),
        ("(1,234)", "1234"),
        ("1,2", "1"),
        ("1/0", "2/0"),
        ("0.333", "1/3"),
        ("2", "25%"),
        ("yes", "no"),
        ("", ""),
        (" ", "$"),
    ],
)
def test_different_answers_stay_different(prediction: str, answer: str) -> None:
    assert not answers_equal(prediction, answer)


@given(answers, answers)
def test_equality_has_no_direction(left: str, right: str) -> None:
    assert answers_equal(left, right) == answers_equal(right, left)


@given(st.text(min_size=1, max_size=40).filter(str.isalnum))
def test_an_answer_equals_itself(answer: str) -> None:
    assert answers_equal(answer, answer)


@given(st.fractions(-(10**6), 10**6, max_denominator=10**4))
def test_a_canonical_number_has_its_value(number: Fraction) -> None:
    assert value_of(canonical_number(number)) == number


@given(st.fractions(max_denominator=10**4), st.fractions(max_denominator=10**4))
def test_fractions_are_equal_as_their_values_are(a: Fraction, b: Fraction) -> None:
    assert answers_equal(str(a), str(b)) == (a == b)


@pytest.mark.parametrize("exponent", [1_000_000, -1_000_000])
def test_powers_without_bound_are_compared_as_text(exponent: int) -> None:
    assert not answers_equal(f"9^{{{exponent}}}", f"9^{{{exponent - 1}}}")
    assert value_of("9^{9999}") is None
    assert value_of("0^{-1}") is None


@pytest.mark.parametrize("text", ["abc", "1.2.3", "1//2", "--1", "1/0", "e5", ""])
def test_what_is_no_number_has_no_value(text: str) -> None:
    assert value_of(text) is None
