"""Figures of pairs of models on MMLU-Pro, worked out apart from this project.

They count stored predictions, one that is missing as wrong, and items that drifted.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from skillmap.comparisons.contrasts import slice_contrasts
from skillmap.comparisons.paired import mcnemar_p_values
from skillmap.comparisons.weaknesses import slice_weaknesses
from skillmap.metrics.clustered import (
    Membership,
    cluster_sums,
    clustered_standard_error,
    design_effect,
    standard_error,
)
from skillmap.parsing.formats import parse
from skillmap.simulation.worlds import planted_scores

pytestmark = pytest.mark.real_data

MIXTRAL, PHI = "Mixtral-8x7B-Instruct-v0.1", "Phi-3-mini-4k-instruct"
GEMINI, LLAMA = "gemini-1.5-pro-002", "Meta-Llama-3_1-70B-Instruct"


@lru_cache(maxsize=2)
def _pair(data: Path, model_a: str, model_b: str) -> pl.DataFrame:
    """Items that both have, with the score of each and the source as ``origin``."""
    frames = []
    for model in (model_a, model_b):
        path = data / "mmlu_pro" / f"model_outputs_{model}_5shots.zip"
        read = parse(path, format_name="mmlu_pro_results")
        scores = read.results.select(
            "position", "native_id", pl.col("score").fill_nan(None).fill_null(0.0)
        )
        origin = read.items.select("position", "origin")
        frames.append(scores.join(origin, on="position", how="left"))
    return frames[0].join(frames[1], on="native_id", suffix="_b").sort("native_id")


@pytest.mark.parametrize(
    ("models", "n", "difference", "paired", "clustered", "effect", "discordant", "p"),
    [
        ((MIXTRAL, PHI), 12_032, 0.0041, 0.0046, 0.0076, 2.7, (1583, 1534), 0.390),
        ((GEMINI, LLAMA), 12_020, 0.0741, 0.0045, 0.0145, 10.3, (1944, 1053), 2.6e-60),
    ],
)
def test_pairs_have_their_reference_figures(
    shared: Path,
    models: tuple[str, str],
    n: int,
    difference: float,
    paired: float,
    clustered: float,
    effect: float,
    discordant: tuple[int, int],
    p: float,
) -> None:
    items = _pair(shared / "data", *models)
    a, b = items["score"].to_numpy(), items["score_b"].to_numpy()
    source = items["origin"].rank("dense").to_numpy().astype(np.int64) - 1
    whole = Membership(np.zeros(a.size, np.int64), np.arange(a.size), 1, a.size)

    sums = cluster_sums(whole, (a - b)[:, np.newaxis], source)

    counts = int((a > b).sum()), int((b > a).sum())
    assert (a.size, counts) == (n, discordant)
    assert (a - b).mean() == pytest.approx(difference, abs=5e-5)
    assert standard_error(sums)[0, 0] == pytest.approx(paired, abs=5e-5)
    assert clustered_standard_error(sums)[0, 0] == pytest.approx(clustered, abs=5e-5)
    assert design_effect(sums)[0, 0] == pytest.approx(effect, abs=0.05)
    found = mcnemar_p_values(*np.array(counts, dtype=np.float64)[:, np.newaxis])
    assert found[0] == pytest.approx(p, rel=0.02)


def test_thirteen_sources_look_different_and_none_is(shared: Path) -> None:
    items = _pair(shared / "data", MIXTRAL, PHI)
    scores = pl.concat(
        items.select(
            model_id=pl.lit(model),
            item_id="native_id",
            benchmark_id=pl.lit("mmlu_pro"),
            score=column,
            is_drifted=pl.lit(value=False),
        )
        for model, column in ((MIXTRAL, "score"), (PHI, "score_b"))
    )
    members = items.select(slice_id="origin", item_id="native_id")
    slices = members.select("slice_id").unique().with_columns(slice_name="slice_id")

    found = slice_contrasts(scores, members, slices)

    assert found.height == 91
    assert (found["p_value"] < 0.05).sum() == 13
    assert (found["q_value"] < 0.05).sum() == 0
    assert not found["is_confirmed"].any()


@pytest.mark.parametrize(("drop", "recall"), [(0.2, 0.4), (0.4, 0.9), (0.5, 1.0)])
def test_weaknesses_planted_on_sources_are_recovered(
    shared: Path, drop: float, recall: float
) -> None:
    """On the 91 sources of MMLU-Pro, some of 20 items: .7, and less on every tenth."""
    items = _pair(shared / "data", MIXTRAL, PHI)
    members = items.select(slice_id="origin", item_id="native_id")
    names = members["slice_id"].unique().sort()
    slices = pl.DataFrame({"slice_id": names, "slice_name": names})
    weak = names.gather_every(10, offset=5).to_list()

    scores = planted_scores(members, weak, accuracy=0.7, drop=drop, seed=0)
    found = slice_weaknesses(scores, members, slices)

    told = set(found.filter("is_weak")["slice_id"])
    assert len(told & set(weak)) / len(weak) >= recall
    assert len(told & set(weak)) / len(told) >= 0.85
