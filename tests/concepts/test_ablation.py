import numpy as np
import pytest
from polars.testing import assert_frame_equal

from skillmap.concepts.ablation import aligned_ablation
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import ConceptWorld, one_benchmark, random_world


def world(seed: int = 0) -> ConceptWorld:
    """Every concept a bit on all items; wrong answers wherever concept 0 leads."""
    random = np.random.default_rng(seed)
    saliency = random.gamma(2.0, 1.0, (600, 40))
    saliency[:60, 0] += 200
    scores = (random.random((600, 1)) < 0.7).astype(float)
    scores[:60] = 0
    return one_benchmark(saliency, scores)


def test_removing_failed_items_raises_the_median_no_more_than_their_scores() -> None:
    found = aligned_ablation(
        world().pairs, "m0", side="worst", n_concepts=1, share=0.05
    ).row(0, named=True)

    assert (found["n_removed"], found["n_chosen"], found["n_concepts"]) == (30, 1, 40)
    # All 30 are wrong answers, so 0.62 becomes about 0.62 / 0.95.
    assert found["change"] == pytest.approx(1 / 0.95 - 1, abs=0.015)
    assert found["change"] > found["random_change_high"]
    # Other wrong answers do as much, and nothing is left for the concept.
    assert found["matched_change"] == pytest.approx(1 / 0.95 - 1, abs=0.005)
    assert found["excess"] == pytest.approx(found["change"] - found["matched_change"])
    assert abs(found["excess"]) < 0.015


def test_the_median_is_that_of_a_new_computation() -> None:
    whole = world(1)
    found = aligned_ablation(
        whole.pairs, "m0", side="best", n_concepts=3, share=0.02, n_draws=5
    ).row(0, named=True)
    w, s = whole.saliency["b"], whole.scores["b"][:, 0]
    before = s @ w / w.sum(axis=0)
    best = np.argsort(-before)[:3]

    alignment = w[:, best].sum(axis=1) / w.sum(axis=1)
    kept = np.argsort(-alignment)[12:]

    assert found["median_before"] == pytest.approx(np.median(before))
    after = s[kept] @ w[kept] / w[kept].sum(axis=0)
    assert found["median_after"] == pytest.approx(np.median(after))


def test_benchmarks_are_averaged_where_the_concept_is() -> None:
    saliency = {
        "a": np.ones((50, 2)),
        "b": np.tile([1.0, 0], (50, 1)),
        "c": np.ones((50, 2)),
    }
    scores = {
        "a": np.ones((50, 1)),
        "b": np.zeros((50, 1)),
        "c": np.full((50, 1), np.nan),
    }

    found = aligned_ablation(
        ConceptWorld(saliency, scores).pairs, "m0", side="best", n_draws=3
    ).row(0, named=True)

    assert found["n_benchmarks"] == 2
    assert found["median_before"] == pytest.approx((0.5 + 1) / 2)


def test_graded_scores_are_matched_by_tenths() -> None:
    random = np.random.default_rng(0)
    saliency = random.gamma(2.0, 1.0, (300, 10))
    graded = one_benchmark(saliency, random.random(300))

    found = aligned_ablation(graded.pairs, "m0", side="best", share=0.1, n_draws=50)

    spread = found["matched_change_high"] - found["matched_change_low"]
    assert spread[0] < (found["random_change_high"] - found["random_change_low"])[0]


def test_nothing_can_be_told_of_a_model_that_has_nothing_right() -> None:
    found = aligned_ablation(
        one_benchmark(np.ones((30, 2)), np.zeros(30)).pairs, "m0", side="worst"
    )

    assert found.select("median_after", "change", "p_value").rows() == [
        (0.0, None, None)
    ]


def test_equal_seeds_give_equal_controls() -> None:
    once, again = (
        aligned_ablation(world().pairs, "m0", side="best", n_draws=20) for _ in range(2)
    )

    assert_frame_equal(once, again)


def test_there_must_be_scores_and_support() -> None:
    pairs = random_world(n_items=30, n_latents=3).pairs

    with pytest.raises(InvalidInputError, match="none has a score of 'nobody'"):
        aligned_ablation(pairs, "nobody", side="best")
    with pytest.raises(InvalidInputError, match="no concept has 99 effective items"):
        aligned_ablation(pairs, "m0", side="best", min_effective=99)
