"""The page for users says what the code does."""

import re
from pathlib import Path

import pytest

from skillmap.parsing.formats import FORMATS, parse_bytes
from skillmap.parsing.generic_columns import ALIASES
from skillmap.parsing.manifest import load_manifest
from skillmap.parsing.manifest_form import SourceEntry
from skillmap.parsing.mmlu_pro import RESPONSE_FIELDS
from skillmap.parsing.source import OUTCOMES

PAGE = (Path(__file__).parents[2] / "docs" / "import-formats.md").read_text(
    encoding="utf-8"
)
QUOTED = set(re.findall(r"`([^`\n]+)`", PAGE))


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def table_row(name: str) -> list[str]:
    row = re.search(rf"^\| `{name}` \|.*$", PAGE, re.MULTILINE)
    assert row is not None, f"no table row for {name}"
    return re.findall(r"`([^`]+)`", row.group())


@pytest.mark.parametrize("field", sorted(ALIASES))
def test_every_other_name_of_a_field_is_documented_in_order(field: str) -> None:
    assert table_row(field) == [field, *ALIASES[field]]


def test_every_format_is_documented() -> None:
    names = {known.name for known in FORMATS}

    assert names <= QUOTED
    assert names == {name for name in names if table_row(name)[0] == name}


def test_every_outcome_and_response_name_is_documented() -> None:
    assert {*OUTCOMES, *RESPONSE_FIELDS} <= QUOTED


def test_every_key_of_a_source_is_documented() -> None:
    assert all(table_row(key)[0] == key for key in SourceEntry.model_fields)


def test_the_example_manifest_can_be_loaded() -> None:
    (example,) = examples("yaml")

    assert load_manifest(example, source_name="page").sources[0].model == "my-model"


def test_the_examples_are_of_the_formats_they_stand_for() -> None:
    contents = [*examples("csv"), *examples("json")]

    formats = [parse_bytes(text.encode(), name="page").format for text in contents]

    assert formats == [
        "generic",
        "routellm_csv",
        "mmlu_pro_results",
        "gsm8k_items",
        "gsm8k_model_solutions",
        "bbh_task",
    ]
