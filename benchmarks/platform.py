"""Time and memory from files to marts, beside bare Polars and a run that does nothing.

    python -m benchmarks.platform --benchmarks 3 --models 8 --items 2000

Compare ratios within one run only: the baselines are measured in the same process,
on the same files. CPU seconds are of the process and its threads; peak memory is the
highest mark of the process so far, so the baselines, which are small, come first.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import polars as pl

from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.planning import STAGES
from skillmap_dagster.resources.settings import AnalysisSettings
from skillmap_dagster.runs import Platform

N_PHRASES = 60
N_NOOP_RUNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", type=int, default=3)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--items", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillmap-benchmark-") as folder:
        measure(Path(folder), options.benchmarks, options.models, options.items)


def measure(folder: Path, n_benchmarks: int, n_models: int, n_items: int) -> None:
    sources = write_sources(folder / "sources", n_benchmarks, n_models, n_items)
    n_results = n_benchmarks * n_models * n_items
    n_bytes = sum(file.stat().st_size for file in sources.iterdir())
    print(
        f"{n_results:,} results in {n_benchmarks * n_models} files, {n_bytes:,} bytes"
    )

    bare = Baseline(
        "bare Polars: parse and group", seconds(lambda: bare_polars(sources))
    )
    platform = Platform.at(folder / "home")
    settings = AnalysisSettings(minimum_slice_items=100)
    platform.resources["settings"].write(settings)
    noop = Baseline("a Dagster run that does nothing", noop_seconds(platform))
    for baseline in (bare, noop):
        print(f"{baseline.seconds:9.3f} s  {baseline.name}")

    with told("read and register the files", bare):
        registry = platform.resources["registry"]
        register(paths_request([sources]), registry)
    platform.add_partition_keys()
    for stage in STAGES:
        with told(f"plan {stage or 'all'}", noop):
            tasks = platform.planner.plan(stage)
        with told(f"make {stage or 'all'}", bare, n_runs=len(tasks), noop=noop):
            failures = [reason for task in tasks for reason in platform.run(task)]
        if failures:
            raise SystemExit("\n".join(failures))
    measure_changes(platform, sources, bare, noop)


def measure_changes(
    platform: Platform, sources: Path, bare: "Baseline", noop: "Baseline"
) -> None:
    with told("bring up to date, nothing changed", noop):
        platform.bring_up_to_date()
    first = min(sources.iterdir())
    text = first.read_text("utf-8")
    first.write_text(text.replace('"score": 0', '"score": 1', 1), "utf-8")
    with told("bring up to date, one file changed", bare):
        platform.bring_up_to_date()
    lake, warehouse = platform.resources["lake"], platform.resources["warehouse"]
    with told("publish again", bare):
        warehouse.publish(lake)
    with told("query accuracies", bare):
        warehouse.query("from mart.model_accuracy")


class Baseline:
    """Something plain that the same files or runs cost, to compare with."""

    def __init__(self, name: str, value: float) -> None:
        self.name = name
        self.seconds = value


@contextmanager
def told(
    what: str, baseline: Baseline, *, n_runs: int = 0, noop: Baseline | None = None
) -> Iterator[None]:
    """Print what a ``with`` block took, and how that compares."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratio = f"{wall / baseline.seconds:.3g} × {baseline.name}"
    if noop and n_runs:
        ratio += (
            f"; {n_runs} runs, each {wall / n_runs / noop.seconds:.2g} × {noop.name}"
        )
    print(f"{wall:9.3f} s  {cpu:8.3f} s CPU  {peak:6,.0f} MiB  {what}: {ratio}")


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare_polars(sources: Path) -> pl.DataFrame:
    """The accuracies, with nothing kept, checked or matched."""
    return (
        pl.concat([pl.scan_ndjson(file) for file in sorted(sources.iterdir())])
        .group_by("benchmark", "model")
        .agg(pl.col("score").mean(), pl.len())
        .collect()
    )


def noop_seconds(platform: Platform) -> float:
    @dg.asset
    def nothing() -> None:
        """Nothing."""

    def run() -> None:
        dg.materialize([nothing], instance=platform.instance)

    run()
    return seconds(lambda: [run() for _ in range(N_NOOP_RUNS)]) / N_NOOP_RUNS


def write_sources(folder: Path, n_benchmarks: int, n_models: int, n_items: int) -> Path:
    """A file for each benchmark and model; every item has a skill."""
    folder.mkdir()
    for benchmark in range(n_benchmarks):
        for model in range(n_models):
            lines = (
                json.dumps(
                    {
                        "benchmark": f"benchmark-{benchmark}",
                        "item_id": number,
                        "question": f"Question {number} of benchmark {benchmark}?",
                        "choices": ["one", "two", "three", "four"],
                        "answer": "ABCD"[number % 4],
                        "model": f"model-{model}",
                        "response": f"Let me think about {number}. " * 10,
                        "prediction": "ABCD"[(number * (model + 3)) % 4],
                        "score": int(number * (model + 3) % 4 == number % 4),
                        "skill": f"handling things of kind {number % N_PHRASES}",
                    }
                )
                for number in range(n_items)
            )
            file = folder / f"benchmark-{benchmark}-model-{model}.jsonl"
            file.write_text("\n".join(lines), "utf-8")
    return folder


if __name__ == "__main__":
    main()
