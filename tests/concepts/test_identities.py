"""The identities of coverage and performance that hold whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.concepts.across import cross_coverage
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world

seeds = st.integers(0, 10_000)


def small(seed: int, **rest: object) -> ConceptWorld:
    world = random_world(seed, n_items=12, n_latents=6, n_models=2, **rest)  # pyright: ignore[reportArgumentType]
    # At least one cell, so that there is something to cover.
    for saliency in world.saliency.values():
        saliency[0, 0] = 1.0
    return world


def performance_of(world: ConceptWorld) -> list[float | None]:
    return (
        world.performance()
        .sort("pooling", "model_id", "latent_index")["performance"]
        .to_list()
    )


@settings(max_examples=20)
@given(seeds)
def test_coverage_averages_to_one(seed: int) -> None:
    coverage = small(seed, benchmarks=("a", "b")).coverage()

    for _, rows in coverage.group_by("benchmark_id"):
        assert rows["coverage"].mean() == pytest.approx(1)
    assert cross_coverage(coverage)["coverage"].mean() == pytest.approx(1)


@settings(max_examples=20)
@given(seeds, st.floats(1e-3, 1e3))
def test_duplicates_and_scale_change_nothing(seed: int, factor: float) -> None:
    world = small(seed)
    twice = ConceptWorld(
        {"b": factor * np.tile(world.saliency["b"], (2, 1))},
        {"b": np.tile(world.scores["b"], (2, 1))},
    )

    before, after = world.coverage(), twice.coverage()

    assert after["coverage"].to_list() == pytest.approx(before["coverage"].to_list())
    assert performance_of(twice) == [
        None if x is None else pytest.approx(x) for x in performance_of(world)
    ]


@settings(max_examples=20)
@given(seeds)
def test_performance_is_within_the_scores_and_mirrors_them(seed: int) -> None:
    world = small(seed)
    scores = np.random.default_rng(seed).random((12, 2))
    graded = ConceptWorld(world.saliency, {"b": scores})
    mirrored = ConceptWorld(world.saliency, {"b": 1 - scores})

    for one, other in zip(
        performance_of(graded), performance_of(mirrored), strict=True
    ):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert scores.min() - 1e-12 <= one <= scores.max() + 1e-12
            assert other == pytest.approx(1 - one)


@settings(max_examples=20)
@given(seeds, st.floats(0, 1))
def test_a_constant_score_is_the_performance(seed: int, score: float) -> None:
    world = ConceptWorld(small(seed).saliency, {"b": np.full((12, 1), score)})

    known = [x for x in performance_of(world) if x is not None]
    assert known == pytest.approx([score] * len(known))


@settings(max_examples=20)
@given(seeds)
def test_mass_weighted_performance_is_the_mass_weighted_score(seed: int) -> None:
    world = small(seed)
    mass = world.saliency["b"].sum(axis=0)
    by_model = world.performance().filter(pooling="mean")

    for m in range(2):
        rows = by_model.filter(model_id=f"m{m}")
        performance = rows["performance"].fill_null(0).to_numpy()
        item_mass = world.saliency["b"].sum(axis=1)
        assert mass @ performance == pytest.approx(item_mass @ world.scores["b"][:, m])


@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e6])
def test_a_concept_on_one_item_has_that_items_score_and_no_support(
    weight: float,
) -> None:
    saliency = np.zeros((40, 2))
    saliency[7, 0], saliency[:, 1] = weight, 1
    scores = (np.arange(40) % 3 == 1).astype(float)

    found = one_benchmark(saliency, scores).performance().row(0, named=True)

    assert found["performance"] == scores[7] == 1
    assert found["n_effective_clusters"] == pytest.approx(1)
    assert found["verdict"] == "insufficient_evidence"
    assert found["p_value"] is None
    assert found["sampling_error"] == 0
    assert found["standard_error"] > 0.3
