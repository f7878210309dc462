import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillmap.concepts.marks import slice_concepts
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world


def memberships(world: ConceptWorld, inside: dict[str, np.ndarray]) -> pl.DataFrame:
    ids = {b: world.item_ids(b) for b in world.saliency}
    return pl.concat(
        pl.DataFrame(
            {"slice_id": name, "item_id": [ids["b"][i] for i in np.flatnonzero(flags)]},
            schema={"slice_id": pl.String, "item_id": pl.String},
        )
        for name, flags in inside.items()
    )


def test_a_concept_that_is_stronger_inside_marks_the_slice() -> None:
    random = np.random.default_rng(0)
    saliency = random.gamma(2.0, 1.0, (400, 20)) * (random.random((400, 20)) < 0.5)
    inside = np.arange(400) < 100
    saliency[inside, 3] *= 3
    world = one_benchmark(saliency, np.ones(400))

    found = slice_concepts(
        world.activations,
        memberships(world, {"skill:a": inside, "skill:b": random.random(400) < 0.3}),
    )

    assert found.select("slice_id", "latent_index").rows() == [("skill:a", 3)]
    row = found.row(0, named=True)
    means = saliency[inside, 3].mean(), saliency[~inside, 3].mean()
    assert (row["mean_inside"], row["mean_outside"]) == pytest.approx(means)
    assert row["enrichment"] == pytest.approx(means[0] / means[1])
    assert row["n_slice_clusters"] == 100
    assert row["n_active_clusters"] == (saliency[inside, 3] > 0).sum()


def test_z_is_that_of_random_membership() -> None:
    random = np.random.default_rng(1)
    saliency = random.gamma(2.0, 1.0, (100, 2))
    inside = np.arange(100) < 30
    world = one_benchmark(saliency, np.ones(100))

    found = slice_concepts(
        world.activations, memberships(world, {"s": inside}), max_q=1.0
    ).sort("latent_index")

    sums = np.stack(
        [saliency[random.permutation(100)[:30]].sum(axis=0) for _ in range(20_000)]
    )
    z = (saliency[inside].sum(axis=0) - sums.mean(axis=0)) / sums.std(axis=0)
    assert found["z"].to_numpy() == pytest.approx(z, abs=0.03)


def test_random_slices_are_marked_by_few() -> None:
    world = random_world(n_items=500, n_latents=60, density=0.5)
    random = np.random.default_rng(2)
    slices = {f"s{i:03}": random.random(500) < 0.3 for i in range(130)}

    found = slice_concepts(world.activations, memberships(world, slices))

    # 7,800 pairs; a skewed sum has somewhat heavier tails than the normal curve.
    assert found.height <= 5


def test_a_benchmarks_concept_does_not_mark_its_slices() -> None:
    random = np.random.default_rng(3)
    saliency = {
        "b": random.gamma(2.0, 1.0, (300, 2)) * [5, 1],
        "c": random.gamma(2.0, 1.0, (300, 2)) * [0.1, 1],
    }
    world = ConceptWorld(saliency, {b: np.ones((300, 1)) for b in saliency})
    inside = random.random(300) < 0.5

    found = slice_concepts(world.activations, memberships(world, {"s": inside}))

    assert found.is_empty()


def test_a_slice_that_is_the_benchmark_cannot_be_marked() -> None:
    world = random_world(n_items=50, n_latents=5, density=0.8)

    found = slice_concepts(
        world.activations, memberships(world, {"s": np.ones(50, bool)}), max_q=1.0
    )

    assert found.is_empty()


def test_twins_count_once() -> None:
    random = np.random.default_rng(4)
    saliency = random.gamma(2.0, 1.0, (100, 1))
    inside = np.arange(100) < 40
    single = one_benchmark(saliency, np.ones(100))
    twins = one_benchmark(np.tile(saliency, (2, 1)), np.ones(200), [*range(100)] * 2)

    one, two = (
        slice_concepts(
            w.activations, memberships(w, {"s": np.tile(inside, n)}), max_q=1
        )
        for n, w in ((1, single), (2, twins))
    )

    assert_frame_equal(one, two)


def test_a_concept_that_is_nowhere_else_has_no_ratio() -> None:
    saliency = np.zeros((200, 1))
    saliency[:50] = 1
    world = one_benchmark(saliency, np.ones(200))

    found = slice_concepts(
        world.activations, memberships(world, {"s": np.arange(200) < 50})
    )

    assert found.select("mean_outside", "enrichment").rows() == [(0.0, None)]
    assert found["z"][0] > 10


def test_nothing_encoded_marks_nothing() -> None:
    world = random_world(n_items=5, n_latents=2)

    found = slice_concepts([], memberships(world, {"s": np.ones(5, bool)}))

    assert found.is_empty()
