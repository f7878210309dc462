"""GSM8K's test set and the published solutions of four models."""

import json

import pytest

from skillmap.parsing.formats import parse_bytes
from skillmap.parsing.source import ParsedSource


def parsed(*records: object) -> ParsedSource:
    lines = "\n".join(json.dumps(record) for record in records)
    return parse_bytes(lines.encode(), name="file")


def solutions(*texts: str, is_correct: object = True) -> dict[str, object]:
    fields: dict[str, object] = {"question": "How many?", "ground_truth": "1+1\nA: 2"}
    for index, text in enumerate(texts):
        fields[f"model_{index}"] = {"is_correct": is_correct, "solution": text}
    return fields


def test_the_answer_follows_the_mark_and_not_the_worked_solution() -> None:
    """I-26: a harness once took the whole worked solution as the target."""
    source = parsed(
        {"question": "Profit?", "answer": "He earns 130000.\nSo 70000\n#### 70,000"},
        {"question": "How many?", "answer": "#### 1 is first\n#### 18"},
    )

    assert source.format == "gsm8k_items"
    assert source.items.select("question", "answer").rows() == [
        ("Profit?", "70000"),
        ("How many?", "18"),
    ]
    assert source.results.is_empty()
    assert source.rationales.is_empty()


def test_only_thousands_commas_are_removed() -> None:
    source = parsed(
        *(
            {"question": str(n), "answer": f"#### {gold}"}
            for n, gold in enumerate(["1,450,000", "1,5", "-2,125", "3, 4"])
        )
    )

    assert source.items["answer"].to_list() == ["1450000", "1,5", "-2125", "3, 4"]


def test_an_item_without_a_final_answer_is_rejected() -> None:
    source = parsed(
        {"question": "a", "answer": "#### 1"}, {"question": "b", "answer": "one"}
    )

    assert source.rejects.select("position", "reason").rows() == [
        (1, "record has no question, or no final answer in answer")
    ]


def test_each_model_has_a_result_with_its_prediction() -> None:
    source = parsed(solutions("1+1\nA: 2", "A: 1\nno\nA: 90,000"))

    assert source.format == "gsm8k_model_solutions"
    columns = ["model", "score", "prediction", "expects_prediction", "response"]
    assert source.results.select(columns).rows() == [
        ("model_0", 1.0, "2", True, "1+1\nA: 2"),
        ("model_1", 1.0, "90,000", True, "A: 1\nno\nA: 90,000"),
    ]
    assert source.items.select("question", "answer").rows() == [("How many?", "2")]


def test_a_solution_that_never_ends_has_no_prediction() -> None:
    source = parsed(solutions("8181818181", "A: ", is_correct=False))

    assert source.results.select("prediction", "score").rows() == [
        (None, 0.0),
        (None, 0.0),
    ]


def test_test_set_and_solutions_state_the_same_item() -> None:
    items = parsed({"question": "How many?", "answer": "x\n#### 1,002"})
    fields = solutions("A: 3") | {"ground_truth": "x\nA: 1,002"}

    assert parsed(fields).results["content_hash"][0] == items.items["content_hash"][0]


@pytest.mark.parametrize(
    "bad", [{"is_correct": "perhaps", "solution": "x"}, {"is_correct": True}]
)
def test_a_bad_solution_is_rejected_and_the_others_kept(bad: object) -> None:
    source = parsed(solutions("A: 2") | {"model_9": bad})

    assert source.results["model"].to_list() == ["model_0"]
    assert source.rejects["reason"].to_list() == [
        "solution of 'model_9' lacks the text or a score in [0, 1]"
    ]


def test_a_missing_verdict_is_unscored() -> None:
    source = parsed(solutions("A: 2", is_correct=None))

    assert source.results.select("score", "outcome").rows() == [(None, "unscored")]
