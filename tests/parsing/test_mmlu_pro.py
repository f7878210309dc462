"""MMLU-Pro result files, with the faults that published ones have."""

import json
import zipfile
from pathlib import Path

import pytest

from skillmap.errors import ParseError
from skillmap.parsing.formats import parse, parse_bytes
from skillmap.parsing.source import ParsedSource, ParseOptions


def record(**changes: object) -> dict[str, object]:
    return {
        "question_id": 7,
        "question": "Which planet is largest?",
        "options": ["Mars", "Jupiter", "Venus"],
        "answer": "B",
        "answer_index": 1,
        "cot_content": "",
        "category": "astronomy",
        "src": "ori_mmlu-astronomy",
        "pred": "B",
        "generated_text": "The answer is (B).",
        **changes,
    }


def parsed(*records: object) -> ParsedSource:
    return parse_bytes(
        json.dumps(records).encode(), name="file", options=ParseOptions(model="m")
    )


def test_an_item_and_its_result_are_read() -> None:
    source = parsed(record())

    assert source.format == "mmlu_pro_results"
    item = source.items.drop("content_hash", "question_hash").row(0, named=True)
    assert item == {
        "position": 0,
        "benchmark": None,
        "native_id": "7",
        "native_id_type": "integer",
        "question": "Which planet is largest?",
        "choices": ["Mars", "Jupiter", "Venus"],
        "answer": "B",
        "category": "astronomy",
        "origin": "ori_mmlu-astronomy",
        "has_replaced_characters": False,
    }
    result = source.results.row(0, named=True)
    assert result["score"] == 1.0
    assert result["outcome"] is None
    assert result["model"] == "m"
    assert result["expects_prediction"]
    assert result["content_hash"] == source.items["content_hash"][0]


def test_a_zip_called_json_zip_is_read_like_the_bare_array(tmp_path: Path) -> None:
    file = tmp_path / "result.json.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("some other name.json", json.dumps([record()]))

    assert parse(file).results.equals(
        parse_bytes(json.dumps([record()]).encode(), name="x").results
    )


@pytest.mark.parametrize(
    ("pred", "response", "score", "outcome"),
    [
        ("B", "so (B)", 1.0, None),
        ("A", "so (A)", 0.0, None),
        ("K", "so (K)", 0.0, None),
        (None, "hard to say", None, "unparsed"),
        ("", "hard to say", None, "unparsed"),
        (None, " \n", None, "empty"),
        (None, None, None, "empty"),
    ],
)
def test_a_missing_prediction_has_no_score(
    pred: str | None, response: str | None, score: float | None, outcome: str | None
) -> None:
    source = parsed(record(pred=pred, generated_text=response))

    row = source.results.row(0, named=True)
    assert (row["score"], row["outcome"]) == (score, outcome)
    assert row["prediction"] == (pred or None)
    assert row["response"] == response


@pytest.mark.parametrize(
    "name", ["generated_text", "model_outputs", "model_output", "output", "response"]
)
def test_the_response_has_several_names(name: str) -> None:
    """M-8: `generated_text` in 25 published files, `model_outputs` in four."""
    fields = record()
    fields[name] = fields.pop("generated_text")

    assert parsed(fields).results["response"].to_list() == ["The answer is (B)."]


def test_a_prediction_without_any_response_field_is_unparsed_and_not_empty() -> None:
    fields = record(pred=None)
    del fields["generated_text"]

    row = parsed(fields).results.row(0, named=True)

    assert (row["response"], row["outcome"]) == (None, "unparsed")


def test_stray_strings_are_rejected_and_counted() -> None:
    """M-6: "total", "other", "chemistry" stand between the records of one file."""
    source = parsed(record(), "total", record(question_id=8), "chemistry")

    assert source.n_records == 4
    assert source.items["position"].to_list() == [0, 2]
    assert source.rejects.rows() == [
        (1, "record is not an object", "total"),
        (3, "record is not an object", "chemistry"),
    ]


def test_the_first_of_two_records_with_one_id_is_kept() -> None:
    source = parsed(record(), record(pred="A"))

    assert source.results["prediction"].to_list() == ["B"]
    assert source.rejects.rows() == [(1, "question_id was met before", "7")]


def test_fill_up_options_are_removed() -> None:
    source = parsed(record(options=["Mars", "Jupiter", "N/A", "N/A"]))

    assert source.items["choices"].to_list() == [["Mars", "Jupiter"]]


def test_an_answer_that_contradicts_its_index_is_kept_with_a_warning() -> None:
    source = parsed(record(), record(question_id=8, answer_index=2))

    assert source.items.height == 2
    assert source.warnings.rows() == [
        (
            1,
            "answer and answer_index disagree",
            '{"answer": "B", "answer_index": 2}',
        )
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": None}, "question is not text"),
        ({"answer": 1}, "answer is not text"),
        ({"pred": 1}, "pred is neither text nor null"),
        ({"category": ["x"]}, "category is neither text nor null"),
        ({"generated_text": ["x"]}, "generated_text is neither text nor null"),
        ({"options": "Mars"}, "options is not a list of texts"),
        ({"options": ["Mars", 4]}, "options is not a list of texts"),
        ({"question_id": 1.5}, "question_id is neither an integer nor text"),
        ({"question_id": None}, "question_id is neither an integer nor text"),
    ],
)
def test_a_bad_record_is_rejected_with_its_reason(
    changes: dict[str, object], reason: str
) -> None:
    source = parsed(record(), record(question_id=8) | changes)

    assert source.items.height == source.results.height == 1
    assert source.rejects.select("position", "reason").rows() == [(1, reason)]


def test_a_record_without_a_field_is_rejected() -> None:
    short = record(question_id=8)
    del short["options"]

    assert parsed(record(), short).rejects["reason"].to_list() == [
        "record has no options"
    ]


def test_ids_that_are_texts_keep_their_type() -> None:
    source = parsed(record(question_id=1), record(question_id="1"))

    assert source.items.select("native_id", "native_id_type").rows() == [
        ("1", "integer"),
        ("1", "text"),
    ]


def test_a_file_with_no_good_record_is_an_error() -> None:
    with pytest.raises(ParseError, match=r"1 of 1 are rejected, first at 0: options"):
        parsed(record(options=None))


def test_a_lone_surrogate_in_a_response_is_flagged_on_its_row_only() -> None:
    """I-15."""
    source = parsed(record(generated_text="x\ud835y"), record(question_id=8))

    assert source.results["response"][0] == "x\ufffdy"
    assert source.results["has_replaced_characters"].to_list() == [True, False]
