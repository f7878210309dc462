"""Replies of the annotators that skillmap asked itself, as rows of the tables."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from skillmap.annotation.replies import read_annotations
from skillmap.calls import Reply
from skillmap.contracts import core, raw

# Stands in for the imported file in the tables of rationales.
SOURCE_ID: Final = "annotator_replies"


def annotator_replies(
    replies: pl.DataFrame, *, benchmark_id: str, annotator: str, prompt_id: str
) -> pl.DataFrame:
    """What an annotator replied about each item.

    Args:
        replies: One row per call: ``item_id``, ``call_key``, ``text`` and the columns
            of ``raw.annotator_replies`` that are about the call.
        benchmark_id: The benchmark.
        annotator: Who was asked.
        prompt_id: The prompt.

    Returns:
        Columns of ``raw.annotator_replies``, by item.
    """
    return (
        replies.rename({"text": "reply"})
        .with_columns(
            benchmark_id=pl.lit(benchmark_id),
            annotator=pl.lit(annotator),
            prompt_id=pl.lit(prompt_id),
        )
        .select(raw.ANNOTATOR_REPLIES.polars_schema.names())
        .sort("item_id")
    )


def asked_rationales(replies: pl.DataFrame) -> pl.DataFrame:
    """Rationales in the replies of annotators.

    Args:
        replies: Rows of ``raw.annotator_replies`` of one benchmark.

    Returns:
        Columns of ``core.rationales``, by item and annotator: one row for each reply
        that says anything. Reading its text again gives the same skills.
    """
    read = [core.RATIONALES.empty()]
    for (annotator,), rows in replies.sort("item_id").group_by(
        "annotator", maintain_order=True
    ):
        found = read_annotations(
            rows.select("item_id"), _replies(rows), annotator=str(annotator)
        )
        read.append(
            found.rationales.with_columns(
                benchmark_id=pl.lit(replies["benchmark_id"][0]),
                rationale_id=pl.format("{}#{}", "item_id", "annotator"),
                source_id=pl.lit(SOURCE_ID),
            ).select(read[0].columns)
        )
    return pl.concat(read).sort("item_id", "annotator")


def _replies(rows: pl.DataFrame) -> Iterator[tuple[str, Reply]]:
    for row in rows.iter_rows(named=True):
        reply = Reply(
            row["call_key"] or "",
            row["status"],
            text=row["reply"],
            finish_reason=row["finish_reason"],
            error=row["error"],
        )
        yield row["item_id"], reply
