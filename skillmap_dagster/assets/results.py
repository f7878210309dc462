"""What the models answered: eval runs, responses and scores of each cell."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from skillmap.contracts import core, raw
from skillmap.results.eval_runs import Cell, ModelSource, cell
from skillmap.results.replies import replies_source
from skillmap_dagster import pictures
from skillmap_dagster.assets.benchmarks import items_order
from skillmap_dagster.assets.table_asset import TABLE_ASSETS, table_asset
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.registry import Registry


def _own_releases(partition: Partition, resources: Mapping[str, Any]) -> Sequence[str]:
    """The releases that the cell's own sources state; those of others do not matter."""
    asset = TABLE_ASSETS[core.EVAL_RUNS.key]
    released = _release_of_source(partition["benchmark"], resources["lake"])
    return [
        f"{source.source_id}={released.get(source.source_id)}"
        for source in asset.sources_of(partition, resources["registry"])
    ]


_NARROWED = {core.BENCHMARKS.key: _own_releases}


@table_asset(
    core.EVAL_RUNS,
    group="results",
    reads=[core.ITEMS, core.BENCHMARKS, raw.MODEL_REPLIES],
    narrowed=_NARROWED,
    sources="cell",
    stands_with=[core.RESPONSES, core.SCORES],
)
def eval_runs(partition: Partition, lake: Lake, registry: Registry) -> pl.DataFrame:
    """Configurations in which the model was run on the benchmark."""
    made = _cell(partition, lake, registry)
    return made.eval_runs if made else core.EVAL_RUNS.empty()


@table_asset(
    core.RESPONSES,
    group="results",
    reads=[core.ITEMS, core.BENCHMARKS, raw.MODEL_REPLIES],
    narrowed=_NARROWED,
    sources="cell",
    stands_with=[core.EVAL_RUNS, core.SCORES],
    code_version="2",
)
def responses(partition: Partition, lake: Lake, registry: Registry) -> pl.DataFrame:
    """What the model wrote for each item of the benchmark."""
    made = _cell(partition, lake, registry)
    return made.responses if made else core.RESPONSES.empty()


@table_asset(
    core.SCORES,
    group="results",
    reads=[core.ITEMS, core.BENCHMARKS, raw.MODEL_REPLIES],
    narrowed=_NARROWED,
    sources="cell",
    stands_with=[core.EVAL_RUNS, core.RESPONSES],
    code_version="3",
    picture=pictures.counts_of("outcome"),
)
def scores(partition: Partition, lake: Lake, registry: Registry) -> pl.DataFrame:
    """How good each response is, and what became of it."""
    made = _cell(partition, lake, registry)
    return made.scores if made else core.SCORES.empty()


@table_asset(core.MODELS, group="results", reads=[core.EVAL_RUNS])
def models(partition: Partition, lake: Lake) -> pl.DataFrame:
    """The model, with its names in the sources and the benchmarks it was run on."""
    runs = lake.read(core.EVAL_RUNS, **partition)
    return (
        runs.group_by("model_id")
        .agg(
            source_names=pl.col("source_model_names").explode().unique().sort(),
            benchmark_ids=pl.col("benchmark_id").unique().sort(),
        )
        .select(core.MODELS.polars_schema.names())
    )


def _cell(partition: Partition, lake: Lake, registry: Registry) -> Cell | None:
    """The cell's results; None where no source has any."""
    resources = {"lake": lake, "registry": registry}
    inputs = TABLE_ASSETS[core.EVAL_RUNS.key].inputs(partition, resources)
    benchmark_id, model_id = partition["benchmark"], partition["model"]
    # Resources are frozen models, which have a hash that the type checker overlooks.
    hashable: Any = (lake, registry)
    return _made(benchmark_id, model_id, *hashable, inputs)


# A run makes three tables of one cell, in one process: it is read and matched once.
@functools.lru_cache(maxsize=1)
def _made(
    benchmark_id: str, model_id: str, lake: Lake, registry: Registry, _inputs: str
) -> Cell | None:
    names = {
        s.source_id: tuple(s.models[benchmark_id][model_id])
        for s in registry.sources(benchmark_id)
        if model_id in s.models.get(benchmark_id, {})
    }
    read = registry.benchmark_sources(
        benchmark_id, keep=lambda source: source.source_id in names
    )
    asked = lake.read(raw.MODEL_REPLIES, benchmark=benchmark_id, model=model_id)
    if asked.height:
        own = replies_source(asked)
        read.append(own)
        names[own.source_id] = (model_id,)
    if not read:
        return None
    items = lake.read(core.ITEMS, benchmark=benchmark_id)
    return cell(
        benchmark_id,
        model_id,
        [ModelSource(source, names[source.source_id]) for source in read],
        order=items_order(items, registry, benchmark_id),
        items=items,
        release_of_source=_release_of_source(benchmark_id, lake),
    )


def _release_of_source(benchmark_id: str, lake: Lake) -> dict[str, str]:
    stored = lake.stored(core.BENCHMARKS, {"benchmark": benchmark_id})
    # As in _cell, for the type checker.
    hashable: Any = lake
    return _releases(benchmark_id, hashable, stored.content if stored else "")


# A plan asks this for every cell of a benchmark.
@functools.lru_cache(maxsize=256)
def _releases(benchmark_id: str, lake: Lake, _content: str) -> dict[str, str]:
    releases = lake.read(core.BENCHMARKS, benchmark=benchmark_id).explode("source_ids")
    return dict(releases.select("source_ids", "release_id").rows())
