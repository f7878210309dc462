"""Replies of three stages for a small set of planted probes."""

import json

import polars as pl

from skillmap.calls import Parameters, Reply
from skillmap.calls.reply import ReplyStatus
from skillmap.prompting.item_calls import Asked

ASKED = Asked("tested", "served", Parameters(max_tokens=50, temperature=0.7))
QUESTIONS = {
    "claim": "It is ten.",
    "q1": "Is it ten?",
    "q2": "Is it nine?",
    "q3": "How much is it?",
}


def spans_of(n_skills: int = 2, n_items: int = 3) -> pl.DataFrame:
    rows = [
        (f"skill:{s}", f"skill {s}", f"b:{i}", f"step of item {i}")
        for s in range(n_skills)
        for i in range(n_items)
    ]
    columns = ["skill_id", "skill_name", "item_id", "span"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def items_of(n_items: int = 3) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "item_id": [f"b:{i}" for i in range(n_items)],
            "question": [f"Background {i}?" for i in range(n_items)],
            "choices": [["one", "two"]] * n_items,
            "answer": ["REFERENCE"] * n_items,
        }
    )


def reply(text: str | None, status: ReplyStatus = "answered") -> Reply:
    return Reply("key", status, text)


def made(**changed: str) -> Reply:
    return reply(json.dumps({**QUESTIONS, **changed}))
