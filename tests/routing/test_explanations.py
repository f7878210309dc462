from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from skillmap.errors import InvalidInputError
from skillmap.routing.skill_policy import SkillPolicy
from tests.routing.worlds import labels_of, planted_items

LEARNED, ASKED = np.arange(900), np.arange(900, 950)


def test_the_pieces_add_up_to_the_total() -> None:
    items = planted_items(950, gap=0.3)
    origin = labels_of(np.arange(950) % 7, "origin")
    items = replace(items, labels={**items.labels, "origin": origin})
    items = replace(items, related_scores=items.scores[:, ::-1])

    found = SkillPolicy().fit(items, LEARNED).explanations(items, ASKED)

    sums = found.group_by("item_id", maintain_order=True).agg(
        pieces=pl.col("difference").filter(pl.col("evidence") != "total").sum(),
        total=pl.col("difference").filter(pl.col("evidence") == "total").sum(),
        n=pl.len(),
    )
    assert sums["pieces"].to_list() == pytest.approx(sums["total"].to_list(), abs=1e-12)
    assert sums["n"].to_list() == [5] * 50
    assert (sums["total"] >= 0).all()


def test_the_label_that_decides_is_named_with_its_number_of_items() -> None:
    items = planted_items(950, gap=0.5)
    category = items.labels["category"]
    label = np.asarray(category.membership.argmax(axis=1)).ravel()

    found = SkillPolicy().fit(items, LEARNED).explanations(items, ASKED[:1])

    own = label[ASKED[0]]
    row = found.filter(pl.col("evidence") == "category").row(0, named=True)
    n_items = int((label[LEARNED] == own).sum())
    assert row["model_id"] == "abc"[own % 3]
    assert (row["name"], row["n_items"]) == (f"label:{own}", n_items)
    assert row["difference"] > 0.2
    points = f"+{row['difference'] * 100:.1f} points"
    assert row["words"] == f"category label:{own}: {points} (from {n_items} items)"


def test_the_record_on_the_nearest_questions_is_told() -> None:
    items = planted_items(950, gap=0.5)
    assert items.vectors is not None
    near = np.argsort(-items.vectors[ASKED[0]] @ items.vectors[LEARNED].T)[:20]

    found = SkillPolicy().fit(items, LEARNED).explanations(items, ASKED[:1])

    row = found.filter(pl.col("evidence") == "text").row(0, named=True)
    chosen = "abc".index(row["model_id"])
    right = items.scores[LEARNED][near, chosen].sum()
    assert row["n_items"] == 20
    assert f"nearest questions {row['model_id']} got {right} right" in row["words"]


def test_a_model_without_results_widens_the_interval() -> None:
    items = planted_items(950, n_models=2)
    scores = items.scores.copy()
    scores[:, 1] = np.nan
    unknown = replace(items, scores=scores)

    def width(some: object) -> float:
        assert isinstance(some, type(items))
        found = SkillPolicy().fit(some, LEARNED).explanations(some, ASKED)
        total = found.filter(pl.col("evidence") == "total")
        return float((total["difference_high"] - total["difference_low"]).mean())  # type: ignore[arg-type]

    assert width(unknown) > 3 * width(items)


def test_one_candidate_needs_no_explanation() -> None:
    items = planted_items(950, n_models=1)

    found = SkillPolicy().fit(items, LEARNED).explanations(items, ASKED)

    assert found.is_empty()
    assert "words" in found.columns


def test_the_level_is_checked() -> None:
    items = planted_items(950)
    fit = SkillPolicy().fit(items, LEARNED)

    with pytest.raises(InvalidInputError, match=r"between 0 and 1, got 95"):
        fit.explanations(items, ASKED, confidence_level=95)
