"""What is missing or out of date: the plan behind the command line and the sensor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import dagster as dg

from skillmap.contracts import TABLES, raw
from skillmap.contracts.table import Partitions
from skillmap.errors import SkillmapError
from skillmap_dagster.assets.publication import WAREHOUSE_KEY
from skillmap_dagster.assets.table_asset import TABLE_ASSETS, TableAsset
from skillmap_dagster.resources.lake import Partition
from skillmap_dagster.resources.snapshot import RegistrySnapshot

# In this order: what comes later is made from what comes before.
STAGES: tuple[Partitions | None, ...] = (
    "benchmark",
    "benchmark_model",
    "model",
    None,
)


class Selection(NamedTuple):
    """Which part of everything is meant.

    Attributes:
        tables: Names such as "core.items", or none for all that ask no model.
        benchmarks: Benchmarks, or none for all.
        models: Models, or none for all.
        stages: Kinds of partition.
    """

    tables: frozenset[str] = frozenset()
    benchmarks: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    stages: tuple[Partitions | None, ...] = STAGES

    def has(self, partition: Partition) -> bool:
        """Whether a partition is among those meant."""
        wanted = {"benchmark": self.benchmarks, "model": self.models}
        return all(
            not wanted[dimension] or key in wanted[dimension]
            for dimension, key in partition.items()
        )


EVERYTHING = Selection()


def asset_keys(stage: Partitions | None) -> list[dg.AssetKey]:
    """Assets of the tables that have this kind of partition and ask no model."""
    return [
        dg.AssetKey(list(table.key))
        for table in TABLES.values()
        if table.partitions == stage and not TABLE_ASSETS[table.key].asks_models
    ]


class Task(NamedTuple):
    """Assets to make for one partition, in one run.

    Attributes:
        partition: Key by dimension.
        keys: The assets.
        inputs: Hashes of all that they are made from, where they were planned.
    """

    partition: Partition
    keys: list[dg.AssetKey]
    inputs: str = ""

    def __str__(self) -> str:
        """What a person reads beside the progress bar."""
        names = ", ".join(key.path[-1] for key in self.keys)
        about = " × ".join(self.partition.values()) or "all"
        return f"{about}: {names}"


def cell_task(benchmark: str, model: str) -> Task:
    """All tables of a cell. If its file cannot be read, the run fails and says why."""
    partition = {"benchmark": benchmark, "model": model}
    return Task(partition, asset_keys("benchmark_model"))


@dataclass(frozen=True)
class Planner:
    """Compares what is stored with what it would be made from now.

    Attributes:
        resources: The resources of the assets, by name.
    """

    resources: Mapping[str, Any]

    def plan(
        self, stage: Partitions | None, selection: Selection = EVERYTHING
    ) -> list[Task]:
        """What of one stage is missing or was made from something else than now.

        Assets that read a planned one are planned with it.
        """
        registry = RegistrySnapshot(self.resources["registry"])
        resources = {**self.resources, "registry": registry}
        tasks = [
            self._task(stage, partition, selection, resources)
            for partition in self.partitions(stage)
            if selection.has(partition)
        ]
        return [task for task in tasks if task.keys]

    def partitions(self, stage: Partitions | None) -> Sequence[Partition]:
        """Every partition of a stage that a source or a reply contributes to."""
        cells = self.cells()
        if stage == "benchmark":
            return [{"benchmark": b} for b in self.resources["registry"].benchmarks()]
        if stage == "benchmark_model":
            return [{"benchmark": b, "model": m} for b, m in cells]
        if stage == "model":
            return [{"model": m} for m in sorted({model for _, model in cells})]
        return [{}]

    def cells(self) -> list[tuple[str, str]]:
        """Benchmark and model of every cell with results, sorted."""
        registry = self.resources["registry"]
        known = set(registry.benchmarks())
        asked = self.resources["lake"].partitions(raw.MODEL_REPLIES)
        replied = {(p["benchmark"], p["model"]) for p in asked}
        return sorted(
            {*registry.cells(), *(cell for cell in replied if cell[0] in known)}
        )

    def models(self) -> list[str]:
        """Models with results, and those that are configured to be asked, sorted."""
        configured = self.resources["settings"].read().responders
        return sorted({*configured, *(model for _, model in self.cells())})

    def remove_orphans(self) -> None:
        """Forget partitions that no source contributes to any more."""
        lake, registry = self.resources["lake"], self.resources["registry"]
        benchmarks, cells = set(registry.benchmarks()), set(self.cells())
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

    def unreadable(self) -> dict[tuple[str, str], str]:
        """Look at every file and note the changed ones, but for the unreadable.

        Returns:
            The cells of changed files that cannot be read, with the reason. The
            version that was read before stays.
        """
        reasons: dict[tuple[str, str], str] = {}
        for source in self.resources["registry"].sources():
            try:
                self.resources["registry"].refreshed(source)
            except SkillmapError as error:
                for benchmark, models in source.models.items():
                    reasons |= {(benchmark, model): str(error) for model in models}
        return reasons

    def _task(
        self,
        stage: Partitions | None,
        partition: Partition,
        selection: Selection,
        resources: Mapping[str, Any],
    ) -> Task:
        """What of one partition is stale, which may be nothing."""
        inputs: dict[tuple[str, str], str] = {}
        for asset in _in_order():
            table = asset.table
            is_asked = (
                str(table) in selection.tables
                if selection.tables or asset.asks_models
                else True
            )
            if table.partitions != stage or not is_asked:
                continue
            now = asset.inputs(partition, resources)
            stored = self.resources["lake"].stored(table, partition)
            is_stale = stored is None or stored.inputs != now
            if is_stale or any(read.key in inputs for read in asset.reads):
                inputs[table.key] = now
        keys = [dg.AssetKey(list(key)) for key in inputs]
        if stage is None and (keys or self._publication_is_stale()):
            keys.append(WAREHOUSE_KEY)
        return Task(partition, keys, " ".join(inputs.values()))

    def _publication_is_stale(self) -> bool:
        return not self.resources["warehouse"].is_current(self.resources["lake"])


def _in_order() -> list[TableAsset]:
    """All assets, each after those it reads."""
    reads = {
        key: [table.key for table in asset.reads] for key, asset in TABLE_ASSETS.items()
    }
    return [TABLE_ASSETS[key] for key in TopologicalSorter(reads).static_order()]
