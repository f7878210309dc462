"""The registry: which files were imported, and their records as last read."""

import os
import shutil
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from skillmap.errors import ParseError
from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.resources.registry import DeclaredBenchmark, Registry
from skillmap_dagster.resources.snapshot import RegistrySnapshot
from tests.pipeline.sources import write_grid, write_results


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write_grid(tmp_path / "sources")


@pytest.fixture
def registry(tmp_path: Path, sources: Path) -> Registry:
    made = Registry(folder=str(tmp_path / "registry"), cache=str(tmp_path / "cache"))
    register(paths_request([sources]), made)
    return made


def test_what_files_hold_is_known(registry: Registry) -> None:
    assert registry.benchmarks() == ["charts", "sums"]
    assert registry.cells() == [
        ("charts", "ada"),
        ("charts", "bob"),
        ("sums", "ada"),
        ("sums", "bob"),
    ]
    assert {source.n_records for source in registry.sources()} == {12}


def test_a_file_is_read_once_for_each_content(registry: Registry) -> None:
    source = registry.sources("sums")[0]
    before = registry.parsed(source)
    Path(source.uri).unlink()

    again = registry.parsed(source)

    assert_frame_equal(again.results, before.results)
    assert registry.refreshed(source) == source


def test_without_cache_and_file_the_records_are_gone_and_it_says_so(
    registry: Registry,
) -> None:
    source = registry.sources("sums")[0]
    Path(source.uri).unlink()
    shutil.rmtree(registry.cache)

    with pytest.raises(ParseError, match="the file is gone"):
        registry.parsed(source)


def test_a_changed_file_is_noted_with_its_new_models(
    registry: Registry, sources: Path
) -> None:
    file = sources / "sums-bob.jsonl"
    text = file.read_text("utf-8").replace('"model": "bob"', '"model": "eve"')
    file.write_text(text, "utf-8")
    source = next(s for s in registry.sources() if s.uri == str(file))

    now = registry.refreshed(source)

    assert now.fingerprint != source.fingerprint
    assert list(now.models["sums"]) == ["eve"]
    assert ("sums", "eve") in registry.cells()


def test_a_file_that_broke_keeps_its_place_and_its_last_records(
    registry: Registry, sources: Path
) -> None:
    file = sources / "sums-bob.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    source = next(s for s in registry.sources() if s.uri == str(file))

    with pytest.raises(ParseError, match="cut off"):
        registry.refreshed(source)

    assert source in registry.sources()
    assert registry.parsed(source).results.height == 12


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    registry: Registry, sources: Path
) -> None:
    file = sources / "sums-bob.jsonl"
    source = next(s for s in registry.sources() if s.uri == str(file))
    stale = source.model_copy(update={"sha256": "of before"})
    write_results(sources, "sums", "bob", n_right=1)

    with pytest.raises(ParseError, match="changed while it was read"):
        registry.parsed(stale)


def test_a_new_time_without_a_new_content_is_not_a_change(registry: Registry) -> None:
    source = registry.sources("sums")[0]
    os.utime(source.uri, ns=(1, 1))

    now = registry.refreshed(source)

    assert now.stamp != source.stamp
    assert now.fingerprint == source.fingerprint


def test_a_forgotten_source_is_not_there_and_its_file_is(
    registry: Registry,
) -> None:
    source = registry.sources("sums")[0]

    registry.forget(source.source_id)

    assert source not in registry.sources()
    assert Path(source.uri).exists()


def test_an_odd_benchmark_can_be_declared(registry: Registry) -> None:
    declared = DeclaredBenchmark(benchmark_id="../a b/ü", n_items=5)

    registry.declare(declared)

    assert registry.benchmark("../a b/ü") == declared
    assert "../a b/ü" in registry.benchmarks()


def test_a_snapshot_says_what_the_registry_said(registry: Registry) -> None:
    registry.declare(DeclaredBenchmark(benchmark_id="sums", n_items=12))
    snapshot = RegistrySnapshot(registry)
    before = registry.sources("sums")

    registry.forget(before[0].source_id)

    assert snapshot.sources("sums") == before
    assert snapshot.sources("nothing") == []
    assert snapshot.benchmark("sums") == registry.benchmark("sums")
    assert snapshot.benchmark("charts") == DeclaredBenchmark(benchmark_id="charts")
