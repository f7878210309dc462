import numpy as np
import polars as pl
import pytest

from skillmap.concepts.performance import concept_performance, shrunk_performance
from skillmap.concepts.sums import benchmark_score_sums, concept_score_sums
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world


def by_mean(world: ConceptWorld, **options: object) -> pl.DataFrame:
    return world.performance(**options).filter(pooling="mean")  # pyright: ignore[reportArgumentType]


def planted(*, effect: float, seed: int = 0, n_latents: int = 60) -> ConceptWorld:
    """Coin flips, less ``effect`` where latent 0 is active, on 2,000 items."""
    random = np.random.default_rng(seed)
    shape = (2_000, n_latents)
    saliency = random.gamma(2.0, 1.0, shape) * (random.random(shape) < 0.1)
    chance = np.where(saliency[:, :1] > 0, 0.6 - effect, 0.6)
    return one_benchmark(saliency, (random.random((2_000, 1)) < chance).astype(float))


def test_performance_is_the_weighted_mean_of_the_scores() -> None:
    saliency = np.array([[1.0, 0], [3, 0], [0, 2]])
    world = one_benchmark(saliency, np.array([1.0, 0.0, 0.5]))

    found = by_mean(world)

    assert found["performance"].to_list() == [0.25, 0.5]
    assert found["n_effective"].to_list() == pytest.approx([16 / 10, 1])
    assert found["difference"].to_list() == [-0.25, 0.0]


def test_the_largest_activation_is_another_weight() -> None:
    world = ConceptWorld(
        {"b": np.ones((2, 1))},
        {"b": np.array([[1.0], [0.0]])},
        maximum={"b": np.array([[3.0], [1.0]])},
    )

    found = world.performance().select("pooling", "performance").rows()

    assert found == [("max", 0.75), ("mean", 0.5)]


def test_a_concept_that_is_never_active_is_null_and_not_zero() -> None:
    world = one_benchmark(np.array([[1.0, 0], [1, 0]]), np.array([0.0, 0.0]))

    found = by_mean(world).select("performance", "standard_error", "verdict").rows()

    assert found[0][0] == 0
    assert found[1] == (None, None, "no_evidence")


def test_undefined_rows_can_be_left_out() -> None:
    world = one_benchmark(np.array([[1.0, 0], [1, 0]]), np.array([0.0, 1.0]))

    assert by_mean(world, keeps_undefined=False)["latent_index"].to_list() == [0]


def test_only_the_scored_items_count() -> None:
    saliency = np.array([[1.0], [1], [2]])
    scores = np.array([[1.0, 1.0], [0.0, np.nan], [0.0, 0.0]])

    found = by_mean(one_benchmark(saliency, scores))

    assert found["performance"].to_list() == pytest.approx([1 / 4, 1 / 3])
    assert found["n_active_items"].to_list() == [3, 2]
    assert found["n_items"].to_list() == [3, 2]


def test_the_error_is_that_of_a_ratio_over_clusters() -> None:
    world = random_world(3, n_items=60, n_latents=5, n_models=1, cluster_size=3)
    w, s = world.saliency["b"][:, 2], world.scores["b"][:, 0]
    chi = w @ s / w.sum()
    off = (w * (s - chi)).reshape(20, 3).sum(axis=1)

    found = by_mean(world).filter(latent_index=2).row(0, named=True)

    assert found["sampling_error"] == pytest.approx(
        np.sqrt(20 / 19 * (off @ off)) / w.sum()
    )
    big_w = w.reshape(20, 3).sum(axis=1)
    assert found["n_effective_clusters"] == pytest.approx(
        w.sum() ** 2 / (big_w @ big_w)
    )


