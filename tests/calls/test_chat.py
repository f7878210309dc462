"""Requests as servers want them, and what they may answer."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.calls import (
    REPLY_STATUSES,
    Call,
    Dialect,
    Message,
    Parameters,
    Structure,
)
from skillmap.calls.chat_replies import (
    error_code,
    error_message,
    read_completion,
    rejected_field,
)
from skillmap.calls.chat_requests import StructureForm, chat_request
from skillmap.errors import ParseError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "content",
                    "usage",
                    "error",
                    "detail",
                    "loc",
                    "code",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
SCHEMA = '{"type": "object"}'


def structured(*messages: Message) -> Call:
    return Call("m", "m", messages, Parameters(5), structure=Structure("s", SCHEMA))


@given(JSON)
def test_no_answer_raises_anything_but_that_it_is_none(body: object) -> None:
    with suppress(ParseError):
        assert read_completion("k", body).status in REPLY_STATUSES
    assert error_message(body)
    assert isinstance(error_code(body), str)
    assert isinstance(rejected_field(body), str)


@pytest.mark.parametrize(
    ("tokens", "counted"),
    [
        (7, 7),
        (0, 0),
        (-1, None),
        (True, None),
        ("7", None),
        (10**30, None),
        (7.0, None),
    ],
)
def test_only_counts_are_counts(tokens: object, counted: int | None) -> None:
    choice = {"message": {"content": "B"}, "finish_reason": "stop"}
    body = {"choices": [choice], "usage": {"completion_tokens": tokens}}

    assert read_completion("k", body).n_completion_tokens == counted


def test_thought_that_is_kept_apart_stays_apart() -> None:
    for name in ("reasoning", "reasoning_content"):
        message = {"content": None, name: "hm"}
        choice = {"message": message, "finish_reason": "stop"}
        reply = read_completion("k", {"choices": [choice]})

        assert (reply.status, reply.text, reply.reasoning) == ("empty", None, "hm")


def test_thought_in_the_text_is_left_to_who_reads_it() -> None:
    choice = {"message": {"content": "<think>hm"}, "finish_reason": "stop"}
    reply = read_completion("k", {"choices": [choice]})

    assert (reply.status, reply.text) == ("answered", "<think>hm")


@pytest.mark.parametrize("form", ["json_schema", "json_object", "prompt"])
def test_a_schema_is_told_in_the_form_that_a_server_understands(
    form: StructureForm,
) -> None:
    one = structured(Message("user", "Q"), Message("assistant", "A"))
    body = chat_request(one, Dialect(structure_form=form))

    assert (SCHEMA in body["messages"][0]["content"]) == (form != "json_schema")
    assert body["messages"][1]["content"] == "A"
    assert body.get("response_format", {}).get("type") == {"prompt": None}.get(
        form, form
    )


def test_a_chat_is_gone_on_with_only_where_it_is_understood() -> None:
    one = structured(Message("user", "Q"), Message("assistant", "A"))
    understood = chat_request(one, Dialect(continues_messages=True))

    assert understood["continue_final_message"] is True
    assert "continue_final_message" not in chat_request(one, Dialect())
    other = structured(Message("user", "Q"))
    assert "add_generation_prompt" not in chat_request(
        other, Dialect(continues_messages=True)
    )


def test_a_dialect_gives_way_step_by_step_and_only_for_its_own_reason() -> None:
    first = Dialect()
    second = first.after_rejection("unknown: response_format", is_structured=True)
    assert second == Dialect(structure_form="json_object")
    third = second.after_rejection("no json_object here", is_structured=True)
    assert third == Dialect(structure_form="prompt")
    assert third.after_rejection("response_format", is_structured=True) is None
    assert first.after_rejection("response_format", is_structured=False) is None
    assert first.after_rejection("too long", is_structured=True) is None
