"""CPU seconds of coverage, performance and stability, beside long joins and slicing.

Run it on one thread, or CPU seconds mean little:

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
        python -m benchmarks.concepts

Compare ratios within one run only. DuckDB joins long tables of integers on one thread;
both sides start from what they store: sparse arrays by latent, and DuckDB tables.
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import duckdb
import numpy as np
import polars as pl

from skillmap.concepts.activations import Activations, Scores
from skillmap.concepts.coverage import concept_coverage
from skillmap.concepts.performance import concept_performance
from skillmap.concepts.resampling import concept_bootstrap
from skillmap.concepts.stability import drop_stability
from skillmap.concepts.sums import (
    benchmark_score_sums,
    benchmark_sums,
    concept_score_sums,
    concept_sums,
)

Result = TypeVar("Result")

REPETITIONS = 5

CHI_JOIN = """
with sums as (
    select latent, sum(w) as s1, {columns}
    from cells inner join wide using (item)
    group by latent
)
select *, s1 / avg(s1) over () as coverage from sums
"""

LONG_CHI_JOIN = """
select model, latent, sum(w) as s1, sum(w * score) / sum(w) as performance
from cells inner join scores using (item)
group by all
"""

SUMS_JOIN = """
select
    model, latent, count(*) as n, sum(w) as s1, sum(w * w) as s2, sum(w * score) as y1,
    sum(w * w * score) as y2, sum(w * w * score * score) as y3, max(w) as largest
from cells inner join scores using (item)
group by all
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=5_000)
    parser.add_argument("--latents", type=int, default=65_536)
    parser.add_argument("--active", type=int, default=1_117, help="latents of an item")
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()

    activations, scores = synthetic(options)
    connection = in_duckdb(activations, scores)
    n_cells = activations.mean.size
    print(
        f"{options.items:,} items, {options.latents:,} latents, {n_cells:,} cells "
        f"({n_cells / options.items:,.0f} an item), {options.models} models"
    )

    def chi() -> tuple[np.ndarray, np.ndarray]:
        ones = np.ones((activations.n_items, 1))
        sums = activations.sums(np.concatenate([ones, scores.values], axis=1))
        mass = sums[:, :1]
        with np.errstate(invalid="ignore"):
            return mass / mass.mean(), sums[:, 1:] / mass

    def join(query: str) -> Callable[[], object]:
        return lambda: connection.execute(query).to_arrow_table()

    ours, theirs = interleaved(chi, join(LONG_CHI_JOIN))
    report("coverage and performance", ours, "DuckDB's long join", theirs)
    columns = [f"sum(w * {m}) / sum(w) as {m}" for m in scores.models]
    ours, theirs = interleaved(chi, join(CHI_JOIN.format(columns=", ".join(columns))))
    report("the same", ours, "DuckDB's join with a column a model", theirs)

    def sums() -> None:
        concept_sums(fresh(activations))
        concept_score_sums(activations, scores, poolings=("mean",))

    ours, theirs = interleaved(sums, join(SUMS_JOIN))
    report("all sufficient statistics, as frames", ours, "DuckDB's join", theirs)
    tables(activations, scores)
    stability(activations, scores, options.draws)
    print(f"peak memory {peak_megabytes():,.0f} MB")


def tables(activations: Activations, scores: Scores) -> None:
    sums = concept_sums(activations)
    totals = benchmark_sums(activations)
    score_sums = concept_score_sums(activations, scores)
    score_totals = benchmark_score_sums(activations, scores)
    concepts = pl.DataFrame({"latent_index": range(activations.n_latents)}).select(
        encoder_id=pl.lit(activations.encoder_id),
        latent_index=pl.col("latent_index").cast(pl.Int64),
        in_dictionary=pl.lit(value=True),
        is_dense=pl.lit(value=False),
        reference_density=pl.lit(None, pl.Float64),
    )
    _, seconds = timed(lambda: concept_coverage(sums, totals, concepts))
    print(f"table of coverage: {seconds:.3f} CPU-s")
    table, seconds = timed(
        lambda: concept_performance(score_sums, score_totals, concepts)
    )
    print(f"table of performance, two poolings: {seconds:.3f} CPU-s, {table.height:,}")
    ranked = table.filter("is_ranked")["latent_index"].unique().sort().to_numpy()
    _, seconds = timed(
        lambda: concept_bootstrap(activations, scores, ranked, n_replicates=200)
    )
    print(f"200 bootstrap replicates of {ranked.size:,} concepts: {seconds:.3f} CPU-s")


def stability(activations: Activations, scores: Scores, n_draws: int) -> None:
    one = Scores(scores.models.head(1), scores.values[:, :1])

    def drop(method: str) -> Callable[[], pl.DataFrame]:
        return lambda: drop_stability(activations, one, n_draws=n_draws, method=method)

    naive, slow = timed(lambda: row_slicing(activations, one, n_draws))
    found, seconds = best(drop("exact"))
    report(f"{n_draws} x drop a fifth, exact", seconds, "row slicing", slow)
    print("  " + sd_ratio(found, naive))
    found, seconds = best(drop("blocks"))
    report(f"{n_draws} x drop a fifth, by blocks", seconds, "row slicing", slow)
    print("  " + sd_ratio(found, naive))


