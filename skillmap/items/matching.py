"""Which item each record of a source is about.

A source names its items in one of four ways, and each record ends either with the
native id of an item or with the reason why it has none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from skillmap.errors import ParseError
from skillmap.parsing.source import ParsedSource

MatchMethod = Literal["id", "position", "question", "own"]

# One row per record of a source.
KEYS_SCHEMA = pl.Schema(
    {
        "position": pl.Int64(),
        "native_id": pl.String(),
        "native_id_type": pl.String(),
        "item_position": pl.Int64(),
        "reason": pl.String(),
    }
)
_NO_ID = "the record has no item id"
_NO_QUESTION = "no item of the benchmark asks this question"


@dataclass(frozen=True, kw_only=True)
class BenchmarkSource:
    """A source's records about one benchmark.

    Attributes:
        source_id: The imported file.
        parsed: Its records, those of this benchmark only.
        match: How a record names its item: by ``id``, by ``position`` in the
            benchmark's order, by the ``question`` text, or by an id of its ``own``,
            which is its position in the file.
        prefix: Put before an id of the source and a slash, or None.
        model_names: Canonical model name by the name in the source, where they differ.
        order_offset: Place of the first record in the benchmark's order, for a
            source that defines that order; otherwise None.
    """

    source_id: str
    parsed: ParsedSource
    match: MatchMethod
    prefix: str | None = None
    order_offset: int | None = None
    model_names: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class BenchmarkOrder:
    """The declared order of a benchmark's items.

    Attributes:
        n_items: Items of the benchmark, or None where no order is declared.
        questions: ``item_position`` and ``question_hash`` of the items, in order.
    """

    n_items: int | None
    questions: pl.DataFrame


def benchmark_order(
    sources: Sequence[BenchmarkSource], *, n_items: int | None
) -> BenchmarkOrder:
    """The order that the sources with an ``order_offset`` define, one after another.

    Args:
        sources: All sources of the benchmark.
        n_items: Number of items where the order is declared by number alone.
    """
    ordered = [
        source.parsed.items.select(
            item_position=pl.col("position") + source.order_offset,
            question_hash="question_hash",
        )
        for source in sources
        if source.order_offset is not None
    ]
    if not ordered:
        empty = {"item_position": pl.Int64(), "question_hash": pl.String()}
        return BenchmarkOrder(n_items=n_items, questions=pl.DataFrame(schema=empty))
    # A record that could not be read has its place all the same.
    ends = [
        source.order_offset + source.parsed.n_records
        for source in sources
        if source.order_offset is not None
    ]
    questions = pl.concat(ordered).sort("item_position")
    return BenchmarkOrder(n_items=max(ends), questions=questions)


def record_keys(
    source: BenchmarkSource, order: BenchmarkOrder, *, benchmark_id: str
) -> pl.DataFrame:
    """The item of each record of ``source``.

    Args:
        source: The source's records.
        order: The benchmark's declared order.
        benchmark_id: For messages.

    Returns:
        One row per record with a result, item, skill or rationale, sorted by
        ``position``, columns of ``KEYS_SCHEMA``. ``native_id`` is null where
        ``reason`` says why.

    Raises:
        ParseError: If a source that names items by position does not have as many
            records as the benchmark has items, or if no order is declared.
    """
    records = _records(source.parsed)
    if source.order_offset is not None:
        keyed = _by_position(records, offset=source.order_offset)
    elif source.match == "position":
        _check_length(source, order, benchmark_id)
        keyed = _by_position(records, offset=0)
    elif source.match == "question":
        keyed = _by_question(records, order)
    elif source.match == "own":
        keyed = _by_own_position(records, source.prefix or source.source_id)
    else:
        keyed = _by_id(records, source.prefix)
    return keyed.select(
        pl.col(name).cast(dtype) for name, dtype in KEYS_SCHEMA.items()
    ).sort("position")


def _records(parsed: ParsedSource) -> pl.DataFrame:
    columns = ("position", "native_id", "native_id_type", "question_hash")
    frames = [
        frame.select(
            c if c in frame.columns else pl.lit(None, pl.String).alias(c)
            for c in columns
        )
        for frame in (parsed.items, parsed.results, parsed.skills, parsed.rationales)
    ]
    return (
        pl.concat(frames)
        .group_by("position")
        .agg(pl.col(c).drop_nulls().first() for c in columns[1:])
    )


def _by_position(records: pl.DataFrame, *, offset: int) -> pl.DataFrame:
    place = pl.col("position") + offset
    return records.select(
        "position",
        native_id=place.cast(pl.String),
        native_id_type=pl.lit("position"),
        item_position=place,
        reason=pl.lit(None, pl.String),
    )


def _by_own_position(records: pl.DataFrame, prefix: str) -> pl.DataFrame:
    return records.select(
        "position",
        native_id=pl.format("{}/{}", pl.lit(prefix), "position"),
        native_id_type=pl.lit("position"),
        item_position=pl.lit(None, pl.Int64),
        reason=pl.lit(None, pl.String),
    )


def _by_id(records: pl.DataFrame, prefix: str | None) -> pl.DataFrame:
    native_id = pl.col("native_id")
    return records.select(
        "position",
        native_id=native_id if prefix is None else pl.lit(prefix) + "/" + native_id,
        native_id_type=pl.col("native_id_type").fill_null("text"),
        item_position=pl.lit(None, pl.Int64),
        reason=pl.when(pl.col("native_id").is_null()).then(pl.lit(_NO_ID)),
    )


def _by_question(records: pl.DataFrame, order: BenchmarkOrder) -> pl.DataFrame:
    # A question that several items ask names none of them, unless the record
    # stands at the very place of one: files are mostly in the benchmark's order.
    unique = order.questions.drop_nulls().unique("question_hash", keep="none")
    same_place = order.questions.select(
        position="item_position", question_hash="question_hash"
    ).with_columns(place=pl.col("position"))
    place = pl.coalesce("item_position", "place")
    return (
        records.join(unique, on="question_hash", how="left")
        .join(same_place, on=["position", "question_hash"], how="left")
        .select(
            "position",
            native_id=place.cast(pl.String),
            native_id_type=pl.lit("position"),
            item_position=place,
            reason=pl.when(place.is_null()).then(pl.lit(_NO_QUESTION)),
        )
    )


def _check_length(
    source: BenchmarkSource, order: BenchmarkOrder, benchmark_id: str
) -> None:
    if order.n_items is None:
        raise ParseError(
            f"source {source.source_id}: its records name items of {benchmark_id!r} by "
            "position, and no order is declared for that benchmark. Declare `order` "
            "or `n_items` under `benchmarks` in the manifest"
        )
    if source.parsed.n_records != order.n_items:
        raise ParseError(
            f"source {source.source_id}: its records name items of {benchmark_id!r} by "
            f"position, so it must have one record per item: it has "
            f"{source.parsed.n_records}, the benchmark {order.n_items}. Check that it "
            "was made for this release and split of the benchmark"
        )
