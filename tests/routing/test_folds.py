import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.errors import InvalidInputError
from skillmap.routing.folds import group_folds


@given(st.lists(st.text(max_size=3), min_size=1), st.integers(2, 7), st.integers(0, 9))
def test_a_group_is_never_split(groups: list[str], n_folds: int, seed: int) -> None:
    folds = group_folds(pl.Series(groups), n_folds=n_folds, seed=seed)

    assert len(set(zip(groups, folds.tolist(), strict=True))) == len(set(groups))
    assert set(folds.tolist()) <= set(range(n_folds))


@given(st.lists(st.text(max_size=3), min_size=1, unique=True), st.randoms())
def test_a_fold_depends_on_no_other_item(groups: list[str], random: object) -> None:
    del random
    together = group_folds(pl.Series(groups))

    alone = [int(group_folds(pl.Series([group]))[0]) for group in groups]

    assert together.tolist() == alone


def test_folds_are_of_about_the_same_size() -> None:
    groups = pl.Series([f"item:{row}" for row in range(10_000)])

    sizes = np.bincount(group_folds(groups, n_folds=5))

    assert np.abs(sizes - 2_000).max() < 4 * np.sqrt(10_000 * 0.2 * 0.8)


def test_another_seed_is_another_split() -> None:
    groups = pl.Series([f"item:{row}" for row in range(1_000)])

    same = group_folds(groups, seed=0) == group_folds(groups, seed=1)

    assert same.mean() == pytest.approx(0.2, abs=0.06)


def test_one_fold_leaves_nothing_to_learn_from() -> None:
    with pytest.raises(InvalidInputError, match="n_folds must be at least 2, got 1"):
        group_folds(pl.Series(["a"]), n_folds=1)
