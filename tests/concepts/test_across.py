import numpy as np
import polars as pl
import pytest

from skillmap.concepts.across import (
    cross_coverage,
    cross_performance,
    pooling_agreement,
)
from skillmap.metrics.shrinkage import shrunk_effects
from tests.concepts.worlds import ConceptWorld, random_world


def two_benchmarks() -> ConceptWorld:
    """Concept 0 in both, 1 only in the easy one, 2 in none."""
    saliency = {
        b: np.tile([1.0, float(b == "easy"), 0], (40, 1)) for b in ("easy", "hard")
    }
    saliency["hard"][:20, 0] = 3
    scores = {
        "easy": (np.arange(40)[:, None] % 10 > 0).astype(float),
        "hard": (np.arange(40)[:, None] % 10 > 5).astype(float),
    }
    return ConceptWorld(saliency, scores)


def test_the_plain_mean_skips_benchmarks_without_the_concept() -> None:
    performance = two_benchmarks().performance().filter(pooling="mean")

    found = cross_performance(performance)

    assert found["performance"].to_list() == pytest.approx([0.65, 0.9, None])
    assert found["benchmark_ids"].to_list() == [["easy", "hard"], ["easy"], []]
    assert found["verdict"].to_list()[2] == "no_evidence"


def test_what_it_is_off_does_not_inherit_an_easy_benchmark() -> None:
    performance = two_benchmarks().performance().filter(pooling="mean")

    found = cross_performance(performance)

    assert found["difference"].to_list()[:2] == pytest.approx([0, 0])
    assert found["i_squared"].to_list() == [0, None, None]


def test_the_random_effects_are_those_of_shrunk_effects() -> None:
    world = random_world(
        4, n_items=80, n_latents=6, n_models=1, benchmarks=("a", "b", "c")
    )
    performance = world.performance().filter(pooling="mean")
    wide = performance.sort("benchmark_id", "latent_index")
    differences = wide["difference"].to_numpy().reshape(3, 6)
    errors = wide["standard_error"].to_numpy().reshape(3, 6)

    found = cross_performance(performance)

    oracle = shrunk_effects(differences, errors, method="dersimonian-laird")
    assert found["difference"].to_numpy() == pytest.approx(oracle.family_mean)
    assert found["between_variance"].to_numpy() == pytest.approx(oracle.family_variance)
    z = wide["null_difference"].to_numpy().reshape(3, 6).sum(axis=0) / np.sqrt(
        (wide["null_error"].to_numpy().reshape(3, 6) ** 2).sum(axis=0)
    )
    assert found["z"].to_numpy() == pytest.approx(z)


def test_models_and_poolings_are_families_of_their_own() -> None:
    performance = random_world(benchmarks=("a", "b")).performance()

    found = cross_performance(performance)
    alone = cross_performance(performance.filter(model_id="m1", pooling="max"))

    assert found.filter(model_id="m1", pooling="max").equals(alone)


def test_cross_coverage_counts_a_missing_concept_as_nothing() -> None:
    found = cross_coverage(two_benchmarks().coverage())

    # easy: 1.5, 1.5, 0; hard: 3, 0, 0.
    assert found["coverage"].to_list() == pytest.approx([2.25, 0.75, 0])
    assert found["n_benchmarks_missing"].to_list() == [0, 1, 2]
    assert found["is_missing_everywhere"].to_list() == [False, False, True]


def test_poolings_that_rank_in_reverse_disagree() -> None:
    random = np.random.default_rng(0)
    scores = (random.random((100, 1)) < 0.5).astype(float)
    latents = np.arange(1, 7)
    # The heavier on right answers by mean, the lighter by largest activation.
    saliency = 1 + scores * latents
    largest = saliency + 20 + (1 - scores) * 20 * latents
    world = ConceptWorld({"b": saliency}, {"b": scores}, maximum={"b": largest})

    found = pooling_agreement(world.performance()).row(0, named=True)

    assert found["rank_correlation"] == pytest.approx(-1)
    assert (found["n_concepts"], found["lowest_jaccard"]) == (6, 0)


def test_no_rows_give_no_rows() -> None:
    performance = random_world(n_items=5, n_latents=2).performance().clear()

    assert cross_performance(performance).is_empty()
    assert pooling_agreement(performance).is_empty()
    assert isinstance(cross_performance(performance), pl.DataFrame)
