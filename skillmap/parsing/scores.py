"""What sources write for a score, read as a number in [0, 1] or as no score at all."""

import math
import re
from functools import lru_cache
from typing import NamedTuple

from skillmap.parsing.values import is_array, is_object

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")

# Spellings of "no score" by table libraries and evaluation tools, in lower case.
_MISSING = frozenset({"", "n/a", "na", "nan", "null", "none", "-", "<na>"})

# The letters are inspect's. Its "N", no answer, is a response that was never made.
_WORDS: dict[str, tuple[float | None, str | None]] = {
    "c": (1.0, "correct"),
    "i": (0.0, "wrong"),
    "p": (0.5, "partial"),
    "n": (None, "not_attempted"),
    "correct": (1.0, "correct"),
    "incorrect": (0.0, "wrong"),
    "wrong": (0.0, "wrong"),
    "pass": (1.0, None),
    "passed": (1.0, None),
    "fail": (0.0, None),
    "failed": (0.0, None),
    "true": (1.0, None),
    "false": (0.0, None),
    "yes": (1.0, None),
    "no": (0.0, None),
}

_OUT_OF_RANGE = (
    "is outside [0, 1]; divide a percentage by 100, or a rating by its maximum"
)
_SEVERAL = "holds several numbers; keep one column per score and choose one"
_UNKNOWN = "is neither a number nor a known word"


class Score(NamedTuple):
    """A score as read: a value, or an outcome that says why there is none, or a fault.

    Attributes:
        value: In [0, 1]; null for a missing score.
        outcome: Only if the source states one, or 'unscored' for a missing score.
        fault: The rule that the source's value breaks; null if it can be used.
    """

    value: float | None
    outcome: str | None
    fault: str | None


_UNSCORED = Score(None, "unscored", None)


def read_score(value: object) -> Score:
    """A source's score, whatever its type.

    Missing is not zero: null, NaN, "N/A" and blank give no score, and so does a list
    or an object with such a value in it, since a mean over the rest would pass for a
    measurement of the whole.

    Args:
        value: A number, boolean or text; or a list or an object of them.

    Returns:
        The score. A list or an object counts when it holds exactly one value.

    Examples:
        >>> read_score(True).value, read_score("I").outcome, read_score("N/A").value
        (1.0, 'wrong', None)
        >>> read_score({"value": [float("nan"), 1.0]})
        Score(value=None, outcome='unscored', fault=None)
    """
    if not (is_object(value) or is_array(value)):
        return _plain_score(value)
    leaves = _leaves(value)
    scores = [_plain_score(leaf) for leaf in leaves]
    if not scores or any(score == _UNSCORED for score in scores):
        return _UNSCORED
    return scores[0] if len(scores) == 1 else Score(None, None, _SEVERAL)


def _plain_score(value: object) -> Score:
    if isinstance(value, str):
        return _text_score(value.strip().lower())
    if value is None:
        return _UNSCORED
    if isinstance(value, int | float):
        return _number_score(value)
    return Score(None, None, _UNKNOWN)


# A file has few spellings and many rows.
@lru_cache(maxsize=1024)
def _text_score(text: str) -> Score:
    if text in _MISSING:
        return _UNSCORED
    if text in _WORDS:
        return Score(*_WORDS[text], None)
    if _NUMBER.fullmatch(text):
        return _number_score(float(text))
    return Score(None, None, _UNKNOWN)


def _number_score(number: float) -> Score:
    if 0 <= number <= 1:
        return Score(float(number), None, None)
    # An integer may be too large to ask whether it is NaN.
    if isinstance(number, float) and math.isnan(number):
        return _UNSCORED
    return Score(None, None, _OUT_OF_RANGE)


def _leaves(value: object) -> list[object]:
    """The values inside lists and objects, in order, however deep."""
    leaves: list[object] = []
    pending = [value]
    while pending:
        current = pending.pop()
        if is_object(current):
            pending.extend(reversed(list(current.values())))
        elif is_array(current):
            pending.extend(reversed(current))
        else:
            leaves.append(current)
    return leaves
