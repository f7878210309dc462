"""What became of a response, and how each outcome counts.

The policy is declared here once: an answer that could not be read is the model's
failure and counts as wrong; an item that was never properly asked or scored says
nothing about the model and is left out. Marts report both counts.
"""

import polars as pl

# Outcomes that count as wrong although they have no score.
COUNTED_AS_WRONG = ("unparsed", "refusal", "empty", "truncated")
# Outcomes that are left out of every accuracy, and counted beside it.
LEFT_OUT = ("error", "not_attempted", "unscored")


def with_outcome(results: pl.DataFrame) -> pl.DataFrame:
    """``results`` with ``outcome`` known for each row, and ``score`` to match.

    A source that states an outcome is believed, but for a "partial" whose score is 0
    or 1. Otherwise the score decides; and a response without an answer is ``empty``
    or ``unparsed``, not wrong, where the source's format has a place for the answer.

    Args:
        results: Has ``outcome`` (null where the source states none), ``score``
            (in [0, 1]; null or NaN for none), ``prediction``, ``response`` and
            ``expects_prediction``.

    Returns:
        The same rows with both columns replaced. A stated "correct" or "wrong"
        without a score gets 1 or 0; outcomes that allow no score lose it.
    """
    is_blank = pl.col("response").str.strip_chars().eq("")
    has_no_answer = pl.col("expects_prediction") & pl.col("prediction").is_null()
    score = pl.col("score").fill_nan(None)
    derived = (
        pl.when(score == 1)
        .then(pl.lit("correct"))
        .when(score > 0)
        .then(pl.lit("partial"))
        .when(is_blank & pl.col("prediction").is_null())
        .then(pl.lit("empty"))
        .when(has_no_answer)
        .then(pl.lit("unparsed"))
        .when(score == 0)
        .then(pl.lit("wrong"))
        .otherwise(pl.lit("unscored"))
    )
    is_partial_in_name = pl.col("outcome").eq("partial") & score.is_in([0.0, 1.0])
    outcome = pl.coalesce(
        pl.when(~is_partial_in_name.fill_null(value=False)).then("outcome"), derived
    )
    implied = (
        pl.when(outcome == "correct")
        .then(pl.lit(1.0))
        .when(outcome == "wrong")
        .then(pl.lit(0.0))
        .when(outcome.is_in(["partial", "unparsed", "empty"]))
        .then(score)
    )
    return results.with_columns(outcome=outcome, score=implied)


def with_counted_score(scores: pl.DataFrame) -> pl.DataFrame:
    """``scores`` with the score that counts by the policy; null where left out.

    The same as the view ``mart.item_scores`` counts, before epochs are averaged.

    Args:
        scores: Has ``outcome`` and ``score``.
    """
    return scores.with_columns(
        score=pl.when(pl.col("outcome").is_in(COUNTED_AS_WRONG))
        .then(0.0)
        .when(~pl.col("outcome").is_in(LEFT_OUT))
        .then("score")
    )
