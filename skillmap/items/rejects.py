"""Records that could not be used, with their reasons."""

from collections.abc import Sequence

import polars as pl

from skillmap.contracts import raw
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, record_keys
from skillmap.results.eval_runs import matched_results


def rejects(
    benchmark_id: str, sources: Sequence[BenchmarkSource], order: BenchmarkOrder
) -> pl.DataFrame:
    """Every record of the sources that is in no other table, and why.

    Args:
        benchmark_id: The benchmark.
        sources: Its sources. Unreadable records of a source do not say which
            benchmark they are about: all of ``parsed.rejects`` are listed.
        order: The benchmark's declared order.

    Returns:
        Columns of ``raw.rejects``, in the order of the sources and their records.
    """
    frames = [
        frame.with_columns(source_id=pl.lit(source.source_id))
        for source in sources
        for frame in (
            _unread(source),
            _unmatched_results(source, order, benchmark_id),
            _unmatched_records(source, order, benchmark_id),
        )
    ]
    return (
        (
            pl.concat(frames, how="diagonal")
            if frames
            else pl.DataFrame(schema={"source_id": pl.String(), **_SCHEMA})
        )
        .select(
            benchmark_id=pl.lit(benchmark_id),
            source_id="source_id",
            reject_index=pl.int_range(pl.len()).over("source_id"),
            stage="stage",
            record_position="position",
            reason="reason",
            value=pl.col("value").fill_null(""),
        )
        .select(raw.REJECTS.polars_schema.names())
    )


_SCHEMA = {
    "position": pl.Int64(),
    "stage": pl.String(),
    "reason": pl.String(),
    "value": pl.String(),
}


def _unread(source: BenchmarkSource) -> pl.DataFrame:
    return source.parsed.rejects.with_columns(stage=pl.lit("read")).select(*_SCHEMA)


def _unmatched_results(
    source: BenchmarkSource, order: BenchmarkOrder, benchmark_id: str
) -> pl.DataFrame:
    matched = matched_results(source, order, benchmark_id=benchmark_id)
    return (
        matched.filter(pl.col("item_id").is_null())
        .sort("position", "model", "epoch")
        .select(
            "position",
            "reason",
            stage=pl.lit("match"),
            value=pl.concat_str(
                "model", "prediction", separator=": ", ignore_nulls=True
            ).str.head(200),
        )
        .select(*_SCHEMA)
    )


def _unmatched_records(
    source: BenchmarkSource, order: BenchmarkOrder, benchmark_id: str
) -> pl.DataFrame:
    """Other records without an item; results have rejects of their own.

    What a record states of an item is told where nothing else of it would be.
    """
    keys = record_keys(source, order, benchmark_id=benchmark_id)
    reasons = keys.filter(pl.col("reason").is_not_null()).select("position", "reason")
    texts = pl.concat(
        [
            source.parsed.skills.select("position", value="phrase"),
            source.parsed.rationales.select("position", value="rationale"),
        ]
    )
    bare_items = (
        source.parsed.items.join(source.parsed.results, on="position", how="anti")
        .join(texts, on="position", how="anti")
        .select("position", value="question")
    )
    return (
        pl.concat([texts, bare_items])
        .join(reasons, on="position")
        .with_columns(stage=pl.lit("match"), value=pl.col("value").str.head(200))
        .sort("position", "value")
        .select(*_SCHEMA)
    )
