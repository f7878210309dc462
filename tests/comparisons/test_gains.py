import numpy as np
import polars as pl
import pytest

from skillmap.comparisons.gains import gain_against_others
from skillmap.errors import InvalidInputError
from skillmap.simulation.worlds import World, WorldPlan, simulated_world

SIZES = (60, 100, 150, 300) * 6


def gains_of(world: World, **rest: int) -> pl.DataFrame:
    return gain_against_others(
        world.item_scores, world.slice_items, world.slices, world.clusters, **rest
    )


def test_the_gain_is_the_accuracy_less_the_mean_of_the_others() -> None:
    world = simulated_world(WorldPlan((0.7, 0.6, 0.5), (80, 120), overlap=0.3), seed=0)
    joined = world.slice_items.join(world.item_scores, on="item_id")
    means = joined.group_by("slice_id", "model_id").agg(pl.col("score").mean())
    cells = means.sort("slice_id", "model_id")["score"].to_numpy().reshape(2, 3)

    found = gains_of(world, n_replicates=50)

    others = np.stack([np.delete(cells, m, axis=1).mean(axis=1) for m in range(3)], 1)
    assert found["accuracy"].to_numpy() == pytest.approx(cells.ravel())
    assert found["gain"].to_numpy() == pytest.approx((cells - others).ravel())
    assert found["others_accuracy"].to_numpy() == pytest.approx(others.ravel())


def test_gains_of_equal_models_are_no_larger_than_chance() -> None:
    plan = WorldPlan((0.7, 0.7, 0.7), SIZES, cluster_size=2)

    least = [
        gains_of(simulated_world(plan, seed=seed), n_replicates=200)["p_value"].min()
        for seed in range(20)
    ]

    assert sum(p <= 0.05 for p in least) <= 3


def test_a_planted_gain_stands_out() -> None:
    plan = WorldPlan((0.7, 0.7, 0.7), SIZES, {(3, 0): 0.25})

    found = gains_of(simulated_world(plan, seed=0), n_replicates=200)

    best = found.sort("p_value", "slice_id").row(0, named=True)
    assert (best["slice_id"], best["model_id"]) == ("s000003", "m000000")
    assert best["p_value"] < 0.01
    assert best["gain_low"] > 0


def test_only_items_that_all_models_answered_count() -> None:
    world = simulated_world(WorldPlan((0.7, 0.6), (100,)), seed=0)
    fewer = world.item_scores.tail(-40)  # the first 20 items of both

    found = gain_against_others(fewer, world.slice_items, world.slices, n_replicates=20)

    assert found["n_items"].to_list() == [80, 80]


def test_slices_of_few_clusters_are_left_out() -> None:
    world = simulated_world(WorldPlan((0.7, 0.6), (29, 40)), seed=0)

    assert gains_of(world, n_replicates=20)["slice_id"].unique().to_list() == [
        "s000001"
    ]
    assert gains_of(world, n_replicates=20, min_clusters=99).is_empty()


def test_equal_answers_have_a_gain_of_0_and_no_p() -> None:
    world = simulated_world(WorldPlan((0.7, 0.6), (40, 40)), seed=0)
    first = pl.col("item_id").is_in(world.slice_items["item_id"].head(40).to_list())
    alike = world.item_scores.with_columns(
        pl.when(first).then(1.0).otherwise("score").alias("score")
    )

    found = gain_against_others(alike, world.slice_items, world.slices, n_replicates=50)

    assert found.select("gain", "p_value").rows()[:2] == [(0.0, None)] * 2


def test_a_single_model_has_no_others() -> None:
    with pytest.raises(InvalidInputError, match="at least 2 models, got 1"):
        gains_of(simulated_world(WorldPlan((0.7,), (40,)), seed=0))
