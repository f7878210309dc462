"""Reader of the answer that a response states; it never guesses one.

An answer counts as stated when the response marks it ("ANSWER: 12", "the answer is
(B)"), when the response is one short sentence that opens or closes with an option and
names no other, or, for numbers, when its last line is an equation or a short sentence
with one number. The last marked answer wins. Two different answers in one statement,
a letter beside the text of another option, and whatever touches the end of a cut-off
response are not read.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

LETTERS = "ABCDE"

_EMPHASIS = str.maketrans("", "", "*_`")
_MARKER = re.compile(
    r"\banswer(?: would be| will be| should be| is| was)?[ \t]{0,2}[:=]?\s{0,2}",
    re.IGNORECASE,
)
# What follows a marker is read up to here, so that a text full of markers still
# takes linear time.
_STATEMENT_LENGTH = 200
_LIST_LENGTH = 2  # lines that make a bulleted list
_MARKED_LETTER = re.compile(
    r"(?:[Oo]ption |[Cc]hoice )?\(?([A-E])(?:[).:,;]|$| (?=because|since|is |-|\())"
)
_LINE_LETTER = re.compile(r"\(?([A-E])(?:[).:]|$)")
_ANOTHER_LETTER = re.compile(r"[).]?\s?(?:or|and|,|/|&)\s?\(?[A-E]\b")
_NUMBER = re.compile(
    r"(?<![\w.,/:])(-?)\$?(\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,15})(\.\d{1,9}|/[1-9]\d{0,8})?"
    r"(?![\d/\u00bc-\u00be]|[.,:]\d)"
)
_OPERATION = re.compile(r"%?\s?(?:[-+*/^]|[x\u00d7\u00f7]\s?\d)")
_UNIT_WORDS = re.compile(r"(?:%|[^\W\d]|[ .!]){0,40}")
_LIST_NUMBER = re.compile(r"(?:[Ss]tep )?\d{1,2}[.):] ")
_MOST_WORDS_AROUND_A_NUMBER = 10
_MOST_WORDS_AROUND_AN_OPTION = 16
_PUNCTUATION = " \t.!?,;:()\"'"
_WORD = re.compile(r"[^\s.!?,;:()]+")
_ARTICLE = re.compile(r"(?:- |the |an? )", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor)\b|n't\b", re.IGNORECASE)


class Reading(NamedTuple):
    """Outcome of one response.

    Attributes:
        outcome: "correct", "wrong", "unparsed", "empty" or "truncated".
        prediction: The answer that was read, or None.
        score: 1, 0, or None where no answer could be read.
    """

    outcome: str
    prediction: str | None
    score: int | None


def reading(
    response: str, *, answer: str, choices: list[str] | None, finish_reason: str
) -> Reading:
    """What a response answered, and whether that is right.

    Args:
        response: The raw text.
        answer: The gold letter, or the gold number as text.
        choices: The options, or None for a free form item.
        finish_reason: "stop", or "length" when the response was cut off.

    Returns:
        The outcome. "truncated" is a cut-off response without a readable answer;
        one that was cut off after its answer counts like any other.
    """
    if not response.strip() or _MARKER.fullmatch(response.strip()):
        return Reading("empty", None, None)
    is_cut = finish_reason == "length"
    if choices is None:
        prediction = stated_number(response, is_cut=is_cut)
        is_right = prediction is not None and Fraction(prediction) == Fraction(answer)
    else:
        prediction = stated_letter(response, choices, is_cut=is_cut)
        is_right = prediction == answer
    if prediction is None:
        return Reading("truncated" if is_cut else "unparsed", None, None)
    return Reading("correct" if is_right else "wrong", prediction, int(is_right))


def stated_letter(
    response: str, choices: list[str], *, is_cut: bool = False
) -> str | None:
    r"""Letter of the option that a response states.

    Args:
        response: The raw text.
        choices: The options, first one "A".
        is_cut: Whether the response ran into its length limit.

    Returns:
        A letter within range, or None when none is stated.

    Examples:
        >>> stated_letter("The answer is (B).", ["Lyon", "Paris"])
        'B'
        >>> stated_letter("A. Lyon\nB. Paris", ["Lyon", "Paris"]) is None
        True
    """
    text = _readable(response, is_cut=is_cut)
    for line in _marked_lines(text):
        letter = _letter_at_start(_MARKED_LETTER, line, choices)
        letter = letter or _letter_of_option(line.split(". ", 1)[0], choices)
        if letter is not None:
            return letter
    lines = _lines(text)
    n_lettered = sum(_LINE_LETTER.match(line) is not None for line in lines)
    if n_lettered == 1:
        return _letter_at_start(_LINE_LETTER, lines[0], choices)
    if n_lettered or len(lines) != 1:
        return None
    letter = _letter_of_option(lines[0], choices)
    return letter or _letter_of_named_option(lines[0], choices)


def stated_number(response: str, *, is_cut: bool = False) -> str | None:
    """Number that a response states, in plain digits.

    Args:
        response: The raw text; "$", "%", thousands commas and units are passed over.
        is_cut: Whether the response ran into its length limit.

    Returns:
        The number as text, such as "-12", "4.5" or "3/4", or None.

    Examples:
        >>> stated_number("So the answer is $1,250.00 in all.")
        '1250'
        >>> stated_number("20 - 7 = 13 dollars")
        '13'
        >>> stated_number("It is 20 or 30.") is None
        True
    """
    text = _readable(response, is_cut=is_cut)
    for line in _marked_lines(text):
        number = _result_of_equation(line) or _number_at_start(line)
        if number is not None:
            return number
    lines = _lines(text)
    if not lines:
        return None
    return _result_of_equation(lines[-1]) or _only_number(lines[-1])


def _readable(response: str, *, is_cut: bool) -> str:
    text = response.translate(_EMPHASIS).rstrip()
    if is_cut:
        # The last word may go on: "12" of "125", "B" of "Both".
        text = text[: max(text.rfind(" "), text.rfind("\n"), 0)]
    return text


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _marked_lines(text: str) -> list[str]:
    """Text after each marker up to the end of its line, last marker first.

    A marker before a bulleted list of several lines states no one answer.
    """
    ends = [match.end() for match in _MARKER.finditer(text)]
    statements = [_lines(text[end : end + _STATEMENT_LENGTH]) for end in reversed(ends)]
    return [
        lines[0]
        for lines in statements
        if lines and sum(line.startswith("- ") for line in lines[:2]) < _LIST_LENGTH
    ]


def _letter_at_start(
    pattern: re.Pattern[str], line: str, choices: list[str]
) -> str | None:
    match = pattern.match(line)
    if match is None or _ANOTHER_LETTER.match(line, match.end(1)):
        return None
    letter = match[1]
    named = _letter_of_option(line[match.end() :], choices)
    is_in_range = LETTERS.index(letter) < len(choices)
    return letter if is_in_range and named in (None, letter) else None


def _letter_of_option(text: str, choices: list[str]) -> str | None:
    said = _bare(text)
    matches = [
        letter
        for letter, choice in zip(LETTERS, choices, strict=False)
        if said and said == _bare(choice)
    ]
    return matches[0] if len(matches) == 1 else None


def _letter_of_named_option(line: str, choices: list[str]) -> str | None:
    """Letter of the only option in a sentence, if it stands at either end."""
    if len(line.split()) > _MOST_WORDS_AROUND_AN_OPTION or _NEGATION.search(line):
        return None
    said = f" {_bare(' '.join(_WORD.findall(line)))} "
    named = [
        (letter, f" {_bare(choice)} ")
        for letter, choice in zip(LETTERS, choices, strict=False)
        if f" {_bare(choice)} " in said
    ]
    if len(named) != 1:
        return None
    letter, option = named[0]
    return letter if said.startswith(option) or said.endswith(option) else None


def _bare(text: str) -> str:
    """Text of an option without case, outer punctuation and leading article."""
    text = text.strip(_PUNCTUATION)
    article = _ARTICLE.match(text)
    text = text[article.end() :] if article else text
    return text.strip(_PUNCTUATION).casefold()


def _number_at_start(line: str) -> str | None:
    match = _NUMBER.match(line)
    if match is None or _OPERATION.match(line, match.end()):
        return None
    sentence = line.split(". ", 1)[0]
    return _plain(match) if len(_numbers(sentence)) == 1 else None


def _only_number(line: str) -> str | None:
    if _LIST_NUMBER.match(line) or len(line.split()) > _MOST_WORDS_AROUND_A_NUMBER:
        return None
    numbers = _numbers(line)
    return numbers[0] if len(numbers) == 1 and "=" not in line else None


def _result_of_equation(line: str) -> str | None:
    _, equals, result = line.rpartition("=")
    result = result.strip()
    match = _NUMBER.match(result)
    if not equals or match is None:
        return None
    return _plain(match) if _UNIT_WORDS.fullmatch(result, match.end()) else None


def _numbers(line: str) -> list[str]:
    """Distinct numbers of a line, in order."""
    return list(dict.fromkeys(_plain(match) for match in _NUMBER.finditer(line)))


def _plain(match: re.Match[str]) -> str:
    sign, digits, rest = match[1], match[2].replace(",", ""), match[3] or ""
    if rest.startswith("/"):
        return f"{sign}{digits}{rest}"
    number = Decimal(f"{sign}{digits}{rest}")
    return f"{number.normalize():f}" if number else "0"
