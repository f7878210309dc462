import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from skillmap.errors import InvalidInputError
from skillmap.verification.agreement import (
    AGREEMENT_SCHEMA,
    Codes,
    cohen_kappa,
    krippendorff_alpha,
    verifier_agreement,
)


def ratings_of(table: list[list[int]]) -> tuple[Codes, Codes]:
    """Two raters' categories out of a table of counts."""
    cells = [
        pair
        for (row, column) in itertools.product(range(len(table)), repeat=2)
        for pair in [(row, column)] * table[row][column]
    ]
    first, second = np.array(cells, dtype=np.int64).T
    return first, second


def test_kappa_and_its_error_are_those_of_two_pathologists() -> None:
    """Agresti (2013), Categorical Data Analysis, 3rd ed., 11.5.4: .493, error .057."""
    first, second = ratings_of(
        [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]]
    )

    found = cohen_kappa(first, second)

    assert found.value == pytest.approx(0.493, abs=5e-4)
    error = (found.high - found.low) / 2 / float(stdtrit(117, 0.975))
    assert error == pytest.approx(0.057, abs=5e-4)


def test_alpha_is_that_of_the_paper_with_missing_ratings() -> None:
    """Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, part C: .743."""
    told = [
        "1 2 3 3 2 1 4 1 2 * * *",
        "1 2 3 3 2 2 4 1 2 5 * 3",
        "* 3 3 3 2 3 4 2 2 5 1 *",
        "1 2 3 3 2 4 4 1 2 5 1 *",
    ]
    ratings = np.array(
        [[-1 if one == "*" else int(one) for one in line.split()] for line in told]
    ).T

    assert krippendorff_alpha(ratings).value == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_two_raters_is_that_of_the_paper() -> None:
    """The same, part A: two observers, binary, ten units, .095."""
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]

    found = krippendorff_alpha(np.array([first, second]).T)

    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.observed == pytest.approx(0.6)


def test_complete_agreement_is_one_and_one_category_tells_nothing() -> None:
    codes = np.array([0, 1, 1, 0])
    same = np.zeros(4, np.int64)

    assert cohen_kappa(codes, codes)[:2] == (1.0, 1.0)
    assert krippendorff_alpha(np.stack([codes, codes], axis=1))[:2] == (1.0, 1.0)
    assert math.isnan(cohen_kappa(same, same).value)
    assert math.isnan(krippendorff_alpha(np.stack([same, same], axis=1)).value)
    assert math.isnan(cohen_kappa(same[:0], same[:0]).observed)
    assert math.isnan(krippendorff_alpha(np.array([[1, -1]])).value)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3))
def test_neither_the_raters_nor_the_things_have_an_order(
    pairs: list[tuple[int, int]],
) -> None:
    first, second = np.array(pairs, dtype=np.int64).T

    kappa = cohen_kappa(first, second)

    assert kappa == pytest.approx(cohen_kappa(second, first), nan_ok=True)
    assert kappa == pytest.approx(cohen_kappa(first[::-1], second[::-1]), nan_ok=True)


@pytest.mark.parametrize("measure", ["kappa", "alpha"])
@pytest.mark.parametrize("copies", [1, 3])
def test_the_interval_holds_the_truth_as_often_as_it_says(
    measure: str, copies: int
) -> None:
    # Both raters miss a truth that is true half the time with the same chance e,
    # independently: agreement (1-e)^2 + e^2, by chance 1/2.
    error, n_items, n_worlds = 0.15, 150, 400
    truth = 2 * ((1 - error) ** 2 + error**2) - 1
    rng = np.random.default_rng(5)
    n_inside = 0
    for _ in range(n_worlds):
        said = rng.integers(0, 2, (n_items, 1)) ^ (rng.random((n_items, 2)) < error)
        codes = np.repeat(said.astype(np.int64), copies, axis=0)
        clusters = np.repeat(np.arange(n_items), copies)
        found = (
            cohen_kappa(codes[:, 0], codes[:, 1], clusters=clusters)
            if measure == "kappa"
            else krippendorff_alpha(codes, clusters=clusters)
        )
        n_inside += found.low <= truth <= found.high

    assert 0.917 <= n_inside / n_worlds <= 0.983


def test_every_pair_and_all_together_are_compared() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(200) < 0.5
    frames = [
        pl.DataFrame(
            {
                "verifier": [name] * 200,
                "item_id": [f"b:{k // 4}" for k in range(200)],
                "phrase": [f"skill {k}" for k in range(200)],
                "is_relevant": truth ^ (rng.random(200) < error),
            }
        )
        for name, error in (("a", 0.0), ("b", 0.1), ("c", 0.4))
    ]
    verdicts = pl.concat(frames).with_columns(
        is_relevant=pl.when(pl.col("phrase") != "skill 7").then("is_relevant")
    )

    found = verifier_agreement(verdicts)

    assert found.schema == AGREEMENT_SCHEMA
    assert found["verifiers"].to_list() == [
        ["a", "b"],
        ["a", "c"],
        ["b", "c"],
        ["a", "b", "c"],
    ]
    assert set(found["n_checks"]) == {199}
    assert set(found["n_items"]) == {50}
    by_pair = found["value"].to_list()
    assert by_pair[0] > by_pair[1] > by_pair[2] - 0.05
    assert found["measure"].to_list()[3] == "krippendorff_alpha"


def test_no_verdicts_give_no_rows_and_two_for_one_check_are_refused() -> None:
    one = pl.DataFrame(
        {
            "verifier": ["a"],
            "item_id": ["b:1"],
            "phrase": ["x"],
            "is_relevant": [True],
        }
    )

    assert verifier_agreement(one).is_empty()
    assert verifier_agreement(one.clear()).is_empty()
    with pytest.raises(InvalidInputError, match="must judge each skill"):
        verifier_agreement(pl.concat([one, one]))
    with pytest.raises(InvalidInputError, match="missing"):
        verifier_agreement(one.drop("phrase"))


def test_one_cluster_leaves_the_interval_open() -> None:
    codes = np.array([0, 1, 1, 0, 1])
    other = np.array([0, 1, 0, 0, 1])

    found = cohen_kappa(codes, other, clusters=np.zeros(5, np.int64))

    assert (found.low, found.high) == (-1.0, 1.0)
