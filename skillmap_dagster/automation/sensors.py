"""Watches the imported files, and asks for runs of what changed."""

import json
from collections.abc import Iterator

import dagster as dg

from skillmap.errors import SkillmapError
from skillmap_dagster import partitions
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.planning import STAGES, Planner, Task
from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.registry import RegisteredSource, Registry
from skillmap_dagster.resources.settings import Settings
from skillmap_dagster.resources.warehouse import Warehouse

_SECONDS_BETWEEN = 60
_PARTITIONED = [
    dg.AssetKey(list(key))
    for key, asset in TABLE_ASSETS.items()
    if asset.table.partitions
]
_CELL_KEYS = [
    dg.AssetKey(list(key))
    for key, asset in TABLE_ASSETS.items()
    if asset.table.partitions == "benchmark_model"
]


@dg.sensor(
    name="watch_sources",
    asset_selection=dg.AssetSelection.assets(*_PARTITIONED),
    minimum_interval_seconds=_SECONDS_BETWEEN,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def watch_sources(
    context: dg.SensorEvaluationContext,
    lake: Lake,
    registry: Registry,
    settings: Settings,
    embedding: Embedding,
    warehouse: Warehouse,
) -> dg.SensorResult | dg.SkipReason:
    """Requests runs of partitions whose imported files are new or have changed.

    A stage at a time: results are matched to items, so a benchmark's runs come before
    its cells'. What was requested is not requested again until it changes, so a
    broken file fails once and not every minute.
    """
    planner = Planner(
        {
            "lake": lake,
            "registry": registry,
            "settings": settings,
            "embedding": embedding,
            "warehouse": warehouse,
        }
    )
    asked: dict[str, str] = json.loads(context.cursor or "{}")
    requests = list(_broken(registry, asked))
    for stage in STAGES[:-1]:
        tasks = planner.plan(stage)
        requests += [
            _request(task)
            for task in tasks
            if _is_new(task, planner.inputs(task), asked)
        ]
        if tasks:
            break
    if not requests:
        return dg.SkipReason("no imported file has changed")
    cells = registry.cells()
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=[
            partitions.BENCHMARKS.build_add_request(registry.benchmarks()),
            partitions.MODELS.build_add_request(sorted({model for _, model in cells})),
        ],
        cursor=json.dumps(asked, sort_keys=True),
    )


def _broken(registry: Registry, asked: dict[str, str]) -> Iterator[dg.RunRequest]:
    """Requests for the cells of changed files that cannot be read.

    Their runs fail and show why where people look; the good version stays.
    """
    for source in registry.sources():
        try:
            registry.refreshed(source)
        except SkillmapError as error:
            for task in _cells_of(source):
                if _is_new(task, str(error), asked):
                    yield _request(task)


def _cells_of(source: RegisteredSource) -> Iterator[Task]:
    for benchmark, models in source.models.items():
        for model in models:
            yield Task({"benchmark": benchmark, "model": model}, _CELL_KEYS)


def _is_new(task: Task, reason: str, asked: dict[str, str]) -> bool:
    """Whether the task was requested for another reason last time; notes this one."""
    before = asked.get(str(task))
    asked[str(task)] = reason
    return before != reason


def _request(task: Task) -> dg.RunRequest:
    return dg.RunRequest(
        partition_key=partitions.partition_key(task.partition),
        asset_selection=task.keys,
        tags={"skillmap/partition": " × ".join(task.partition.values())},
    )
