import numpy as np
import polars as pl
import pytest

from skillmap.errors import InvalidInputError
from skillmap.simulation.worlds import WorldPlan, planted_scores, simulated_world


def test_accuracies_are_as_planned() -> None:
    plan = WorldPlan(
        (0.7, 0.9), (4000, 4000), {(1, 0): -0.3}, n_other_items=1000, cluster_size=2
    )

    world = simulated_world(plan, seed=0)

    seen = (
        world.slice_items.join(world.item_scores, on="item_id")
        .group_by("slice_id", "model_id")
        .agg(pl.col("score").mean())
        .sort("slice_id", "model_id")["score"]
    )
    assert world.accuracy.ravel() == pytest.approx([0.7, 0.9, 0.4, 0.9])
    assert seen.to_numpy() == pytest.approx(world.accuracy.ravel(), abs=0.03)
    assert world.item_scores.height == 2 * 9000


def test_duplicates_are_answered_alike() -> None:
    plan = WorldPlan((0.7, 0.6), (60,), cluster_size=3, likeness=1.0)

    world = simulated_world(plan, seed=0)

    scores = world.item_scores.join(world.clusters, on="item_id")
    by_cluster = scores.group_by("model_id", "cluster_id").agg(
        pl.col("score").n_unique(), pl.len()
    )
    assert set(by_cluster["score"]) == {1}
    assert set(by_cluster["len"]) == {3}


def test_models_find_the_same_items_hard() -> None:
    alike = simulated_world(
        WorldPlan((0.7, 0.7), (5000,), shared_difficulty=0.6), seed=0
    )

    scores = alike.item_scores["score"].to_numpy().reshape(-1, 2)

    # Tetrachoric correlation .6 at .7 and .7 is about .38 of right and wrong.
    assert np.corrcoef(scores.T)[0, 1] == pytest.approx(0.38, abs=0.05)


def test_slices_overlap_as_planned_and_benchmarks_take_turns() -> None:
    plan = WorldPlan((0.7,), (500, 500), overlap=0.5, n_benchmarks=4)

    world = simulated_world(plan, seed=0)

    shared = world.slice_items.group_by("item_id").len().filter(pl.col("len") == 2)
    assert 80 < shared.height < 250
    assert world.item_scores["benchmark_id"].n_unique() == 4
    assert not world.slice_items.is_duplicated().any()


def test_equal_seeds_give_equal_worlds() -> None:
    plan = WorldPlan((0.7, 0.6), (50,))

    first, again, other = (simulated_world(plan, seed=seed) for seed in (1, 1, 2))

    assert first.item_scores.equals(again.item_scores)
    assert not first.item_scores.equals(other.item_scores)


def test_a_weakness_is_planted_on_items_that_exist() -> None:
    members = pl.DataFrame(
        {
            "slice_id": ["a"] * 500 + ["b"] * 500,
            "item_id": [f"x:{i}" for i in [*range(500), *range(250, 750)]],
        }
    )

    scores = planted_scores(members, ["b"], accuracy=0.9, drop=0.5, seed=0)

    is_weak = scores["item_id"].is_in([f"x:{i}" for i in range(250, 750)])
    assert scores.height == 750
    assert scores.filter(is_weak)["score"].mean() == pytest.approx(0.4, abs=0.07)
    assert scores.filter(~is_weak)["score"].mean() == pytest.approx(0.9, abs=0.07)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"abilities": (0.7, 1.0)}, "abilities must be"),
        ({"overlap": 1.5}, r"1\.5"),
        ({"cluster_size": 0}, "at least 1"),
    ],
)
def test_plans_out_of_range_are_refused(
    attributes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        WorldPlan(**{"abilities": (0.7,), "slice_sizes": (10,), **attributes})
