"""Whether annotators answered the items that they took apart right."""

import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.extraction.outcomes import extract

_IS_RIGHT = {"correct": True, "wrong": False}


def annotator_correctness(
    rationales: pl.DataFrame, items: pl.DataFrame
) -> pl.DataFrame:
    """Whether the answer that each rationale ends in is the reference answer.

    Args:
        rationales: Columns ``item_id``, ``annotator`` and ``answer`` of
            ``core.rationales``.
        items: Columns ``item_id``, ``choices`` and ``answer`` of ``core.items``.

    Returns:
        ``item_id``, ``annotator`` and ``annotator_is_right``, in the order of the
        rationales: NULL without an answer that can be read, or a reference.

    Raises:
        InvalidInputError: If a column is missing.
    """
    missing = {"item_id", "annotator", "answer"} - set(rationales.columns)
    missing |= {"item_id", "choices", "answer"} - set(items.columns)
    if missing:
        raise InvalidInputError(f"columns are missing: {sorted(missing)}")
    told = rationales.select("item_id", "annotator", said="answer").join(
        items.select("item_id", "choices", "answer"),
        on="item_id",
        how="left",
        maintain_order="left",
    )
    responses = told.select(
        "choices",
        "answer",
        response="ANSWER: " + pl.col("said"),
        finish_reason=pl.lit(None, dtype=pl.String),
    )
    outcome = extract(responses)["outcome"]
    return told.select("item_id", "annotator").with_columns(
        annotator_is_right=outcome.replace_strict(
            _IS_RIGHT, default=None, return_dtype=pl.Boolean
        )
    )
