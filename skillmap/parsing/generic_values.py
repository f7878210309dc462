"""Cells of the generic form, one column at a time: texts, choices, phrases, ids."""

import ast
import io
import json
import tokenize
import warnings
from itertools import pairwise
from typing import NamedTuple, cast

from skillmap.parsing.source import OUTCOMES
from skillmap.parsing.values import is_array, is_nan, is_object

_OUTCOME_WORDS = {**{outcome: outcome for outcome in OUTCOMES}, "incorrect": "wrong"}

# A longer text is not a list of options; parsing it as Python would take long.
_MAX_LIST_CHARACTERS = 100_000


class Cell(NamedTuple):
    """A value as read, or the rule it breaks."""

    value: object
    fault: str | None = None


def read_text(value: object) -> Cell:
    """A text; numbers and booleans as JSON writes them, a list of one as its entry.

    Examples:
        >>> read_text(3).value, read_text(["x"]).value, read_text(float("nan")).value
        ('3', 'x', None)
    """
    if isinstance(value, str):
        return Cell(value)
    if value is None or is_nan(value):
        return Cell(None)
    if isinstance(value, bool | int | float):
        return Cell(json.dumps(value))
    if is_array(value) and len(value) == 1 and isinstance(value[0], str):
        return Cell(value[0])
    return Cell(None, "is neither text nor a number")


def read_epoch(value: object) -> Cell:
    """A count of repetitions, from 0; missing is 0."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or value == "" or is_nan(value):
        return Cell(0)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return Cell(value)
    return Cell(None, "is not a whole number from 0")


def read_outcome(value: object) -> Cell:
    """One of the outcomes, in any case and with spaces or hyphens for underscores."""
    if value is None or is_nan(value) or value == "":
        return Cell(None)
    word = str(value).strip().lower().replace(" ", "_").replace("-", "_")
    if word in _OUTCOME_WORDS:
        return Cell(_OUTCOME_WORDS[word])
    return Cell(None, f"is not one of {', '.join(OUTCOMES)}")


def read_choices(value: object) -> Cell:
    """Options as a list of texts; no options as an empty list.

    Args:
        value: A list; an object with such a list under ``text``, as some data sets
            have it; or the text of a JSON or Python list.
    """
    if isinstance(value, str):
        value = _list_from_text(value)
    if is_object(value) and is_array(value.get("text")):
        value = value["text"]
    if value is None or is_nan(value):
        return Cell([])
    if not is_array(value):
        return Cell(None, "is not a list of texts, or a text that spells one")
    texts = [read_text(choice) for choice in value]
    if any(text.fault or text.value is None for text in texts):
        return Cell(None, "has an option that is not a text")
    return Cell([text.value for text in texts])


def read_phrases(value: object) -> Cell:
    """Skill phrases as a list; a text is one phrase, commas and all, unless a list."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        spelt = _list_from_text(value)
        value = spelt if is_array(spelt) else value
    if value is None or is_nan(value) or value == "":
        return Cell([])
    phrases = value if is_array(value) else [value]
    if not all(isinstance(phrase, str) and phrase.strip() for phrase in phrases):
        return Cell(None, "has a phrase that is blank or not text")
    return Cell(phrases)


def _list_from_text(text: str) -> object:
    """The list that a text spells; null for a blank text, the text if it is no list."""
    stripped = text.strip()
    if not stripped:
        return None
    if not stripped.startswith(("[", "{")) or len(stripped) > _MAX_LIST_CHARACTERS:
        return text
    try:
        decoded: object = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return _python_list(stripped, text)
    return decoded


def _python_list(stripped: str, text: str) -> object:
    try:
        # "['a' 'b']" is how NumPy prints two texts, and Python for the one text "ab".
        if _has_adjacent_texts(stripped):
            return text
        with warnings.catch_warnings():
            # A backslash before an ordinary letter, as in formulas, is only a warning.
            warnings.simplefilter("ignore")
            decoded: object = ast.literal_eval(stripped)
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        return text
    if isinstance(decoded, tuple):
        return list(cast("tuple[object, ...]", decoded))
    return decoded


def _has_adjacent_texts(source: str) -> bool:
    kinds = [
        token.type
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in {tokenize.NL, tokenize.NEWLINE}
    ]
    return (tokenize.STRING, tokenize.STRING) in pairwise(kinds)