def row_slicing(activations: Activations, scores: Scores, n_draws: int) -> np.ndarray:
    """Deviation of performance, each time from the rows that are kept."""
    random = np.random.default_rng(1)
    by_item = activations.matrix(activations.mean).T.tocsr()
    n = activations.n_items
    draws = []
    for _ in range(n_draws):
        kept = np.sort(random.permutation(n)[n // 5 :])
        part = by_item[kept]
        mass = np.asarray(part.sum(axis=0)).ravel()
        with np.errstate(invalid="ignore"):
            draws.append((part.T @ scores.values[kept, 0]) / mass)
    return np.nanstd(np.stack(draws), axis=0, ddof=1)


def sd_ratio(found: pl.DataFrame, naive: np.ndarray) -> str:
    """Of the better-covered half of the concepts, as the study reports it."""
    half = found.filter(pl.col("n_effective") >= pl.col("n_effective").median())
    ratio = half["performance_deviation"] / naive[half["latent_index"].to_numpy()]
    low, middle, high = (ratio.quantile(q) for q in (0.1, 0.5, 0.9))
    return f"deviation over that of row slicing: {middle:.3f} ({low:.2f} to {high:.2f})"


def synthetic(options: argparse.Namespace) -> tuple[Activations, Scores]:
    """Active latents of an item by Zipf's law, gamma activations, coin flips."""
    random = np.random.default_rng(0)
    n, d = options.items, options.latents
    rate = 1 / np.arange(1, d + 1) ** 0.9
    # Poisson thinning: each latent is active with 1 - exp(-scale * rate).
    low, high = 0.0, 1e9
    for _ in range(80):
        scale = (low + high) / 2
        total = -np.expm1(-scale * rate).sum()
        low, high = (scale, high) if total < options.active else (low, scale)
    share = -np.expm1(-scale * rate)
    parts = [np.flatnonzero(random.random(d) < share) for _ in range(n)]
    latent = np.concatenate(parts)
    item = np.repeat(np.arange(n), [p.size for p in parts])
    order = np.lexsort((item, latent))
    mean = random.gamma(1.0, 1.0, latent.size) + 1e-3
    starts = np.concatenate([[0], np.cumsum(np.bincount(latent, minlength=d))])
    ids = pl.Series([f"b:{i:06}" for i in range(n)])
    activations = Activations(
        encoder_id="e",
        benchmark_id="b",
        items=ids,
        clusters=np.arange(n),
        cluster_ids=ids,
        n_tokens=np.full(n, 100),
        starts=starts.astype(np.int32),
        item=item[order].astype(np.int32),
        mean=mean,
        maximum=2 * mean,
        n_active_tokens=np.ones(latent.size, np.int32),
        position_of_max=np.zeros(latent.size, np.int32),
    )
    values = (random.random((n, options.models)) < 0.6).astype(np.float64)
    models = pl.Series([f"m{m:02}" for m in range(options.models)])
    return activations, Scores(models, values)


def in_duckdb(activations: Activations, scores: Scores) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    cells = pl.DataFrame(
        {
            "item": activations.item,
            "latent": activations.latent,
            "w": activations.mean.astype(np.float32),
        }
    ).sort("item", "latent")
    item, model = np.indices(scores.values.shape).reshape(2, -1)
    long = pl.DataFrame(
        {
            "item": item.astype(np.int32),
            "model": model.astype(np.int32),
            "score": scores.values.ravel(),
        }
    )
    wide = pl.DataFrame(dict(zip(scores.models, scores.values.T, strict=True)))
    wide = wide.with_columns(item=pl.int_range(pl.len(), dtype=pl.Int32))
    for name, frame in (("cells", cells), ("scores", long), ("wide", wide)):
        connection.register("frame", frame.to_arrow())
        connection.execute(f"create table {name} as from frame")
    return connection


def fresh(activations: Activations) -> Activations:
    """The same without what was worked out from it before."""
    return replace(activations)


def interleaved(
    ours: Callable[[], object], theirs: Callable[[], object]
) -> tuple[float, float]:
    pairs = [(timed(ours)[1], timed(theirs)[1]) for _ in range(REPETITIONS)]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def best(call: Callable[[], Result]) -> tuple[Result, float]:
    runs = [timed(call) for _ in range(3)]
    return runs[0][0], min(seconds for _, seconds in runs)


def timed(call: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def report(what: str, seconds: float, other: str, other_seconds: float) -> None:
    print(
        f"{what}: {seconds:.4f} CPU-s, {seconds / other_seconds:.1%} of {other} "
        f"({other_seconds:.3f})"
    )


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
