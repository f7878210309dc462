"""Telling formats apart by content."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skillmap.errors import InvalidInputError, ParseError
from skillmap.parsing.documents import decode_document
from skillmap.parsing.formats import (
    FORMATS,
    detect,
    detect_document,
    format_named,
    parse,
    parse_bytes,
)
from skillmap.parsing.source import (
    ITEMS_SCHEMA,
    RATIONALES_SCHEMA,
    REMARKS_SCHEMA,
    RESULTS_SCHEMA,
    SKILLS_SCHEMA,
)

Result = TypeVar("Result")

MMLU_PRO = {
    "question_id": 1,
    "question": "q",
    "options": ["a"],
    "answer": "A",
    "pred": "A",
    "model_outputs": "A",
}
SOLUTION = {"is_correct": True, "solution": "A: 1"}
EXAMPLES: dict[str, str] = {
    "bbh_task": json.dumps({"examples": [{"input": "a", "target": "b"}]}),
    "evaltree_results": "[0, 1, 1]",
    "evaltree_skills": '["Adding.", "Dividing."]',
    "generic": json.dumps([{"item_id": 1, "score": 1}]),
    "gsm8k_items": json.dumps({"question": "q", "answer": "x\n#### 1"}),
    "gsm8k_model_solutions": json.dumps(
        {"question": "q", "ground_truth": "A: 1", "6b": SOLUTION}
    ),
    "mmlu_pro_results": json.dumps([MMLU_PRO]),
    "routellm_csv": "prompt,org/m-1,m-2\nq,True,False\n",
}


def test_formats_are_listed_by_name_once() -> None:
    names = [known.name for known in FORMATS]

    assert names == sorted(set(names)) == sorted(EXAMPLES)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_format_is_told_by_content_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / "results.txt"
    file.write_text(EXAMPLES[name], encoding="utf-8")

    assert detect(file) == name


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_source_has_every_frame(name: str) -> None:
    source = parse_bytes(EXAMPLES[name].encode(), name="file")

    assert source.format == name
    assert source.importer_version == format_named(name).version
    assert source.items.schema == ITEMS_SCHEMA
    assert source.results.schema == RESULTS_SCHEMA
    assert source.skills.schema == SKILLS_SCHEMA
    assert source.rationales.schema == RATIONALES_SCHEMA
    assert source.rejects.schema == source.warnings.schema == REMARKS_SCHEMA


def test_stray_records_before_the_first_object_do_not_hide_the_format() -> None:
    document = decode_document(
        json.dumps(["total", "other", MMLU_PRO]).encode(), name="file"
    )

    assert detect_document(document).name == "mmlu_pro_results"


def test_an_unknown_file_is_described_with_the_known_formats() -> None:
    with pytest.raises(
        ParseError,
        match=r"a JSON array of objects with the keys 'x', 'y'\. "
        r"Known formats: bbh_task, evaltree_results",
    ):
        parse_bytes(b'[{"x": 1, "y": 2}]', name="file")


def test_an_unknown_object_is_described_by_its_keys() -> None:
    with pytest.raises(ParseError, match=r"a JSON object with the keys 'results'\."):
        parse_bytes(b'{"results": []}', name="file")


def test_an_unknown_table_is_described_by_its_columns() -> None:
    header = ",".join(f"c{n}" for n in range(10))

    with pytest.raises(ParseError, match=r"columns 'c0', .*'c7' and 2 more"):
        parse_bytes(f"{header}\n{header}\n".encode(), name="file")


def test_an_unknown_format_name_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"one of \['bbh_task'.*got 'csv'"):
        parse_bytes(b"[1]", name="file", format_name="csv")


def test_a_forced_format_overrides_detection() -> None:
    source = parse_bytes(
        json.dumps([MMLU_PRO]).encode(), name="file", format_name="generic"
    )

    assert source.format == "generic"
    assert source.results["native_id"].to_list() == ["1"]


def attempt(action: Callable[[], Result]) -> Result | str:
    """The result, or the message of the one error that is allowed."""
    try:
        return action()
    except ParseError as error:
        return str(error)


@settings(deadline=None)
@given(st.binary(max_size=200))
@example(b"PAR1" + b"\x00" * 40 + b"PAR1")
@example(b"PK\x03\x04" + b"\x00" * 40)
@example(b"\x1f\x8b\x08" + b"\xff" * 40)
@example(b'{"question": "q", "ground_truth": "A:", "x": {"is_correct": 1}}')
def test_arbitrary_bytes_give_a_format_or_a_parse_error(content: bytes) -> None:
    found = attempt(lambda: detect_document(decode_document(content, name="file")).name)

    assert found in EXAMPLES or found.startswith("file: ")


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "question",
                    "options",
                    "answer",
                    "pred",
                    "question_id",
                    "score",
                    "examples",
                    "input",
                    "target",
                    "ground_truth",
                    "is_correct",
                    "solution",
                    "skills",
                    "epoch",
                    "outcome",
                    "response",
                    "rationale",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(json_values, min_size=1, max_size=4), st.sampled_from(sorted(EXAMPLES)))
def test_any_json_read_as_any_format_gives_frames_or_a_parse_error(
    value: object, name: str
) -> None:
    content = json.dumps(value).encode()

    found = attempt(lambda: parse_bytes(content, name="file", format_name=name))

    if isinstance(found, str):
        assert found.startswith("file: ")
    else:
        assert found.results.schema == RESULTS_SCHEMA
        assert found.results["score"].drop_nulls().is_between(0, 1).all()


@settings(deadline=None)
@given(st.data())
def test_a_damaged_file_never_gives_fewer_records_unnoticed(
    data: st.DataObject,
) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        records = [MMLU_PRO | {"question_id": n} for n in range(5)]
        archive.writestr("a.json", json.dumps(records))
    whole = stream.getvalue()
    kept = data.draw(st.integers(1, len(whole) - 1))

    with pytest.raises(ParseError):
        parse_bytes(whole[:kept], name="file")


def test_the_same_bytes_give_the_same_frames(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(EXAMPLES["mmlu_pro_results"], encoding="utf-8")

    first, second = parse(file), parse(file)

    assert first.items.equals(second.items)
    assert first.results.equals(second.results)
