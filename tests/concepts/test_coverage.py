import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

from skillmap.concepts.coverage import (
    CoverageOptions,
    concept_coverage,
    coverage_summary,
    missing_by_tau,
)
from skillmap.concepts.sums import benchmark_sums, concept_sums
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import one_benchmark


def coverage_of(saliency: list[list[float]], **options: object) -> pl.DataFrame:
    world = one_benchmark(np.array(saliency), np.ones(len(saliency)))
    return world.coverage(**options)


def test_coverage_is_the_mass_over_the_mean_mass() -> None:
    found = coverage_of([[1, 0, 2], [3, 0, 0]])

    assert found["saliency"].to_list() == [4, 0, 2]
    assert found["coverage"].to_list() == [2, 0, 1]
    assert found["share"].to_list() == pytest.approx([2 / 3, 0, 1 / 3])
    assert found["n_active_items"].to_list() == [2, 0, 1]
    assert found["item_share"].to_list() == [1, 0, 0.5]


def test_a_concept_that_is_never_active_is_missing_and_bounded() -> None:
    found = coverage_of([[1, 0]] * 59).row(1, named=True)

    assert found["coverage"] == 0
    assert found["is_missing_strict"]
    assert found["representation"] == "missing"
    assert found["prevalence_high"] == pytest.approx(1 - 0.05 ** (1 / 59))  # 0.0495
    assert found["n_effective"] is None


def test_the_bound_is_clopper_and_pearsons() -> None:
    found = coverage_of([[1, 1]] * 3 + [[0, 1]] * 17)

    assert found["prevalence_high"].to_list() == pytest.approx(
        [beta.ppf(0.95, 4, 17), 1.0]
    )


def test_twins_count_once_in_the_bound() -> None:
    world = one_benchmark(np.array([[1.0, 0]] * 20), np.ones(20), [0] * 10 + [1] * 10)

    assert world.coverage()["prevalence_high"][1] == pytest.approx(1 - 0.05**0.5)


def test_missing_by_threshold_differs_from_never_active() -> None:
    found = coverage_of([[1, 1e-5, 0]])

    assert found["is_missing_strict"].to_list() == [False, False, True]
    assert found["is_missing"].to_list() == [False, True, True]
    assert missing_by_tau(found)["n_missing"].to_list() == [1, 1, 2, 2, 2]


def test_deciles_are_over_the_concepts_that_are_not_missing() -> None:
    # 0.1 and 0.9 quantiles of 1 to 11 are 2 and 10, both inclusive.
    found = coverage_of([[*range(1, 12), 0, 0, 0]])

    assert found["representation"].to_list() == [
        *["under"] * 2,
        *["typical"] * 7,
        *["over"] * 2,
        *["missing"] * 3,
    ]


def test_equal_coverage_is_neither_over_nor_under() -> None:
    assert set(coverage_of([[1, 1, 1]])["representation"]) == {"typical"}


def test_other_normalisers_and_dictionaries_can_be_chosen() -> None:
    world = one_benchmark(np.array([[1.0, 2, 9, 0]]), np.ones(1))
    concepts = world.concepts.with_columns(
        in_dictionary=pl.Series([True, True, False, True]),
        is_dense=pl.Series([False, True, False, False]),
    )
    sums = concept_sums(world.activations[0]), benchmark_sums(world.activations[0])

    def coverage(**options: object) -> list[float | None]:
        return concept_coverage(
            *sums,
            concepts,
            options=CoverageOptions(**options),  # pyright: ignore[reportArgumentType]
        )["coverage"].to_list()

    assert coverage() == [1, 2, 0]
    assert coverage(dictionary="all") == [1 / 3, 2 / 3, 3, 0]
    assert coverage(dictionary="all", normaliser="median_active") == [0.5, 1, 4.5, 0]


def test_coverage_without_dense_latents_is_relative_to_the_others() -> None:
    world = one_benchmark(np.array([[1.0, 97, 3]]), np.ones(1))
    concepts = world.concepts.with_columns(
        reference_density=pl.Series([0.01, 0.5, None])
    )
    (activations,) = world.activations

    found = concept_coverage(
        concept_sums(activations), benchmark_sums(activations), concepts
    )

    assert found["is_dense"].to_list() == [False, True, False]
    assert found["coverage_without_dense"].to_list() == [0.5, None, 1.5]
    # 2 of 10 tokens against 1 and 50 in 100.
    assert found["lift"].to_list()[:2] == pytest.approx(
        [np.log(20), np.log(0.4)], abs=1e-3
    )
    assert found["lift"][2] is None


def test_a_benchmark_without_activity_has_no_coverage() -> None:
    world = one_benchmark(np.zeros((2, 2)), np.ones(2))
    found = world.coverage()

    assert found["coverage"].to_list() == [None, None]
    assert found["representation"].to_list() == ["missing", "missing"]
    assert coverage_summary(found)["entropy"].to_list() == [None]


def test_the_summary_tells_how_the_mass_is_spread() -> None:
    found = coverage_summary(coverage_of([[1, 1, 1, 1, 0]])).row(0, named=True)

    assert found["n_effective_concepts"] == pytest.approx(4)
    assert found["top_1_share"] == pytest.approx(0.25)
    assert (found["n_missing"], found["missing_share"]) == (1, 0.2)


def test_a_latent_outside_the_concepts_is_refused() -> None:
    world = one_benchmark(np.ones((3, 4)), np.ones(3))
    (activations,) = world.activations

    with pytest.raises(InvalidInputError, match="2 latents with activations are not"):
        concept_coverage(
            concept_sums(activations),
            benchmark_sums(activations),
            world.concepts.head(2),
        )
