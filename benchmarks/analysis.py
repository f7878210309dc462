"""CPU seconds and memory of the whole analysis, from embedded phrases to DuckDB.

A made-up world goes into a lake: items of ten benchmarks with skills named for them,
and results of all models. Then the product's own assets run one after the other, each
writing its table, and the lake is published. Run it on one thread, or CPU seconds
mean little:

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
        python -m benchmarks.analysis --models 3

With ``--clustering leader --broad-threshold 1`` it is what the performance study
measured. Compare ratios within one run only. The baseline does the same plainly, in
the same run: all cosines, and loops over slices, pairs, replicates and items, which
do a sample and are scaled up. Peak memory is printed before the baselines run.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.comparisons import loop_of_resampling, loop_over_pairs
from benchmarks.skills import phrase_vectors, product_pairs
from skillmap.comparisons.pair_sums import all_pairs
from skillmap.comparisons.result_matrix import ResultMatrix, result_matrix
from skillmap.contracts import core, mart
from skillmap.contracts.table import Table
from skillmap.metrics.bootstrap import (
    accuracy_spread,
    difference_spread,
    paired_bootstrap,
)
from skillmap.routing.evaluation import route_evaluation
from skillmap.routing.evidence import RoutingItems, routing_items
from skillmap.routing.policies import PublishedPolicy
from skillmap.routing.published import first_best, leave_one_out_scores, slice_sums
from skillmap_dagster.assets import marts, skills
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.resources.home import home_resources
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.settings import AnalysisSettings

N_BENCHMARKS = 10
MODEL_EFFECTS = 40
# Pairs whose bootstrap intervals are worked out: those that are looked at.
MOST_SHOWN = 66
# Items that a loop is timed on.
SAMPLE = 200
# Modules that declare the assets below.
DECLARED = (marts, skills)
# Tables that hold what models did.
OF_MODELS = (core.EVAL_RUNS, core.RESPONSES, core.SCORES)
STAGES = {
    "phrases to skills": [core.SKILL_NAMES],
    "items to slices": [core.ITEM_SKILLS, core.SKILLS, core.SLICES, core.SLICE_ITEMS],
    "accuracies": [mart.MODEL_ACCURACY, mart.SLICE_ACCURACY],
    "all pairs": [mart.SLICE_CONTRASTS],
    "gains, bootstrap by benchmark": [mart.SLICE_GAINS],
}


class Stopwatch:
    """CPU seconds by what they went into."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.peaks: dict[str, float] = {}

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        start = time.process_time()
        yield
        spent = time.process_time() - start
        self.seconds[what] = self.seconds.get(what, 0.0) + spent
        self.peaks[what] = peak_megabytes()

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


