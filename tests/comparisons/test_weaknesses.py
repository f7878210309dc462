import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_ind

from skillmap.comparisons.weaknesses import slice_weaknesses
from skillmap.errors import InvalidInputError
from skillmap.simulation.worlds import (
    World,
    WorldPlan,
    planted_scores,
    simulated_world,
)

SIZES = (60, 100, 150, 300) * 5


def weaknesses_of(world: World, **rest: float) -> pl.DataFrame:
    return slice_weaknesses(
        world.item_scores, world.slice_items, world.slices, world.clusters, **rest
    )


def test_the_difference_is_that_of_the_slice_and_the_rest() -> None:
    world = simulated_world(
        WorldPlan((0.6, 0.8), (400, 500), n_other_items=300), seed=0
    )
    inside = world.slice_items.filter(slice_id="s000000")["item_id"]
    of_one = world.item_scores.filter(model_id="m000000")
    is_in = of_one["item_id"].is_in(inside.implode())
    a, b = (of_one.filter(part)["score"].to_numpy() for part in (is_in, ~is_in))

    found = weaknesses_of(world).row(0, named=True)

    welch = ttest_ind(a, b, equal_var=False)
    assert found["difference"] == pytest.approx(a.mean() - b.mean())
    assert found["rest_accuracy"] == pytest.approx(b.mean())
    assert found["difference_low"] == pytest.approx(
        welch.confidence_interval().low, abs=1e-3
    )
    assert found["p_value"] == pytest.approx(welch.pvalue, rel=0.05)


def test_clusters_that_reach_outside_are_one_draw() -> None:
    """Brute force: the variance of the linearised difference, cluster by cluster."""
    random = np.random.default_rng(0)
    y, inside = random.integers(0, 2, 60).astype(float), np.arange(60) < 25
    cluster = random.integers(0, 20, 60)
    items = pl.DataFrame({"item_id": [f"x:{i:02}" for i in range(60)]})
    scores = items.select(
        pl.lit("ada").alias("model_id"),
        "item_id",
        pl.lit("x").alias("benchmark_id"),
        pl.Series("score", y),
        pl.lit(value=False).alias("is_drifted"),
    )
    members = items.head(25).with_columns(slice_id=pl.lit("s"))
    slices = pl.DataFrame({"slice_id": ["s"], "slice_name": ["s"]})
    names = items.with_columns(cluster_id=pl.Series(cluster).cast(pl.String))

    found = slice_weaknesses(scores, members, slices, names).row(0, named=True)

    part = np.where(inside, (y - y[inside].mean()) / 25, -(y - y[~inside].mean()) / 35)
    squares = sum(part[cluster == c].sum() ** 2 for c in range(20))
    n_clusters = np.unique(cluster[inside]).size
    expected = np.sqrt(n_clusters / (n_clusters - 1) * squares)
    half = (found["difference_high"] - found["difference_low"]) / 2
    assert found["n_clusters"] == n_clusters
    assert half == pytest.approx(student.ppf(0.975, n_clusters - 1) * expected)


def test_intervals_cover_and_equal_slices_are_not_weak() -> None:
    plan = WorldPlan((0.7, 0.7, 0.7), SIZES, cluster_size=2, likeness=0.7)
    tables = [weaknesses_of(simulated_world(plan, seed=seed)) for seed in range(30)]

    covered = pl.concat(tables).select(
        (pl.col("difference_low") <= 0) & (pl.col("difference_high") >= 0)
    )
    n_false = sum(bool((t["is_weak"] | t["is_strong"]).any()) for t in tables)

    assert 0.93 <= covered.to_series().mean() <= 0.97
    assert n_false <= 4


# Recall at a drop of .2 is what 40 to 150 items allow: see `required_items`.
@pytest.mark.parametrize(("drop", "recall"), [(0.2, 0.4), (0.4, 0.9), (0.5, 0.97)])
def test_planted_weaknesses_are_recovered(drop: float, recall: float) -> None:
    """As EvalTree plants them: .7 elsewhere, and less on the items of weak slices."""
    plan = WorldPlan((0.7,), (40, 60, 80, 100, 150) * 8, overlap=0.1)
    world = simulated_world(plan, seed=0)
    weak = {f"s{index:06}" for index in (1, 4, 12, 18, 25, 33)}
    told: list[str] = []

    for seed in range(5):
        scores = planted_scores(
            world.slice_items, sorted(weak), accuracy=0.7, drop=drop, seed=seed
        )
        found = slice_weaknesses(scores, world.slice_items, world.slices)
        told += found.filter("is_weak")["slice_id"].to_list()

    n_right = sum(slice_id in weak for slice_id in told)
    assert n_right / len(told) >= 0.9
    assert n_right / (5 * len(weak)) >= recall


def test_a_slice_of_everything_has_no_rest() -> None:
    world = simulated_world(WorldPlan((0.7, 0.6), (40,)), seed=0)

    assert weaknesses_of(world).is_empty()


def test_a_level_outside_of_its_range_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="q must be"):
        weaknesses_of(simulated_world(WorldPlan((0.7,), (40, 40)), seed=0), q=0)
