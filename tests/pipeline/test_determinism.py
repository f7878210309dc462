"""The same sources make the same bytes, wherever and in whatever order."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from dagster import DagsterInstance
from polars.testing import assert_frame_equal

from skillmap.contracts import TABLES
from skillmap.contracts.views import VIEWS
from skillmap_dagster.resources.warehouse import Warehouse
from skillmap_dagster.runs import Platform
from tests.pipeline.places import made_once
from tests.pipeline.sources import bring_in, contents

IMPORT = "from skillmap_dagster.cli.app import main; main()"


def files(lake: Path) -> Mapping[str, bytes]:
    found = sorted(lake.rglob("*.parquet"))
    return {str(file.relative_to(lake)): file.read_bytes() for file in found}


def importing(home: Path, sources: Path, **environment: str) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", IMPORT, "import", str(sources), "--home", str(home)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
def test_homes_made_by_other_processes_are_equal_to_the_byte(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = made_once(tmp_path_factory.getbasetemp())
    environments = [
        {"PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "2"},
        {"PYTHONHASHSEED": "1", "POLARS_MAX_THREADS": "1"},
    ]
    homes = [tmp_path / f"home-{number}" for number in range(len(environments))]
    for home in homes:
        home.mkdir()
        shutil.copy(here / "home" / "settings.yaml", home)

    processes = [
        importing(home, here / "sources", **environment)
        for home, environment in zip(homes, environments, strict=True)
    ]
    printed = [process.communicate()[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0], printed
    expected = files(here / "home" / "lake")
    assert len(expected) > 30
    for home in homes:
        made = files(home / "lake")
        assert made.keys() == expected.keys()
        assert [name for name in made if made[name] != expected[name]] == []
    warehouses = [Warehouse(file=str(home / "skillmap.duckdb")) for home in homes]
    for name in [*TABLES.values(), *(f"mart.{view.name}" for view in VIEWS)]:
        # In stored order: no query may depend on who comes first.
        one, other = (warehouse.query(f"from {name}") for warehouse in warehouses)
        assert_frame_equal(one, other)


@pytest.mark.slow
def test_files_imported_one_after_another_make_the_same_tables(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = made_once(tmp_path_factory.getbasetemp())
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(here / "home" / "settings.yaml", home)
    first, *others = sorted((here / "sources").iterdir(), reverse=True)

    with DagsterInstance.ephemeral() as instance:
        platform = Platform.at(home, instance=instance)
        assert bring_in(platform, first).failures == []
        assert bring_in(platform, *others).failures == []

    at_once = Platform.at(here / "home").resources["lake"]
    assert contents(platform.resources["lake"]) == contents(at_once)