def test_concepts_that_scatter_like_noise_are_drawn_to_the_mean() -> None:
    n_effective = np.array([25.0, 100.0])
    same = np.array([0.5, 0.5])

    noise = shrunk_performance(
        np.array([0.45, 0.52]), n_effective, mean_score=same, variance=same / 2
    )
    apart = shrunk_performance(
        np.array([0.1, 0.9]), n_effective, mean_score=same, variance=same / 2
    )

    assert noise.mean == pytest.approx([0.5, 0.5])
    # spread: 0.16 less 2 * 0.25 / 125 = 0.156; kappa = 0.25 / 0.156.
    kappa = 0.25 / 0.156
    expected = (n_effective * [0.1, 0.9] + kappa * 0.5) / (n_effective + kappa)
    assert apart.mean == pytest.approx(expected)
    assert apart.standard_deviation == pytest.approx(
        np.sqrt(0.25 / (n_effective + kappa))
    )


def test_a_planted_gap_is_found_and_hardly_anything_else() -> None:
    found = [by_mean(planted(effect=0.3, seed=seed)) for seed in range(20)]

    assert {f["verdict"][0] for f in found} == {"gap"}
    others = [f.slice(1)["verdict"].is_in(["gap", "strength"]).sum() for f in found]
    # One true gap in each: at q = 0.05 about one false in twenty.
    assert sum(n / (n + 1) for n in others) / 20 <= 0.1


def test_a_spread_of_effects_tells_which_are_clearly_lower() -> None:
    random = np.random.default_rng(0)
    which = random.integers(0, 12, 3_000)
    chance = np.linspace(0.3, 0.9, 12)[which]
    world = one_benchmark(np.eye(12)[which], (random.random(3_000) < chance) * 1.0)

    found = by_mean(world)["probability_lower"].to_numpy()

    assert found[:4].min() > 0.9
    assert found[6:].max() < 0.05


def test_random_scores_give_few_false_gaps() -> None:
    found = [by_mean(planted(effect=0, seed=seed)) for seed in range(40)]

    is_false = [f["verdict"].is_in(["gap", "strength"]).any() for f in found]
    # With no true gap, the share of sets with any is what q promises.
    assert sum(is_false) <= 5
    p = np.concatenate([f["p_value"].to_numpy() for f in found])
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.015)


def test_few_effective_items_are_suggestive_at_most() -> None:
    saliency = np.ones((300, 2))
    saliency[15:, 0] = 0
    scores = np.concatenate([np.zeros(15), np.ones(285)])
    world = one_benchmark(saliency, scores)

    assert by_mean(world)["verdict"][0] == "not_distinguishable"
    drawn = world.performance(draws=999).filter(pooling="mean").row(0, named=True)
    assert (drawn["p_method"], drawn["p_value"]) == ("monte_carlo", 1 / 1_000)
    assert drawn["verdict"] == "suggestive_gap"


def test_a_concept_that_is_the_same_everywhere_cannot_be_tested() -> None:
    found = by_mean(one_benchmark(np.ones((50, 1)), np.arange(50) % 2)).row(
        0, named=True
    )

    assert found["performance"] == 0.5
    assert found["p_value"] is None
    assert found["verdict"] == "not_distinguishable"


def test_equal_scores_have_no_error() -> None:
    found = by_mean(one_benchmark(np.ones((50, 1)), np.ones(50))).row(0, named=True)

    assert (found["performance"], found["standard_error"]) == (1.0, 0.0)


def test_latents_outside_the_dictionary_do_not_count() -> None:
    world = random_world(n_items=50, n_latents=4)
    (pair,) = world.pairs
    concepts = world.concepts.with_columns(
        in_dictionary=pl.col("latent_index") != 2,
        latent_index=pl.col("latent_index").cast(pl.Int32),
    )

    found = concept_performance(
        concept_score_sums(*pair), benchmark_score_sums(*pair), concepts
    )

    assert sorted(set(found["latent_index"])) == [0, 1, 3]


def test_without_rows_there_is_a_table_without_rows() -> None:
    world = random_world(n_items=5, n_latents=2)
    (pair,) = world.pairs

    found = concept_performance(
        concept_score_sums(*pair).clear(), benchmark_score_sums(*pair).clear()
    )

    assert found.is_empty()
    assert "verdict" in found.columns
