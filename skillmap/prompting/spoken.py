"""What a reply says aloud, and what became of it once it is looked at."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from skillmap.calls import Reply, ReplyStatus
from skillmap.extraction.outcomes import extract

_CLOSED: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPENED: Final = re.compile(r"<think(?:ing)?>", re.IGNORECASE)


class Spoken(NamedTuple):
    """A reply's text without its thought.

    Attributes:
        text: What stands after the last closed thought and before one left open.
        is_in_thought: Whether the text ends in a thought that is never closed.
    """

    text: str
    is_in_thought: bool


def spoken(text: str | None) -> Spoken:
    """The part of a reply that is meant to be read.

    Examples:
        >>> spoken("<think>so it is B</think>ANSWER: B")
        Spoken(text='ANSWER: B', is_in_thought=False)
        >>> spoken("<think>so it").is_in_thought
        True
    """
    text = text or ""
    start = max((match.end() for match in _CLOSED.finditer(text)), default=0)
    opened = _OPENED.search(text, start)
    return Spoken(text[start : opened.start() if opened else None], opened is not None)


def status_of(reply: Reply) -> ReplyStatus:
    """What became of a reply, its thought left aside.

    A reply that is all thought gave no answer: "truncated" if the thought is left
    open, else "empty". Every other status is the server's.
    """
    if reply.status != "answered":
        return reply.status
    said = spoken(reply.text)
    if said.text.strip():
        return "answered"
    return "truncated" if said.is_in_thought else "empty"


def refusals_in_words(texts: Sequence[str]) -> list[bool]:
    """Whether each text is a refusal: opens with one and states no answer.

    Examples:
        >>> refusals_in_words(["I'm sorry, but I can't help with that.", "5"])
        [True, False]
    """
    responses = pl.DataFrame(
        {"response": list(texts)}, schema={"response": pl.String}
    ).with_columns(
        choices=pl.lit(None, dtype=pl.List(pl.String)),
        answer=pl.lit(None, dtype=pl.String),
        finish_reason=pl.lit(None, dtype=pl.String),
    )
    return (extract(responses)["outcome"] == "refusal").to_list()
