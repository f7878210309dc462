from dataclasses import replace

import numpy as np
import pytest

from skillmap.concepts.activations import Activations
from skillmap.concepts.alternate import encoder_agreement, match_concepts
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import ConceptWorld, random_world

ORDER = np.array([4, 0, 3, 1, 2])


def two_encoders(noise: float, *, n_latents: int = 5) -> tuple[ConceptWorld, ...]:
    """The second has the first's concepts in another order, and noise."""
    random = np.random.default_rng(0)
    first = random_world(1, n_items=400, n_latents=n_latents, density=0.6)
    order = ORDER if n_latents == 5 else random.permutation(n_latents)
    saliency = first.saliency["b"][:, order]
    noisy = saliency * random.lognormal(0, noise + 1e-9, saliency.shape)
    return first, ConceptWorld({"b": noisy}, first.scores, encoder_id="f")


def test_concepts_are_matched_whatever_their_order() -> None:
    first, second = two_encoders(0.1)

    found = match_concepts(first.activations[0], second.activations[0])

    assert found.select("latent_index", "other_latent_index").rows() == sorted(
        (int(c), place) for place, c in enumerate(ORDER)
    )


def test_correlations_are_pearsons_over_all_items() -> None:
    first, second = two_encoders(0.5)

    found = match_concepts(first.activations[0], second.activations[0])

    for c, d, r in found.select(
        "latent_index", "other_latent_index", "correlation"
    ).rows():
        x, y = first.saliency["b"][:, c], second.saliency["b"][:, d]
        assert r == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_a_match_is_mutual_as_in_a_dense_search() -> None:
    first = random_world(2, n_items=60, n_latents=300, density=0.5)
    second = random_world(3, n_items=60, n_latents=40, density=0.5)

    found = match_concepts(
        first.activations[0],
        replace(second.activations[0], encoder_id="f"),
        min_correlation=0.0,
        min_items=5,
    )

    keep = [
        np.flatnonzero((w.saliency["b"] > 0).sum(axis=0) >= 5) for w in (first, second)
    ]
    both = np.hstack(
        [w.saliency["b"][:, k] for w, k in zip((first, second), keep, strict=True)]
    )
    r = np.corrcoef(both.T)[: keep[0].size, keep[0].size :]
    expected = [
        (int(keep[0][i]), int(keep[1][j]))
        for i, j in enumerate(r.argmax(axis=1))
        if r[:, j].argmax() == i and r[i, j] >= 0
    ]
    assert found.select("latent_index", "other_latent_index").rows() == expected


def test_only_items_that_both_encoded_count() -> None:
    first, second = two_encoders(0.1)
    (whole,) = second.activations

    found = match_concepts(first.activations[0], whole.of_items(np.arange(0, 400, 2)))

    assert found.height == 5


def test_unlike_concepts_have_no_match() -> None:
    first = random_world(4, n_items=300, n_latents=5)
    second = random_world(5, n_items=300, n_latents=5)

    assert match_concepts(first.activations[0], second.activations[0]).is_empty()


def test_encoders_of_the_same_concepts_agree_on_the_model() -> None:
    first, second = two_encoders(0.2, n_latents=60)
    matches = match_concepts(first.activations[0], second.activations[0])

    found = encoder_agreement(
        first.performance(), second.performance(), matches, n_permutations=199
    )

    assert found["model_id"].to_list() == ["m0", "m1", "m2"]
    assert (found["rank_correlation"] > 0.8).all()
    assert (found["rank_correlation"] > found["null_correlation_high"]).all()
    assert (found["p_value"] == 1 / 200).all()
    assert (found["matched_share"] > 0.9).all()


def test_random_matches_agree_by_chance_only() -> None:
    first, second = two_encoders(0.2, n_latents=60)
    matches = match_concepts(first.activations[0], second.activations[0])
    wrong = matches.with_columns(
        matches["other_latent_index"].shuffle(seed=1).alias("other_latent_index")
    )

    found = encoder_agreement(first.performance(), second.performance(), wrong)

    assert (found["p_value"] > 0.01).all()
    assert (found["rank_correlation"].abs() < 0.5).all()


def test_two_pairs_tell_nothing() -> None:
    first, second = two_encoders(0.1)
    matches = match_concepts(first.activations[0], second.activations[0]).head(2)

    found = encoder_agreement(first.performance(), second.performance(), matches)

    assert found["n_matched"].to_list() == [2, 2, 2]
    assert found["rank_correlation"].null_count() == 3


def test_benchmarks_and_clusters_must_be_the_same() -> None:
    first, second = two_encoders(0.1)
    (one,), (two,) = first.activations, second.activations
    turned: Activations = replace(two, items=two.items.reverse())

    with pytest.raises(InvalidInputError, match="of one benchmark, got 'b' and 'c'"):
        match_concepts(one, replace(two, benchmark_id="c"))
    with pytest.raises(InvalidInputError, match="same clusters"):
        match_concepts(one, turned)
