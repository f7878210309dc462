"""Replies of a model that skillmap asked itself, as results like any other."""

from typing import Final

import polars as pl

from skillmap.calls.reply import ReplyStatus
from skillmap.contracts import raw
from skillmap.errors import InvalidInputError
from skillmap.extraction import EXTRACTOR_VERSION
from skillmap.extraction.outcomes import extract
from skillmap.items.content import with_content_hashes
from skillmap.items.matching import BenchmarkSource
from skillmap.parsing.source import (
    ITEMS_SCHEMA,
    RATIONALES_SCHEMA,
    REMARKS_SCHEMA,
    RESULTS_SCHEMA,
    SKILLS_SCHEMA,
    ParsedSource,
)

# Stands in for the imported file in the tables of results.
SOURCE_ID: Final = "model_replies"
CALL_COLUMNS: Final = tuple(column.name for column in raw.CALL_COLUMNS)

# What the reader of responses is told of a call that ended otherwise than by itself;
# None where the server's own finish reason says it.
_FINISH_REASONS: Final[dict[ReplyStatus, str]] = {
    "refused": "refusal",
    "filtered": "content_filter",
    "truncated": "length",
}
_NOT_READ: Final = ("error", "not_attempted")


def model_replies(
    items: pl.DataFrame,
    replies: pl.DataFrame,
    *,
    benchmark_id: str,
    model_id: str,
    prompt_id: str,
) -> pl.DataFrame:
    """What a model replied to each item it was asked, with the item as it was asked.

    Args:
        items: Rows of ``core.items``.
        replies: One row per call: ``item_id``, ``epoch``, ``call_key``, ``begun`` (the
            words that the prompt began the model's turn with, or ""), ``text`` and
            the columns of ``raw.model_replies`` that are about the call.
        benchmark_id: The benchmark.
        model_id: The model.
        prompt_id: The prompt.

    Returns:
        Columns of ``raw.model_replies``, by item and epoch.

    Raises:
        InvalidInputError: If a reply is about no item of ``items``.
    """
    asked = items.select("item_id", "native_id", "question", "choices", "answer")
    unknown = replies.join(asked, on="item_id", how="anti")
    if unknown.height:
        raise InvalidInputError(
            f"replies: item_id must be an item of {benchmark_id}: {unknown.height} "
            f"are not, first {unknown['item_id'][0]!r}"
        )
    return (
        replies.join(asked, on="item_id", maintain_order="left")
        .with_columns(
            benchmark_id=pl.lit(benchmark_id),
            model_id=pl.lit(model_id),
            prompt_id=pl.lit(prompt_id),
            response=pl.col("begun") + pl.col("text"),
        )
        .select(raw.MODEL_REPLIES.polars_schema.names())
        .sort("item_id", "epoch")
    )


def replies_source(replies: pl.DataFrame) -> BenchmarkSource:
    """Replies as a source of results, read by our own extractor.

    Args:
        replies: Rows of ``raw.model_replies`` of one benchmark and model.

    Returns:
        A source whose records state the question they were asked, so that items that
        have changed since show as drifted. Results have the columns of the calls
        beside the usual ones.
    """
    rows = with_content_hashes(
        replies.with_columns(
            position=pl.int_range(pl.len(), dtype=pl.Int64),
            benchmark=pl.col("benchmark_id"),
            native_id_type=pl.lit(None, pl.String),
            category=pl.lit(None, pl.String),
            origin=pl.lit(None, pl.String),
            has_replaced_characters=pl.lit(value=False),
        )
    )
    results = rows.with_columns(
        _read(replies).get_columns(),
        model=pl.col("model_id"),
        expects_prediction=pl.lit(value=True),
    )
    return BenchmarkSource(
        source_id=SOURCE_ID,
        parsed=ParsedSource(
            format=SOURCE_ID,
            importer_version=EXTRACTOR_VERSION,
            n_records=rows.height,
            items=rows.select(ITEMS_SCHEMA.names()),
            results=results.select(*RESULTS_SCHEMA.names(), *CALL_COLUMNS),
            skills=SKILLS_SCHEMA.to_frame(),
            rationales=RATIONALES_SCHEMA.to_frame(),
            rejects=REMARKS_SCHEMA.to_frame(),
            warnings=REMARKS_SCHEMA.to_frame(),
        ),
        match="id",
    )


def with_call_columns(results: pl.DataFrame) -> pl.DataFrame:
    """``results`` with the columns of the calls last, null where a source has none."""
    known = results.with_columns(
        pl.lit(None, raw.MODEL_REPLIES.polars_schema[name]).alias(name)
        for name in CALL_COLUMNS
        if name not in results.columns
    )
    # In one order, so that imported and asked results stack.
    return known.select(pl.exclude(CALL_COLUMNS), *CALL_COLUMNS)


def _read(replies: pl.DataFrame) -> pl.DataFrame:
    """Prediction, outcome and score of each reply."""
    is_read = ~pl.col("status").is_in(_NOT_READ)
    finish_reason = pl.col("status").replace_strict(
        _FINISH_REASONS, default=pl.col("finish_reason"), return_dtype=pl.String
    )
    said = pl.when(is_read).then(pl.col("response").fill_null(""))
    asked = replies.select(
        "choices", "answer", response=said, finish_reason=finish_reason
    )
    outcome = pl.when(is_read).then("outcome").otherwise("status")
    return (
        extract(asked)
        .with_columns(replies["status"])
        .select("prediction", outcome=outcome)
        .with_columns(
            score=pl.when(pl.col("outcome") == "correct")
            .then(1.0)
            .when(pl.col("outcome") == "wrong")
            .then(0.0)
        )
    )
