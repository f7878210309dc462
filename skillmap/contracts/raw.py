"""Tables of what was received, and what could not be used of it."""

from skillmap.calls.reply import REPLY_STATUSES
from skillmap.contracts.columns import (
    ANNOTATOR,
    BENCHMARK_ID,
    EPOCH,
    ITEM_ID,
    MODEL_ID,
    SOURCE_ID,
    amount,
    count,
    one_of,
    text,
    texts,
)
from skillmap.contracts.table import Column, Table

SOURCES = Table(
    schema="raw",
    name="sources",
    grain="file imported for the benchmark",
    description="Where every row comes from: the files imported, with their hash "
    "and what was found in them.",
    partitions="benchmark",
    primary_key=("benchmark_id", "source_id"),
    columns=(
        BENCHMARK_ID,
        SOURCE_ID,
        text("uri", "Where the file is."),
        text("sha256", "SHA-256 of the file's bytes, in hexadecimal."),
        text("format", "The format that was read, found by content or declared."),
        text("importer_version", "Version of the reader of that format."),
        texts("model_ids", "Models whose results the file holds, sorted."),
        count("n_records", "Records met in the whole file, good or bad."),
        count("n_items", "Items of this benchmark in the file."),
        count("n_results", "Results for this benchmark in the file."),
        count("n_skill_phrases", "Skill phrases for this benchmark in the file."),
        count("n_rationales", "Rationales for this benchmark in the file."),
        count("n_rejected", "Bad records of the file, listed in raw.rejects."),
        count(
            "n_replaced_characters",
            "Records with characters that are not text, replaced by U+FFFD.",
        ),
    ),
)

REJECTS = Table(
    schema="raw",
    name="rejects",
    grain="record that could not be used, with the reason",
    description="Bad records, kept apart and counted; the good ones of the same file "
    "are imported.",
    partitions="benchmark",
    primary_key=("benchmark_id", "source_id", "reject_index"),
    columns=(
        BENCHMARK_ID,
        SOURCE_ID,
        count("reject_index", "Number of the reject within its source, from 0."),
        Column(
            name="stage",
            type="varchar",
            description="Where it failed: when the file was read, or when its record "
            "was matched to an item.",
            allowed=("read", "match"),
        ),
        Column(
            name="record_position",
            type="bigint",
            description="Number of the record in the file, from 0; unknown where "
            "the fault is not in one record.",
            nullable=True,
            minimum=0,
        ),
        text("reason", "The rule that the record breaks."),
        text("value", "The offending value, cut to 200 characters."),
    ),
)

# What is known of a call that was made, whatever it was for.
CALL_COLUMNS = (
    text("finish_reason", "Why the text ended, as the server says.", nullable=True),
    Column(
        name="n_prompt_tokens",
        type="bigint",
        description="Tokens of the prompt, as the server counts them.",
        nullable=True,
        minimum=0,
    ),
    Column(
        name="n_completion_tokens",
        type="bigint",
        description="Tokens written, reasoning included, as the server counts them.",
        nullable=True,
        minimum=0,
    ),
    amount("latency_seconds", "From request to answer, in seconds.", nullable=True),
    amount(
        "cost_usd", "In USD, by the price table; unknown without prices.", nullable=True
    ),
)
_CALLED = (
    text("prompt_id", "The prompt: its name and a hash of its content."),
    text(
        "call_key",
        "Key of the call in the call log; unknown where nothing could be asked.",
        nullable=True,
    ),
    one_of("status", "What became of the call.", REPLY_STATUSES),
)
_REASONING = text(
    "reasoning", "Thought that the server kept apart from the text.", nullable=True
)
_ERROR = text("error", "Why there is no answer.", nullable=True)

MODEL_REPLIES = Table(
    schema="raw",
    name="model_replies",
    grain="item and epoch that a model was asked",
    description="What a configured model answered when skillmap asked it the items of "
    "the benchmark, with the question as it was asked.",
    partitions="benchmark_model",
    primary_key=("model_id", "item_id", "epoch"),
    keyed_in_duckdb=False,
    published_as="view",
    columns=(
        BENCHMARK_ID,
        MODEL_ID,
        ITEM_ID,
        text("native_id", "The id the benchmark's authors gave, as text."),
        EPOCH,
        *_CALLED,
        text(
            "response",
            "The model's turn, with the words that the prompt began it with; unknown "
            "where there is none.",
            nullable=True,
        ),
        _REASONING,
        *CALL_COLUMNS,
        _ERROR,
        text(
            "question",
            "The question as it was asked; unknown without one.",
            nullable=True,
        ),
        texts("choices", "The options as they were asked."),
        text("answer", "The reference answer at that time.", nullable=True),
    ),
)

ANNOTATOR_REPLIES = Table(
    schema="raw",
    name="annotator_replies",
    grain="item and annotator that was asked",
    description="What a configured annotator wrote about each item of the benchmark.",
    partitions="benchmark",
    primary_key=("item_id", "annotator"),
    keyed_in_duckdb=False,
    published_as="view",
    columns=(
        BENCHMARK_ID,
        ITEM_ID,
        ANNOTATOR,
        *_CALLED,
        text("reply", "The annotator's text.", nullable=True),
        _REASONING,
        *CALL_COLUMNS,
        _ERROR,
    ),
)
