import numpy as np
import polars as pl
import pytest

from skillmap.concepts.rarefaction import (
    expected_concepts,
    rarefaction_curve,
    unseen_concepts,
)
from skillmap.concepts.sums import benchmark_sums
from tests.concepts.worlds import one_benchmark, random_world


def test_a_part_shows_what_random_parts_show_on_average() -> None:
    random = np.random.default_rng(0)
    is_active = random.random((30, 12)) < random.random(12) * 0.3

    found = expected_concepts(is_active.sum(axis=0), 30, np.array([1, 7, 29, 30]))

    for size, value in zip((1, 7, 29, 30), found, strict=True):
        drawn = [
            is_active[random.permutation(30)[:size]].any(axis=0).sum()
            for _ in range(4_000)
        ]
        assert value == pytest.approx(np.mean(drawn), rel=0.02)


def test_the_curve_rises_to_what_was_seen_at_all_tokens() -> None:
    world = random_world(benchmarks=("a", "b"), n_items=50, density=0.02)
    coverage = world.coverage()

    curve = rarefaction_curve(
        coverage, pl.concat(benchmark_sums(a) for a in world.activations)
    )

    for (name,), rows in curve.group_by("benchmark_id"):
        n_active = (coverage.filter(benchmark_id=name)["n_active_items"] > 0).sum()
        assert (np.diff(rows.sort("n_drawn")["expected_concepts"]) > 0).all()
        last = rows.sort("n_drawn").row(-1, named=True)
        assert last["expected_concepts"] == pytest.approx(n_active)
        assert (last["n_drawn"], last["expected_tokens"]) == (50, 500)


def test_chaos_bound_of_what_was_not_seen() -> None:
    # Items per concept: 1, 1, 1, 2, 3, and five that are never active.
    saliency = np.zeros((3, 10))
    for concept, n in enumerate([1, 1, 1, 2, 3]):
        saliency[:n, concept] = 1
    world = one_benchmark(saliency, np.ones(3))

    found = unseen_concepts(world.coverage()).row(0, named=True)

    assert (found["n_once"], found["n_twice"], found["n_never_active"]) == (3, 1, 5)
    assert found["expected_unseen"] == 4.5  # 3² / 2


def test_the_bound_is_no_more_than_what_is_missing() -> None:
    saliency = np.eye(8, 10)

    found = unseen_concepts(one_benchmark(saliency, np.ones(8)).coverage())

    # 8 * 7 / 2 = 28 would be more than the two that are left.
    assert found["expected_unseen"].to_list() == [2]
