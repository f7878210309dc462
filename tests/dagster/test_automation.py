"""What is requested by itself: by the sensor over files, and by the conditions."""

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from dagster import AssetKey, DagsterInstance

from skillmap.contracts import TABLES, core, mart
from skillmap_dagster.assets.publication import WAREHOUSE_KEY
from skillmap_dagster.assets.table_asset import TABLE_ASSETS, TableAsset
from skillmap_dagster.automation.jobs import JOBS, recheck_sources
from skillmap_dagster.automation.sensors import watch_sources
from skillmap_dagster.definitions import defs
from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.planning import Task, asset_keys, cell_task
from skillmap_dagster.runs import Platform
from tests.pipeline.places import Made
from tests.pipeline.sources import new_platform, write_grid, write_results

ACCURACY = AssetKey(list(mart.MODEL_ACCURACY.key))
SCORES = AssetKey(list(core.SCORES.key))


@dataclass
class Watcher:
    """The sensor, ticking by hand, and what became of what it asked for."""

    platform: Platform
    cursor: str | None = None
    queued: list[dg.DagsterRun] = field(default_factory=list)

    def tick(self) -> list[dg.RunRequest]:
        """The requests of one tick, whose partitions are added."""
        resources = {
            name: self.platform.resources[name]
            for name in ("lake", "registry", "settings", "embedding", "warehouse")
        }
        with dg.build_sensor_context(
            instance=self.platform.instance, cursor=self.cursor, resources=resources
        ) as context:
            result = watch_sources(context)
        if isinstance(result, dg.SkipReason):
            return []
        assert isinstance(result, dg.SensorResult)
        self.cursor = result.cursor
        for request in result.dynamic_partitions_requests or ():
            self.platform.instance.add_dynamic_partitions(
                request.partitions_def_name, list(request.partition_keys)
            )
        requests = list(result.run_requests or ())
        self.queued += [self._queued(request) for request in requests]
        return requests

    def _queued(self, request: dg.RunRequest) -> dg.DagsterRun:
        return self.platform.instance.create_run_for_job(
            self.platform.definitions.resolve_implicit_global_asset_job_def(),
            tags=request.tags,
            asset_selection=frozenset(request.asset_selection or ()),
            status=dg.DagsterRunStatus.NOT_STARTED,
        )

    def make(self, requests: list[dg.RunRequest]) -> list[str]:
        """Make what was asked for, as the daemon would; returns what failed."""
        failures = []
        for request in requests:
            key = request.partition_key
            assert key is not None
            parts = key.split("|")
            benchmark_model = dict(zip(("benchmark", "model"), parts, strict=False))
            registry = self.platform.resources["registry"]
            is_model = len(parts) == 1 and key not in registry.benchmarks()
            partition = {"model": key} if is_model else benchmark_model
            assert request.asset_selection is not None
            failures += self.platform.run(
                Task(partition, list(request.asset_selection))
            )
        while self.queued:
            self.platform.instance.report_run_canceled(self.queued.pop())
        return failures


def keys(requests: list[dg.RunRequest]) -> list[str]:
    return [str(request.partition_key) for request in requests]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Platform]:
    with DagsterInstance.ephemeral() as instance:
        platform = new_platform(tmp_path / "home")
        yield Platform.at(platform.home, instance=instance)
        platform.instance.dispose()


def test_the_code_location_is_whole() -> None:
    dg.Definitions.validate_loadable(defs)

    graph = defs.resolve_asset_graph()
    assert graph.materializable_asset_keys == {
        *(AssetKey(list(key)) for key in TABLES),
        WAREHOUSE_KEY,
    }
    assert {job.name for job in JOBS} == {
        "import_benchmark",
        "import_results",
        "evaluate_model",
        "annotate_benchmark",
        "verify_skills",
        "publish",
        "recheck_sources",
    }
    schedules, sensors = list(defs.schedules or ()), list(defs.sensors or ())
    running = dg.DefaultSensorStatus.RUNNING
    assert {sensor.name for sensor in sensors} == {"watch_sources", "automation"}
    assert all(sensor.default_status == running for sensor in sensors)
    assert [schedule.cron_schedule for schedule in schedules] == ["0 4 * * *"]


