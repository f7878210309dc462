"""The starter suite as calls, and the responses that were recorded to them."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from scripts.build_starter_items import BENCHMARKS, ITEMS
from scripts.record_starter_responses import RESULTS, Mode
from skillmap.calls import Call, Parameters, Reply
from skillmap.prompting.item_calls import Asked, item_calls

_ITEM_COLUMNS = {
    "item_id": pl.String(),
    "question": pl.String(),
    "choices": pl.List(pl.String()),
}


def starter_calls(
    mode: Mode, *, served_name: str, benchmarks: Sequence[str] = BENCHMARKS
) -> list[Call]:
    """One call for each item, each about its item's id."""
    asked = Asked(mode.model, served_name, Parameters(mode.max_new_tokens))
    texts = [(ITEMS / f"{name}.jsonl").read_text("utf-8") for name in benchmarks]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    items = pl.DataFrame(rows, schema=_ITEM_COLUMNS)
    return list(item_calls(items, mode.prompt, asked))


def recorded_responses(mode: Mode) -> dict[str, dict[str, Any]]:
    """Recorded rows by item's id, which no two benchmarks share."""
    lines = (RESULTS / f"{mode.model}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["item_id"]: row for row in rows}


def is_as_recorded(call: Call, reply: Reply, row: dict[str, Any]) -> bool:
    """Whether a reply is, letter by letter and by its end, the recorded response."""
    last = call.messages[-1]
    begun = last.content if last.role == "assistant" else ""
    said = (begun + (reply.text or ""), reply.finish_reason)
    return said == (row["response"], row["finish_reason"])
