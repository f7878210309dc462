"""Sentences of a text with their places, by one pass of a simple rule."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_END: Final = re.compile(r"[.!?]['\")\]”’]{0,3}(?=\s)|[。！？]|\n")  # noqa: RUF001
# What stands before a full stop that ends no sentence: "e.g.", "Dr.", "J.", "1.".
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|etc|dr|mr|mrs|ms|prof|st|no|fig|eq|approx)"
    r"|\b[a-z]|(?:\n|\A)\s{0,8}\d{1,3})\Z",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION: Final = 16
_N_LETTERS: Final = 3
_MARKS: Final = " \t\r\n*_`#>-•|"


class Sentence(NamedTuple):
    """A sentence, or a line without a full stop.

    Attributes:
        text: Without markup at its edges.
        start: Its first character in the whole text, from 0.
        end: The character after its last.
    """

    text: str
    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """Sentences of a text, in order.

    A sentence ends at a line's end, or at a closing mark before white space that
    follows no abbreviation. Pieces of fewer than three letters or digits, such as
    list numbers, are left out.

    Examples:
        >>> [s.text for s in sentences("Add 3.5, e.g. by hand. Then stop!")]
        ['Add 3.5, e.g. by hand.', 'Then stop!']
    """
    return [
        sentence
        for start, end in _pieces(text)
        if (sentence := _bare(text, start, end)) is not None
    ]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _END.finditer(text):
        if mark.group().startswith("."):
            before = text[max(0, mark.start() - _LONGEST_ABBREVIATION) : mark.start()]
            if _ABBREVIATION.search(before):
                continue
        yield start, mark.end()
        start = mark.end()
    yield start, len(text)


def _bare(text: str, start: int, end: int) -> Sentence | None:
    piece = text[start:end]
    kept = piece.lstrip(_MARKS)
    start += len(piece) - len(kept)
    kept = kept.rstrip(_MARKS)
    if sum(character.isalnum() for character in kept) < _N_LETTERS:
        return None
    return Sentence(kept, start, start + len(kept))