def test_jobs_take_the_run_configuration_they_need_which_is_none() -> None:
    for job in JOBS:
        assert dg.validate_run_config(defs.resolve_job_def(job.name), {})


def test_each_job_is_of_one_kind_of_partition() -> None:
    resolved = {job.name: defs.resolve_job_def(job.name) for job in JOBS}

    names = {name: job.partitions_def for name, job in resolved.items()}
    assert names["publish"] is None
    assert isinstance(names["import_benchmark"], dg.DynamicPartitionsDefinition)
    for name in ("import_results", "evaluate_model"):
        cells = names[name]
        assert isinstance(cells, dg.MultiPartitionsDefinition)
        assert cells.partition_dimension_names == ["benchmark", "model"]
    for name in ("annotate_benchmark", "verify_skills"):
        assert isinstance(names[name], dg.DynamicPartitionsDefinition)


@pytest.mark.slow
def test_new_files_are_asked_for_a_stage_at_a_time(
    empty: Platform, tmp_path: Path
) -> None:
    folder = write_grid(tmp_path / "sources", benchmarks=["sums"], models=["ada"])
    register(paths_request([folder]), empty.resources["registry"])
    watcher = Watcher(empty)

    stages = []
    while requests := watcher.tick():
        stages.append(keys(requests))
        assert watcher.tick() == []
        assert watcher.make(requests) == []

    assert stages == [["sums"], ["sums|ada"], ["ada"]]


def test_what_is_made_is_not_asked_for(made: Made) -> None:
    assert Watcher(made.platform).tick() == []


def test_a_tick_without_news_is_skipped_with_the_reason(made: Made) -> None:
    platform = made.platform
    with dg.build_sensor_context(
        instance=platform.instance, resources=dict(platform.resources)
    ) as context:
        result = watch_sources(context)

    assert isinstance(result, dg.SkipReason)
    assert result.skip_message == "no imported file has changed"


def test_a_changed_file_is_asked_for_once(made: Made) -> None:
    watcher = Watcher(made.platform)
    write_results(made.sources, "sums", "ada", n_right=9)

    requests = watcher.tick()

    assert keys(requests) == ["sums"]
    assert requests[0].tags["skillmap/partition"] == "sums"
    assert watcher.tick() == []


def test_a_broken_file_is_asked_for_once_and_fails_where_people_look(
    made: Made,
) -> None:
    watcher = Watcher(made.platform)
    file = made.sources / "sums-ada.jsonl"
    good = file.read_bytes()
    file.write_bytes(good[:-40])

    requests = watcher.tick()
    failures = watcher.make(requests)

    assert keys(requests) == ["sums|ada"]
    assert "sums-ada.jsonl: the last line, record 11, is cut off" in failures[0]
    assert watcher.tick() == []
    file.write_bytes(good[:-41])
    assert keys(watcher.tick()) == ["sums|ada"]


def test_a_broken_file_does_not_hold_up_other_models(made: Made) -> None:
    # The benchmark's tables cannot be made while one of its files is broken, and
    # stay out of date; what other files say of their models goes on.
    watcher = Watcher(made.platform)
    file = made.sources / "sums-ada.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    write_results(made.sources, "sums", "bob", n_right=11)

    first = watcher.tick()
    failures = watcher.make(first)
    second = watcher.tick()

    assert keys(first) == ["sums|ada", "sums"]
    assert failures
    assert keys(second) == ["sums|bob"]
    assert watcher.make(second) == []
    assert watcher.tick() == []


def test_cells_wait_for_an_unfinished_run_of_their_benchmark(made: Made) -> None:
    watcher = Watcher(made.platform)
    write_results(made.sources, "sums", "ada", n_right=9)
    watcher.tick()

    assert watcher.tick() == []

    made.platform.instance.report_run_canceled(watcher.queued.pop())
    assert keys(watcher.tick()) == ["sums|ada"]


def test_the_cursor_is_plain_and_sorted(made: Made) -> None:
    watcher = Watcher(made.platform)
    write_results(made.sources, "sums", "ada", n_right=9)
    write_results(made.sources, "charts", "ada", n_right=9)

    watcher.tick()

    told = json.loads(watcher.cursor or "")
    assert list(told) == sorted(told)
    assert len(told) == 2


