"""What has to be made anew, and making it: the plan behind every command."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
from dagster import DagsterInstance

from skillmap.contracts import TABLES
from skillmap.contracts.table import Partitions
from skillmap_dagster import partitions
from skillmap_dagster.assets.publication import WAREHOUSE_KEY
from skillmap_dagster.assets.table_asset import TABLE_ASSETS, TableAsset
from skillmap_dagster.definitions import ASSETS
from skillmap_dagster.resources.home import home_resources
from skillmap_dagster.resources.lake import Partition

# In this order: what comes later is made from what comes before.
STAGES: tuple[Partitions | None, ...] = (
    "benchmark",
    "benchmark_model",
    "model",
    None,
)
_INSTANCE_CONFIG = """\
telemetry:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 4
"""


class Selection(NamedTuple):
    """Which part of everything is meant.

    Attributes:
        tables: Names such as "core.items", or none for all.
        benchmarks: Benchmarks, or none for all.
        models: Models, or none for all.
    """

    tables: frozenset[str] = frozenset()
    benchmarks: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()

    def has(self, partition: Partition) -> bool:
        """Whether a partition is among those meant."""
        wanted = {"benchmark": self.benchmarks, "model": self.models}
        return all(
            not wanted[dimension] or key in wanted[dimension]
            for dimension, key in partition.items()
        )


class Task(NamedTuple):
    """Assets to make for one partition, in one run."""

    partition: Partition
    keys: list[dg.AssetKey]

    def __str__(self) -> str:
        """What a person reads beside the progress bar."""
        names = ", ".join(key.path[-1] for key in self.keys)
        about = " × ".join(self.partition.values()) or "all"
        return f"{about}: {names}"


@dataclass
class Outcome:
    """What came of a plan.

    Attributes:
        n_runs: Runs that were made.
        failures: What failed, and why.
    """

    n_runs: int = 0
    failures: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Platform:
    """A home folder with its resources, and the Dagster instance beside it."""

    home: Path
    instance: DagsterInstance
    resources: Mapping[str, Any]
    definitions: dg.Definitions

    @classmethod
    def at(cls, home: Path, *, instance: DagsterInstance | None = None) -> "Platform":
        """The platform in ``home``, which is made if it is not there."""
        folder = (home / "dagster").resolve()
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "dagster.yaml"
        if not config.exists():
            config.write_text(_INSTANCE_CONFIG, "utf-8")
        resources = home_resources(home)
        return cls(
            home=home,
            instance=instance or DagsterInstance.from_config(str(folder)),
            resources=resources,
            definitions=dg.Definitions(
                assets=ASSETS, resources=resources, executor=dg.in_process_executor
            ),
        )

    def add_partition_keys(self) -> None:
        """Make every registered benchmark and model a partition."""
        registry = self.resources["registry"]
        cells = registry.cells()
        for definition, keys in (
            (partitions.BENCHMARKS, registry.benchmarks()),
            (partitions.MODELS, sorted({model for _, model in cells})),
        ):
            self.instance.add_dynamic_partitions(str(definition.name), keys)

    def plan(self, stage: Partitions | None, selection: Selection) -> list[Task]:
        """What of one stage is missing or was made from something else than now.

        Assets that read a planned one are planned with it.
        """
        tasks = []
        for partition in self._partitions(stage):
            keys = self._stale(stage, partition, selection)
            if keys and selection.has(partition):
                tasks.append(Task(partition, keys))
        return tasks

    def run(self, task: Task) -> list[str]:
        """Make the assets of a task; returns what failed and why."""
        job = self.definitions.resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(
            asset_selection=task.keys,
            partition_key=partitions.partition_key(task.partition),
            instance=self.instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
        return [] if result.success else _failures(result)

    def bring_up_to_date(
        self,
        selection: Selection = Selection(),
        *,
        progress: Callable[[Task, int, int], None] = lambda *_: None,
    ) -> Outcome:
        """Make everything that is stale, a stage at a time.

        Args:
            selection: What to bring up to date.
            progress: Called before each run with its task, its number in the stage
                and the stage's number of runs.

        Returns:
            The outcome. What is downstream of a failure is made from the previous
            version of what failed.
        """
        self.add_partition_keys()
        self._remove_orphans()
        outcome = Outcome()
        for stage in STAGES:
            tasks = self.plan(stage, selection)
            for number, task in enumerate(tasks):
                progress(task, number, len(tasks))
                outcome.n_runs += 1
                outcome.failures += self.run(task)
        return outcome

    def _partitions(self, stage: Partitions | None) -> Sequence[Partition]:
        registry = self.resources["registry"]
        cells = registry.cells()
        if stage == "benchmark":
            return [{"benchmark": b} for b in registry.benchmarks()]
        if stage == "benchmark_model":
            return [{"benchmark": b, "model": m} for b, m in cells]
        if stage == "model":
            return [{"model": m} for m in sorted({model for _, model in cells})]
        return [{}]

    def _stale(
        self, stage: Partitions | None, partition: Partition, selection: Selection
    ) -> list[dg.AssetKey]:
        stale: list[TableAsset] = []
        changing: set[tuple[str, str]] = set()
        for table in TABLES.values():
            asset = TABLE_ASSETS[table.key]
            if table.partitions != stage:
                continue
            if selection.tables and str(table) not in selection.tables:
                continue
            reads_changing = any(read.key in changing for read in asset.reads)
            if reads_changing or self._is_stale(asset, partition):
                stale.append(asset)
                changing.add(table.key)
        keys = [dg.AssetKey(list(asset.table.key)) for asset in stale]
        if stage is None and (keys or self._publication_is_stale()):
            keys.append(WAREHOUSE_KEY)
        return keys

    def _is_stale(self, asset: TableAsset, partition: Partition) -> bool:
        lake = self.resources["lake"]
        stored = lake.stored(asset.table, partition)
        return stored is None or stored.inputs != asset.inputs(
            partition,
            lake=lake,
            registry=self.resources["registry"],
            settings=self.resources["settings"],
        )

    def _publication_is_stale(self) -> bool:
        return not self.resources["warehouse"].is_current(self.resources["lake"])

    def _remove_orphans(self) -> None:
        """Forget partitions that no source contributes to any more."""
        lake, registry = self.resources["lake"], self.resources["registry"]
        benchmarks, cells = set(registry.benchmarks()), set(registry.cells())
        models = {model for _, model in cells}
        for table in TABLES.values():
            for partition in lake.partitions(table):
                benchmark, model = partition.get("benchmark"), partition.get("model")
                is_cell = benchmark is not None and model is not None
                if is_cell and lake.stored(table, partition).n_rows == 0:
                    continue
                known = (
                    (benchmark, model) in cells
                    if is_cell
                    else benchmark in {*benchmarks, None} and model in {*models, None}
                )
                if not known:
                    lake.remove(table, partition)


def _failures(result: dg.ExecuteInProcessResult) -> list[str]:
    failures = []
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            failures.append(_innermost(error) if error else str(event.message))
    return failures


def _innermost(error: Any) -> str:
    """The message of the cause, which is what a person can act on."""
    while error.cause is not None:
        error = error.cause
    return str(error.message).strip()
