"""Tables of what was received, and what could not be used of it."""

from skillmap.contracts.columns import BENCHMARK_ID, SOURCE_ID, count, text, texts
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
