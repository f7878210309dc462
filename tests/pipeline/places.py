"""A home that is made once, and copies of it to try things on."""

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
    """The folder with the first home, made when first asked for, and its sources.

    The sources are as they were first written, whatever a test made of them.
    """
    folder = base / "made-once"
    sources, first = folder / "sources", folder / "as-first-written"
    if not folder.exists():
        write_grid(sources, benchmarks=BENCHMARKS, models=MODELS)
        shutil.copytree(sources, first)
        outcome = bring_in(new_platform(folder / "home"), sources)
        assert outcome.failures == []
    shutil.rmtree(sources)
    shutil.copytree(first, sources)
    return folder


def copied(base: Path, home: Path, *, instance: DagsterInstance | None = None) -> Made:
    """The home copied to ``home``, beside its sources as they were first written.

    Sources are known by where they are, so all copies share them, one at a time.
    """
    folder = made_once(base)
    shutil.copytree(folder / "home", home)
    platform = Platform.at(home, instance=instance)
    platform.add_partition_keys()
    return Made(platform, folder / "sources")
