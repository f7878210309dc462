"""CPU seconds of one more model and one more benchmark on a home that exists.

First on a home of made-up files, imported and made up to date as the command line
does it: from nothing, with one more model on the same benchmarks, and with one more
benchmark of the same models; with the tables that were made. Then the analysis alone,
on a lake of 50 models: one more model, against everything anew.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
        python -m benchmarks.increments

Compare ratios within one run only. Embedding is part of the first part, not of the
second.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks import analysis
from benchmarks.platform import write_sources
from skillmap.contracts import mart
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.resources.home import home_resources
from skillmap_dagster.resources.settings import AnalysisSettings
from skillmap_dagster.runs import Platform

# What reads the results of models.
OF_RESULTS = [
    mart.MODEL_ACCURACY,
    mart.SLICE_ACCURACY,
    mart.SLICE_CONTRASTS,
    mart.SLICE_GAINS,
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", type=int, default=3)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--analysed-models", type=int, default=50)
    parser.add_argument("--analysed-items", type=int, default=46_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillmap-benchmark-") as folder:
        measure_home(options, Path(folder))
    if options.analysed_models:
        with tempfile.TemporaryDirectory(prefix="skillmap-benchmark-") as folder:
            measure_analysis(options, Path(folder))


def measure_home(options: argparse.Namespace, folder: Path) -> None:
    n_benchmarks, n_models = options.benchmarks, options.models
    files = sorted(
        write_sources(
            folder / "sources", n_benchmarks + 1, n_models + 1, options.items
        ).iterdir()
    )
    new_benchmark, new_model = f"benchmark-{n_benchmarks}-", f"model-{n_models}."
    first = [
        f for f in files if new_benchmark not in f.name and new_model not in f.name
    ]
    of_model = [f for f in files if new_benchmark not in f.name and new_model in f.name]
    of_benchmark = [
        f for f in files if new_benchmark in f.name and new_model not in f.name
    ]
    platform = Platform.at(folder / "home")
    platform.resources["settings"].write(AnalysisSettings(minimum_slice_items=100))

    print(f"{n_benchmarks} benchmarks of {options.items:,} items, {n_models} models")
    everything = imported(platform, first)
    print(f"{everything:8.2f} CPU-s  all of it, from nothing")
    for what, new in (("model", of_model), ("benchmark", of_benchmark)):
        seconds = imported(platform, new)
        print(
            f"{seconds:8.2f} CPU-s  one more {what}, {len(new)} files: "
            f"{seconds / everything:.1%} of it"
        )


def imported(platform: Platform, files: list[Path]) -> float:
    """CPU seconds of importing files and bringing everything up to date."""
    tables: Counter[str] = Counter()

    def progress(task: str, _number: int, _n: int) -> None:
        tables.update(task.partition(": ")[2].split(", "))

    start = time.process_time()
    register(paths_request(files), platform.resources["registry"])
    outcome = platform.bring_up_to_date(progress=progress)
    seconds = time.process_time() - start
    if outcome.failures:
        raise SystemExit("\n".join(outcome.failures))
    print(f"made {dict(tables)} in {outcome.n_runs} runs")
    return seconds


def measure_analysis(options: argparse.Namespace, folder: Path) -> None:
    world = argparse.Namespace(
        items=options.analysed_items,
        skills=10,
        phrases=62_000,
        # The last one is kept for later.
        models=options.analysed_models + 1,
        duplicates=0.2,
        replicates=1000,
        clustering=None,
        broad_threshold=None,
    )
    resources = home_resources(folder)
    lake = resources["lake"]
    analysis.make_world(world, resources)
    last = f"model {options.analysed_models:02}"
    held_back = [
        (table, partition, lake.read(table, **partition))
        for table in analysis.OF_MODELS
        for partition in lake.partitions(table, model=last)
    ]
    for table, partition, _ in held_back:
        lake.remove(table, partition)
    watch = analysis.Stopwatch()
    analysis.analyse(resources, watch)
    world.models = options.analysed_models
    analysis.more_analysis(world, lake, watch)
    with watch.on("publish the DuckDB file"):
        resources["warehouse"].publish(lake)

    for table, partition, rows in held_back:
        lake.write(table, partition, rows, inputs="")
    more = analysis.Stopwatch()
    for table in OF_RESULTS:
        with more.on(str(table)):
            rows = TABLE_ASSETS[table.key].rows({}, resources)
        with more.on("write the lake"):
            lake.write(table, {}, rows, inputs="")
    with more.on("publish the DuckDB file"):
        resources["warehouse"].publish(lake)
    print(f"analysis of {options.analysed_models} models: {watch.total:.2f} CPU-s")
    for what, seconds in more.seconds.items():
        print(
            f"{seconds:8.2f} CPU-s  {seconds / watch.total:6.1%}  "
            f"with one more model, {what}"
        )
    print(f"{more.total:8.2f} CPU-s  {more.total / watch.total:6.1%}  in all")


if __name__ == "__main__":
    main()
