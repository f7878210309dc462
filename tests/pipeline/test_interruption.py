"""Runs that are killed, at whatever they are doing: a rerun ends where they would."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skillmap.contracts import TABLES
from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.runs import Platform
from tests.pipeline.places import made_again, made_once
from tests.pipeline.processes import bring_up_to_date, finish, start
from tests.pipeline.sources import contents, new_platform, write_results

# Killed as soon as these are there, which is while the next is being made.
MARKS = ["core.items", "core.responses", "core.skill_names", "mart.slice_accuracy"]
N_RANDOM_KILLS = 5
MOST_SECONDS = 60


def is_there(lake: Lake, name: str) -> bool:
    table = next(table for table in TABLES.values() if str(table) == name)
    return bool(lake.partitions(table))


def killed_when(home: Path, is_time: Callable[[], bool]) -> int | None:
    """Exit code of a run that is killed at a time."""
    process = start(bring_up_to_date, home)
    end = time.monotonic() + MOST_SECONDS
    while process.is_alive() and not is_time() and time.monotonic() < end:
        time.sleep(0.003)
    process.kill()
    process.join()
    return process.exitcode


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_as_an_undisturbed_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    undisturbed = made_once(tmp_path_factory.getbasetemp())
    expected = contents(Lake(root=str(undisturbed / "home" / "lake")))
    platform = new_platform(tmp_path / "home")
    lake = platform.resources["lake"]
    registry = platform.resources["registry"]
    register(paths_request([undisturbed / "sources"]), registry)
    random = np.random.default_rng(20261130)
    pauses = random.uniform(0.2, 2.0, N_RANDOM_KILLS)

    codes = []
    for mark in MARKS:
        codes.append(killed_when(platform.home, lambda m=mark: is_there(lake, m)))
        assert contents(lake).items() <= expected.items()
    for pause in pauses:
        end = time.monotonic() + pause
        codes.append(killed_when(platform.home, lambda e=end: time.monotonic() > e))
        assert contents(lake).items() <= expected.items()

    assert codes.count(-9) >= len(MARKS)
    assert finish(start(bring_up_to_date, platform.home)) == [0]
    assert contents(lake) == expected
    after = Platform.at(platform.home)
    assert after.bring_up_to_date().n_runs == 0
    assert after.resources["warehouse"].is_current(lake)


@pytest.mark.slow
def test_a_change_that_is_cut_short_leaves_old_or_new_rows(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = made_again(tmp_path_factory.getbasetemp())
    lake = made.platform.resources["lake"]
    warehouse = made.platform.resources["warehouse"]
    before = contents(lake)
    query = "select accuracy from mart.model_accuracy order by all"
    published = warehouse.query(query)
    write_results(made.sources, "sums", "ada", n_right=9)
    scores = ("core.scores", ("sums", "ada"))

    code = killed_when(
        made.platform.home, lambda: contents(lake)[scores] != before[scores]
    )

    assert code == -9
    # The marts and the file that people read are of before, whole.
    assert (
        contents(lake)["mart.model_accuracy", ()] == before["mart.model_accuracy", ()]
    )
    assert warehouse.query(query).equals(published)
    assert finish(start(bring_up_to_date, made.platform.home)) == [0]
    assert sorted(warehouse.query(query)["accuracy"].to_list()) == [
        4 / 12,
        6 / 12,
        6 / 12,
        9 / 12,
    ]