def test_a_recheck_finds_a_change_that_kept_size_and_time(made: Made) -> None:
    file = made.sources / "sums-ada.jsonl"
    before = file.stat()
    text = file.read_text("utf-8").replace('"score": 0', '"score": 1')
    file.write_text(text, "utf-8")
    os.utime(file, ns=(before.st_mtime_ns, before.st_mtime_ns))
    registry = made.platform.resources["registry"]
    assert all(registry.refreshed(source) == source for source in registry.sources())

    result = recheck_sources.execute_in_process(
        instance=made.platform.instance, resources={"registry": registry}
    )

    assert result.success
    assert keys(Watcher(made.platform).tick()) == ["sums"]


def requested(made: Made, cursor: object = None) -> tuple[set[AssetKey], object]:
    """What the conditions ask for now."""
    with warnings.catch_warnings():
        # Dagster's own, about a beta parameter that it uses itself.
        warnings.simplefilter("ignore", dg.BetaWarning)
        result = dg.evaluate_automation_conditions(
            defs=made.platform.definitions,
            instance=made.platform.instance,
            cursor=cursor,
        )
    wanted = {
        key
        for key in (ACCURACY, WAREHOUSE_KEY, *map(AssetKey, map(list, TABLE_ASSETS)))
        if result.get_num_requested(key)
    }
    return wanted, result.cursor


@pytest.mark.slow
def test_marts_follow_a_changed_cell(remembered: Made) -> None:
    _, cursor = requested(remembered)
    write_results(remembered.sources, "sums", "ada", n_right=9)
    assert remembered.platform.run(cell_task("sums", "ada")) == []

    wanted, cursor = requested(remembered, cursor)

    assert {ACCURACY, WAREHOUSE_KEY} <= wanted
    assert AssetKey(["core", "skills"]) not in wanted
    assert requested(remembered, cursor)[0] == set()


def test_marts_do_not_follow_a_cell_that_failed(remembered: Made) -> None:
    _, cursor = requested(remembered)
    file = remembered.sources / "sums-ada.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    assert remembered.platform.run(cell_task("sums", "ada")) != []

    wanted, _ = requested(remembered, cursor)

    assert wanted == set()


def test_a_failed_cell_does_not_keep_others_from_the_marts(remembered: Made) -> None:
    # Dagster's condition asks that some partition of each input passed its checks. It
    # need not be all: what failed was never published.
    file = remembered.sources / "sums-ada.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    assert remembered.platform.run(cell_task("sums", "ada")) != []
    _, cursor = requested(remembered)
    write_results(remembered.sources, "sums", "bob", n_right=9)
    assert remembered.platform.run(cell_task("sums", "bob")) == []

    wanted, _ = requested(remembered, cursor)

    assert {ACCURACY, WAREHOUSE_KEY} <= wanted


def test_a_mart_does_not_follow_a_whole_table_whose_check_failed(
    remembered: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = remembered.platform.resources["lake"].read(core.SLICES)
    bad = bad.with_columns(n_items=pl.lit(-1, pl.Int64))
    _, cursor = requested(remembered)
    monkeypatch.setattr(TableAsset, "rows", lambda *_: bad)
    failures = remembered.platform.run(Task({}, [AssetKey(["core", "slices"])]))
    assert "rejected by ['contract'" in failures[0]

    wanted, _ = requested(remembered, cursor)

    assert AssetKey(["core", "slice_items"]) not in wanted
    assert ACCURACY not in wanted


@pytest.mark.slow
def test_cells_that_nobody_has_results_for_do_not_hold_marts_back(
    remembered: Made,
) -> None:
    # A third model without results on one of the benchmarks.
    file = write_results(remembered.sources / "new", "sums", "eve", n_right=3)
    register(paths_request([file]), remembered.platform.resources["registry"])
    remembered.platform.add_partition_keys()
    _, cursor = requested(remembered)
    for task in [
        Task({"benchmark": "sums"}, asset_keys("benchmark")),
        cell_task("sums", "eve"),
    ]:
        assert remembered.platform.run(task) == []

    wanted, _ = requested(remembered, cursor)

    assert {ACCURACY, WAREHOUSE_KEY} <= wanted
