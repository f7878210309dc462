import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from skillmap.concepts.overlap import benchmark_overlap
from tests.concepts.worlds import ConceptWorld, random_world


def test_sets_overlap_by_jaccard_and_containment() -> None:
    saliency = {
        "a": np.array([[1.0, 1, 1, 1, 0]]),
        "b": np.array([[1.0, 1, 0, 0, 0]]),
        "c": np.array([[0.0, 0, 0, 0, 1]]),
    }
    world = ConceptWorld(saliency, {b: np.ones((1, 1)) for b in saliency})

    found = {
        (a, b): (n, jaccard, containment, distance)
        for a, b, n, jaccard, containment, distance in benchmark_overlap(
            world.coverage()
        )
        .select(
            "benchmark_id",
            "other_benchmark_id",
            "n_common",
            "jaccard",
            "containment",
            "jensen_shannon",
        )
        .rows()
    }

    assert found["a", "b"][:3] == found["b", "a"][:3] == (2, 0.5, 1.0)
    assert found["a", "c"] == pytest.approx((0, 0, 0, 1))
    assert found["b", "b"] == (2, 1, 1, 0)


def test_the_distance_is_scipys_and_jaccard_is_bounded_by_sizes() -> None:
    world = random_world(benchmarks=("a", "b", "c"), n_items=20, density=0.05)
    coverage = world.coverage()
    shares = {
        str(name): rows.sort("latent_index")["share"].to_numpy()
        for (name,), rows in coverage.group_by("benchmark_id")
    }

    for row in benchmark_overlap(coverage).iter_rows(named=True):
        p, q = shares[row["benchmark_id"]], shares[row["other_benchmark_id"]]
        assert row["jensen_shannon"] == pytest.approx(jensenshannon(p, q, 2), abs=1e-7)
        sizes = row["n_concepts"], row["n_other_concepts"]
        assert row["jaccard"] <= min(sizes) / max(sizes)
        assert row["n_common"] == ((p > 0) & (q > 0)).sum()


def test_a_benchmark_without_activity_overlaps_with_none() -> None:
    saliency = {"a": np.ones((1, 2)), "b": np.zeros((1, 2))}
    world = ConceptWorld(saliency, {b: np.ones((1, 1)) for b in saliency})

    found = benchmark_overlap(world.coverage()).rows()

    assert found[1][-3:] == (0.0, None, None)
    assert found[3][-3:] == (None, None, None)
