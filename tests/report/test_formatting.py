import math

from hypothesis import given
from hypothesis import strategies as st

from skillmap.report.formatting import (
    MISSING,
    counted,
    cut,
    estimate_text,
    fraction_text,
    interval_text,
    not_shown,
    signed_text,
)

fractions = st.floats(0, 1)
differences = st.floats(-1, 1)


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


@given(fractions)
def test_a_fraction_is_read_back_to_three_decimals(value: float) -> None:
    text = fraction_text(value)

    assert abs(number(text) - value) <= 0.0005 + 1e-12


@given(differences)
def test_a_difference_keeps_its_sign_and_its_value(value: float) -> None:
    text = signed_text(value)

    assert abs(number(text) - value) <= 0.0005 + 1e-12
    assert ("+" in text, "\N{MINUS SIGN}" in text) == (
        number(text) > 0,
        number(text) < 0,
    )


def test_what_is_missing_is_a_dash_and_never_0() -> None:
    shown = [
        fraction_text(None),
        fraction_text(math.nan),
        signed_text(math.nan),
        interval_text(None, 0.5, is_signed=False),
        estimate_text(math.nan, 0.0, 1.0, is_signed=True),
    ]

    assert shown == [MISSING] * 5


def test_a_difference_that_rounds_to_0_has_no_sign() -> None:
    assert signed_text(-0.0004) == signed_text(0.0004) == "0.000"


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_is_one_short_line(text: str, limit: int) -> None:
    short = cut(text, limit)

    assert len(short) <= limit
    assert len(short.splitlines()) <= 1


def test_a_short_text_is_not_cut() -> None:
    assert cut("long division", 13) == "long division"
    assert cut("long division", 12) == "long divisi…"


def test_one_thing_is_in_the_singular() -> None:
    assert counted(1, "model") == "1 model"
    assert counted(0, "model") == "0 models"


def test_nothing_is_said_of_what_is_shown_in_full() -> None:
    assert not_shown(3, 3, "slices") == ""
    assert not_shown(40, 41, "slices") == "40 of 41 slices shown, 1 not shown."
