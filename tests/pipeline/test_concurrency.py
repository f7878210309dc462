"""Many processes on one home: each its own partition, while others read and publish."""

import os
import time
from pathlib import Path

import pytest

from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.planning import cell_task
from skillmap_dagster.runs import Platform
from tests.pipeline.processes import bring_up_to_date, finish, start
from tests.pipeline.sources import n_right, new_platform, write_grid, write_results

BENCHMARKS = ("charts", "sums")
MODELS = ("ada", "bob", "cy", "di")
CELLS = [(benchmark, model) for benchmark in BENCHMARKS for model in MODELS]
ACCURACIES = "select benchmark_id, model_id, accuracy from mart.model_accuracy"


def make_cell(home: Path, benchmark: str, model: str, gate: Path) -> None:
    """Make a cell, once the gate is open, so that all begin at one time."""
    platform = Platform.at(home)
    while not gate.exists():
        time.sleep(0.002)
    failures = platform.run(cell_task(benchmark, model))
    _tell(gate, failures)
    os._exit(1 if failures else 0)


def read_until(home: Path, end: Path) -> None:
    """Query the published file again and again."""
    warehouse = Platform.at(home).resources["warehouse"]
    n_read = 0
    while not end.exists():
        rows = warehouse.query(ACCURACIES)
        responses = warehouse.query("select count(*) from core.responses").item()
        if (rows.height, responses) != (len(CELLS), 12 * len(CELLS)):
            _tell(end, [f"{rows.height} accuracies, {responses} responses"])
            os._exit(2)
        n_read += 1
    os._exit(0 if n_read else 3)


def publish_until(home: Path, end: Path) -> None:
    """Publish again and again."""
    resources = Platform.at(home).resources
    while not end.exists():
        resources["warehouse"].publish(resources["lake"])
    os._exit(0)


def _tell(beside: Path, failures: list[str]) -> None:
    told = "\n".join(failures)
    beside.with_name(f"told-{os.getpid()}.txt").write_text(told, "utf-8")


@pytest.mark.slow
def test_eight_writers_a_reader_and_a_publisher_do_not_disturb_each_other(
    tmp_path: Path,
) -> None:
    home, gate, end = tmp_path / "home", tmp_path / "gate", tmp_path / "end"
    platform = new_platform(home)
    sources = write_grid(tmp_path / "sources", benchmarks=BENCHMARKS, models=MODELS)
    register(paths_request([sources]), platform.resources["registry"])
    assert finish(start(bring_up_to_date, home)) == [0]
    for number, (benchmark, model) in enumerate(CELLS):
        write_results(sources, benchmark, model, n_right=number + 1)

    others = [start(read_until, home, end), start(publish_until, home, end)]
    writers = [start(make_cell, home, *cell, gate) for cell in CELLS]
    gate.touch()
    codes = finish(*writers)
    end.touch()

    told = {file.name: file.read_text("utf-8") for file in tmp_path.glob("told-*.txt")}
    assert codes == [0] * len(CELLS), told
    assert finish(*others) == [0, 0], told
    lake = platform.resources["lake"]
    for number, (benchmark, model) in enumerate(CELLS):
        assert n_right(lake, benchmark, model) == number + 1
    assert finish(start(bring_up_to_date, home)) == [0]
    found = platform.resources["warehouse"].query(ACCURACIES)
    assert {tuple(row[:2]): row[2] for row in found.rows()} == {
        cell: (number + 1) / 12 for number, cell in enumerate(CELLS)
    }


def first_platform(home: Path, gate: Path) -> None:
    """Make the platform in a folder where there is none yet."""
    while not gate.exists():
        time.sleep(0.001)
    platform = Platform.at(home)
    platform.instance.add_dynamic_partitions("model", [f"model-{os.getpid()}"])
    _tell(gate, [])
    os._exit(0)


@pytest.mark.slow
def test_a_home_can_be_first_opened_by_several_at_once(tmp_path: Path) -> None:
    home, gate = tmp_path / "home", tmp_path / "gate"

    openers = [start(first_platform, home, gate) for _ in range(4)]
    time.sleep(0.5)
    gate.touch()

    assert finish(*openers) == [0] * 4
    models = Platform.at(home).instance.get_dynamic_partitions("model")
    assert len(models) == 4
