"""Ways to choose a model for an item, in words."""

import math
from collections.abc import Sequence

import polars as pl

from skillmap.report.tables import Row

ORACLE = "oracle"
CATEGORY = "category"
# Comparisons that choose nothing for an item, and the choice that no one can make.
YARDSTICKS = ("best_single", "random", ORACLE)
_SINGLE = "model:"
_CHOOSES = {
    "best_single": "the model that is best on the other folds, for every item",
    "random": "any candidate, by chance",
    ORACLE: "a candidate that is right where one is, which no one can know",
    CATEGORY: "the benchmark's own category",
    "knn": "results on the questions that are nearest in meaning",
    "paper": "the published rule: slices of the item, small ones weighing more",
    "paper_uniform": "the published rule, slices weighing the same",
    "skill": "category, origin, skills and text, each trusted as far as it proved",
    "skill_with_rationale": "as skill, and how one candidate's response reads",
}


def single_model(policy: str, candidates: Sequence[str]) -> str | None:
    """The model that ``policy`` always chooses, or None if it chooses by item.

    Examples:
        >>> single_model("model:a", ["a", "b"]), single_model("knn", ["a", "b"])
        ('a', None)
    """
    model = policy.removeprefix(_SINGLE)
    return model if policy.startswith(_SINGLE) or model in candidates else None


def chooses_by(row: Row) -> str | None:
    """What a policy goes by, in words; None where no words are known for it."""
    if single_model(row["policy"], row["candidate_models"]):
        return "nothing: this model for every item"
    return _CHOOSES.get(row["policy"])


def policy_label(row: Row) -> str:
    """The name of a policy to put beside a mark."""
    model = single_model(row["policy"], row["candidate_models"])
    return f"always {model}" if model else row["policy"]


def by_item(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of policies that choose by item and that someone could follow."""
    return rows.filter(~pl.col("policy").is_in(YARDSTICKS), ~is_single(rows))


def is_single(rows: pl.DataFrame) -> pl.Series:
    """Whether each row is one of a single model for all items."""
    return pl.Series(
        [
            single_model(policy, candidates) is not None
            for policy, candidates in rows.select(
                "policy", "candidate_models"
            ).iter_rows()
        ],
        dtype=pl.Boolean,
    )


def reading(row: Row, column: str) -> str | None:
    """What the interval of a difference says; None where there is none.

    Examples:
        >>> reading({"gain_low": -0.01, "gain_high": 0.02}, "gain")
        'no difference shown'
    """
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    if low is None or high is None or math.isnan(low):
        return None
    if low == high == 0:
        return "the same"
    if low > 0:
        return "ahead"
    return "behind" if high < 0 else "no difference shown"


def verdict(row: Row, column: str) -> str:
    """The verdict whose mark stands for what the interval says."""
    found = {"ahead": "better", "behind": "worse", "the same": "tied"}
    return found.get(reading(row, column) or "", "not enough evidence")
