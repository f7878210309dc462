import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.prompting.json_replies import JsonObject, read_json_reply

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
).filter(lambda value: value not in ([float("inf")], [float("-inf")]))
OBJECTS = st.dictionaries(
    st.text(), st.none() | st.booleans() | st.integers() | st.text() | VALUES
).filter(lambda value: "Infinity" not in json.dumps(value))


@given(OBJECTS)
def test_json_is_read_as_json_reads_it(value: dict[str, Any]) -> None:
    told = json.dumps(value)

    assert read_json_reply(told) == (value, ())
    assert read_json_reply(f"```json\n{told}\n```") == (value, ())


@given(OBJECTS.filter(bool), st.booleans())
def test_what_stands_around_is_named_and_left_aside(
    value: dict[str, Any],
    is_ascii: bool,  # noqa: FBT001
) -> None:
    told = json.dumps(value, ensure_ascii=is_ascii, indent=1)

    reply = read_json_reply(f"Here it is: {told}\nHope this helps.")

    assert reply == (value, ("text_around",))


@given(st.text(alphabet="{}[]:,\"'\\ \nau1.e-“”`") | st.text())
def test_no_text_makes_it_fail(text: str) -> None:
    reply = read_json_reply(text)

    assert reply.value is None or isinstance(reply.value, JsonObject | list)


@given(OBJECTS.filter(bool), st.data())
def test_a_cut_reply_gives_a_part_of_the_whole(
    value: dict[str, Any], data: st.DataObject
) -> None:
    told = json.dumps(value)
    kept = told[: data.draw(st.integers(1, len(told) - 1))]

    reply = read_json_reply(kept)

    if reply.value is None:
        assert reply.faults == ("no_json",)
    else:
        assert "truncated" in reply.faults
        assert is_part(reply.value, value)


def is_part(part: Any, whole: Any) -> bool:  # noqa: ANN401
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            is_part(inner, whole[name]) for name, inner in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(
            is_part(*both) for both in zip(part, whole, strict=False)
        )
    return part == whole


@pytest.mark.parametrize(
    ("text", "value", "fault"),
    [
        ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}, "trailing_comma"),
        ("{'a': 'it''s', 'b': True}", {"a": "it''s", "b": True}, "single_quotes"),
        ("{'a': 'the model's own'}", {"a": "the model's own"}, "unescaped_quote"),
        ('{"a": "say "no" twice"}', {"a": 'say "no" twice'}, "unescaped_quote"),
        ("{a: true, b: maybe}", {"a": True, "b": "maybe"}, "unquoted"),
        ('{"a": 1\n"b": 2}', {"a": 1, "b": 2}, "missing_comma"),
        ('{"a": , "b": 2}', {"b": 2}, "missing_value"),
        ('{"a": "x\\qy"}', {"a": "x\\qy"}, "bad_escape"),
        ("{“a”: “b”}", {"a": "b"}, "unquoted"),
        ('{"a": [1, 2}', {"a": [1, 2]}, "mismatched_brackets"),
        ('{"a": 1, "b": "cut o', {"a": 1}, "truncated"),
        ('{"a": 1, "b": 12', {"a": 1}, "truncated"),
        ('{"a": 1, "b', {"a": 1}, "truncated"),
        ('{"a": ' * 100 + "1" + "}" * 100, None, "nested_too_deeply"),
    ],
)
def test_what_is_mended_is_named(text: str, value: Any, fault: str) -> None:  # noqa: ANN401
    reply = read_json_reply(text)

    assert fault in reply.faults
    if value is not None:
        assert reply.value == value


def test_a_raw_line_break_in_a_text_is_part_of_it() -> None:
    assert read_json_reply('{"a": "one\ntwo"}').value == {"a": "one\ntwo"}


@pytest.mark.parametrize("text", ["", "relevant", "{is} or \\frac{1}{2}", "{"])
def test_a_text_without_json_says_so(text: str) -> None:
    reply = read_json_reply(text)

    assert reply.value in (None, {})
    assert reply.faults


def test_the_object_that_has_the_names_counts_and_the_last_of_equals() -> None:
    text = 'As {"s1": true}, no: {"s1": false, "s2": true} by the {rule: 1}.'

    reply = read_json_reply(text, names=frozenset({"s1", "s2"}))

    assert reply.value == {"s1": False, "s2": True}
    assert read_json_reply('{"a": 1} then {"a": 2}').value == {"a": 2}


def test_a_repeated_member_is_kept_as_a_pair() -> None:
    value = read_json_reply('{"a": true, "a": false}').value

    assert isinstance(value, JsonObject)
    assert value.pairs == [("a", True), ("a", False)]


@pytest.mark.parametrize(
    "pattern",
    ["{", "[", '{"a":', '"', "{a:1}", "{'a", "\\", "{}", '["', '" \n', ", ", "{a "],
)
def test_the_time_grows_with_the_length_alone(pattern: str) -> None:
    def seconds(n_characters: int) -> float:
        text = ("{" + pattern * n_characters)[:n_characters]
        start = time.process_time()
        read_json_reply(text)
        return time.process_time() - start

    # Quadratic time would take minutes.
    assert seconds(400_000) < 5


def test_a_number_of_many_digits_is_no_hazard() -> None:
    assert read_json_reply('{"a": ' + "9" * 5_000 + "}").value == {"a": "9" * 5_000}
