"""A home that is made once, and put back for every test that tries things on it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from dagster import DagsterInstance

from skillmap_dagster.runs import Platform
from tests.pipeline.sources import bring_in, new_platform, write_grid

BENCHMARKS = ("charts", "sums")
MODELS = ("ada", "bob")


@dataclass(frozen=True)
class Made:
    """A home that is up to date, and the folder of the files it was made from."""

    platform: Platform
    sources: Path


def made_once(base: Path) -> Path:
    """The folder with a home and its sources, made when first asked for.

    Both are as they were first made, whatever a test made of them. They are always in
    the same place, since sources are known by where they are.
    """
    folder = base / "made-once"
    kept = folder / "as-first-made"
    if not folder.exists():
        write_grid(folder / "sources", benchmarks=BENCHMARKS, models=MODELS)
        outcome = bring_in(new_platform(folder / "home"), folder / "sources")
        assert outcome.failures == []
        for name in ("sources", "home"):
            shutil.copytree(folder / name, kept / name)
    for name in ("sources", "home"):
        shutil.rmtree(folder / name)
        shutil.copytree(kept / name, folder / name)
    return folder


def made_again(base: Path, *, instance: DagsterInstance | None = None) -> Made:
    """The home and its sources as they were first made, to try things on."""
    folder = made_once(base)
    platform = Platform.at(folder / "home", instance=instance)
    platform.add_partition_keys()
    return Made(platform, folder / "sources")
