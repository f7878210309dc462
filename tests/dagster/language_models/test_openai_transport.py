"""The transport against a server that misbehaves on purpose: every call ends truly."""

import asyncio
import json
import time
from collections import Counter
from pathlib import Path

import pytest

from skillmap.calls import Image, Message, Parameters, Reply, Structure
from skillmap.errors import InvalidInputError, ServiceError
from tests.dagster.language_models.asking import call, made, questions, transport
from tests.dagster.language_models.misbehaving_server import (
    Answer,
    Asked,
    Server,
    completion,
    failure,
    serving,
)

pytestmark = pytest.mark.usefixtures("short_waits")

KEY = "sk-very-secret-0123456789"
VARIABLE = "SKILLMAP_TEST_KEY"
STRUCTURE = Structure("skills", '{"type": "object"}')


def replied(server: Server, *calls: object, **told: object) -> dict[str, Reply]:
    """Replies of a transmission by key."""
    replies: dict[str, Reply] = {}
    transport(server.url, **told).transmit(
        calls or [call()],  # type: ignore[arg-type]
        lambda reply: replies.update({reply.key: reply}),
    )
    return replies


def only(replies: dict[str, Reply]) -> Reply:
    (reply,) = replies.values()
    return reply


def test_an_answer_is_told_with_its_tokens_and_its_time() -> None:
    with serving() as server:
        reply = only(replied(server))

    assert reply.status == "answered"
    assert reply.text == "ANSWER: B"
    assert (reply.n_prompt_tokens, reply.n_completion_tokens) == (10, 5)
    assert reply.served_model == "loopback-1"
    assert reply.n_attempts == 1
    assert 0 < (reply.latency_seconds or 0) < 5
    assert reply.structure_form is None


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (completion(""), "empty", ""),
        (completion(None), "empty", None),
        (completion("<think>I wonder", finish_reason="length"), "truncated", None),
        (completion(None, finish_reason="length"), "truncated", None),
        (completion(None, message={"refusal": "I will not"}), "refused", "I will not"),
        (completion(None, finish_reason="content_filter"), "filtered", None),
        (completion("I can't help with that"), "answered", "I can't help with that"),
        (completion("5"), "answered", "5"),
        (completion([{"type": "text", "text": "5"}]), "answered", "5"),
    ],
)
def test_what_a_model_says_and_does_not_say_are_different_outcomes(
    answer: Answer, status: str, text: str | None
) -> None:
    with serving(lambda _: answer) as server:
        reply = only(replied(server))

    assert reply.status == status
    assert text is None or reply.text == text
    assert server.n_by_question == {"Why?": 1}


def test_usage_that_is_missing_is_not_made_up() -> None:
    with serving(lambda _: completion(usage=None)) as server:
        reply = only(replied(server))

    assert reply.status == "answered"
    assert reply.n_prompt_tokens is None


@pytest.mark.parametrize(
    "spoilt",
    [
        failure(429, retry_after="0"),
        failure(429),
        failure(500),
        failure(503, retry_after="Tue, 01 Dec 2020 00:00:00 GMT"),
        Answer(b'{"choices": [', kind="application/json"),
        Answer(b"<html>try later</html>", kind="text/html"),
        Answer(b"<html>Bad gateway</html>", 502, kind="text/html"),
        Answer(b"[]"),
        Answer(b'{"choices": []}'),
        Answer(b"[" * 100_000),
        Answer(b'{"choices"' * 9, is_cut=True),
        completion(seconds=0.6),
    ],
)
def test_what_may_pass_is_tried_again(spoilt: Answer) -> None:
    def behaviour(asked: Asked) -> Answer:
        return spoilt if asked.number_of_question < 3 else completion()

    with serving(behaviour) as server:
        reply = only(replied(server, timeout_seconds=0.3))

    assert (reply.status, reply.n_attempts) == ("answered", 3)


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_what_will_not_pass_is_tried_once_and_told(status: int) -> None:
    with serving(lambda _: failure(status, "the prompt is too long")) as server:
        reply = only(replied(server))

    assert (reply.status, reply.n_attempts) == ("error", 1)
    assert reply.error == f"HTTP {status}: the prompt is too long"


def test_a_call_that_always_fails_ends_as_an_error() -> None:
    with serving(lambda _: failure(500, "broken")) as server:
        reply = only(replied(server, n_tries=3))

    assert (reply.status, reply.n_attempts) == ("error", 3)
    assert reply.error == "HTTP 500: broken"


