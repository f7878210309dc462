from itertools import product

import polars as pl
import pytest

from skillmap.contracts import core
from skillmap.contracts.audit import violations
from skillmap.contracts.columns import OUTCOMES
from skillmap.parsing import source
from skillmap.results.outcomes import COUNTED_AS_WRONG, LEFT_OUT, with_outcome
from tests.builders import make_results, make_scores

SCORES = (None, 0.0, 0.5, 1.0)
PREDICTIONS = (None, "A")
RESPONSES = (None, "", " \n", "Because.")


def outcome_of(**record: object) -> tuple[str, float | None]:
    made = with_outcome(make_results(1, **record))
    return made.select("outcome", "score").row(0)


def expected(
    score: float | None, prediction: str | None, response: str | None, *, asked: bool
) -> str:
    """The rules one after another, for a result without a stated outcome."""
    if score is not None and score > 0:
        return "correct" if score == 1 else "partial"
    if prediction is None and response is not None and not response.strip():
        return "empty"
    if prediction is None and asked:
        return "unparsed"
    return "unscored" if score is None else "wrong"


@pytest.mark.parametrize(
    ("score", "prediction", "response", "asked"),
    list(product(SCORES, PREDICTIONS, RESPONSES, (True, False))),
)
def test_without_a_stated_outcome_score_and_answer_decide(
    score: float | None, prediction: str | None, response: str | None, *, asked: bool
) -> None:
    outcome, kept = outcome_of(
        score=score, prediction=prediction, response=response, expects_prediction=asked
    )

    assert outcome == expected(score, prediction, response, asked=asked)
    assert kept == score


@pytest.mark.parametrize(
    ("stated", "score", "kept"),
    [
        ("correct", None, 1.0),
        ("correct", 0.5, 1.0),
        ("wrong", None, 0.0),
        ("wrong", 1.0, 0.0),
        ("partial", 0.5, 0.5),
        ("partial", None, None),
        ("unparsed", 0.0, 0.0),
        ("unparsed", None, None),
        ("empty", None, None),
        ("refusal", 0.0, None),
        ("truncated", 0.0, None),
        ("error", 1.0, None),
        ("not_attempted", 0.0, None),
        ("unscored", 1.0, None),
    ],
)
def test_a_stated_outcome_is_believed_and_the_score_made_to_fit(
    stated: str, score: float | None, kept: float | None
) -> None:
    assert outcome_of(outcome=stated, score=score) == (stated, kept)


@pytest.mark.parametrize(("score", "outcome"), [(1.0, "correct"), (0.0, "wrong")])
def test_a_partial_answer_with_a_whole_score_is_not_partial(
    score: float, outcome: str
) -> None:
    assert outcome_of(outcome="partial", score=score) == (outcome, score)


def test_nan_is_no_score() -> None:
    """Reloading such scores as 0 or as an accuracy is a known fault (I-13)."""
    assert outcome_of(score=float("nan")) == ("unscored", None)


def test_a_refusal_an_empty_response_and_a_wrong_answer_are_three_things() -> None:
    """Known to be scored alike elsewhere (I-24)."""
    made = with_outcome(
        make_results(
            outcome=[None, "refusal", None],
            score=0.0,
            prediction=[None, None, "5"],
            response=["", "I can't help with that", "5"],
            expects_prediction=True,
        )
    )

    assert made["outcome"].to_list() == ["empty", "refusal", "wrong"]


def test_every_outcome_and_score_keep_the_contract() -> None:
    cases = list(product((None, *OUTCOMES), (*SCORES, float("nan")), PREDICTIONS))
    made = with_outcome(
        make_results(
            outcome=[outcome for outcome, _, _ in cases],
            score=[score for _, score, _ in cases],
            prediction=[prediction for _, _, prediction in cases],
            expects_prediction=True,
        )
    )

    scores = make_scores(made.height).with_columns(made["outcome"], made["score"])
    assert violations(core.SCORES, scores) == []


def test_every_outcome_counts_in_one_way() -> None:
    scored = {"correct", "wrong", "partial"}

    assert scored | set(COUNTED_AS_WRONG) | set(LEFT_OUT) == set(OUTCOMES)
    assert len(scored) + len(COUNTED_AS_WRONG) + len(LEFT_OUT) == len(OUTCOMES)
    assert source.OUTCOMES == OUTCOMES


def test_the_rows_keep_their_order_and_other_columns() -> None:
    results = make_results(4, score=[1.0, None, 0.0, 0.5])

    made = with_outcome(results)

    assert made.drop("outcome", "score").equals(results.drop("outcome", "score"))


def test_no_results_have_no_outcomes() -> None:
    assert with_outcome(make_results(0)).schema["outcome"] == pl.String
