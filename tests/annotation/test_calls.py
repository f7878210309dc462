import json

import polars as pl
import pytest

from skillmap.annotation.calls import (
    RATIONALE_STRUCTURE,
    AnnotationForm,
    annotation_calls,
    annotation_template,
)
from skillmap.calls import Parameters
from skillmap.errors import InvalidInputError
from skillmap.parsing.rationales import parse_rationale
from skillmap.parsing.rationales.chains import FAMILIES, skill_chains
from skillmap.prompting.item_calls import Asked
from skillmap.starter import folder

ASKED = Asked("annotator", "big", Parameters(max_tokens=2_000))
FORMS: tuple[AnnotationForm, ...] = ("json", "markdown", "list")
ITEMS = pl.DataFrame(
    {
        "item_id": ["b:1", "b:2"],
        "question": ["Which one?", None],
        "choices": [["GOLDEN", "grey"], []],
        "answer": ["the reference itself", "5"],
    },
    schema_overrides={"choices": pl.List(pl.String)},
)


@pytest.mark.parametrize("form", FORMS)
def test_the_reference_answer_is_not_shown(form: AnnotationForm) -> None:
    calls = list(annotation_calls(ITEMS, ASKED, form=form))

    assert [call.about for call in calls] == ["b:1"]
    assert "A. GOLDEN\nB. grey" in calls[0].messages[-1].content
    assert not any("the reference" in m.content for m in calls[0].messages)
    assert calls == list(annotation_calls(ITEMS.drop("answer"), ASKED, form=form))


def test_only_the_json_form_is_held_to_the_schema() -> None:
    held = {form: next(annotation_calls(ITEMS, ASKED, form=form)) for form in FORMS}

    assert held["json"].structure == RATIONALE_STRUCTURE
    assert held["markdown"].structure is held["list"].structure is None


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_the_worked_example_is_read_without_a_fault(form: str) -> None:
    turns = annotation_template("json").parts[form]
    (example,) = [turn.content for turn in turns if turn.role == "assistant"]

    read = parse_rationale(example)

    assert read.faults == ()
    assert read.answer == "B"
    assert len(read.steps) == 4
    for step in read.steps:
        (chain,) = step.chains
        assert chain.family in FAMILIES
        assert chain.n_levels >= 4
        assert step.evidence
        assert step.conclusion


def test_both_forms_work_the_same_example() -> None:
    parts = annotation_template("json").parts
    read = [
        parse_rationale(turn.content)
        for form in ("json", "markdown")
        for turn in parts[form]
        if turn.role == "assistant"
    ]

    assert [step[:4] for step in read[0].steps] == [step[:4] for step in read[1].steps]


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_the_sample_chains_are_ten_of_at_least_three_names(form: str) -> None:
    (system,) = [
        t.content for t in annotation_template("json").parts[form] if t.role == "system"
    ]
    lines = [
        line.partition(". ")[2] for line in system.split("\n") if line[:1].isdigit()
    ]

    chains = [chain for line in lines for chain in skill_chains(line)]

    assert len(chains) == 10
    assert {chain.family for chain in chains} == set(FAMILIES)
    assert all(len(chain.names) >= 3 for chain in chains)


def test_the_worked_example_follows_the_schema() -> None:
    schema = json.loads(RATIONALE_STRUCTURE.schema)
    (example,) = [
        json.loads(turn.content)
        for turn in annotation_template("json").parts["json"]
        if turn.role == "assistant"
    ]

    assert example.keys() == set(schema["required"])
    step = schema["properties"]["steps"]["items"]
    assert all(one.keys() == set(step["required"]) for one in example["steps"])
    assert all(
        len(one["skill"]) >= step["properties"]["skill"]["minItems"]
        for one in example["steps"]
    )


@pytest.mark.parametrize("form", FORMS)
def test_no_example_is_an_item_of_the_starter_suite(form: AnnotationForm) -> None:
    parts = annotation_template(form).parts
    told = "\n".join(turn.content for part in parts.values() for turn in part)
    files = sorted((folder() / "items").glob("*.jsonl"))
    questions = [q for file in files for q in pl.read_ndjson(file)["question"]]

    assert [question for question in questions if question in told] == []


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="form must be one of json, markdown"):
        annotation_template("xml")  # pyright: ignore[reportArgumentType]
