"""Items, results, skills and rationales out of the records of the generic form.

A file of several models repeats its items once per model, and a file with one row
per skill repeats its results; each is kept once.
"""

import polars as pl

from skillmap.parsing.source import (
    ITEMS_SCHEMA,
    RATIONALES_SCHEMA,
    RESULTS_SCHEMA,
    SKILLS_SCHEMA,
    Remark,
)

# Items without an id are told apart by what they say.
_ITEM_KEY = (
    pl.col("benchmark"),
    pl.coalesce("native_id", "content_hash").alias("item"),
    pl.col("native_id_type"),
)
_ITEM_NAMES = ("benchmark", "item", "native_id_type")
_RESULT_NAMES = (*_ITEM_NAMES, "model", "epoch")
_VALUE_NAMES = ("score", "outcome", "prediction", "response")


def distinct_items(
    records: pl.DataFrame, category: str | None
) -> tuple[pl.DataFrame, list[Remark]]:
    """The items that records tell something about, each once.

    Args:
        records: `RECORDS_SCHEMA`.
        category: Of items that state none.

    Returns:
        Items in the order of their first record that has a question, else of their
        first record; and a remark on each record that states the item otherwise.
    """
    telling = records.filter(
        pl.any_horizontal(
            pl.col("question", "answer", "category", "origin").is_not_null(),
            pl.col("choices").list.len() > 0,
        )
    ).with_columns(_ITEM_KEY[1])
    first = (
        telling.sort(pl.col("question").is_null(), "position", maintain_order=True)
        .unique(_ITEM_NAMES, keep="first", maintain_order=True)
        .sort("position")
    )
    differing = telling.join(
        first.select(*_ITEM_NAMES, first_hash="content_hash"),
        on=_ITEM_NAMES,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).filter(pl.col("content_hash") != pl.col("first_hash"))
    items = first.with_columns(pl.col("category").fill_null(pl.lit(category)))
    reason = "question, options or answer differ from the first record of the item"
    drift = _remarks(differing, reason, "native_id")
    return items.select(ITEMS_SCHEMA.names()), drift


def distinct_results(
    records: pl.DataFrame, *, has_skills: bool
) -> tuple[pl.DataFrame, list[Remark], list[Remark]]:
    """One result per item, model and epoch.

    Args:
        records: `RECORDS_SCHEMA`.
        has_skills: Whether records name skills: then an equal result is a record
            repeated for its next skill, and no fault.

    Returns:
        Results in record order, remarks on repeated ones (the first is kept), and
        remarks on those whose outcome contradicts the score.
    """
    results = records.with_columns(_ITEM_KEY[1], *_score_and_outcome()).with_columns(
        # Where the reference answer is missing, the hash is of half an item.
        pl.when(pl.col("answer").is_not_null()).then("content_hash"),
    )
    is_first = pl.struct(_RESULT_NAMES).is_first_distinct()
    is_equal = pl.struct(*_RESULT_NAMES, *_VALUE_NAMES).is_duplicated()
    repeats = results.filter(~is_first & ~(pl.lit(has_skills) & is_equal))
    results = results.filter(is_first)
    contradictions = results.filter(
        ((pl.col("outcome") == "correct") & (pl.col("score") == 0))
        | ((pl.col("outcome") == "wrong") & (pl.col("score") == 1))
    )
    return (
        results.select(RESULTS_SCHEMA.names()),
        _remarks(
            repeats, "second result of an item, a model and an epoch", "native_id"
        ),
        _remarks(contradictions, "outcome contradicts the score", "outcome"),
    )


def skill_rows(records: pl.DataFrame, annotator: str | None) -> pl.DataFrame:
    """Skill phrases of each item, each phrase once per item and annotator."""
    mentions = (
        records.select(
            "position",
            *_ITEM_KEY,
            "native_id",
            pl.col("annotator").fill_null(pl.lit(annotator)),
            pl.col("skill").alias("phrase"),
            pl.int_ranges(pl.col("skill").list.len(), dtype=pl.Int64).alias(
                "level_index"
            ),
        )
        .explode("phrase", "level_index")
        .filter(pl.col("phrase").is_not_null())
    )
    return mentions.unique(
        [*_ITEM_NAMES, "annotator", "phrase"], keep="first", maintain_order=True
    ).select(SKILLS_SCHEMA.names())


def rationale_rows(records: pl.DataFrame, annotator: str | None) -> pl.DataFrame:
    """Rationales of each item, equal ones of one annotator once."""
    rationales = records.filter(pl.col("rationale").is_not_null()).select(
        "position",
        *_ITEM_KEY,
        "native_id",
        pl.col("annotator").fill_null(pl.lit(annotator)),
        "rationale",
    )
    return rationales.unique(
        [*_ITEM_NAMES, "annotator", "rationale"], keep="first", maintain_order=True
    ).select(RATIONALES_SCHEMA.names())


def _score_and_outcome() -> tuple[pl.Expr, pl.Expr]:
    stated = pl.col("stated_outcome")
    score = pl.coalesce(
        "score",
        pl.when(stated == "correct").then(1.0).when(stated == "wrong").then(0.0),
    )
    # A source without scores left every one of them open.
    unscored = pl.when(score.is_null()).then(pl.lit("unscored"))
    return score.alias("score"), pl.coalesce(stated, "outcome", unscored).alias(
        "outcome"
    )


def _remarks(records: pl.DataFrame, reason: str, value: str) -> list[Remark]:
    rows = records.select("position", value).rows()
    return [(position, reason, culprit) for position, culprit in rows]
