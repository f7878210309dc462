"""Contrasts of small worlds, each number beside one worked out pair by pair."""

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.comparisons.contrasts import slice_contrasts
from skillmap.comparisons.halves import confirmation_half
from skillmap.comparisons.paired import mcnemar_p_values, newcombe_paired_interval
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import (
    Membership,
    cluster_sums,
    clustered_p_value,
    clustered_standard_error,
    clustered_t_interval,
)
from skillmap.metrics.multiplicity import benjamini_hochberg, benjamini_yekutieli
from tests.builders import make_slices

MODELS = ("ada", "bob", "cyd")


def scored(rows: list[tuple[str, str, float | None]], **flags: bool) -> pl.DataFrame:
    """Model, item and score of each row; the benchmark is in the item's id."""
    schema = {"model_id": pl.String(), "item_id": pl.String(), "score": pl.Float64()}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        benchmark_id=pl.col("item_id").str.split(":").list.first(),
        is_drifted=pl.lit(flags.get("is_drifted", False)),
    )


def random_frames(
    seed: int, *, n_items: int = 60, graded: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Three models with gaps, slices that overlap, duplicates within and across."""
    random = np.random.default_rng(seed)
    levels = [0.0, 0.25, 1.0] if graded else [0.0, 1.0]
    items = [f"{'xyz'[i % 3]}:{i}" for i in range(n_items)]
    scores = scored(
        [
            (model, item, float(random.choice(levels)))
            for model in MODELS
            for item in items
            if random.random() < 0.8
        ]
    )
    names = {f"s{s}": [i for i in items if random.random() < 0.4] for s in range(4)}
    slices, members = make_slices(**names)
    clusters = pl.DataFrame(
        [
            (item, f"c{random.integers(0, 12)}")
            for item in items
            if random.random() < 0.6
        ],
        schema=["item_id", "cluster_id"],
        orient="row",
    )
    return scores, members, slices, clusters


def brute_force(
    scores: pl.DataFrame, members: pl.DataFrame, clusters: pl.DataFrame
) -> dict[tuple[str, str, str], dict[str, float]]:
    score = {
        (m, i): s for m, i, s in scores.select("model_id", "item_id", "score").rows()
    }
    cluster = dict(clusters.select("item_id", "cluster_id").rows())
    found = {}
    for slice_id in sorted(members["slice_id"].unique()):
        items = members.filter(slice_id=slice_id)["item_id"]
        for a, b in combinations(MODELS, 2):
            common = [i for i in items if (a, i) in score and (b, i) in score]
            if not common:
                continue
            of_a = np.array([score[a, i] for i in common])
            of_b = np.array([score[b, i] for i in common])
            names = [cluster.get(i, i) for i in common]
            codes = np.unique(names, return_inverse=True)[1]
            n = len(common)
            whole = Membership(np.zeros(n, np.int64), np.arange(n), 1, n)
            sums = cluster_sums(whole, (of_a - of_b)[:, None], codes)
            found[slice_id, a, b] = {
                "n_items": n,
                "n_clusters": len(set(names)),
                "accuracy_a": of_a.mean(),
                "accuracy_b": of_b.mean(),
                "difference": (of_a - of_b).mean(),
                "n_only_a": np.maximum(of_a - of_b, 0).sum(),
                "n_only_b": np.maximum(of_b - of_a, 0).sum(),
                "error": float(clustered_standard_error(sums)[0, 0]),
                "p": float(clustered_p_value(sums)[0, 0]),
                "low": float(clustered_t_interval(sums).low[0, 0]),
                "high": float(clustered_t_interval(sums).high[0, 0]),
            }
    return found


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32), st.booleans())
def test_every_cell_is_what_a_loop_over_slices_and_pairs_gives(
    seed: int,
    graded: bool,  # noqa: FBT001 - hypothesis passes by name
) -> None:
    scores, members, slices, clusters = random_frames(seed, graded=graded)
    expected = brute_force(scores, members, clusters)

    found = slice_contrasts(scores, members, slices, clusters)

    assert found.select("slice_id", "model_a", "model_b").rows() == sorted(expected)
    for row, cell in zip(found.iter_rows(named=True), expected.values(), strict=True):
        for name in ("n_items", "n_clusters", "accuracy_a", "difference", "n_only_b"):
            assert row[name] == pytest.approx(cell[name], abs=1e-9), name
        assert row["n_only_a"] == pytest.approx(cell["n_only_a"], abs=1e-9)
        if graded and cell["error"] > 0:
            assert row["p_value"] == pytest.approx(cell["p"])
            assert row["difference_low"] == pytest.approx(max(cell["low"], -1))
            assert row["difference_high"] == pytest.approx(min(cell["high"], 1))
        elif row["test"] == "clustered t" and row["p_value"] is not None:
            assert row["p_value"] >= cell["p"] - 1e-12


def test_right_and_wrong_without_clusters_is_exact() -> None:
    scores, members, slices, _ = random_frames(5)

    found = slice_contrasts(scores, members, slices)

    n = found["n_items"].to_numpy().astype(float)
    only_a, only_b = found["n_only_a"].to_numpy(), found["n_only_b"].to_numpy()
    a, b = found["accuracy_a"].to_numpy(), found["accuracy_b"].to_numpy()
    interval = newcombe_paired_interval(a, b, a - only_a / n, n)
    assert set(found["test"]) == {"mcnemar exact"}
    assert found["p_value"].to_list() == mcnemar_p_values(only_a, only_b).tolist()
    assert found["difference_low"].to_numpy() == pytest.approx(interval.low)
    assert found["difference_high"].to_numpy() == pytest.approx(interval.high)


def test_clusters_of_copies_are_as_wide_as_the_originals_and_no_surer() -> None:
    scores, members, slices, _ = random_frames(6)
    copies = [
        frame.with_columns(item_id=frame["item_id"] + f"-{copy}")
        for frame in (scores, members)
        for copy in range(3)
    ]
    clusters = (
        pl.concat(copies[:3])
        .select("item_id")
        .unique()
        .with_columns(cluster_id=pl.col("item_id").str.split("-").list.first())
    )

    once = slice_contrasts(scores, members, slices)
    thrice = slice_contrasts(
        pl.concat(copies[:3]), pl.concat(copies[3:]), slices, clusters
    )
    believed = slice_contrasts(pl.concat(copies[:3]), pl.concat(copies[3:]), slices)

    width = (pl.col("difference_high") - pl.col("difference_low")).alias("width")
    ratio = thrice.select(width).to_series() / once.select(width).to_series()
    assert thrice["n_clusters"].to_list() == once["n_items"].to_list()
    assert ratio.is_between(0.97, 1.2).all()
    assert (thrice["p_value"] > 0.8 * once["p_value"]).all()
    assert (believed["p_value"] <= once["p_value"] + 1e-12).all()


def test_everything_shown_is_one_family() -> None:
    scores, members, slices, clusters = random_frames(7)

    found = slice_contrasts(scores, members, slices, clusters)

    p = found["p_value"].fill_null(float("nan")).to_numpy()
    assert found["q_value"].to_numpy() == pytest.approx(benjamini_hochberg(p))
    assert found["q_value_strict"].to_numpy() == pytest.approx(benjamini_yekutieli(p))


def verdict_of(
    scores_a: list[float], scores_b: list[float], **rest: float
) -> dict[str, object]:
    items = [f"x:{i:04}" for i in range(len(scores_a))]
    rows = [
        (model, item, score)
        for model, scores in (("ada", scores_a), ("bob", scores_b))
        for item, score in zip(items, scores, strict=True)
    ]
    slices, members = make_slices(s=items)
    found = slice_contrasts(scored(rows), members, slices, **rest)
    return found.row(0, named=True)


def test_verdicts_say_what_the_evidence_allows() -> None:
    right, wrong = [1.0] * 400, [0.0] * 400
    mixed = [1.0, 0.0] * 200

    assert verdict_of(right, wrong)["verdict"] == "better"
    assert verdict_of(wrong, right)["verdict"] == "worse"
    assert verdict_of(mixed, mixed)["verdict"] == "tied"
    assert verdict_of(mixed[:20], mixed[:20])["verdict"] == "not enough evidence"
    assert (
        verdict_of(mixed, mixed, tied_margin=1e-4)["verdict"] == "not enough evidence"
    )


def test_intervals_of_the_selected_are_wider_and_of_the_others_left_out() -> None:
    found = verdict_of([1.0] * 40, [0.0] * 40)
    unselected = verdict_of([1.0, 0.0], [0.0, 1.0])

    assert found["fcr_low"] == pytest.approx(found["difference_low"])
    assert unselected["fcr_low"] is None
    assert unselected["fcr_high"] is None


def test_a_discovery_is_confirmed_on_the_other_half_of_the_clusters() -> None:
    items = [f"x:{i}" for i in range(300)]
    half = confirmation_half(pl.Series(items), seed=0)
    everywhere = [("ada", item, 1.0) for item in items]
    nowhere = [("bob", item, 0.0) for item in items]
    # Cyd is as good as Ada where slices are confirmed, and as bad as Bob elsewhere.
    only_there = [("cyd", item, float(h)) for item, h in zip(items, half, strict=True)]
    slices, members = make_slices(s=items)

    found = slice_contrasts(scored(everywhere + nowhere + only_there), members, slices)

    told = {(r["model_a"], r["model_b"]): r for r in found.iter_rows(named=True)}
    assert told["ada", "bob"]["is_confirmed"]
    chance = told["ada", "cyd"]
    assert (chance["discovery_difference"], chance["confirmation_difference"]) == (1, 0)
    assert (chance["confirmation_p_value"], chance["is_confirmed"]) == (1, False)
    late = told["bob", "cyd"]
    assert (late["confirmation_p_value"], late["is_confirmed"]) == (None, False)


def test_a_difference_that_one_benchmark_makes_is_told() -> None:
    """Simpson's trap: Ada is ahead on y alone, by more than she is behind on x."""
    rows = [("ada", f"x:{i}", float(i > 2)) for i in range(10)]
    rows += [("bob", f"x:{i}", float(i > 0)) for i in range(10)]
    rows += [("ada", f"y:{i}", 1.0) for i in range(30)]
    rows += [("bob", f"y:{i}", float(i > 9)) for i in range(30)]
    slices, members = make_slices(
        s=[f"x:{i}" for i in range(10)] + [f"y:{i}" for i in range(30)],
        t=[f"y:{i}" for i in range(30)],
    )

    found = slice_contrasts(scored(rows), members, slices)

    assert found["largest_benchmark_share"].to_list() == [0.75, 1.0]
    assert found["leave_one_benchmark_out_sign_stable"].to_list() == [False, None]


def test_drifted_missing_and_unshared_items_do_not_count() -> None:
    base = scored([("ada", f"x:{i}", 1.0) for i in range(4)])
    gone = scored([("bob", "x:0", 1.0)], is_drifted=True)
    none = scored([("bob", "x:1", None)])
    kept = scored([("bob", "x:2", 0.0), ("bob", "x:9", 0.0)])
    slices, members = make_slices(s=[f"x:{i}" for i in range(9)], t=["x:9"])

    found = slice_contrasts(pl.concat([base, gone, none, kept]), members, slices)

    assert found.select("slice_id", "n_items", "difference").rows() == [
        ("skill:s", 1, 1.0)
    ]


def test_a_single_cluster_has_no_test_and_an_interval_that_says_nothing() -> None:
    scores, members, slices, _ = random_frames(8)
    clusters = scores.select("item_id").unique().with_columns(cluster_id=pl.lit("all"))

    found = slice_contrasts(scores, members, slices, clusters)

    assert (
        found["p_value"].null_count() == found["q_value"].null_count() == found.height
    )
    assert set(found["difference_low"]) == {-1.0}
    assert set(found["verdict"]) == {"not enough evidence"}


def test_nothing_to_compare_gives_no_rows() -> None:
    slices, members = make_slices(s=["x:0"])

    one_model = slice_contrasts(scored([("ada", "x:0", 1.0)]), members, slices)
    no_result = slice_contrasts(scored([]), members, slices)

    assert one_model.is_empty()
    assert no_result.schema == one_model.schema


def test_the_order_of_rows_changes_nothing() -> None:
    frames = random_frames(9)

    straight = slice_contrasts(*frames)
    shuffled = slice_contrasts(
        *(frame.sample(fraction=1, shuffle=True, seed=1) for frame in frames)
    )

    assert shuffled.equals(straight)


@pytest.mark.slow
def test_bytes_do_not_depend_on_hash_seeds_or_threads() -> None:
    code = (
        "from tests.comparisons.test_contrasts import random_frames\n"
        "from skillmap.comparisons.contrasts import slice_contrasts\n"
        "print(slice_contrasts(*random_frames(1, graded=True)).write_json())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": n, "OMP_NUM_THREADS": n},
        ).stdout
        for seed, n in (("0", "1"), ("1", "2"))
    }

    assert len(outputs) == 1


def test_broken_frames_are_refused_with_the_first_culprit() -> None:
    scores, members, slices, clusters = random_frames(3)
    twice = pl.concat([scores, scores.head(1)])
    outside = scored([("ada", "x:0", 1.5)])

    with pytest.raises(InvalidInputError, match="1 are too many, first of 'ada'"):
        slice_contrasts(twice, members, slices)
    with pytest.raises(InvalidInputError, match=r"'ada' on 'x:0': 1\.5"):
        slice_contrasts(outside, members, slices)
    with pytest.raises(InvalidInputError, match="in several clusters, first"):
        slice_contrasts(scores, members, slices, pl.concat([clusters, clusters]))
    with pytest.raises(InvalidInputError, match="not in slices, first 'skill:s0'"):
        slice_contrasts(scores, members, slices.filter(pl.col("slice_name") != "s0"))
    with pytest.raises(InvalidInputError, match="stands twice in a slice"):
        slice_contrasts(scores, pl.concat([members, members.head(1)]), slices)
    with pytest.raises(InvalidInputError, match="q must be between"):
        slice_contrasts(scores, members, slices, q=1.0)
