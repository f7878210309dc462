import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from skillmap import sql
from skillmap.concepts.sums import (
    benchmark_score_sums,
    concept_score_sums,
    concept_sums,
)
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world


def in_duckdb(world: ConceptWorld, name: str) -> pl.DataFrame:
    clusters = world.item_clusters.rename({"cluster_id": "group_id"})
    with duckdb.connect() as connection:
        for schema, table, frame in (
            ("core", "item_concepts", world.item_concepts),
            ("core", "item_encodings", world.item_encodings),
            ("core", "item_groups", clusters.with_columns(kind=pl.lit("near"))),
            (
                "mart",
                "item_scores",
                world.item_scores.with_columns(is_drifted=pl.lit(value=False)),
            ),
        ):
            connection.execute(f"create schema if not exists {schema}")
            connection.register("frame", frame.to_arrow())
            connection.execute(f"create table {schema}.{table} as from frame")
        return connection.sql(sql.load(f"concepts/{name}")).pl()


def with_gaps(world: ConceptWorld, seed: int = 0) -> ConceptWorld:
    """The same with scores missing at random and some graded."""
    random = np.random.default_rng(seed)
    scores = {
        b: np.where(
            random.random(s.shape) < 0.1,
            np.nan,
            np.where(random.random(s.shape) < 0.2, random.random(s.shape), s),
        )
        for b, s in world.scores.items()
    }
    return ConceptWorld(world.saliency, scores, world.clusters)


@pytest.mark.parametrize("cluster_size", [1, 3])
@pytest.mark.parametrize("has_gaps", [False, True])
def test_duckdb_and_sparse_products_agree(cluster_size: int, *, has_gaps: bool) -> None:
    world = random_world(
        n_items=60, n_latents=15, benchmarks=("a", "b"), cluster_size=cluster_size
    )
    world = with_gaps(world) if has_gaps else world
    functions = {
        "concept_sums": [concept_sums(a) for a in world.activations],
        "concept_score_sums": [concept_score_sums(a, s) for a, s in world.pairs],
        "benchmark_score_sums": [benchmark_score_sums(a, s) for a, s in world.pairs],
    }

    for name, parts in functions.items():
        ours = pl.concat(parts).sort(pl.col("^.*_id$|^pooling$|^latent_index$"))
        theirs = in_duckdb(world, name).sort(pl.col("^.*_id$|^pooling$|^latent_index$"))

        assert_frame_equal(
            ours, theirs.select(ours.columns), check_dtypes=False, rel_tol=1e-9
        )


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_sums_are_those_of_a_loop(seed: int, cluster_size: int) -> None:
    world = with_gaps(
        random_world(
            seed, n_items=17, n_latents=4, n_models=2, cluster_size=cluster_size
        ),
        seed,
    )
    (activations, scores), saliency = world.pairs[0], world.saliency["b"]
    cluster = np.array(world.clusters["b"])

    found = concept_score_sums(activations, scores, poolings=("mean",))

    for row in found.iter_rows(named=True):
        s = world.scores["b"][:, int(row["model_id"][1:])]
        known = ~np.isnan(s)
        w, s = saliency[known, row["latent_index"]], s[known]
        groups = [cluster[known] == c for c in np.unique(cluster[known])]
        big_w = np.array([w[g].sum() for g in groups])
        big_v = np.array([(w * s)[g].sum() for g in groups])
        means = np.array([s[g].mean() for g in groups])
        assert row["n_active_items"] == (w > 0).sum()
        assert [row[name] for name in ("s1", "s2", "y1", "y2", "y3")] == pytest.approx(
            [w.sum(), w @ w, w @ s, w**2 @ s, w**2 @ s**2]
        )
        assert row["cluster_s2"] == pytest.approx(big_w @ big_w)
        assert row["cluster_y1"] == pytest.approx(big_w @ means)
        assert row["cluster_y2"] == pytest.approx(big_w @ big_v)
        assert row["cluster_y3"] == pytest.approx(big_v @ big_v)


def test_active_clusters_and_largest_activations_are_counted() -> None:
    saliency = np.array([[1.0, 0], [2, 0], [0, 5], [3, 0]])
    world = one_benchmark(saliency, np.ones(4), [0, 0, 1, 2])

    found = concept_sums(world.activations[0])

    counts = found.select("latent_index", "n_active_items", "n_active_clusters")
    assert counts.rows() == [(0, 3, 2), (1, 1, 1)]
    sums = found.select("s1", "s2", "cluster_s2", "max_activation")
    assert sums.rows() == [(6.0, 14.0, 18.0, 6.0), (5.0, 25.0, 25.0, 10.0)]


def test_a_latent_that_no_scored_item_activates_has_no_row() -> None:
    saliency = np.array([[1.0, 0], [0, 1]])
    world = one_benchmark(saliency, np.array([1.0, np.nan]))

    found = concept_score_sums(*world.pairs[0], poolings=("mean",))

    assert found["latent_index"].to_list() == [0]


def test_a_single_score_has_no_variance() -> None:
    world = one_benchmark(np.ones((1, 1)), np.ones(1))

    found = benchmark_score_sums(*world.pairs[0])

    assert found.select("n_items", "mean_score", "score_variance").row(0) == (
        1,
        1.0,
        None,
    )
