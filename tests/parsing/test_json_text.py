"""JSON documents and lines: told apart, faults placed, nothing cut off accepted."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.errors import ParseError
from skillmap.parsing.json_text import JsonDocument, JsonLines, parse_json_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
containers = st.lists(json_values, max_size=4) | st.dictionaries(
    st.text(max_size=4), json_values, max_size=4
)
small_objects = st.dictionaries(
    st.text(max_size=4), st.none() | st.integers() | st.text(max_size=8), max_size=3
)


def parsed(text: str) -> JsonDocument | JsonLines:
    return parse_json_text(text, name="file")


@settings(deadline=None)
@given(containers, st.sampled_from([None, 2]))
def test_a_written_document_is_read_back(value: object, indent: int | None) -> None:
    assert parsed(json.dumps(value, indent=indent)) == JsonDocument(value)


@settings(deadline=None)
@given(st.lists(small_objects, min_size=2, max_size=6))
def test_written_lines_are_read_back(values: list[object]) -> None:
    text = "\r\n".join(json.dumps(value) for value in values)

    assert parsed(text) == JsonLines(list(range(len(values))), values, [])


def test_blank_lines_do_not_count() -> None:
    assert parsed('{"a": 1}\n\n  \n{"a": 2}\n') == JsonLines(
        [0, 1], [{"a": 1}, {"a": 2}], []
    )


def test_an_unusual_line_separator_inside_a_text_does_not_end_a_line() -> None:
    text = '{"a": "x\u2028y"}\n{"a": "z"}'

    assert parsed(text) == JsonLines([0, 1], [{"a": "x\u2028y"}, {"a": "z"}], [])


def test_bare_nan_and_infinity_are_read() -> None:
    result = parsed('{"a": NaN, "b": -Infinity}')

    assert isinstance(result, JsonDocument)
    assert isinstance(result.value, dict)
    assert math.isnan(result.value["a"])
    assert result.value["b"] == -math.inf


def test_control_characters_are_kept_and_the_last_of_equal_keys_counts() -> None:
    assert parsed('{"a": 1, "a": "x\x00\ty"}') == JsonDocument({"a": "x\x00\ty"})


def test_a_bad_line_in_the_middle_is_rejected_and_the_rest_kept() -> None:
    result = parsed('{"a": 1}\n{"a": \n{"a": 3}\n')

    assert result == JsonLines(
        [0, 2], [{"a": 1}, {"a": 3}], [(1, "line is not JSON", '{"a":')]
    )


def test_a_bad_first_line_is_rejected_when_the_others_are_objects() -> None:
    result = parsed('{"a": 1,,}\n{"a": 2}\n{"a": 3}\n')

    assert result == JsonLines(
        [1, 2], [{"a": 2}, {"a": 3}], [(0, "line is not JSON", '{"a": 1,,}')]
    )


@pytest.mark.parametrize("last", ['{"a": ', '{"a": "xy', '{"a": 3'])
def test_a_cut_off_last_line_is_an_error(last: str) -> None:
    with pytest.raises(ParseError, match="the last line, record 2, is cut off"):
        parsed('{"a": 1}\n{"a": 2}\n' + last)


@pytest.mark.parametrize("kept", range(1, 40))
def test_a_cut_off_array_is_an_error_wherever_it_is_cut(kept: int) -> None:
    text = json.dumps([{"a": "é x"}, {"b": [1, 2]}, {"c": None}], indent=1)
    assert len(text) > 40

    with pytest.raises(ParseError, match=r"file: JSON is cut off: .* line"):
        parsed(text[:kept])


def test_a_fault_is_placed_by_line_column_and_byte() -> None:
    # The letter is two bytes: ten characters and eleven bytes stand before.
    with pytest.raises(
        ParseError, match=r"not JSON: .* at line 2, column 5 \(byte 11\): '\? 1\]'"
    ):
        parsed('["é",\n 0, ? 1]')


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(ParseError, match="nested too deeply"):
        parsed("[" * 100_000 + "]" * 100_000)


def test_a_huge_integer_is_read_and_an_absurd_one_refused() -> None:
    assert parsed(f"[{10**40}]") == JsonDocument([10**40])
    with pytest.raises(ParseError, match="number that cannot be read"):
        parsed(f"[{'9' * 5000}]")
