r"""Exact values of written numbers, such as "3.5e3", "1/2", ``\frac{9}{2}`` or "7½"."""

import re
from fractions import Fraction

_VULGAR = [
    *(("½", "1/2"), ("⅓", "1/3"), ("⅔", "2/3"), ("¼", "1/4"), ("¾", "3/4")),
    *(("⅕", "1/5"), ("⅖", "2/5"), ("⅗", "3/5"), ("⅘", "4/5"), ("⅙", "1/6")),
    *(("⅚", "5/6"), ("⅛", "1/8"), ("⅜", "3/8"), ("⅝", "5/8"), ("⅞", "7/8")),
]
_FIRST_FULL_WIDTH = 0xFF01
_OTHER_SIGNS = {"\u2212": "-", "\u2044": "/", "\u3000": " "}
FULL_WIDTH = {
    **{chr(_FIRST_FULL_WIDTH + code): chr(0x21 + code) for code in range(94)},
    **_OTHER_SIGNS,
}
"""Full-width and typographic signs that have a plain ASCII form."""
VULGAR_FRACTIONS = {sign: f" {value}" for sign, value in _VULGAR}
"""Signs that stand for a number, with a space that parts them from a whole number."""

_TRANSLATION = str.maketrans({**FULL_WIDTH, **VULGAR_FRACTIONS})
_DIGITS = r"\d{1,60}(?:\.\d{0,60})?|\.\d{1,60}"
_NUMBER = re.compile(rf"([-+]?)({_DIGITS})(?:e([-+]?\d{{1,3}}))?(%?)", re.ASCII)
_MIXED = re.compile(r"([-+]?)(\d{1,15})[ ]{1,3}(\d{1,9}/\d{1,9})", re.ASCII)
_TEN_POWER = re.compile(
    rf"([-+]?(?:{_DIGITS}))(?:×|\\times|\*|x)10\^(?:\{{([-+]?\d{{1,3}})\}}|([-+]?\d{{1,3}}))",
    re.ASCII,
)
_PART = r"(?:[^/{}]|\{[^/{}]{0,20}\}){1,80}"
_FRACTION = re.compile(
    rf"([-+]?)(?:\\[dt]?frac\{{({_PART})\}}\{{({_PART})\}}|({_PART})/({_PART}))"
)
_POWER = re.compile(r"(\d{1,9})\^(?:\{(-?\d{1,4})\}|(-?\d{1,4}))", re.ASCII)
# Enough for any answer, and within what Python turns into text.
_MOST_DIGITS = 1_500
_MIXED_LATEX = re.compile(
    r"([-+]?)(\d{1,15})(\\[dt]?frac\{\d{1,9}\}\{\d{1,9}\})", re.ASCII
)


def plain_arithmetic(text: str) -> str:
    """Text with ASCII digits and signs; a mixed number becomes one fraction.

    Examples:
        >>> plain_arithmetic("７½")
        '7.5'
    """
    text = text.translate(_TRANSLATION).strip()
    mixed = _MIXED.fullmatch(text)
    if mixed is None:
        return text
    total = _mixed_value(mixed[1], mixed[2], value_of(mixed[3]))
    return text if total is None else canonical_number(total)


def value_of(text: str) -> Fraction | None:
    r"""Exact value of a number, a fraction or a power, written without spaces.

    Args:
        text: Such as "-2", ".5", "3.5e3", "2.1\times10^{-3}", "1/2^{99}" or "20%".

    Returns:
        The value; None for anything else, for a division by zero, and for numbers of
        more than some hundred digits.

    Examples:
        >>> value_of("3.5e3"), value_of(r"-\frac{1}{2}"), value_of("12:00")
        (Fraction(3500, 1), Fraction(-1, 2), None)
    """
    simple = _simple_value(text)
    if simple is not None:
        return simple
    mixed = _MIXED_LATEX.fullmatch(text)
    if mixed is not None:
        return _mixed_value(mixed[1], mixed[2], value_of(mixed[3]))
    fraction = _FRACTION.fullmatch(text)
    if fraction is None:
        return None
    above = _simple_value(_unwrapped(fraction[2] or fraction[4]))
    below = _simple_value(_unwrapped(fraction[3] or fraction[5]))
    if above is None or not below:
        return None
    return -above / below if fraction[1] == "-" else above / below


def canonical_number(value: Fraction) -> str:
    """Shortest plain spelling of a value: an integer, a decimal or a fraction.

    Examples:
        >>> [canonical_number(Fraction(n, 8)) for n in (16, 12)]
        ['2', '1.5']
        >>> canonical_number(Fraction(1, 3))
        '1/3'
    """
    if value.denominator == 1:
        return str(value.numerator)
    places = _decimal_places(value.denominator)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(
        places + 1
    )
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _simple_value(text: str) -> Fraction | None:
    number = _NUMBER.fullmatch(text)
    if number is not None:
        digits = number[2].rstrip(".")
        scaled = Fraction(f"{number[1]}{digits}e{number[3] or 0}")
        return scaled / 100 if number[4] else scaled
    power = _POWER.fullmatch(text)
    if power is not None:
        return _power_value(int(power[1]), int(power[2] or power[3]))
    scaled_power = _TEN_POWER.fullmatch(text)
    if scaled_power is None:
        return None
    exponent = int(scaled_power[2] or scaled_power[3])
    return Fraction(scaled_power[1].rstrip(".")) * Fraction(10) ** exponent


def _power_value(base: int, exponent: int) -> Fraction | None:
    is_long = len(str(base)) * abs(exponent) > _MOST_DIGITS
    if is_long or (base == 0 and exponent < 0):
        return None
    return Fraction(base) ** exponent


def _unwrapped(text: str) -> str:
    is_wrapped = text.startswith("(") and text.endswith(")")
    return text[1:-1] if is_wrapped else text


def _mixed_value(sign: str, whole: str, part: Fraction | None) -> Fraction | None:
    if part is None:
        return None
    total = int(whole) + part
    return -total if sign == "-" else total


def _decimal_places(denominator: int) -> int | None:
    """Digits after the point that a value with this denominator needs, if finite."""
    twos = fives = 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    return max(twos, fives) if denominator == 1 else None
