"""CPU seconds and memory of contrasts and bootstrap, beside loops over slices.

Run it on one thread, or CPU seconds mean little:

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
        python -m benchmarks.comparisons --models 50

Compare ratios within one run only. The loops do a sample of the slices and pairs, and
their time is scaled up to all; their standard errors are the plain paired ones.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import polars as pl
from scipy.stats import binomtest

from skillmap.comparisons.contrasts import slice_contrasts
from skillmap.comparisons.pair_sums import all_pairs
from skillmap.comparisons.result_matrix import ResultMatrix, result_matrix
from skillmap.metrics.bootstrap import (
    accuracy_spread,
    difference_spread,
    paired_bootstrap,
)

Result = TypeVar("Result")

REPETITIONS = 3
N_BENCHMARKS = 10
# Slices and pairs that a loop is timed on.
SAMPLE = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=46_000)
    parser.add_argument("--skills", type=int, default=10, help="of each item")
    parser.add_argument("--slices", type=int, default=400)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--duplicates", type=float, default=0.2)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--clusters", choices=["duplicates", "sources"])
    options = parser.parse_args()

    frames = synthetic_frames(options)
    start_memory = peak_megabytes()
    contrasts, seconds = best(lambda: slice_contrasts(*frames))
    memory = peak_megabytes()
    results, reading = best(lambda: result_matrix(*frames))
    loop = loop_over_pairs(results)
    n_pairs = all_pairs(options.models).a.size
    print(
        f"{options.items:,} items, {results.membership.item.size:,} memberships, "
        f"{options.slices} slices, {options.models} models, {n_pairs:,} pairs, "
        f"{contrasts.height:,} contrasts, {options.clusters or 'duplicates'}"
    )
    print(f"frames to arrays, part of the next line: {reading:.2f} CPU-s")
    report("contrasts", seconds, "a loop over slices and pairs", loop)
    print(f"peak memory {memory:,.0f} MB, {start_memory:,.0f} when the data was made")

    def boot() -> None:
        bootstrap = paired_bootstrap(
            results.membership,
            results.scores,
            results.clusters,
            n_replicates=options.replicates,
        )
        accuracy_spread(bootstrap)
        shown = np.arange(min(n_pairs, 66))
        pairs = all_pairs(options.models)
        difference_spread(bootstrap, pairs.a[shown], pairs.b[shown])

    _, seconds = timed(boot)
    loop = loop_of_resampling(results, options.replicates, min(n_pairs, 66))
    report(
        f"bootstrap of all accuracies and {min(n_pairs, 66)} pairs",
        seconds,
        "resampling each slice and pair",
        loop,
    )
    print(f"peak memory {peak_megabytes():,.0f} MB")


def synthetic_frames(
    options: argparse.Namespace,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Results of all models on all items; slices of very unequal sizes."""
    random = np.random.default_rng(0)
    n, n_models = options.items, options.models
    item_id = pl.Series([f"b{i % N_BENCHMARKS}:{i}" for i in range(n)])
    difficulty = random.standard_normal(n)[:, np.newaxis]
    ability = random.normal(0.8, 0.3, n_models)
    luck = random.standard_normal((n, n_models))
    scores = (0.7 * difficulty + 0.7 * luck < ability).astype(np.float64)
    place = np.arange(n)
    item_scores = pl.DataFrame(
        {
            "model_id": [f"model {m:02}" for m in range(n_models)] * n,
            "item_id": item_id.gather(np.repeat(place, n_models)),
            "benchmark_id": pl.Series([f"b{b}" for b in range(N_BENCHMARKS)]).gather(
                np.repeat(place % N_BENCHMARKS, n_models)
            ),
            "score": scores.ravel(),
        }
    ).with_columns(is_drifted=pl.lit(value=False))
    skill = options.slices * random.random((n, options.skills)) ** 2
    key = np.unique(
        np.repeat(place, options.skills) * 10_000 + skill.astype(int).ravel()
    )
    names = pl.Series([f"skill:{s:03}" for s in range(options.slices)])
    slice_items = pl.DataFrame(
        {
            "slice_id": names.gather(key % 10_000),
            "item_id": item_id.gather(key // 10_000),
        }
    )
    slices = pl.DataFrame({"slice_id": names, "slice_name": names})
    group = place // 2
    kept = random.random(n // 2 + 1)[group] < options.duplicates
    if options.clusters == "sources":
        group, kept = place % 91, np.ones(n, np.bool_)
    clusters = pl.DataFrame({"item_id": item_id, "cluster_id": group}).filter(kept)
    return item_scores, slice_items, slices, clusters


def loop_over_pairs(results: ResultMatrix) -> float:
    """Baseline: one slice and one pair of models after the other."""
    pairs = all_pairs(results.models.len())
    n_slices = results.membership.n_groups
    n_cells = n_slices * pairs.a.size
    start = time.process_time()
    for cell in np.linspace(0, n_cells - 1, SAMPLE).astype(int):
        slice_index, pair = divmod(int(cell), pairs.a.size)
        items = results.membership.item[results.membership.group == slice_index]
        a = results.scores[items, pairs.a[pair]]
        b = results.scores[items, pairs.b[pair]]
        n_a, n_b = int((a > b).sum()), int((b > a).sum())
        binomtest(n_a, max(n_a + n_b, 1))
        np.std(a - b) / np.sqrt(items.size)
    return (time.process_time() - start) / SAMPLE * n_cells


def loop_of_resampling(results: ResultMatrix, n_replicates: int, n_pairs: int) -> float:
    """Baseline: items drawn anew for each slice and pair."""
    random = np.random.default_rng(0)
    n_slices = results.membership.n_groups
    start = time.process_time()
    for slice_index in np.linspace(0, n_slices - 1, SAMPLE).astype(int):
        items = results.membership.item[results.membership.group == slice_index]
        difference = results.scores[items, 0] - results.scores[items, 1]
        means = np.empty(n_replicates)
        for replicate in range(n_replicates):
            drawn = random.integers(0, items.size, items.size)
            means[replicate] = difference[drawn].mean()
        np.quantile(means, [0.025, 0.975])
    return (time.process_time() - start) / SAMPLE * n_slices * n_pairs


def best(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of ``work``, and its least CPU seconds of a few runs."""
    runs = [timed(work) for _ in range(REPETITIONS)]
    return runs[0][0], min(seconds for _, seconds in runs)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def report(ours: str, seconds: float, baseline: str, baseline_seconds: float) -> None:
    print(
        f"{ours}: {seconds:.2f} CPU-s, {seconds / baseline_seconds:.2%} of "
        f"{baseline} ({baseline_seconds:,.1f}, from a sample)"
    )


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
