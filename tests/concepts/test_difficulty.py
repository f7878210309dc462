import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from skillmap.concepts.difficulty import adjusted_performance, expected_scores
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world


def hard_items(seed: int, *, weakness: float = 0.0, n_models: int = 6) -> ConceptWorld:
    """Concept 0 on the hard half; model 0 is weaker where concept 1 is active."""
    random = np.random.default_rng(seed)
    n = 1_000
    is_hard = np.arange(n) % 2 == 0
    ability = 0.8 - 1.6 * is_hard
    saliency = random.gamma(2.0, 1.0, (n, 12)) * (random.random((n, 12)) < 0.3)
    saliency[:, 0] *= is_hard
    logits = np.repeat(ability[:, None], n_models, axis=1)
    logits[:, 0] -= weakness * (saliency[:, 1] > 0)
    scores = (random.random((n, n_models)) < expit(logits)).astype(float)
    return one_benchmark(saliency, scores)


def adjusted_of(world: ConceptWorld) -> pl.DataFrame:
    (pair,) = world.pairs
    return adjusted_performance(*pair, np.arange(world.n_latents), poolings=("mean",))


def test_a_concept_of_hard_items_is_low_but_not_lower_than_peers() -> None:
    found = [adjusted_of(hard_items(seed)).filter(latent_index=0) for seed in range(8)]

    raw = hard_items(0).performance().filter(pooling="mean", latent_index=0)
    assert (raw["verdict"] == "gap").sum() >= 4
    z = np.concatenate([f["peer_z"].to_numpy() for f in found])
    assert z.std() == pytest.approx(1, abs=0.2)
    # Five peers tell little of difficulty: about half of it stays in.
    adjusted = np.mean([f["adjusted"].mean() for f in found])
    assert raw["difference"].mean() == pytest.approx(-0.19, abs=0.03)
    assert adjusted == pytest.approx(-0.1, abs=0.03)


def test_more_peers_take_more_of_the_difficulty_out() -> None:
    few, many = (
        adjusted_of(hard_items(0, n_models=n)).filter(latent_index=0)["adjusted"].mean()
        for n in (4, 40)
    )

    assert abs(float(str(many))) < 0.4 * abs(float(str(few)))


def test_a_weakness_of_one_model_stands_out() -> None:
    found = adjusted_of(hard_items(1, weakness=1.2)).filter(
        (pl.col("adjusted") < 0)
        & (pl.col("adjusted_q") <= 0.05)
        & (pl.col("peer_difference") < 0)
        & (pl.col("peer_q") <= 0.05)
    )

    assert found.select("model_id", "latent_index").rows() == [("m0", 1)]


def test_z_is_about_normal_for_models_that_are_alike() -> None:
    found = pl.concat(adjusted_of(hard_items(seed)) for seed in range(8))
    others = found.filter(pl.col("latent_index") > 0)

    for z in (others["adjusted_z"].to_numpy(), others["peer_z"].to_numpy()):
        assert z.std() == pytest.approx(1, abs=0.12)
        assert z.mean() == pytest.approx(0, abs=0.15)


def test_the_difference_from_peers_is_that_of_the_differences() -> None:
    world = random_world(5, n_items=40, n_latents=3, n_models=3)
    w, s = world.saliency["b"], world.scores["b"]

    found = adjusted_of(world).filter(model_id="m1")["peer_difference"].to_numpy()

    beyond = s[:, 1] - s[:, [0, 2]].mean(axis=1)
    assert found == pytest.approx(beyond @ w / w.sum(axis=0) - beyond.mean())


def test_expectations_are_right_on_average_and_lower_for_hard_items() -> None:
    world = hard_items(2)
    activations, scores = world.pairs[0]

    expected = expected_scores(activations, scores)

    assert (scores.values - expected).mean(axis=0) == pytest.approx(0, abs=0.01)
    hard = np.array([int(i.split(":")[1]) % 2 == 0 for i in activations.items])
    assert expected[hard].mean() < expected[~hard].mean() - 0.1


def test_an_items_own_score_never_tells_its_expectation() -> None:
    world = random_world(n_items=60, n_latents=3, cluster_size=2)
    activations, scores = world.pairs[0]
    before = expected_scores(activations, scores)
    changed = scores.values.copy()
    changed[:2, 0] = 0.123  # one cluster, so in one fold

    after = expected_scores(activations, type(scores)(scores.models, changed))

    assert after[:2, 0] == pytest.approx(before[:2, 0])
    assert np.abs(after[2:, 0] - before[2:, 0]).max() > 1e-3


def test_twins_are_taken_to_answer_alike() -> None:
    random = np.random.default_rng(0)
    saliency = random.gamma(2.0, 1.0, (100, 1))
    scores = (random.random((100, 3)) < 0.5).astype(float)
    alone = adjusted_of(one_benchmark(saliency, scores))
    twins = adjusted_of(
        one_benchmark(
            np.tile(saliency, (2, 1)), np.tile(scores, (2, 1)), [*range(100)] * 2
        )
    )

    ratio = twins["adjusted_error"] / alone["adjusted_error"]
    assert ratio.to_numpy() == pytest.approx(1, abs=0.05)


def test_a_single_model_has_no_peers() -> None:
    (pair,) = random_world(n_items=20, n_latents=2, n_models=1).pairs

    assert adjusted_performance(*pair, np.arange(2)).is_empty()


def test_unknown_scores_have_no_expectation() -> None:
    scores = np.array([[1.0, 0], [0, 1], [np.nan, 1], [1, np.nan]] * 10)
    activations, known = one_benchmark(np.ones((40, 1)), scores).pairs[0]

    expected = expected_scores(activations, known)

    assert (np.isnan(expected) == np.isnan(known.values)).all()
