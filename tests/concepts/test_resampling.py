import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillmap.concepts.resampling import (
    cluster_weights,
    concept_bootstrap,
    with_bootstrap,
)
from tests.concepts.worlds import one_benchmark, random_world


def test_replicates_are_weighted_means_under_the_clusters_weights() -> None:
    world = random_world(1, n_items=30, n_latents=4, n_models=2, cluster_size=2)
    assert (world.saliency["b"].sum(axis=0) > 0).all()
    (pair,) = world.pairs
    w, s = world.saliency["b"], world.scores["b"]

    found = concept_bootstrap(*pair, np.arange(4), n_replicates=50)

    drawn = np.repeat(cluster_weights(15, 50, seed=0), 2, axis=0)
    for row in found.performance.iter_rows(named=True):
        v, y = w[:, row["latent_index"]], s[:, int(row["model_id"][1:])]
        replicates = (v * y) @ drawn / (v @ drawn)
        assert row["bootstrap_error"] == pytest.approx(replicates.std(ddof=1))
        assert row["bootstrap_low"] == pytest.approx(np.quantile(replicates, 0.025))
    mass = w.T @ drawn
    coverage = mass / mass.mean(axis=0)
    assert found.coverage["bootstrap_error"].to_numpy() == pytest.approx(
        coverage.std(axis=1, ddof=1)
    )


def test_the_spread_is_that_of_the_closed_form() -> None:
    world = random_world(n_items=400, n_latents=10, density=0.5, cluster_size=2)
    (pair,) = world.pairs
    performance = world.performance().filter(pooling="mean")

    found = concept_bootstrap(*pair, np.arange(10), n_replicates=2_000)

    both = with_bootstrap(performance, found.performance)
    supported = both.filter(pl.col("n_effective_clusters") > 50)
    ratio = supported["sampling_error"] / supported["bootstrap_error"]
    assert ratio.len() > 15
    assert ratio.to_numpy() == pytest.approx(1, abs=0.08)


def test_an_only_item_keeps_the_interval_of_the_floor() -> None:
    saliency = np.ones((50, 2))
    saliency[1:, 0] = 0
    world = one_benchmark(saliency, (np.arange(50) % 2 == 0).astype(float))
    (pair,) = world.pairs
    performance = world.performance().filter(pooling="mean")

    found = concept_bootstrap(*pair, np.array([0]), n_replicates=50).performance
    both = with_bootstrap(performance, found)

    assert found["bootstrap_error"][0] == pytest.approx(0, abs=1e-12)
    assert both["performance_low"][0] < 0.3
    assert both["bootstrap_error"][1] is None
    assert both["performance_low"][1] == performance["performance_low"][1]


def test_coverage_is_relative_to_the_dictionary() -> None:
    world = random_world(n_items=40, n_latents=3)
    (pair,) = world.pairs
    counted = np.array([True, True, False])

    found = concept_bootstrap(*pair, np.array([0]), is_counted=counted).coverage

    mass = world.saliency["b"].sum(axis=0)
    middle = mass[0] / mass[:2].mean()
    assert found["bootstrap_low"][0] < middle < found["bootstrap_high"][0]


def test_scores_that_are_missing_do_not_count() -> None:
    saliency = np.ones((6, 1))
    scores = np.array([1, 0, 1, 0, np.nan, np.nan])

    found = concept_bootstrap(
        *one_benchmark(saliency, scores).pairs[0], np.array([0]), n_replicates=40
    ).performance

    drawn = cluster_weights(6, 40, seed=0)[:4]
    replicates = np.array([1, 0, 1, 0]) @ drawn / drawn.sum(axis=0)
    assert found["bootstrap_error"][0] == pytest.approx(replicates.std(ddof=1))


def test_equal_seeds_give_equal_frames_and_more_replicates_the_same_first() -> None:
    (pair,) = random_world(n_items=30, n_latents=4).pairs

    once, again = (concept_bootstrap(*pair, np.arange(4)) for _ in range(2))

    assert_frame_equal(once.performance, again.performance)
    assert (cluster_weights(5, 9, seed=1)[:, :4] == cluster_weights(5, 4, seed=1)).all()


def test_no_latents_give_no_rows() -> None:
    (pair,) = random_world(n_items=10, n_latents=2).pairs

    found = concept_bootstrap(*pair, np.empty(0, np.int64), n_replicates=3)

    assert found.coverage.is_empty()
    assert found.performance.is_empty()
