"""Responses for tests, and what an extractor makes of each."""

import polars as pl

from skillmap.extraction.outcomes import extract

Read = tuple[str | None, str, str | None]

TEN = [f"option number {word}" for word in ("one", "two", "three", "four", "five")]
TEN += ["option number six", "nine hundred", "a thousand", "2.50 m", "All of the above"]


def make_responses(*said: str | None, **columns: object) -> pl.DataFrame:
    """Responses to one ten-option item whose answer is "B", unless told otherwise."""
    defaults: dict[str, object] = {
        "choices": TEN,
        "answer": "B",
        "finish_reason": None,
    }
    shared = defaults | columns
    n = len(said)
    return pl.DataFrame(
        {"response": list(said)}
        | {name: [value] * n for name, value in shared.items()},
        schema={
            "response": pl.String,
            "choices": pl.List(pl.String),
            "answer": pl.String,
            "finish_reason": pl.String,
        },
    )


def read(said: str | None, **columns: object) -> Read:
    """Prediction, outcome and method of one response."""
    prediction, outcome, method = extract(make_responses(said, **columns)).row(0)
    return prediction, outcome, method


def letter(said: str, **columns: object) -> str | None:
    return read(said, **columns)[0]


def value(said: str, answer: str = "12") -> str | None:
    """The value that a response to an item without options states."""
    return read(said, choices=[], answer=answer)[0]


def values(said: list[str], answer: str = "12") -> list[str | None]:
    """Values of many responses, read at once."""
    read = extract(make_responses(*said, choices=[], answer=answer))
    return read["prediction"].to_list()
