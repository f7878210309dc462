"""The generic form, in every container."""

import csv
import io
import json
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.errors import ParseError
from skillmap.parsing.formats import parse_bytes
from skillmap.parsing.source import ParsedSource, ParseOptions

Record = dict[str, object]


def parsed(*records: object, **options: str) -> ParsedSource:
    return parse_bytes(
        json.dumps(records).encode(), name="file", options=ParseOptions(**options)
    )


def as_csv(records: list[Record]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(records[0]))
    writer.writeheader()
    for record in records:
        writer.writerow(
            {
                key: json.dumps(value) if isinstance(value, list) else value
                for key, value in record.items()
            }
        )
    return stream.getvalue().encode()


def as_json_lines(records: list[Record]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def as_parquet(records: list[Record]) -> bytes:
    stream = io.BytesIO()
    schema = {
        "item_id": pl.String,
        "model": pl.String,
        "score": pl.Float64,
        "question": pl.String,
        "choices": pl.List(pl.String),
        "prediction": pl.String,
        "response": pl.String,
        "skill": pl.List(pl.String),
        "epoch": pl.Int64,
    }
    pl.DataFrame(records, schema=schema).write_parquet(stream)
    return stream.getvalue()


# A CSV has no null: an empty cell is one. So texts here are not empty.
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
phrases = texts.filter(lambda text: text.strip() != "")
generated = st.lists(
    st.fixed_dictionaries(
        {
            "item_id": phrases.map(lambda text: f"id {text}"),
            "model": st.sampled_from(["m-1", "m-2"]),
            "score": st.none() | st.floats(0, 1),
            "question": texts,
            "choices": st.lists(texts, max_size=3),
            "prediction": st.none() | texts,
            "response": texts,
            "skill": st.lists(phrases, max_size=2, unique=True),
            "epoch": st.integers(0, 3),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda record: str(record["item_id"]),
)


# No deadline: four files each, on whatever machine.
@settings(deadline=None, max_examples=50)
@given(generated)
def test_records_are_read_back_alike_from_every_container(
    records: list[Record],
) -> None:
    sources = [
        parse_bytes(content, name="file", format_name="generic")
        for content in (
            as_csv(records),
            as_json_lines(records),
            json.dumps(records).encode(),
            as_parquet(records),
        )
    ]

    for source in sources:
        assert source.rejects.is_empty()
        columns = ["native_id", "model", "score", "prediction", "response", "epoch"]
        assert source.results.select(columns).rows() == [
            (
                r["item_id"],
                r["model"],
                r["score"],
                r["prediction"],
                r["response"],
                r["epoch"],
            )
            for r in records
        ]
        assert source.items.select("question", "choices").rows() == [
            (r["question"], r["choices"]) for r in records
        ]
        assert source.skills.select("native_id", "phrase").rows() == [
            (r["item_id"], phrase)
            for r in records
            if isinstance(r["skill"], list)
            for phrase in r["skill"]
        ]
        assert source.items["content_hash"].equals(sources[0].items["content_hash"])


def test_other_names_of_the_columns_are_known() -> None:
    source = parsed(
        {
            "Dataset": "arc",
            "doc_id": 4,
            "Model Name": "m",
            "acc": True,
            "prompt": "Why?",
            "options": ["a", "b"],
            "target": "A",
            "completion": "so (A)",
            "parsed": "A",
            "subject": "physics",
            "src": "exam",
        }
    )

    columns = ["benchmark", "native_id", "native_id_type", "question", "answer"]
    assert source.items.select(columns).rows() == [("arc", "4", "integer", "Why?", "A")]
    assert source.items.select("category", "origin").rows() == [("physics", "exam")]
    columns = ["benchmark", "model", "score", "prediction", "response"]
    assert source.results.select(columns).rows() == [("arc", "m", 1.0, "A", "so (A)")]
    assert source.results["expects_prediction"].to_list() == [True]


def test_a_file_without_model_and_score_holds_items_only() -> None:
    source = parsed({"id": "a", "question": "Why?", "answer": "so"})

    assert source.items.height == 1
    assert source.results.is_empty()


def test_a_file_without_questions_holds_results_only() -> None:
    source = parsed({"id": "a", "score": 1}, model="m", benchmark="b")

    assert source.items.is_empty()
    assert source.results.select("benchmark", "model", "score").rows() == [
        ("b", "m", 1.0)
    ]


def test_an_item_that_several_models_answered_is_one_item() -> None:
    source = parsed(
        {"id": 1, "model": "a", "score": 1, "question": "Why?", "skills": ["x"]},
        {"id": 1, "model": "b", "score": 0, "question": "Why?", "skills": ["x"]},
    )

    assert source.items["position"].to_list() == [0]
    assert source.results["position"].to_list() == [0, 1]
    assert source.skills.height == 1


def test_an_item_that_changes_within_the_file_is_kept_once_with_a_warning() -> None:
    """M-3: one id, two generations of the question."""
    source = parsed(
        {"id": 1, "model": "a", "score": 1, "question": "Why?"},
        {"id": 1, "model": "b", "score": 0, "question": "Why not?"},
    )

    assert source.items["question"].to_list() == ["Why?"]
    assert source.warnings.rows() == [
        (1, "question, options or answer differ from the first record of the item", "1")
    ]
    assert source.results["question_hash"].n_unique() == 2


def test_equal_questions_with_other_options_are_two_items() -> None:
    """M-2: "Which of the following statements is correct?" six times over."""
    source = parsed(
        {"question": "Which?", "choices": ["a", "b"], "answer": "A"},
        {"question": "Which?", "choices": ["c", "d"], "answer": "A"},
    )

    assert source.items.height == 2
    assert source.items["question_hash"].n_unique() == 1
    assert source.items["content_hash"].n_unique() == 2


def test_a_second_result_of_item_model_and_epoch_is_rejected() -> None:
    source = parsed(
        {"id": 1, "model": "a", "score": 1},
        {"id": 1, "model": "a", "score": 0},
        {"id": 1, "model": "a", "score": 0, "epoch": 1},
        {"id": "1", "model": "a", "score": 0},
    )

    assert source.results.select("score", "epoch", "native_id_type").rows() == [
        (1.0, 0, "integer"),
        (0.0, 1, "integer"),
        (0.0, 0, "text"),
    ]
    assert source.rejects.rows() == [
        (1, "second result of an item, a model and an epoch", "1")
    ]


def test_one_row_per_skill_repeats_its_result_without_fault() -> None:
    source = parsed(
        {"id": 1, "model": "a", "score": 1, "skill": "adding"},
        {"id": 1, "model": "a", "score": 1, "skill": "carrying, by hand"},
    )

    assert source.results.height == 1
    assert source.rejects.is_empty()
    assert source.skills["phrase"].to_list() == ["adding", "carrying, by hand"]


def test_skills_of_a_list_are_numbered() -> None:
    source = parsed({"id": 1, "skill": ["maths", "algebra"]}, annotator="gpt")

    assert source.skills.rows() == [
        (0, None, "1", "integer", "gpt", 0, "maths"),
        (0, None, "1", "integer", "gpt", 1, "algebra"),
    ]


def test_a_rationale_keeps_its_annotator() -> None:
    source = parsed(
        {"id": 1, "rationale": "Step 1", "annotator": "a"},
        {"id": 2, "rationale": ""},
        {"id": 3, "rationale": "Step 2"},
        annotator="b",
    )

    assert source.rationales.select("native_id", "annotator", "rationale").rows() == [
        ("1", "a", "Step 1"),
        ("3", "b", "Step 2"),
    ]


def test_missing_scores_are_unscored_in_every_spelling() -> None:
    """I-13 and I-45: never 0."""
    values = [None, "N/A", "", math.nan, {"value": [math.nan, 1.0]}, {"a": math.nan}]

    source = parsed(*({"id": n, "score": v} for n, v in enumerate(values)), model="m")

    assert source.results.height == len(values)
    assert source.results["score"].is_null().all()
    assert source.results["outcome"].unique().to_list() == ["unscored"]


def test_letters_of_inspect_state_an_outcome() -> None:
    source = parsed(*({"id": n, "score": v} for n, v in enumerate("CIP")))

    assert source.results.select("score", "outcome").rows() == [
        (1.0, "correct"),
        (0.0, "wrong"),
        (0.5, "partial"),
    ]


def test_a_percentage_is_rejected_with_a_remedy() -> None:
    source = parsed({"id": 1, "score": 1}, {"id": 2, "score": 85})

    assert source.results.height == 1
    position, reason, value = source.rejects.row(0)
    assert (position, value) == (1, "85")
    assert reason.startswith("score is outside [0, 1]; divide a percentage by 100")


def test_a_stated_outcome_stands_in_for_a_score() -> None:
    source = parsed(
        {"id": 1, "outcome": "correct"},
        {"id": 2, "outcome": "wrong"},
        {"id": 3, "outcome": "refusal"},
        {"id": 4, "outcome": "Truncated"},
    )

    assert source.results.select("score", "outcome").rows() == [
        (1.0, "correct"),
        (0.0, "wrong"),
        (None, "refusal"),
        (None, "truncated"),
    ]


def test_an_outcome_against_the_score_is_kept_with_a_warning() -> None:
    source = parsed({"id": 1, "outcome": "correct", "score": 0})

    assert source.results.select("score", "outcome").rows() == [(0.0, "correct")]
    assert source.warnings.rows() == [(0, "outcome contradicts the score", "correct")]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": None}, "record has neither an item id nor a question"),
        ({"id": 1.5}, "item_id is neither an integer nor a text"),
        ({"question": ["a", "b"]}, "question is neither text nor a number"),
        ({"choices": "a, b"}, "choices is not a list of texts, or a text that spells"),
        ({"score": "good"}, "score is neither a number nor a known word"),
        ({"epoch": -1}, "epoch is not a whole number from 0"),
        ({"outcome": "done"}, "outcome is not one of correct, wrong"),
        ({"skill": [""]}, "skill has a phrase that is blank or not text"),
    ],
)
def test_a_bad_record_is_rejected_with_its_reason(changes: Record, reason: str) -> None:
    source = parsed({"id": 1, "score": 1}, {"id": 2, "score": 1} | changes, "stray")

    assert source.results["position"].to_list() == [0]
    assert source.rejects["position"].to_list() == [1, 2]
    assert source.rejects["reason"][0].startswith(reason)
    assert source.rejects["reason"][1] == "record is not an object"


def test_the_loser_of_two_names_is_reported() -> None:
    source = parsed({"id": 1, "doc_id": 2, "score": 1})

    assert source.results["native_id"].to_list() == ["1"]
    assert source.warnings.rows() == [
        (None, "column is not used: 'id' is taken for item_id", "doc_id")
    ]


def test_a_told_name_replaces_the_one_in_the_file_with_a_warning() -> None:
    source = parsed({"id": 1, "dataset": "cais/mmlu", "score": 1}, benchmark="mmlu")

    assert source.results["benchmark"].to_list() == ["mmlu"]
    assert source.warnings.rows() == [
        (None, "benchmark in the file is not the one told", "cais/mmlu")
    ]


def test_one_told_name_cannot_stand_for_several() -> None:
    with pytest.raises(ParseError, match=r"one benchmark 'x' was told.*\['a', 'b'\]"):
        parsed(
            {"id": 1, "benchmark": "a", "score": 1},
            {"id": 1, "benchmark": "b", "score": 1},
            benchmark="x",
        )


def test_ids_of_a_csv_and_of_json_agree() -> None:
    table = parse_bytes(b"id,score\n7,1\n007,1\n", name="file")
    array = parsed({"id": 7, "score": 1}, {"id": "007", "score": 1})

    columns = ["native_id", "native_id_type"]
    assert table.results.select(columns).equals(array.results.select(columns))


def test_an_empty_cell_is_missing_but_an_empty_response_is_empty() -> None:
    source = parse_bytes(b"id,answer,prediction,response\n7,,,\n", name="file")

    assert source.results.select("prediction", "response").rows() == [(None, "")]
    assert source.items.is_empty()


def test_columns_of_mixed_kinds_are_read_cell_by_cell() -> None:
    """I-36: an empty object in all rows, a metric that is now a number, now a list."""
    source = parsed(
        {"id": 1, "score": 1.0, "specific": {}},
        {"id": 2, "score": [1.0], "specific": {}},
        {"id": 3, "score": [1.0, 0.0], "specific": {}},
    )

    assert source.results["score"].to_list() == [1.0, 1.0]
    assert source.rejects["position"].to_list() == [2]


def test_a_table_without_ids_and_questions_explains_what_it_needs() -> None:
    with pytest.raises(ParseError, match=r"needs a column item_id or question, found"):
        parse_bytes(b"a,b\n1,2\n", name="file", format_name="generic")
