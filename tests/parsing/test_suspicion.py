"""Findings on results that look like faults of the source."""

import polars as pl
import pytest

from skillmap.parsing.source import items_frame, results_frame
from skillmap.parsing.suspicion import (
    FINDINGS_SCHEMA,
    findings,
    prediction_in_response,
)

SENTENCE = "A sentence that is long enough to compare, number "


def results(**columns: object) -> pl.DataFrame:
    n = max(len(v) for v in columns.values() if isinstance(v, list))
    ids = [str(index) for index in range(n)]
    return results_frame(
        {
            "position": list(range(n)),
            "native_id": ids,
            "benchmark": "b",
            "model": "m",
            "score": 0.0,
            **columns,
        }
    )


def found(
    frame: pl.DataFrame, items: pl.DataFrame | None = None
) -> dict[str, dict[str, object]]:
    return {row["code"]: row for row in findings(frame, items=items).to_dicts()}


def test_no_results_have_no_findings() -> None:
    empty = results_frame({})

    assert findings(empty).is_empty()
    assert findings(empty, items=items_frame({})).schema == FINDINGS_SCHEMA


def test_honest_results_have_no_findings() -> None:
    frame = results(
        prediction=["A", "B"],
        response=["The answer is (A).", "so it must be B"],
        expects_prediction=True,
    )

    assert findings(frame).is_empty()


@pytest.mark.parametrize(
    ("prediction", "response", "expected"),
    [
        ("G", "The answer is (G).", True),
        ("G", "G", True),
        ("G", "Given g, G7 and aG", False),
        ("G", "grün Größe", False),
        ("G", "**G**:", True),
        ("2.5", "x = 2.5.", True),
        ("2.5", "x = 12.5", False),
        ("26", "<<13*2=26>>", True),
        (") ]", "( [ ) ]", True),
        (") ]", "none", False),
        ("no", "No", False),
        (" ", "anything", None),
        (None, "G", None),
        ("G", None, None),
        ("G", "", False),
        ("10+John's age", "A: 10+John's age", True),
    ],
)
def test_a_prediction_counts_as_said_when_it_is_a_word_of_its_own(
    prediction: str | None, response: str | None, expected: object
) -> None:
    frame = results(prediction=[prediction], response=[response])

    assert prediction_in_response(frame).to_list() == [expected]


def test_a_run_of_empty_responses_is_an_error_and_no_accuracy_of_zero() -> None:
    """I-28: more than 99 % of the responses were "" and counted as wrong."""
    frame = results(response=[""] * 99 + ["yes"])

    finding = found(frame)["all_responses_empty"]

    assert finding["severity"] == "error"
    assert (finding["count"], finding["n"]) == (99, 100)
    assert finding["examples"] == ["0", "1", "2", "3", "4"]


def test_some_empty_responses_are_a_warning_and_few_are_not() -> None:
    many = results(response=[" \n"] * 10 + ["yes"] * 90)
    few = results(response=[""] * 4 + ["yes"] * 96)

    assert found(many)["many_responses_empty"]["severity"] == "warning"
    assert found(few) == {}


def test_a_source_without_responses_says_nothing_about_them() -> None:
    assert found(results(response=[None] * 50)) == {}


def test_the_default_of_an_extractor_is_found() -> None:
    """M-9: where its pattern failed, a script wrote the letter "G"."""
    frame = results(
        prediction=["G"] * 30 + ["A"] * 5 + ["B"] * 65,
        response=["I cannot tell."] * 35 + ["It is (B)."] * 65,
    )

    codes = found(frame)

    assert codes["prediction_not_in_response"]["count"] == 35
    assert codes["constant_prediction"]["count"] == 30
    assert codes["constant_prediction"]["n"] == 35
    assert "'G'" in str(codes["constant_prediction"]["message"])


def test_unsupported_predictions_of_all_kinds_are_no_default() -> None:
    frame = results(
        prediction=[letter for letter in "ABCD" for _ in range(25)],
        response=["cannot tell"] * 100,
    )

    assert "constant_prediction" not in found(frame)


def test_letters_beyond_the_options_are_found() -> None:
    """M-11: "K", "L" and "P" were taken for answers to items with ten options."""
    frame = results(prediction=["K", "J", "b", "C", "none"], response=None)
    choices = [["x"] * 10, ["x"] * 10, ["x"] * 2, ["x"] * 2, ["x"] * 2]
    items = items_frame(
        {
            "position": list(range(5)),
            "benchmark": "b",
            "native_id": [str(index) for index in range(5)],
            "choices": choices,
        }
    )

    finding = found(frame, items)["prediction_beyond_choices"]

    assert (finding["count"], finding["n"]) == (2, 4)
    assert finding["examples"] == ["0", "3"]
    assert "C, K" in str(finding["message"])


def test_items_without_an_id_are_found_by_position() -> None:
    frame = results(prediction=["A", "D"], native_id=[None, None])
    items = items_frame(
        {"position": [0, 1], "benchmark": "b", "choices": [["x"], ["x"]]}
    )

    assert found(frame, items)["prediction_beyond_choices"]["examples"] == ["record 1"]


def test_missing_predictions_count_only_where_one_is_expected() -> None:
    few = results(prediction=[None] + ["A"] * 19, expects_prediction=True)
    many = results(prediction=[None] * 10 + ["A"] * 10, expects_prediction=True)
    unexpected = results(prediction=[None] * 20, expects_prediction=False)

    assert found(few)["no_prediction"]["severity"] == "info"
    assert found(many)["no_prediction"]["severity"] == "warning"
    assert found(unexpected) == {}


def test_missing_scores_are_counted_but_unparsed_ones_are_not_among_them() -> None:
    frame = results(
        score=[None, None, None, 1.0], outcome=["unscored", "unparsed", None, None]
    )

    finding = found(frame)["no_score"]

    assert (finding["count"], finding["n"]) == (2, 4)


def test_two_models_with_the_same_words_are_suspicious() -> None:
    """I-1: a cache keyed on the prompt alone answered for the second model."""
    words = [f"{SENTENCE}{index}" for index in range(40)]
    frame = pl.concat(
        [
            results(response=words, model="a"),
            results(response=[*words[:39], "something else entirely"], model="b"),
            results(response=[word[::-1] for word in words], model="c"),
        ]
    )

    finding = found(frame)["identical_responses"]

    assert (finding["model"], finding["count"], finding["n"]) == ("a", 39, 40)
    assert "'b'" in str(finding["message"])


def test_equal_letters_and_few_common_items_are_no_suspicion() -> None:
    letters = [results(response=["B"] * 40, model=model) for model in "ab"]
    few = [results(response=[SENTENCE] * 5, model=model) for model in "ab"]

    assert found(pl.concat(letters)) == found(pl.concat(few)) == {}


def test_findings_are_per_model_and_the_gravest_come_first() -> None:
    frame = pl.concat(
        [
            results(
                prediction=["A", None],
                expects_prediction=True,
                model=model,
                response=response,
            )
            for model, response in (("a", ["A", "x"]), ("b", ["", ""]))
        ]
    )

    rows = findings(frame).select("severity", "code", "model").rows()

    assert rows == [
        ("error", "all_responses_empty", "b"),
        ("warning", "no_prediction", "a"),
        ("warning", "no_prediction", "b"),
        ("warning", "prediction_not_in_response", "b"),
    ]
