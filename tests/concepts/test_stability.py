import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillmap.concepts.stability import Method, drop_stability, stability_summary
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import one_benchmark, random_world

METHODS: tuple[Method, ...] = ("exact", "blocks")


@pytest.mark.parametrize("method", METHODS)
def test_a_fifth_less_gives_half_the_standard_error(method: Method) -> None:
    world = random_world(n_items=600, n_latents=30, n_models=1, density=0.4)
    (pair,) = world.pairs
    closed = world.performance().filter(pooling="mean")

    found = drop_stability(*pair, n_draws=400, method=method).join(
        closed.filter(pl.col("n_effective") > 30), on="latent_index"
    )

    assert found.height > 20
    ratio = (found["performance_deviation"] / found["sampling_error"]).to_numpy()
    # sqrt(0.2 / 0.8), and 400 draws are 3.5 % off each.
    assert np.median(ratio) == pytest.approx(0.5, abs=0.02)
    assert found["performance_standard_error"].to_numpy() == pytest.approx(
        2 * found["performance_deviation"].to_numpy()
    )


def test_both_methods_tell_the_same() -> None:
    (pair,) = random_world(n_items=500, n_latents=20, n_models=2, density=0.4).pairs

    exact, blocks = (drop_stability(*pair, n_draws=500, method=m) for m in METHODS)

    for name in ("performance_deviation", "coverage_deviation"):
        ratio = (blocks[name] / exact[name]).to_numpy()
        assert np.median(ratio) == pytest.approx(1, abs=0.05)


def test_coverage_moves_as_a_ratio_does() -> None:
    world = random_world(n_items=500, n_latents=10, n_models=1, density=0.5)
    (pair,) = world.pairs
    w = world.saliency["b"]
    mass = w.sum(axis=1, keepdims=True)
    share = w.sum(axis=0) / w.sum()
    off = w - share * mass
    closed = 10 * np.sqrt(500 / 499 * (off**2).sum(axis=0)) / w.sum()

    found = drop_stability(*pair, n_draws=800, method="exact")

    assert found["coverage_standard_error"].to_numpy() == pytest.approx(
        closed, rel=0.12
    )


def test_an_only_item_never_varies_and_is_sometimes_gone() -> None:
    saliency = np.ones((20, 2))
    saliency[1:, 0] = 0
    (pair,) = one_benchmark(saliency, (np.arange(20) % 2).astype(float)).pairs

    found = drop_stability(*pair, n_draws=200, method="exact").row(0, named=True)

    assert found["performance_deviation"] == 0
    assert 20 <= found["n_undefined"] <= 60


def test_only_scored_items_count_for_performance() -> None:
    saliency = np.ones((40, 1))
    scores = np.where(np.arange(40) < 20, np.arange(40) % 2, np.nan)
    (pair,) = one_benchmark(saliency, scores).pairs

    found = drop_stability(*pair, n_draws=500, method="exact")

    assert found["n_effective"][0] == pytest.approx(20)
    assert found["performance_standard_error"][0] == pytest.approx(0.115, abs=0.02)


def test_the_summary_shows_the_tail() -> None:
    (pair,) = random_world(n_items=300, n_latents=50, n_models=1, density=0.1).pairs

    found = stability_summary(drop_stability(*pair))

    performance = found.filter(measure="performance")
    whole = performance.filter(performance["n_effective_from"].is_null())
    assert whole["n_concepts"][0] == performance["n_concepts"].sum() / 2
    bins = performance["n_effective_from"].drop_nulls()
    assert bins.is_sorted()
    assert bins.is_in([1, 2, 5, 10, 30, 100]).all()


def test_equal_seeds_leave_out_alike() -> None:
    (pair,) = random_world(n_items=300, n_latents=5).pairs

    assert_frame_equal(drop_stability(*pair), drop_stability(*pair))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_something_goes_and_something_stays(share: float) -> None:
    (pair,) = random_world(n_items=300, n_latents=5).pairs

    with pytest.raises(InvalidInputError, match="between 1 and 99 must go"):
        drop_stability(*pair, share=share)
    with pytest.raises(InvalidInputError, match="at least 2, got 1"):
        drop_stability(*pair, n_draws=1)
