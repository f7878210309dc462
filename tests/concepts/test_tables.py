"""Every frame keeps the contract of its table, its types, keys and rules."""

from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest

from skillmap.concepts import families as grouping
from skillmap.concepts.ablation import aligned_ablation
from skillmap.concepts.across import cross_coverage, cross_performance
from skillmap.concepts.alternate import encoder_agreement, match_concepts
from skillmap.concepts.coverage import coverage_summary, missing_by_tau
from skillmap.concepts.difficulty import adjusted_performance
from skillmap.concepts.gaps import benchmark_gaps, model_gaps
from skillmap.concepts.marks import slice_concepts
from skillmap.concepts.overlap import benchmark_overlap
from skillmap.concepts.rarefaction import rarefaction_curve, unseen_concepts
from skillmap.concepts.relevance import term_relevance
from skillmap.concepts.stability import drop_stability
from skillmap.concepts.sums import (
    benchmark_score_sums,
    benchmark_sums,
    concept_score_sums,
    concept_sums,
)
from skillmap.concepts.themes import gap_themes
from skillmap.contracts import concept_coverage as coverage_tables
from skillmap.contracts import concept_performance as performance_tables
from skillmap.contracts import concepts as core
from skillmap.contracts.table import Table
from tests.concepts.worlds import ConceptWorld, random_world

TABLES = [
    table
    for module in (core, coverage_tables, performance_tables)
    for table in vars(module).values()
    if isinstance(table, Table)
]


def lively_world() -> ConceptWorld:
    """Two benchmarks with gaps of both kinds, missing scores and twins."""
    world = random_world(
        0, benchmarks=("a", "b"), n_items=400, n_latents=30, cluster_size=2
    )
    for name in ("a", "b"):
        world.saliency[name][:, 28:] = 0
        world.scores[name][world.saliency[name][:, 0] > 0, 0] = 0
        world.scores[name][5, 1] = np.nan
    return world


def all_frames(world: ConceptWorld) -> dict[str, pl.DataFrame]:
    pairs, coverage, performance = world.pairs, world.coverage(), world.performance()
    activations = [a for a, _ in pairs]
    latents = np.arange(world.n_latents)
    adjusted = pl.concat(adjusted_performance(a, s, latents) for a, s in pairs)
    cards = pl.DataFrame({"benchmark_id": ["a", "b"], "card": ["concept", "others"]})
    items = pl.DataFrame({"benchmark_id": ["a", "b"], "text": ["a concept", "words"]})
    relevance = term_relevance(world.concepts, cards, items)
    gaps = benchmark_gaps(coverage, relevance, world.concepts)
    other = replace(activations[0], encoder_id="f")
    renamed = performance.with_columns(encoder_id=pl.lit("f"))
    slices = world.item_scores.select(
        pl.lit("skill:x").alias("slice_id"), "item_id"
    ).unique()
    decoder = np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32)
    return {
        "benchmark_sums": pl.concat(benchmark_sums(a) for a in activations),
        "concept_sums": pl.concat(concept_sums(a) for a in activations),
        "concept_score_sums": pl.concat(concept_score_sums(a, s) for a, s in pairs),
        "benchmark_score_sums": pl.concat(benchmark_score_sums(a, s) for a, s in pairs),
        "concept_families": pl.concat(
            [
                grouping.decoder_families("e", decoder),
                grouping.correlation_families(activations[0], latents),
            ]
        ),
        "concept_relevance": relevance,
        "concept_coverage": coverage,
        "coverage_summary": coverage_summary(coverage),
        "concept_coverage_overall": cross_coverage(coverage),
        "benchmark_overlap": benchmark_overlap(coverage),
        "benchmark_gaps": gaps,
        "gap_themes": gap_themes(gaps),
        "missing_by_tau": missing_by_tau(coverage),
        "rarefaction": rarefaction_curve(
            coverage, pl.concat(benchmark_sums(a) for a in activations)
        ),
        "unseen_concepts": unseen_concepts(coverage),
        "concept_performance": performance,
        "concept_performance_overall": cross_performance(performance),
        "concept_adjusted": adjusted,
        "model_gaps": model_gaps(performance, world.concepts, adjusted=adjusted),
        "slice_concepts": slice_concepts(
            activations, slices.filter(pl.col("item_id") < "b:00100"), max_q=1.0
        ),
        "concept_stability": pl.concat(drop_stability(a, s) for a, s in pairs),
        "encoder_agreement": encoder_agreement(
            performance, renamed, match_concepts(activations[0], other)
        ),
        "ablation": aligned_ablation(pairs, "m0", side="best", n_draws=10),
        "item_concepts": world.item_concepts,
    }


def test_every_frame_fits_its_table() -> None:
    frames = all_frames(lively_world())
    tables = {table.name: table for table in TABLES}
    # Written by the encoder.
    assert tables.keys() - frames.keys() == {"item_encodings", "concepts"}

    with duckdb.connect() as connection:
        for schema in ("core", "mart"):
            connection.execute(f"create schema {schema}")
        for name, frame in frames.items():
            table = tables[name]
            columns = [c for c in table.columns if c.name in frame.columns]
            missing = {c.name for c in table.columns} - {c.name for c in columns}
            assert missing <= {"total_coverage", "mean_coverage"}, name
            assert not frame.is_empty(), name
            connection.execute(table.ddl())
            connection.register("frame", table.conform(frame).to_arrow())
            # Not null, keys and rules of each row are held by DuckDB.
            connection.execute(f"insert into {table} from frame")


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_contract_of_concepts_names_and_describes_each_thing(table: Table) -> None:
    names = [column.name for column in table.columns]

    assert len(set(names)) == len(names)
    assert set(table.primary_key) <= set(names)
    assert all(c.description.endswith(".") for c in table.columns)
    assert table.description.endswith(".")
    assert not table.grain.endswith(".")