def test_bad_replies_never_stop_the_others() -> None:
    bad = [
        failure(400),
        failure(500),
        completion(None),
        Answer(b"{"),
        Answer(b"{" * 9, is_cut=True),
        completion(message={"refusal": "no"}),
        failure(429),
    ]

    def behaviour(asked: Asked) -> Answer:
        number = int(asked.question.split()[1].rstrip("?"))
        return bad[number % 10] if number % 10 < len(bad) else completion()

    asked = questions(200)
    with serving(behaviour) as server:
        replies = replied(server, *asked, n_tries=2)

    assert replies.keys() == {one.key for one in asked}
    found = Counter(reply.status for reply in replies.values())
    assert found == {"answered": 60, "error": 100, "empty": 20, "refused": 20}


def test_a_storm_slows_the_calls_down_and_loses_none() -> None:
    began = time.monotonic()

    def behaviour(_: Asked) -> Answer:
        is_storm = 0.15 < time.monotonic() - began < 0.5
        return failure(429, retry_after="0.05") if is_storm else completion()

    asked = questions(300)
    with serving(behaviour) as server:
        sender = transport(server.url, max_concurrency=16, n_tries=30)
        replies: list[Reply] = []
        limits: list[int] = []

        def deliver(reply: Reply) -> None:
            replies.append(reply)
            limits.append(sender.pace.limit)
            time.sleep(0.001)

        sender.transmit(asked, deliver)

    assert Counter(reply.status for reply in replies) == {"answered": 300}
    assert {reply.key for reply in replies} == {one.key for one in asked}
    assert server.most_open <= 16
    assert max(limits) > min(limits)


def test_a_pause_that_the_server_asks_for_is_kept_by_all() -> None:
    times: list[float] = []

    def behaviour(asked: Asked) -> Answer:
        times.append(time.monotonic())
        return failure(429, retry_after="0.5") if asked.number == 0 else completion()

    with serving(behaviour) as server:
        replied(server, *questions(20), max_concurrency=1)

    assert times[1] - times[0] >= 0.5
    assert len(times) == 21


def test_a_pause_that_is_too_long_ends_the_transmission() -> None:
    with (
        serving(lambda _: failure(429, "daily limit", retry_after="9000")) as server,
        pytest.raises(
            ServiceError, match=r"asks to wait 9,000 s: HTTP 429: daily limit"
        ),
    ):
        replied(server, *questions(50), max_concurrency=2)

    assert len(server.asked) <= 2


def test_an_account_that_is_used_up_ends_the_transmission() -> None:
    body = json.dumps({"error": {"message": "pay", "code": "insufficient_quota"}})
    with (
        serving(lambda _: Answer(body.encode(), 429)) as server,
        pytest.raises(ServiceError, match="makes no more calls: HTTP 429: pay"),
    ):
        replied(server, *questions(50), max_concurrency=2)

    assert len(server.asked) <= 2


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_ends_the_transmission_and_is_not_told(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    replies: list[Reply] = []
    with serving(
        lambda asked: failure(status, f"bad: {asked.authorization}")
    ) as server:
        sender = transport(server.url, api_key_variable=VARIABLE, max_concurrency=4)
        with pytest.raises(InvalidInputError) as error:
            sender.transmit(questions(1000), replies.append)

    assert VARIABLE in str(error.value)
    assert KEY not in f"{error.value!r} {replies} {sender!r} {vars(sender)}"
    assert len(server.asked) <= 4


def test_a_rejection_among_answers_is_one_error() -> None:
    def behaviour(asked: Asked) -> Answer:
        return failure(403) if asked.question == "Question 30?" else completion()

    with serving(behaviour) as server:
        replies = replied(server, *questions(60), max_concurrency=2)

    found = Counter(reply.status for reply in replies.values())
    assert found == {"answered": 59, "error": 1}


def test_the_key_is_in_the_header_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, f" {KEY}\n")
    caplog.set_level("DEBUG")

    def behaviour(asked: Asked) -> Answer:
        told = f"you sent {asked.authorization}"
        answers = [completion(told, model=KEY), failure(400, told)]
        answers.append(completion(None, message={"refusal": told, "reasoning": told}))
        return answers[asked.number % 3]

    with serving(behaviour) as server:
        made(questions(9), server.url, tmp_path, api_key_variable=VARIABLE)

    assert server.asked[0].authorization == f"Bearer {KEY}"
    assert KEY not in caplog.text
    kept = b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
    assert b"you sent" in kept
    assert KEY.encode() not in kept


