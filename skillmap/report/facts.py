"""Everything the report reads, each table by one documented query."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

import polars as pl

Query = Callable[[str], pl.DataFrame]

QUERIES = (
    "totals",
    "benchmarks",
    "accuracy",
    "slice_accuracy",
    "slice_mix",
    "slice_pairs",
    "pair_totals",
    "disagreements",
    "releases",
    "duplicates",
    "rejects",
    "rationales",
    "rationale_faults",
    "contrasts",
    "contrast_totals",
    "gains",
    "routing",
    "frontier",
    "extraction",
    "swap_totals",
    "swapped_pairs",
)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One frame per query, under the query's name.

    Attributes:
        totals: How much there is of each thing, by column name of ``totals.sql``.
        benchmarks: One row per benchmark.
        accuracy: One row per benchmark and model with results.
        slice_accuracy: One row per model and slice.
        slice_mix: One row per slice and benchmark.
        slice_pairs: The most different slices of each pair of models.
        pair_totals: One row per pair of models with common items.
        disagreements: Items of the slice and pair that differ most clearly.
        releases: One row per release of a benchmark.
        duplicates: One row per kind of duplicate and set of benchmarks.
        rejects: One row per reason.
        rationales: One row per benchmark and annotator.
        rationale_faults: One row per fault.
        contrasts: One row per slice and pair of models, the surest first.
        contrast_totals: One row per pair of models with contrasts.
        gains: One row per benchmark, slice and model, the surest first.
        routing: One row per set of models, scope and policy.
        frontier: One row per set of models, scope, policy and cost.
        extraction: One row per benchmark and model with stored responses.
        swap_totals: One row per benchmark with pairs of such models.
        swapped_pairs: Pairs that change places when answers are read again.
    """

    totals: dict[str, int]
    benchmarks: pl.DataFrame
    accuracy: pl.DataFrame
    slice_accuracy: pl.DataFrame
    slice_mix: pl.DataFrame
    slice_pairs: pl.DataFrame
    pair_totals: pl.DataFrame
    disagreements: pl.DataFrame
    releases: pl.DataFrame
    duplicates: pl.DataFrame
    rejects: pl.DataFrame
    rationales: pl.DataFrame
    rationale_faults: pl.DataFrame
    contrasts: pl.DataFrame
    contrast_totals: pl.DataFrame
    gains: pl.DataFrame
    routing: pl.DataFrame
    frontier: pl.DataFrame
    extraction: pl.DataFrame
    swap_totals: pl.DataFrame
    swapped_pairs: pl.DataFrame


def facts(query: Query) -> Facts:
    """The published tables, as far as the report needs them.

    Args:
        query: Runs one ``select`` and gives its rows.

    Returns:
        One frame per query; empty frames where nothing was published.
    """
    frames = {name: query(sql_of(name)) for name in QUERIES}
    totals = frames.pop("totals").row(0, named=True)
    return Facts(totals=totals, **frames)


def sql_of(name: str) -> str:
    """The text of ``queries/<name>.sql``, comment included."""
    folder = resources.files("skillmap.report").joinpath("queries")
    return folder.joinpath(f"{name}.sql").read_text("utf-8")


def one_line(name: str) -> str:
    """The query without its comment, in one line that can be pasted."""
    lines = sql_of(name).splitlines()
    return " ".join(
        " ".join(line.split())
        for line in lines
        if line.strip() and not line.startswith("--")
    )
