r"""Whether two answers are the same, however they are written.

Numbers are compared exactly, as fractions: 0.5, 1/2, ``\frac{1}{2}`` and 50 % are
one, and 1/2^99 is not 1/2^98. Tuples and intervals are compared part by part, sets
and bare lists without order. What is not understood is compared as text, without
case, spaces and LaTeX fonts; so nothing is equal only because a part of it could not
be read.
"""

import re
from collections import Counter
from fractions import Fraction
from typing import TypeAlias

from skillmap.extraction.arithmetic import plain_arithmetic, value_of

# Longer answers are compared as text: no number or tuple is that long.
_LONGEST_VALUE = 1_000
_DEEPEST = 20

_FONT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox)\s{0,3}\{([^{}]{0,200})\}")
_LATEX_NAMES = re.compile(r"\\(?:left|right|displaystyle|textstyle)(?![a-zA-Z])")
_NAMED = re.compile(r"[a-zA-Z]\s{0,3}=(?!=)")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_UNBRACED_FRACTION = re.compile(r"\\[dt]?frac\s{0,3}(\d)\s{0,3}(\d)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_Value: TypeAlias = "Fraction | str | tuple[str, object]"


def answers_equal(prediction: str, answer: str) -> bool:
    r"""Whether a prediction says the same as the gold answer.

    A per cent sign on one side only is read both ways: 50% is 0.5, and it is 50 where
    the question asked for per cent. A currency sign, thousands commas and "x =" in
    front say nothing.

    Args:
        prediction: An answer in plain text or LaTeX.
        answer: The other one; the order does not matter.

    Returns:
        Whether they are the same value, or the same text. Two blank texts are not
        answers, so they are not equal.

    Examples:
        >>> answers_equal(r"\frac12", "0.5"), answers_equal("(1, 4.5)", r"(1,\frac92)")
        (True, True)
        >>> answers_equal("12:00", "1:00"), answers_equal("1/2^{99}", "1/2^{98}")
        (False, False)
    """
    left, right = normal_answer(prediction), normal_answer(answer)
    if not left or not right:
        return False
    if left == right:
        return True
    if max(len(left), len(right)) > _LONGEST_VALUE:
        return False
    left_bare, right_bare = left.removesuffix("%"), right.removesuffix("%")
    if left_bare == right_bare:
        return True
    return _values_equal(left, right) or (
        left.endswith("%") != right.endswith("%")
        and _values_equal(left_bare, right_bare)
    )


def _values_equal(left: str, right: str) -> bool:
    return _value(left, _DEEPEST) == _value(right, _DEEPEST)


def normal_answer(text: str) -> str:
    r"""One spelling of an answer, without what has no meaning.

    Examples:
        >>> normal_answer(r"$x = \dfrac12$"), normal_answer("1 250 €")
        ('\\frac{1}{2}', '1250')
    """
    text = plain_arithmetic(text.strip().strip("$€£").strip())
    text = _LATEX_NAMES.sub("", _FONT.sub(r"\1", text))
    text = _UNBRACED_FRACTION.sub(r"\\frac{\1}{\2}", text)
    text = text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    text = text.replace("{,}", ",")
    for mark in ("\\$", "$", "\\!", "\\,", "\\;", "\\ ", "\\(", "\\)", "^\\circ"):
        text = text.replace(mark, "")
    text = text.replace("\\%", "%").replace("\\{", "{").replace("\\}", "}")
    named = _NAMED.match(text)
    text = text[named.end() :] if named else text
    text = "".join(text.split()).rstrip(".").casefold()
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _value(text: str, depth: int) -> _Value:
    """Meaning of a normal text: a number, a collection of values, or the text."""
    if depth == 0:
        return text
    number = value_of(text)
    if number is not None:
        return number
    collection = _collection(text)
    if collection is None:
        return text
    kind, parts = collection
    values = tuple(_value(part, depth - 1) for part in parts)
    if kind in {"{}", ""}:
        return "set", frozenset(Counter(values).items())
    return kind, values


def _collection(text: str) -> tuple[str, list[str]] | None:
    """Brackets and parts of a tuple, an interval, a set or a list without brackets."""
    is_bracketed = text[:1] in _CLOSING and text[-1:] in set(_CLOSING.values())
    if is_bracketed and _encloses(text):
        parts = _parts(text[1:-1])
        kind = text[0] + text[-1]
    else:
        parts, kind = _parts(text), ""
    if any(not part for part in parts) or (kind != "{}" and len(parts) == 1):
        return None
    return kind, parts


def _encloses(text: str) -> bool:
    """Whether the first bracket is closed by the last character only."""
    depth = 0
    for place, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return place == len(text) - 1
    return False


def _parts(text: str) -> list[str]:
    """The text cut at the commas that stand in no bracket."""
    parts, depth, start = list[str](), 0, 0
    for place, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
