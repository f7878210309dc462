"""What was imported for a benchmark: its sources, releases, items and rejects."""

import polars as pl

from skillmap.contracts import core, raw
from skillmap.items.groups import item_groups as grouped_items
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, benchmark_order
from skillmap.items.rejects import rejects as unused_records
from skillmap.items.releases import Releases, benchmark_releases
from skillmap_dagster import pictures
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.registry import Registry


@table_asset(raw.SOURCES, group="sources", sources="benchmark")
def sources(partition: Partition, registry: Registry) -> pl.DataFrame:
    """Files imported for the benchmark, with what was found in each."""
    benchmark_id = partition["benchmark"]
    read = {s.source_id: s for s in registry.benchmark_sources(benchmark_id)}
    rows = []
    for known in registry.sources(benchmark_id):
        parsed = read[known.source_id].parsed
        rows.append(
            {
                "benchmark_id": benchmark_id,
                "source_id": known.source_id,
                "uri": known.uri,
                "sha256": known.sha256,
                "format": known.format,
                "importer_version": known.importer_version,
                "model_ids": sorted(known.models.get(benchmark_id, {})),
                "n_records": parsed.n_records,
                "n_items": parsed.items.height,
                "n_results": parsed.results.height,
                "n_skill_phrases": parsed.skills.height,
                "n_rationales": parsed.rationales.height,
                "n_rejected": parsed.rejects.height,
                "n_replaced_characters": _n_replaced(parsed.items, parsed.results),
            }
        )
    return pl.DataFrame(rows, schema=raw.SOURCES.polars_schema)


@table_asset(
    core.ITEMS,
    group="benchmarks",
    sources="benchmark",
    picture=pictures.counts_of("category"),
)
def items(partition: Partition, registry: Registry) -> pl.DataFrame:
    """Items of the benchmark's current release."""
    return _releases(partition["benchmark"], registry).items


@table_asset(core.BENCHMARKS, group="benchmarks", sources="benchmark")
def benchmarks(partition: Partition, registry: Registry) -> pl.DataFrame:
    """Releases of the benchmark, told apart by what its sources state."""
    return _releases(partition["benchmark"], registry).benchmarks


@table_asset(
    raw.REJECTS,
    group="sources",
    sources="benchmark",
    picture=pictures.counts_of("reason"),
)
def rejects(partition: Partition, registry: Registry) -> pl.DataFrame:
    """Records of the benchmark's sources that could not be used, with reasons."""
    benchmark_id = partition["benchmark"]
    read = registry.benchmark_sources(benchmark_id)
    order = _order(benchmark_id, registry, read)
    return unused_records(benchmark_id, read, order)


@table_asset(
    core.ITEM_GROUPS,
    group="benchmarks",
    reads=[core.ITEMS],
    picture=pictures.counts_of("kind"),
)
def item_groups(lake: Lake) -> pl.DataFrame:
    """Items that are the same question, within and across benchmarks."""
    return grouped_items(lake.read(core.ITEMS))


def items_order(
    items_of_benchmark: pl.DataFrame, registry: Registry, benchmark_id: str
) -> BenchmarkOrder:
    """The declared order, read from the items that were made by it."""
    declared = registry.benchmark(benchmark_id)
    is_ordered = bool(declared.order) or declared.n_items is not None
    return BenchmarkOrder(
        n_items=items_of_benchmark["item_position"].count() if is_ordered else None,
        questions=items_of_benchmark.select("item_position", "question_hash"),
    )


def _order(
    benchmark_id: str, registry: Registry, read: list[BenchmarkSource]
) -> BenchmarkOrder:
    return benchmark_order(read, n_items=registry.benchmark(benchmark_id).n_items)


def _releases(benchmark_id: str, registry: Registry) -> Releases:
    read = registry.benchmark_sources(benchmark_id)
    return benchmark_releases(benchmark_id, read, _order(benchmark_id, registry, read))


def _n_replaced(*frames: pl.DataFrame) -> int:
    flagged = [f.filter("has_replaced_characters")["position"] for f in frames]
    return pl.concat(flagged).n_unique()
