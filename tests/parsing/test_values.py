"""Single values: ids, excerpts, text that UTF-8 cannot express."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.parsing.values import (
    excerpt,
    native_id,
    native_id_from_untyped_text,
    replace_lone_surrogates,
)

texts = st.text(st.characters())
nested = st.recursive(
    texts | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)


def test_a_number_and_its_text_are_told_apart_by_type() -> None:
    assert native_id(1) == ("1", "integer")
    assert native_id("1") == ("1", "text")
    assert native_id(10**40) == (str(10**40), "integer")


@pytest.mark.parametrize("value", [None, "", "  ", True, 1.5, float("nan"), [1], {}])
def test_a_value_that_cannot_be_an_id_gives_none(value: object) -> None:
    assert native_id(value) == (None, None)


def test_leading_zeros_make_an_id_of_a_csv_a_text() -> None:
    assert native_id_from_untyped_text("12") == ("12", "integer")
    assert native_id_from_untyped_text("012") == ("012", "text")
    assert native_id_from_untyped_text("mmlu_pro__lite__12") == (
        "mmlu_pro__lite__12",
        "text",
    )
    assert native_id_from_untyped_text("") == (None, None)


@settings(deadline=None)
@given(nested)
def test_afterwards_everything_can_be_written_as_utf_8(value: object) -> None:
    before = json.dumps(value)

    clean, replaced = replace_lone_surrogates(value)

    json.dumps(clean, ensure_ascii=False).encode("utf-8")
    assert replaced == (json.dumps(clean) != before)


def test_keys_are_cleaned_too() -> None:
    assert replace_lone_surrogates([{"a\udc80": {"b": "\ud835"}}, "ok"]) == (
        [{"a\ufffd": {"b": "\ufffd"}}, "ok"],
        True,
    )
    assert replace_lone_surrogates([["\ud835", 1], 2]) == ([["\ufffd", 1], 2], True)


def test_an_excerpt_is_short_and_can_be_written() -> None:
    nest: list[object] = []
    for _ in range(100_000):
        nest = [nest]

    assert excerpt("x\ud835" * 300).encode("utf-8")
    assert len(excerpt("x" * 300)) == 200
    assert excerpt(["é", None]) == '["é", null]'
    assert excerpt(nest) == "a list that cannot be shown"