class StoredVectors:
    """Stands for the embedding resource when every phrase is in its cache."""

    def __init__(self, phrases: list[str], vectors: NDArray[np.float32]) -> None:
        self.rows = pl.DataFrame({"phrase": phrases}).with_row_index("row")
        self.all = vectors

    def vectors(self, _embedder: str, phrases: list[str]) -> NDArray[np.float32]:
        wanted = pl.DataFrame({"phrase": phrases})
        rows = wanted.join(self.rows, on="phrase", maintain_order="left")["row"]
        return self.all[rows.to_numpy()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=46_000)
    parser.add_argument("--skills", type=int, default=10, help="of each item")
    parser.add_argument("--phrases", type=int, default=62_000)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--duplicates", type=float, default=0.2)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--clustering", choices=["average", "leader"])
    parser.add_argument(
        "--broad-threshold", type=float, help="1 for no broad skills at all"
    )
    parser.add_argument("--skip-baseline", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillmap-benchmark-") as folder:
        measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    resources = home_resources(folder)
    lake: Lake = resources["lake"]
    vectors = make_world(options, resources)
    start_memory = peak_megabytes()
    watch = Stopwatch()
    analyse(resources, watch)
    results, candidates = more_analysis(options, lake, watch)
    with watch.on("publish the DuckDB file"):
        resources["warehouse"].publish(lake)
    memory = peak_megabytes()

    for what, seconds in watch.seconds.items():
        print(f"{seconds:8.2f} CPU-s  {watch.peaks[what]:6,.0f} MB so far  {what}")
    n_pairs = all_pairs(options.models).a.size
    print(
        f"{watch.total:8.2f} CPU-s  in all: {options.items:,} items, "
        f"{options.items * options.skills:,} skill mentions, {options.models} models, "
        f"{results.slices.height} slices of {results.membership.item.size:,} items, "
        f"{results.slices.height * n_pairs:,} contrasts at most"
    )
    print(f"peak memory {memory:,.0f} MB, {start_memory:,.0f} when the world was made")
    if not options.skip_baseline:
        baseline(options, vectors, results, candidates, watch)


def analyse(resources: dict[str, Any], watch: Stopwatch) -> None:
    """Make the tables by their assets, and write them."""
    for stage, tables in STAGES.items():
        for table in tables:
            with watch.on(stage):
                rows = TABLE_ASSETS[table.key].rows({}, resources)
            with watch.on("write the lake"):
                resources["lake"].write(table, {}, rows, inputs="")


def more_analysis(
    options: argparse.Namespace, lake: Lake, watch: Stopwatch
) -> tuple[ResultMatrix, RoutingItems]:
    """What no asset makes alone: intervals by bootstrap, and the paper's routing."""
    slice_items = lake.read(core.SLICE_ITEMS).select("slice_id", "item_id")
    slices = lake.read(core.SLICES).select("slice_id", "slice_name")
    groups = lake.read(core.ITEM_GROUPS)
    clusters = groups.select("item_id", cluster_id="group_id")
    with watch.on("bootstrap of all accuracies and shown pairs"):
        results = result_matrix(marts.item_scores(lake), slice_items, slices, clusters)
        bootstrap = paired_bootstrap(
            results.membership,
            results.scores,
            results.clusters,
            n_replicates=options.replicates,
        )
        accuracy_spread(bootstrap)
        pairs = all_pairs(options.models)
        difference_spread(bootstrap, pairs.a[:MOST_SHOWN], pairs.b[:MOST_SHOWN])
        del bootstrap
    with watch.on("routing by skills, leave one out and 5 folds"):
        candidates = routing_items(
            marts.item_scores(lake),
            lake.read(core.ITEMS).select("item_id", "category", "origin"),
            model_ids=results.models.to_list(),
            item_groups=groups,
            slice_items=slice_items,
        )
        held = candidates.labels["skill"].membership
        sums = slice_sums(held, candidates.scores)
        first_best(leave_one_out_scores(held, candidates.scores, sums))
        route_evaluation(candidates, policies=[PublishedPolicy()])
    return results, candidates


def make_world(
    options: argparse.Namespace, resources: dict[str, Any]
) -> NDArray[np.float32]:
    """Fill a lake with items, mentions and results; returns the phrases' vectors."""
    random = np.random.default_rng(0)
    lake: Lake = resources["lake"]
    vectors = phrase_vectors(options.phrases, seed=0)
    names = [f"handling things of kind {number:06}" for number in range(len(vectors))]
    resources["embedding"] = StoredVectors(names, vectors)
    models = [f"model {number:02}" for number in range(options.models)]
    chosen = {
        "clustering": options.clustering,
        "broad_similarity_threshold": options.broad_threshold,
    }
    resources["settings"].write(
        AnalysisSettings.model_validate({k: v for k, v in chosen.items() if v})
    )

    # Few phrases are named often, and each at least once.
    n_mentions = options.items * options.skills
    rank = options.phrases * random.random(n_mentions) ** 5
    phrase = rank.astype(np.int64)
    phrase[: options.phrases] = np.arange(options.phrases)
    random.shuffle(phrase)
    item = np.repeat(np.arange(options.items), options.skills)
    put(lake, core.ITEM_GROUPS, groups_of(options.items, options.duplicates, random))
    write_items_and_results(
        options, lake, models, phrase.reshape(options.items, -1), random
    )
    for benchmark in range(N_BENCHMARKS):
        own = item % N_BENCHMARKS == benchmark
        mentions = pl.DataFrame(
            {
                "mention_id": pl.Series(np.flatnonzero(own)).cast(pl.String),
                "benchmark_id": f"b{benchmark}",
                "item_id": ids_of(item[own]),
                "normalised_phrase": pl.Series(names).gather(phrase[own]),
            }
        )
        put(lake, core.SKILL_MENTIONS, mentions, f"b{benchmark}")
    return vectors


def write_items_and_results(
    options: argparse.Namespace,
    lake: Lake,
    models: list[str],
    phrase: NDArray[np.int64],
    random: np.random.Generator,
) -> None:
    difficulty = random.standard_normal(options.items)
    for benchmark in range(N_BENCHMARKS):
        own = np.arange(benchmark, options.items, N_BENCHMARKS)
        item_id, name = ids_of(own), f"b{benchmark}"
        about = pl.DataFrame({"item_id": item_id}).with_columns(
            benchmark_id=pl.lit(name),
            native_id=pl.lit("1"),
            native_id_type=pl.lit("integer"),
            category=pl.format("category {}", pl.Series(own % 14)),
        )
        put(lake, core.ITEMS, about, name)
        for model, model_id in enumerate(models):
            # Each model has kinds of phrases that it is good or bad at.
            effect = np.cos((phrase[own] + 17 * model) % MODEL_EFFECTS).mean(axis=1)
            luck = random.standard_normal(own.size)
            ability = 0.8 + 0.02 * (model % 10) + effect
            score = (0.7 * difficulty[own] + 0.7 * luck < ability).astype(np.float64)
            keys = {"benchmark_id": name, "model_id": model_id}
            run = pl.DataFrame({"eval_run_id": [f"{name} {model_id}"], **keys})
            put(lake, core.EVAL_RUNS, run.with_columns(is_primary=True), name, model_id)
            response = pl.DataFrame({"item_id": item_id}).with_columns(
                eval_run_id=pl.lit(f"{name} {model_id}"),
                benchmark_id=pl.lit(name),
                model_id=pl.lit(model_id),
                is_drifted=pl.lit(value=False),
            )
            put(lake, core.RESPONSES, response, name, model_id)
            scored = response.with_columns(
                score=pl.Series(score),
                is_primary=pl.lit(value=True),
                extractor=pl.lit("source"),
                outcome=pl.Series(["wrong", "correct"]).gather(score.astype(int)),
            )
            put(lake, core.SCORES, scored, name, model_id)


def groups_of(n: int, share: float, random: np.random.Generator) -> pl.DataFrame:
    """Every second item and the next ask the same, for a share of them."""
    place = np.arange(n)
    kept = place[random.random(n // 2 + 1)[place // 2] < share]
    return pl.DataFrame(
        {
            "item_id": ids_of(kept),
            "benchmark_id": pl.Series(kept % N_BENCHMARKS).cast(pl.String),
            "kind": "near",
            "group_id": pl.Series(kept // 2).cast(pl.String),
            "n_group_items": 2,
        }
    )


def ids_of(items: NDArray[np.int64]) -> pl.Series:
    """Ids of items, which take turns in their benchmarks."""
    numbers = pl.DataFrame({"b": items % N_BENCHMARKS, "i": items})
    return numbers.select(pl.format("b{}:{}", "b", "i")).to_series()


def put(
    lake: Lake, table: Table, rows: pl.DataFrame, benchmark: str = "", model: str = ""
) -> None:
    """Write rows; the columns that do not matter here are empty."""
    empty: dict[str, object] = {"varchar": "", "bigint": 0, "boolean": False}
    rest = {
        column.name: pl.lit(None if column.nullable else empty.get(column.type))
        for column in table.columns
        if column.name not in rows.columns
    }
    lists = {
        name: pl.lit([], dtype=dtype)
        for name, dtype in table.polars_schema.items()
        if name in rest and isinstance(dtype, pl.List)
    }
    filled = rows.with_columns(**{**rest, **lists})
    keys = {"benchmark": benchmark, "model": model}
    partition = {dimension: keys[dimension] for dimension in table.dimensions}
    lake.write(table, partition, table.conform(filled), inputs="")


def baseline(
    options: argparse.Namespace,
    vectors: NDArray[np.float32],
    results: ResultMatrix,
    candidates: RoutingItems,
    watch: Stopwatch,
) -> None:
    """The same by plain means, in the same run."""
    plain = {
        "all cosines (all rows)": spent(
            lambda: product_pairs(vectors, 0.80, triangle=False)
        ),
        "a loop over slices and pairs*": loop_over_pairs(results),
        "resampling each slice and pair*": loop_of_resampling(
            results,
            options.replicates,
            min(all_pairs(options.models).a.size, MOST_SHOWN),
        ),
        "routing item by item*": loop_of_routing(candidates),
    }
    for what, seconds in plain.items():
        print(f"{seconds:8.2f} CPU-s  plainly: {what}")
    total = sum(plain.values())
    print(
        f"{total:8.2f} CPU-s  plainly in all, without slices, tables and DuckDB; ours "
        f"with them is {watch.total / total:.1%} of it (* scaled up from a sample)"
    )


def loop_of_routing(items: RoutingItems) -> float:
    """Baseline: the paper's leave-one-out choice of one item after the other."""
    held = items.labels["skill"].membership.toarray().astype(bool)
    rows = np.linspace(0, len(held) - 1, SAMPLE).astype(int)
    start = time.process_time()
    for row in rows:
        score = np.zeros(items.scores.shape[1])
        for label in np.flatnonzero(held[row]):
            members = held[:, label].copy()
            members[row] = False
            score += items.scores[members].mean(axis=0) / max(members.sum(), 1)
        score.argmax()
    return (time.process_time() - start) / SAMPLE * len(held)


def spent(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
