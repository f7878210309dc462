from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from skillmap.calls import Image, Parameters
from skillmap.errors import InvalidInputError, ParseError
from skillmap.prompting.item_calls import Asked, item_calls, unaskable_items
from skillmap.prompting.questions import question_text
from skillmap.prompting.templates import bundled_template, read_template
from skillmap.starter import folder

ASKED = Asked("small", "served", Parameters(max_tokens=16), revision="r1")
GENERAL = ("direct", "few_shot", "step_by_step")


def items_of(*rows: tuple[str, str | None, Sequence[str] | None]) -> pl.DataFrame:
    schema = {
        "item_id": pl.String,
        "question": pl.String,
        "choices": pl.List(pl.String),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_each_item_is_asked_once_an_epoch_under_its_id() -> None:
    items = items_of(("b:1", "Which?", ["red", "blue"]), ("b:2", "How many?", []))

    calls = list(item_calls(items, bundled_template("direct"), ASKED, epochs=2))

    assert [(call.about, call.epoch) for call in calls] == [
        ("b:1", 0),
        ("b:1", 1),
        ("b:2", 0),
        ("b:2", 1),
    ]
    assert len({call.key for call in calls}) == 4
    assert {(c.model, c.served_name, c.revision) for c in calls} == {
        ("small", "served", "r1")
    }
    assert "Which?\nA. red\nB. blue" in calls[0].messages[-1].content
    assert "letter" not in calls[2].messages[-1].content


@pytest.mark.parametrize("name", GENERAL)
def test_ten_options_are_lettered_a_to_j(name: str) -> None:
    items = items_of(("b:1", "Which?", [f"option {k}" for k in range(10)]))

    (call,) = item_calls(items, bundled_template(name), ASKED)

    assert "J. option 9" in call.messages[-1].content


def test_items_that_cannot_be_asked_are_listed_and_left_out() -> None:
    items = items_of(
        ("b:1", None, []),
        ("b:2", " \n", ["x", "y"]),
        ("b:3", "Which?", ["x"] * 27),
        ("b:4", "Which?", None),
    )

    calls = list(item_calls(items, bundled_template("direct"), ASKED))

    assert [call.about for call in calls] == ["b:4"]
    assert unaskable_items(items).rows() == [
        ("b:1", "no_question"),
        ("b:2", "no_question"),
        ("b:3", "too_many_options"),
    ]


def test_images_are_sent_with_the_item_that_has_them() -> None:
    shown: list[list[dict[str, Any]] | None] = [
        [{"media_type": "image/png", "base64": "AA=="}],
        None,
    ]
    items = items_of(("b:1", "What?", []), ("b:2", "What?", [])).with_columns(
        pictures=pl.Series(shown)
    )

    calls = list(
        item_calls(items, bundled_template("direct"), ASKED, images="pictures")
    )

    assert calls[0].messages[-1].images == (Image("image/png", "AA=="),)
    assert calls[1].messages[-1].images == ()


def test_bullets_carry_no_letters() -> None:
    assert question_text("Which?", ["a", "b"], style="bullets") == "Which?\n- a\n- b"


@pytest.mark.parametrize("name", GENERAL)
def test_no_example_is_an_item_of_the_starter_suite(name: str) -> None:
    told = "\n".join(
        turn.content for part in bundled_template(name).parts.values() for turn in part
    )
    files = sorted((folder() / "items").glob("*.jsonl"))
    questions = [q for file in files for q in pl.read_ndjson(file)["question"]]

    assert [question for question in questions if question in told] == []


@pytest.mark.real_data
@pytest.mark.parametrize("name", GENERAL)
def test_no_example_is_an_item_of_a_public_benchmark(name: str, shared: Any) -> None:  # noqa: ANN401
    turns = [
        turn.content.split("\n")[0]
        for part in bundled_template(name).parts.values()
        for turn in part
        if turn.role == "user" and "{question}" not in turn.content
    ]
    files = [
        file
        for file in sorted((shared / "data").rglob("*"))
        if file.suffix in {".json", ".jsonl", ".csv"}
    ]

    assert files
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        assert [turn for turn in turns if turn in text] == []


def test_what_cannot_be_asked_for_is_refused() -> None:
    items = items_of(("b:1", "What?", []))

    with pytest.raises(InvalidInputError, match="epochs must be at least 1"):
        item_calls(items, bundled_template("direct"), ASKED, epochs=0)
    with pytest.raises(InvalidInputError, match=r"missing \['choices'\]"):
        item_calls(items.drop("choices"), bundled_template("direct"), ASKED)
    with pytest.raises(ParseError, match="part 'choice' must hold"):
        item_calls(items, read_template("own", "# free\n## user\n{question}\n"), ASKED)
