import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import hypergeom

from skillmap.concepts.permutation import monte_carlo_p, null_variance
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world


def test_the_closed_form_is_the_variance_over_all_orders() -> None:
    random = np.random.default_rng(0)
    world = random_world(1, n_items=80, n_latents=6, n_models=1)
    scores = random.random(80)
    found = one_benchmark(world.saliency["b"], scores).performance()
    errors = found.filter(pooling="mean")["null_error"].to_numpy()

    dealt = random.permuted(np.tile(scores, (20_000, 1)), axis=1)
    weights = world.saliency["b"] / world.saliency["b"].sum(axis=0)

    assert errors == pytest.approx((dealt @ weights).std(axis=0), rel=0.02)


def test_clusters_are_dealt_and_not_items() -> None:
    random = np.random.default_rng(0)
    world = random_world(2, n_items=120, n_latents=4, n_models=1, cluster_size=4)
    scores = np.repeat(random.random(30) < 0.5, 4).astype(float)
    saliency = {"b": np.repeat(world.saliency["b"][:30], 4, axis=0)}
    clustered = ConceptWorld(saliency, {"b": scores[:, None]}, world.clusters)
    found = clustered.performance().filter(pooling="mean")

    dealt = random.permuted(np.tile(scores[::4], (20_000, 1)), axis=1)
    by_cluster = saliency["b"].reshape(30, 4, -1).sum(axis=1)
    weights = by_cluster / by_cluster.sum(axis=0)

    assert found["null_error"].to_numpy() == pytest.approx(
        (dealt @ weights).std(axis=0), rel=0.02
    )
    # As if the four twins were independent it would be half as wide.
    alone = ConceptWorld(saliency, {"b": scores[:, None]}).performance()
    ratio = found["null_error"] / alone.filter(pooling="mean")["null_error"]
    assert ratio.to_numpy() == pytest.approx(2, rel=0.03)


def test_a_weight_on_all_alike_leaves_nothing_to_deal() -> None:
    found = null_variance(np.array([0.25, 0.25]), np.array([50.0, 1]), np.array(50.0))

    assert found == pytest.approx([0, 0.25 * 49 / 50])


def few_items(seed: int) -> ConceptWorld:
    random = np.random.default_rng(seed)
    saliency = np.ones((100, 3))
    saliency[15:, 0] = 0
    saliency[5:, 1] = 0
    return one_benchmark(saliency, (random.random((100, 2)) < 0.5).astype(float))


def test_only_concepts_between_the_gates_are_drawn() -> None:
    found = monte_carlo_p(*few_items(0).pairs[0], n_permutations=99)

    assert found.select("model_id", "pooling", "latent_index").sort(
        pl.all()
    ).rows() == [
        ("m0", "max", 0),
        ("m0", "mean", 0),
        ("m1", "max", 0),
        ("m1", "mean", 0),
    ]


def test_drawn_p_agrees_with_the_hypergeometric_law() -> None:
    world = few_items(3)
    scores = world.scores["b"][:, 0]
    right, of_concept = int(scores.sum()), int(scores[:15].sum())

    found = monte_carlo_p(*world.pairs[0], n_permutations=20_000)

    law = hypergeom(100, right, 15)
    k = np.arange(16)
    far = np.abs(k - 15 * right / 100) >= abs(of_concept - 15 * right / 100) - 1e-9
    p = found.filter(model_id="m0", pooling="mean")["p_value"][0]
    assert p == pytest.approx(law.pmf(k[far]).sum(), abs=0.01)


def test_equal_seeds_deal_alike() -> None:
    pair = few_items(1).pairs[0]

    once, again = (monte_carlo_p(*pair, n_permutations=300) for _ in range(2))
    other = monte_carlo_p(*pair, n_permutations=300, seed=1)

    assert_frame_equal(once, again)
    assert not once.equals(other)