def test_a_server_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with serving() as server:
        url = server.url

    with pytest.raises(ServiceError, match=r"nothing answers at 127\.0\.0\.1"):
        made(questions(1000), url, tmp_path, n_tries=2)


@pytest.mark.parametrize("n_forms_refused", [1, 2])
def test_a_server_without_schemas_is_told_them_otherwise(n_forms_refused: int) -> None:
    refused = (
        {"json_schema", "json_object"} if n_forms_refused == 2 else {"json_schema"}
    )

    def behaviour(asked: Asked) -> Answer:
        form = asked.body.get("response_format", {}).get("type")
        if form in refused:
            return failure(400, f"response_format {form} is not supported")
        return completion("{}")

    asked = [call(f"Question {n}?", structure=STRUCTURE) for n in range(30)]
    with serving(behaviour) as server:
        replies = replied(server, *asked, max_concurrency=1)

    form = "json_object" if n_forms_refused == 1 else "prompt"
    assert {reply.structure_form for reply in replies.values()} == {form}
    assert {reply.status for reply in replies.values()} == {"answered"}
    # It is learned once.
    assert len(server.asked) == 30 + n_forms_refused
    last = server.asked[-1].body["messages"][-1]["content"]
    assert STRUCTURE.schema in last


def test_a_rejection_of_something_else_changes_nothing() -> None:
    with serving(lambda _: failure(400, "too long")) as server:
        reply = only(replied(server, call(structure=STRUCTURE)))

    assert (reply.status, reply.n_attempts) == ("error", 1)


def test_a_server_that_names_the_limit_otherwise_is_understood() -> None:
    def behaviour(asked: Asked) -> Answer:
        if "max_tokens" in asked.body:
            return failure(400, "Use 'max_completion_tokens' instead.")
        return completion()

    with serving(behaviour) as server:
        replies = replied(server, *questions(5), max_concurrency=1)

    assert {reply.status for reply in replies.values()} == {"answered"}
    assert len(server.asked) == 6


def test_all_of_a_call_reaches_the_server() -> None:
    asked = call(
        messages=(
            Message("system", "Be brief."),
            Message("user", "What is it?", (Image("image/png", "AAAA"),)),
            Message("assistant", "It is"),
        ),
        parameters=Parameters(
            7, 0.5, 0.9, 3, ("\n",), (("guided_choice", '["A", "B"]'),)
        ),
    )
    with serving() as server:
        replied(server, asked, continues_messages=True)

    assert server.asked[0].body == {
        "model": "loopback-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {
                        "type": "image_url",
                        "image_url": {"url": "data:image/png;base64,AAAA"},
                    },
                ],
            },
            {"role": "assistant", "content": "It is"},
        ],
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "stop": ["\n"],
        "guided_choice": ["A", "B"],
        "add_generation_prompt": False,
        "continue_final_message": True,
    }


def test_half_a_surrogate_pair_harms_nobody(tmp_path: Path) -> None:
    with serving(
        lambda _: Answer(completion().body.replace(b"B", b"\\ud835"))
    ) as server:
        _, replies = made([call("x\ud835y")], server.url, tmp_path)

    assert replies["x\ud835y"].text == "ANSWER: \ufffd"


def test_calls_are_pulled_as_there_is_room() -> None:
    n_delivered = 0
    ahead: list[int] = []

    def lazily() -> object:
        for number, one in enumerate(questions(100)):
            ahead.append(number - n_delivered)
            yield one

    def deliver(_: Reply) -> None:
        nonlocal n_delivered
        n_delivered += 1

    with serving(lambda _: completion(seconds=0.002)) as server:
        transport(server.url, max_concurrency=5).transmit(lazily(), deliver)  # type: ignore[arg-type]

    assert n_delivered == 100
    assert max(ahead) < 5
    assert server.most_open <= 5


def test_an_error_of_the_calls_is_raised_when_those_in_flight_are_back() -> None:
    delivered: list[Reply] = []

    def failing() -> object:
        yield from questions(5)
        raise KeyError("no such item")

    with serving(lambda _: completion(seconds=0.05)) as server:
        sender = transport(server.url)
        with pytest.raises(KeyError, match="no such item"):
            sender.transmit(failing(), delivered.append)  # type: ignore[arg-type]

    assert len(delivered) == 5


def test_a_loop_that_runs_already_is_no_hindrance() -> None:
    async def within() -> dict[str, Reply]:
        return replied(server, *questions(3))

    with serving() as server:
        assert len(asyncio.run(within())) == 3
