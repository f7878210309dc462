"""How many concepts fewer items would have shown, and how many more items might."""

from typing import cast

import numpy as np
import polars as pl
from scipy.special import gammaln  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.coverage import BENCHMARK
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats


def rarefaction_curve(
    coverage: pl.DataFrame, benchmark_sums: pl.DataFrame, *, n_points: int = 20
) -> pl.DataFrame:
    """Concepts expected to be active in a random part of each benchmark.

    Benchmarks of unequal size are compared at equal items, or at equal tokens.

    Args:
        coverage: Of `concept_coverage`.
        benchmark_sums: Rows of ``core.benchmark_sums``.
        n_points: Sizes of the part, spread evenly over the logarithm, ends included.

    Returns:
        One row per encoder, benchmark and size, columns of ``mart.rarefaction``.

    Source:
        Hurlbert (1971), Ecology 52, 577-586: ``sum 1 - C(N - N_c, n) / C(N, n)`` over
        concepts active in N_c of N items.
    """
    tokens = benchmark_sums.select(*BENCHMARK, "n_tokens")
    parts: list[pl.DataFrame] = []
    for key, rows in coverage.partition_by(BENCHMARK, as_dict=True).items():
        n = int(rows["n_items"][0])
        sizes = np.unique(np.geomspace(1, n, n_points).round().astype(np.int64))
        found = expected_concepts(rows["n_active_items"].to_numpy(), n, sizes)
        parts.append(
            pl.DataFrame({"n_drawn": sizes, "expected_concepts": found}).with_columns(
                encoder_id=pl.lit(key[0]),
                benchmark_id=pl.lit(key[1]),
                n_items=pl.lit(n, pl.Int64),
                n_concepts=pl.lit(rows.height, pl.Int64),
            )
        )
    return (
        pl.concat([_NO_POINTS, *parts], how="diagonal")
        .join(tokens, on=BENCHMARK, how="left")
        .select(
            *BENCHMARK,
            "n_drawn",
            "expected_concepts",
            "n_concepts",
            expected_tokens=pl.col("n_drawn") * pl.col("n_tokens") / pl.col("n_items"),
            missing_share=(1 - pl.col("expected_concepts") / pl.col("n_concepts")).clip(
                0, 1
            ),
        )
        .sort(*BENCHMARK, "n_drawn")
    )


_NO_POINTS = pl.DataFrame(
    schema={
        "n_drawn": pl.Int64(),
        "expected_concepts": pl.Float64(),
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "n_items": pl.Int64(),
        "n_concepts": pl.Int64(),
    }
)


def expected_concepts(n_active: Integers, n_items: int, sizes: Integers) -> Floats:
    """Concepts expected in random parts of ``sizes`` of the ``n_items`` items.

    Args:
        n_active: Items on which each concept is active.
        n_items: Items in all.
        sizes: From 0 to ``n_items``.

    Examples:
        >>> expected_concepts(np.array([1, 2, 0]), 2, np.array([1, 2])).round(3)
        array([1.5, 2. ])
    """
    counts, n_concepts = np.unique(n_active[n_active > 0], return_counts=True)
    rest = n_items - counts[:, np.newaxis]
    # C(N - N_c, n) / C(N, n); the numerator is 0 where the part cannot avoid it.
    log_absent = _log_choose(rest, sizes) - _log_choose(np.array(n_items), sizes)
    absent = np.where(rest >= sizes, np.exp(log_absent), 0.0)
    return (n_concepts[:, np.newaxis] * (1 - absent)).sum(axis=0)


def unseen_concepts(coverage: pl.DataFrame) -> pl.DataFrame:
    """How many concepts that were never active more items of the kind would show.

    Args:
        coverage: Of `concept_coverage`.

    Returns:
        One row per encoder and benchmark, columns of ``mart.unseen_concepts``:
        ``expected_unseen`` is a lower bound of what is there and was not seen, at most
        all that is never active.

    Source:
        Chao (1984), Scandinavian J. of Statistics 11, 265-270: f1² / (2 f2), and
        f1 (f1 - 1) / 2 without any seen twice, as in Chao (1987).
    """
    n = pl.col("n_active_items")
    once, twice = pl.col("n_once"), pl.col("n_twice")
    estimate = pl.when(twice > 0).then(once**2 / (2 * twice))
    return (
        coverage.group_by(BENCHMARK, maintain_order=True)
        .agg(
            n_active_concepts=(n > 0).sum().cast(pl.Int64),
            n_once=(n == 1).sum().cast(pl.Int64),
            n_twice=(n == 2).sum().cast(pl.Int64),  # noqa: PLR2004 - twice
            n_never_active=(n == 0).sum().cast(pl.Int64),
        )
        .with_columns(expected_unseen=estimate.otherwise(once * (once - 1) / 2))
        .with_columns(
            expected_unseen=pl.min_horizontal("expected_unseen", "n_never_active")
        )
    )


def _log_choose(n: Integers, k: Integers) -> Floats:
    rest = np.maximum(n - k, 0)
    return cast("Floats", gammaln(n + 1) - gammaln(k + 1) - gammaln(rest + 1))
