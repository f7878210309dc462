"""Known hard responses of the published MMLU-Pro files, by item and model."""

import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

from skillmap.extraction.outcomes import extract

# What a person reads in each of them.
EXPECTED = {
    (135, "DeepSeek-Coder-V2"): (None, "refusal"),
    (135, "Mixtral-8x7B-Instruct-v0.1"): (None, "unparsed"),
    (135, "jamba-1.5-large"): ("C", "wrong"),
    (135, "gemini-1.5-pro-002"): ("I", "correct"),
    (86, "DeepSeek-Coder-V2"): ("D", "wrong"),
    (86, "gemini-1.5-pro-002"): (None, "unparsed"),
    (8382, "Meta-Llama-3_1-70B-Instruct"): ("H", "correct"),
    (8382, "Phi-3-mini-4k-instruct"): (None, "unparsed"),
    (6414, "Meta-Llama-3_1-8B-Instruct"): (None, "unparsed"),
    (6414, "jamba-1.5-large"): ("I", "wrong"),
    (5426, "Mixtral-8x7B-Instruct-v0.1"): (None, "unparsed"),
    (5426, "gemini-1.5-flash-002"): (None, "unparsed"),
    (5426, "jamba-1.5-large"): ("A", "wrong"),
    (2454, "mathstral-7B"): ("A", "wrong"),
    (3500, "Meta-Llama-3_1-8B-Instruct"): ("G", "wrong"),
    (3500, "Phi-3-mini-4k-instruct"): ("C", "wrong"),
    (7186, "gemini-1.5-flash-002"): (None, "unparsed"),
    (7186, "DeepSeek-Coder-V2"): ("D", "correct"),
    (4685, "jamba-1.5-large"): ("A", "correct"),
}
FIELDS = ("generated_text", "model_outputs")


def make_real_responses(folder: Path, model: str) -> pl.DataFrame:
    (file,) = folder.glob(f"model_outputs_{model}_5shots.zip")
    with zipfile.ZipFile(file) as archive:
        records = json.loads(archive.read(archive.namelist()[0]).decode("utf-8"))
    kept = [record for record in records if isinstance(record, dict)]
    return pl.DataFrame(
        {
            "id": [record["question_id"] for record in kept],
            "response": [
                next(record[name] for name in FIELDS if name in record)
                for record in kept
            ],
            "choices": [
                [option for option in record["options"] if option != "N/A"]
                for record in kept
            ],
            "answer": [record["answer"] for record in kept],
            "prediction": [record["pred"] for record in kept],
            "finish_reason": None,
        },
        schema_overrides={"finish_reason": pl.String, "prediction": pl.String},
    )


@pytest.mark.real_data
@pytest.mark.parametrize("model", sorted({model for _, model in EXPECTED}))
def test_hard_responses_are_read_as_a_person_reads_them(
    shared: Path, model: str
) -> None:
    ids = [item for item, name in EXPECTED if name == model]
    responses = make_real_responses(shared / "data" / "mmlu_pro", model)

    read = extract(responses.filter(pl.col("id").is_in(ids)).sort("id"))

    assert dict(
        zip(sorted(ids), read.select("prediction", "outcome").rows(), strict=True)
    ) == {item: EXPECTED[item, model] for item in ids}


@pytest.mark.real_data
def test_eight_apologies_are_refusals_and_none_is_the_letter_i(shared: Path) -> None:
    """M-11: they were read as I, and one was scored right."""
    folder = shared / "data" / "mmlu_pro"
    responses = make_real_responses(folder, "DeepSeek-Coder-V2")
    apologies = responses.filter(pl.col("response").str.contains("can't assist"))

    read = extract(apologies)

    assert read["outcome"].to_list() == ["refusal"] * 8
    assert apologies["prediction"].to_list() == ["I"] * 8


@pytest.mark.real_data
def test_where_the_first_stated_letter_is_the_only_one_it_is_read(shared: Path) -> None:
    """The source's reader takes the first; then both have to agree."""
    responses = make_real_responses(shared / "data" / "mmlu_pro", "jamba-1.5-large")
    only = responses.filter(
        pl.col("response").str.contains(r"answer is \([A-J]\)\.?\s*$")
        & (pl.col("response").str.count_matches(r"(?i)answer|option") == 1)
    )

    read = extract(only)

    assert only.height > 10_000
    in_range = read["prediction"].is_not_null()
    assert (~in_range).sum() < 10
    assert read.filter(in_range)["prediction"].equals(
        only.filter(in_range)["prediction"].alias("prediction")
    )
