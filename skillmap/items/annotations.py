"""What annotators wrote about items: rationales, and the skills they name."""

from collections.abc import Sequence

import polars as pl

from skillmap.contracts import core
from skillmap.ids import item_id
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, record_keys
from skillmap.parsing.rationales import parse_rationales
from skillmap.slicing.names import normalised_phrase

# Stands for the annotator where neither the file nor the manifest names one.
UNKNOWN_ANNOTATOR = "unknown"
# Stands in for the imported file of a mention that the offline annotator found.
OFFLINE_SOURCE_ID = "offline_mentions"
# Spans are left out: they are places in another text than the rationale.
_OFFLINE = (
    *("item_id", "annotator", "step_index", "level_index", "phrase", "family"),
    "evidence",
)


def rationales(
    benchmark_id: str, sources: Sequence[BenchmarkSource], order: BenchmarkOrder
) -> pl.DataFrame:
    """Every rationale about the benchmark's items, read and with its status.

    A file that has results of several models often repeats an item's rationale; the
    first of each item and annotator is kept.

    Returns:
        Columns of ``core.rationales``, sorted by item and annotator.
    """
    texts = _annotated(benchmark_id, sources, order, "rationales").unique(
        ["item_id", "annotator"], keep="first", maintain_order=True
    )
    parsed = parse_rationales(texts.select("item_id", "annotator", "rationale"))
    return (
        parsed.rationales.join(
            texts.select("item_id", "annotator", "source_id"),
            on=["item_id", "annotator"],
        )
        .with_columns(
            benchmark_id=pl.lit(benchmark_id),
            rationale_id=pl.format("{}#{}", "item_id", "annotator"),
        )
        .select(core.RATIONALES.polars_schema.names())
        .sort("item_id", "annotator")
    )


def skill_mentions(
    benchmark_id: str,
    sources: Sequence[BenchmarkSource],
    order: BenchmarkOrder,
    read_rationales: pl.DataFrame,
    *,
    offline_mentions: pl.DataFrame | None = None,
    annotates_all: bool = False,
) -> pl.DataFrame:
    """Every skill that a rationale, a bare phrase or the offline annotator names.

    Args:
        benchmark_id: The benchmark.
        sources: Its sources.
        order: Its declared order.
        read_rationales: Rows of ``core.rationales`` of the benchmark.
        offline_mentions: Rows of ``core.offline_mentions`` of the benchmark.
        annotates_all: Whether those count for items that somebody else annotated.

    Returns:
        Columns of ``core.skill_mentions``, sorted by item and annotator; the mention
        ids number the mentions of each item and annotator in the order written.
    """
    in_rationales = parse_rationales(
        read_rationales.select("item_id", "annotator", "rationale")
    ).mentions.join(
        read_rationales.select("item_id", "annotator", "rationale_id", "source_id"),
        on=["item_id", "annotator"],
        maintain_order="left",
    )
    phrases = _annotated(benchmark_id, sources, order, "skills").unique(
        ["item_id", "annotator", "level_index", "phrase"],
        keep="first",
        maintain_order=True,
    )
    together = pl.concat([in_rationales, phrases], how="diagonal")
    if offline_mentions is not None:
        found = offline_mentions.select(_OFFLINE).with_columns(
            source_id=pl.lit(OFFLINE_SOURCE_ID)
        )
        if not annotates_all:
            found = found.join(
                together, on="item_id", how="anti", maintain_order="left"
            )
        together = pl.concat([together, found], how="diagonal")
    pair = ("item_id", "annotator")
    return (
        together.sort(*pair, maintain_order=True)
        .with_columns(
            benchmark_id=pl.lit(benchmark_id),
            normalised_phrase=normalised_phrase(pl.col("phrase")),
            mention_id=pl.format("{}#{}#{}", *pair, pl.int_range(pl.len()).over(pair)),
        )
        .select(core.SKILL_MENTIONS.polars_schema.names())
    )


def _annotated(
    benchmark_id: str,
    sources: Sequence[BenchmarkSource],
    order: BenchmarkOrder,
    frame: str,
) -> pl.DataFrame:
    """Rows of one frame of all sources, with the item and the annotator of each."""
    found: list[pl.DataFrame] = []
    for source in sorted(sources, key=lambda s: s.source_id):
        rows: pl.DataFrame = getattr(source.parsed, frame)
        keys = record_keys(source, order, benchmark_id=benchmark_id)
        found.append(
            rows.drop("native_id", "native_id_type")
            .join(
                keys.select("position", "native_id").drop_nulls(),
                on="position",
                maintain_order="left",
            )
            .with_columns(
                item_id=item_id(pl.lit(benchmark_id), pl.col("native_id")),
                annotator=pl.col("annotator").fill_null(UNKNOWN_ANNOTATOR),
                source_id=pl.lit(source.source_id),
            )
        )
    return pl.concat(found)
