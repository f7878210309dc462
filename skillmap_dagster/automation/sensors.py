"""Watches the imported files, and asks for runs of what changed."""

import json
from collections.abc import Iterator

import dagster as dg

from skillmap_dagster import partitions
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.planning import STAGES, Planner, Task, cell_task
from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.registry import Registry
from skillmap_dagster.resources.settings import Settings
from skillmap_dagster.resources.warehouse import Warehouse

_SECONDS_BETWEEN = 60
_PARTITIONED = [
    dg.AssetKey(list(key))
    for key, asset in TABLE_ASSETS.items()
    if asset.table.partitions
]
_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]
_TAG = "skillmap/partition"


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

    Results are matched to items, so a benchmark's runs come before its cells'. What
    was requested is not requested again until it changes, so a broken file fails once
    and not every minute, and holds up nothing but what is read from it.
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
    requests = [
        _request(task)
        for cell, reason in planner.unreadable().items()
        if _is_new(f"unreadable {(task := cell_task(*cell))}", reason, asked)
    ]
    planner.remove_orphans()
    waited_for: list[Partition] = []
    for task in _plan(planner):
        waits = any(_concerns(task.partition, other) for other in waited_for)
        is_new = not waits and _is_new(str(task), task.inputs, asked)
        if is_new:
            requests.append(_request(task))
        if waits or is_new or _is_unfinished(task, context.instance):
            waited_for.append(task.partition)
    new_keys = _new_partition_keys(planner, registry, context.instance)
    if not requests and not new_keys:
        return dg.SkipReason("no imported file has changed")
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=new_keys,
        cursor=json.dumps(asked, sort_keys=True),
    )


def _new_partition_keys(
    planner: Planner, registry: Registry, instance: dg.DagsterInstance
) -> list[dg.AddDynamicPartitionsRequest]:
    """Benchmarks and models that the UI does not know yet.

    A model that is only configured is one, so that a person can have it evaluated.
    """
    wanted = {
        partitions.BENCHMARKS: registry.benchmarks(),
        partitions.MODELS: planner.models(),
    }
    new = {
        definition: sorted(
            set(keys) - set(instance.get_dynamic_partitions(str(definition.name)))
        )
        for definition, keys in wanted.items()
    }
    return [
        definition.build_add_request(keys) for definition, keys in new.items() if keys
    ]


def _plan(planner: Planner) -> Iterator[Task]:
    for stage in STAGES:
        # What is over all partitions follows by its automation condition.
        if stage is not None:
            yield from planner.plan(stage)


def _concerns(partition: Partition, other: Partition) -> bool:
    """Whether one is part of the other, as a cell is of its benchmark and model."""
    shared = partition.keys() & other.keys()
    return bool(shared) and all(partition[d] == other[d] for d in shared)


def _is_unfinished(task: Task, instance: dg.DagsterInstance) -> bool:
    filters = dg.RunsFilter(tags={_TAG: _name(task)}, statuses=_UNFINISHED)
    return bool(instance.get_runs(filters, limit=1))


def _is_new(what: str, reason: str, asked: dict[str, str]) -> bool:
    """Whether it was requested for another reason last time; notes this one."""
    before = asked.get(what)
    asked[what] = reason
    return before != reason


def _request(task: Task) -> dg.RunRequest:
    return dg.RunRequest(
        partition_key=partitions.partition_key(task.partition),
        asset_selection=task.keys,
        tags={_TAG: _name(task)},
    )


def _name(task: Task) -> str:
    return " × ".join(task.partition.values())
