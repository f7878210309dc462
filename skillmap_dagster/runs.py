"""Making what has to be made: the runs behind every command."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import DagsterInstance

from skillmap.contracts import TABLES
from skillmap_dagster import partitions
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.definitions import ASSETS
from skillmap_dagster.planning import (
    EVERYTHING,
    STAGES,
    Planner,
    Selection,
    Task,
    asset_keys,
    cell_task,
)
from skillmap_dagster.resources.home import home_resources
from skillmap_dagster.resources.locking import exclusive

_INSTANCE_CONFIG = """\
telemetry:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 4
"""


# Called before each step with what it is, its number, and how many there are.
Progress = Callable[[str, int, int], None]


def no_progress(_what: str, _number: int, _n: int) -> None:
    """Progress that nobody watches."""


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
    planner: Planner
    definitions: dg.Definitions

    @classmethod
    def at(cls, home: Path, *, instance: DagsterInstance | None = None) -> "Platform":
        """The platform in ``home``, which is made if it is not there."""
        folder = (home / "dagster").resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return cls._with_resources(
            home, instance or _instance(folder), home_resources(home)
        )

    @classmethod
    def _with_resources(
        cls, home: Path, instance: DagsterInstance, resources: Mapping[str, Any]
    ) -> "Platform":
        return cls(
            home=home,
            instance=instance,
            resources=resources,
            planner=Planner(resources),
            definitions=dg.Definitions(
                assets=ASSETS, resources=resources, executor=dg.in_process_executor
            ),
        )

    def with_language_models(self, **configured: Any) -> "Platform":
        """The same platform whose language models have these fields instead."""
        # Dagster takes a resource's fields from how it was made: a copy would not do.
        before = self.resources["language_models"]
        kept = {name: getattr(before, name) for name in type(before).model_fields}
        now = type(before)(**{**kept, **configured})
        resources = {**self.resources, "language_models": now}
        return self._with_resources(self.home, self.instance, resources)

    def add_partition_keys(self) -> None:
        """Make every registered benchmark and known model a partition."""
        for definition, keys in (
            (partitions.BENCHMARKS, self.resources["registry"].benchmarks()),
            (partitions.MODELS, self.planner.models()),
        ):
            self.instance.add_dynamic_partitions(str(definition.name), keys)

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
        selection: Selection = EVERYTHING,
        *,
        progress: Progress = no_progress,
    ) -> Outcome:
        """Look at every imported file, and make what is stale, a stage at a time.

        Args:
            selection: What to bring up to date.
            progress: Called before each run, with its number within its stage.

        Returns:
            The outcome. What is downstream of a failure is made from the previous
            version of what failed.
        """
        broken = [cell_task(*cell) for cell in self.planner.unreadable()]
        self.add_partition_keys()
        self.planner.remove_orphans()
        outcome = Outcome()
        for stage in selection.stages:
            tasks = self.planner.plan(stage, selection)
            if stage == "benchmark_model":
                tasks += [task for task in broken if selection.has(task.partition)]
            for number, task in enumerate(tasks):
                progress(str(task), number, len(tasks))
                outcome.n_runs += 1
                outcome.failures += self.run(task)
        return outcome

    def backfill(
        self, models: Collection[str], *, progress: Progress = no_progress
    ) -> Outcome:
        """Make everything of some models anew, then what of the rest is stale by it.

        Args:
            models: The models.
            progress: Called before each run, with its number within the cells.
        """
        self.add_partition_keys()
        outcome = Outcome()
        own = [
            Task(partition, asset_keys(stage))
            for stage in STAGES
            for partition in self.planner.partitions(stage)
            if partition.get("model") in models
        ]
        for number, task in enumerate(own):
            progress(str(task), number, len(own))
            outcome.n_runs += 1
            outcome.failures += self.run(task)
        rest = self.bring_up_to_date(Selection(stages=(None,)), progress=progress)
        return Outcome(
            outcome.n_runs + rest.n_runs, [*outcome.failures, *rest.failures]
        )

    def make_directly(
        self, tables: Collection[str], *, progress: Progress = no_progress
    ) -> None:
        """Make tables without Dagster and without their audits, for a report only.

        Raises:
            SkillmapError: If a source's records do not fit together.
        """
        todo = [
            (TABLE_ASSETS[table.key], partition)
            for stage in STAGES
            for table in TABLES.values()
            if table.partitions == stage
            and str(table) in tables
            and not TABLE_ASSETS[table.key].asks_models
            for partition in self.planner.partitions(stage)
        ]
        for number, (asset, partition) in enumerate(todo):
            about = " × ".join(partition.values()) or "all"
            progress(f"{about}: {asset.table.name}", number, len(todo))
            rows = asset.rows(partition, self.resources)
            self.resources["lake"].write(asset.table, partition, rows, inputs="")


def _instance(folder: Path) -> DagsterInstance:
    config = folder / "dagster.yaml"
    # Two processes that make its databases at once would both fail.
    with exclusive(folder / "opening.lock"):
        if not config.exists():
            config.write_text(_INSTANCE_CONFIG, "utf-8")
        return DagsterInstance.from_config(str(folder))


def _failures(result: dg.ExecuteInProcessResult) -> list[str]:
    return [
        _reason(event.step_failure_data)
        for event in result.all_events
        if event.is_step_failure
    ]


def _reason(failure: Any) -> str:
    """What a person can act on: our own words, or the message of the first cause."""
    if failure.user_failure_data and failure.user_failure_data.description:
        return failure.user_failure_data.description
    error = failure.error
    while error and error.cause:
        error = error.cause
    return error.message.strip() if error else "unknown"
