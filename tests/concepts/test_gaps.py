import numpy as np
import polars as pl
import pytest

from skillmap.concepts.difficulty import adjusted_performance
from skillmap.concepts.gaps import benchmark_gaps, model_gaps
from skillmap.concepts.themes import (
    checked_members,
    gap_themes,
    silhouette,
    themes,
)
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import ConceptWorld, one_benchmark


def relevance(world: ConceptWorld, words: list[str]) -> pl.DataFrame:
    return world.concepts.select(
        "encoder_id",
        pl.lit("b").alias("benchmark_id"),
        "latent_index",
        relevance=pl.Series(words),
        method=pl.lit("judge"),
    )


def test_relevant_concepts_that_are_lacking_are_benchmark_gaps() -> None:
    # Deciles of the five present: at most 1.4 is under.
    world = one_benchmark(np.array([[0.0, 0, 1, 2, 3, 4, 5]]), np.ones(1))
    words = ["relevant", "irrelevant", "relevant", *["relevant"] * 4]

    found = benchmark_gaps(world.coverage(), relevance(world, words), world.concepts)

    assert found.select("latent_index", "label", "representation").rows() == [
        (0, "concept 0", "missing"),
        (2, "concept 2", "under"),
    ]


def test_latents_about_form_are_no_gaps() -> None:
    world = one_benchmark(np.array([[0.0, 0, 1]]), np.ones(1))
    coverage = world.coverage().with_columns(
        is_dense=pl.col("latent_index") == 0, is_template=pl.col("latent_index") == 1
    )

    found = benchmark_gaps(coverage, relevance(world, ["relevant"] * 3), world.concepts)

    assert found.is_empty()


def weak_on_first() -> ConceptWorld:
    random = np.random.default_rng(0)
    saliency = random.gamma(2.0, 1.0, (2_000, 8)) * (random.random((2_000, 8)) < 0.2)
    chance = np.full((2_000, 3), 0.7)
    chance[saliency[:, 0] > 0, 0] = 0.4
    chance[saliency[:, 1] > 0] -= 0.25
    scores = (random.random(chance.shape) < chance).astype(float)
    return one_benchmark(saliency, scores)


def test_model_gaps_are_told_raw_and_beside_peers() -> None:
    world = weak_on_first()
    adjusted = adjusted_performance(*world.pairs[0], np.arange(8))

    found = model_gaps(
        world.performance(),
        world.concepts,
        adjusted=adjusted,
        coverage=world.coverage(),
    )

    told = {
        (model, latent): (robust, lower)
        for model, latent, robust, lower in found.select(
            "model_id", "latent_index", "is_robust", "is_lower_than_peers"
        ).rows()
    }
    # All three are weak on concept 1, so none is weaker than its peers there.
    assert told["m0", 0] == (True, True)
    assert told["m1", 1] == (True, False)
    assert told["m2", 1] == (True, False)
    assert ("m1", 0) not in told


def test_without_peers_it_is_unknown_who_is_lower() -> None:
    found = model_gaps(weak_on_first().performance(), weak_on_first().concepts)

    assert not found.is_empty()
    assert found["is_lower_than_peers"].null_count() == found.height


def gaps_with(labels: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "encoder_id": "e",
            "benchmark_id": "b",
            "latent_index": range(10, 10 + len(labels)),
            "label": labels,
            "coverage": [0.5] * len(labels),
            "n_effective_clusters": [None, *[20.0] * (len(labels) - 1)],
        }
    )


LABELS = [
    "prime numbers",
    "numbers that are prime",
    "contract law",
    "laws of contracts",
    "palindromes",
    None,
]


def test_themes_name_all_their_members() -> None:
    found = gap_themes(gaps_with(LABELS))

    assert found.select("theme", "latent_indexes", "n_supported").rows() == [
        ("number / prime", ["10", "11"], 1),
        ("contract / law", ["12", "13"], 2),
        ("palindrome", ["14"], 1),
    ]
    assert found["total_coverage"].to_list() == [1.0, 1.0, 0.5]


def test_vectors_can_be_given_instead() -> None:
    vectors = np.array([[1, 0], [0, 2], [1, 0], [0, 1], [3, 0], [0, 1]], np.float32)

    found = gap_themes(gaps_with(LABELS), vectors=vectors)

    members = found["latent_indexes"].to_list()
    assert members == [["10", "12", "14"], ["11", "13"]]
    with pytest.raises(InvalidInputError, match="one row a gap, got 2 for 6"):
        gap_themes(gaps_with(LABELS), vectors=vectors[:2])


def test_no_gaps_have_no_themes() -> None:
    assert gap_themes(gaps_with(LABELS).clear()).is_empty()


def test_the_silhouette_is_that_of_the_distances() -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((20, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = np.array([0, 1, 2, 2] * 5)
    labels[0] = 3  # alone
    distance = 1 - vectors @ vectors.T

    values = []
    for i in range(20):
        own = (labels == labels[i]) & (np.arange(20) != i)
        if not own.any():
            values.append(0.0)
            continue
        a = distance[i, own].mean()
        b = min(distance[i, labels == k].mean() for k in set(labels) - {labels[i]})
        values.append((b - a) / max(a, b))

    assert silhouette(vectors, labels) == pytest.approx(np.mean(values))
    assert silhouette(vectors, np.zeros(20, np.int64)) == 0


def test_rows_without_a_direction_are_themes_of_their_own() -> None:
    vectors = np.array([[0, 0], [1, 0], [0, 0], [1, 0], [0, 1]], np.float32)

    assert themes(vectors).tolist() == [0, 1, 2, 1, 3]


def test_made_up_members_are_refused() -> None:
    assert checked_members([3, 1, 3], range(5)) == [1, 3]
    with pytest.raises(InvalidInputError, match=r"1 of 2 are not among .* first 7"):
        checked_members([7, 1], range(5))
