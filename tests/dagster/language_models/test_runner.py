"""Runs of calls: what the log holds is not made again, and a budget is kept."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from skillmap.calls import (
    Budget,
    Call,
    CallProgress,
    Price,
    Prices,
    Reply,
)
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.call_log import CallLog
from skillmap_dagster.resources.language_models.runner import make_calls
from tests.dagster.language_models.asking import call, made, questions
from tests.dagster.language_models.misbehaving_server import (
    Answer,
    Asked,
    completion,
    failure,
    serving,
)
from tests.pipeline.processes import finish, start

pytestmark = pytest.mark.usefixtures("short_waits")

# A call that is estimated at 16 and costs 15 tokens of a dollar per thousand.
PRICES = Prices({"tested": Price(prompt=1_000, completion=1_000)})


class Scripted:
    """A transport that keeps some calls in flight before it delivers the oldest."""

    def __init__(self, n_at_once: int, reply: Callable[[Call], Reply]) -> None:
        self.n_at_once = n_at_once
        self.reply = reply
        self.made: list[Call] = []

    def transmit(self, calls: Iterable[Call], deliver: Callable[[Reply], None]) -> None:
        in_flight: list[Call] = []
        for one in calls:
            self.made.append(one)
            in_flight.append(one)
            if len(in_flight) == self.n_at_once:
                deliver(self.reply(in_flight.pop(0)))
        for one in in_flight:
            deliver(self.reply(one))


def counted(n_prompt: int, n_completion: int) -> Callable[[Call], Reply]:
    return lambda one: Reply(
        key=one.key,
        status="answered",
        text="B",
        n_prompt_tokens=n_prompt,
        n_completion_tokens=n_completion,
    )


def test_only_what_the_log_does_not_hold_is_made(tmp_path: Path) -> None:
    with serving() as server:
        first, _ = made(questions(150), server.url, tmp_path)
        second, replies = made(questions(200), server.url, tmp_path)
        third, _ = made(questions(200), server.url, tmp_path)

    assert (first.n_made, first.n_logged) == (150, 0)
    assert (second.n_made, second.n_logged, second.n_calls) == (50, 150, 200)
    assert (third.n_made, third.n_logged) == (0, 200)
    assert len(server.asked) == len(replies) == 200


def test_without_calls_to_make_the_transport_is_not_used(tmp_path: Path) -> None:
    with serving() as server:
        made(questions(10), server.url, tmp_path)
    untouched = Scripted(1, counted(1, 1))

    summary = make_calls(questions(10), transport=untouched, log=CallLog(tmp_path))

    assert summary.n_logged == 10
    assert not untouched.made


def test_equal_calls_are_made_once(tmp_path: Path) -> None:
    with serving(lambda _: completion(seconds=0.02)) as server:
        summary, _ = made([call()] * 500 + questions(10), server.url, tmp_path)

    assert summary.n_calls == summary.n_made == len(server.asked) == 11


def test_another_temperature_is_another_run(tmp_path: Path) -> None:
    with serving(lambda asked: completion(str(asked.body["temperature"]))) as server:
        _, cold = made([call(temperature=0.0)], server.url, tmp_path)
        _, warm = made([call(temperature=0.7)], server.url, tmp_path)

    assert cold["Why?"].text == "0.0"
    assert warm["Why?"].text == "0.7"


def test_another_model_is_asked_itself(tmp_path: Path) -> None:
    with serving(lambda asked: completion(asked.body["model"])) as server:
        _, a = made([call(model="a", served_name="a")], server.url, tmp_path)
        _, b = made([call(model="b", served_name="b")], server.url, tmp_path)

    assert (a["Why?"].text, b["Why?"].text) == ("a", "b")


def test_errors_are_tried_again_and_outcomes_are_not(tmp_path: Path) -> None:
    outcomes = [
        failure(400),
        completion(""),
        completion(None, finish_reason="length"),
        completion(message={"refusal": "no"}),
        completion(None, finish_reason="content_filter"),
        completion(),
    ]

    def behaviour(asked: Asked) -> Answer:
        return outcomes[int(asked.question.split()[1].rstrip("?"))]

    with serving(behaviour) as server:
        first, _ = made(questions(6), server.url, tmp_path)
        second, replies = made(questions(6), server.url, tmp_path)

    assert first.n_by_status == dict.fromkeys(
        ("error", "empty", "truncated", "refused", "filtered", "answered"), 1
    )
    assert (second.n_made, second.n_errors) == (1, 1)
    assert Counter(server.n_by_question.values()) == {1: 5, 2: 1}
    assert len(replies) == 6


@pytest.mark.parametrize("n_at_once", [1, 4, 32])
def test_a_budget_in_usd_is_never_passed(n_at_once: int, tmp_path: Path) -> None:
    carrier = Scripted(n_at_once, counted(10, 10))

    summary = make_calls(
        questions(1_000),
        transport=carrier,
        log=CallLog(tmp_path),
        budget=Budget(usd=1.00),
        prices=PRICES,
    )

    assert summary.is_budget_stopped
    # 20 tokens of 0.001 USD each: 50 calls cost a dollar, and one sets aside 0.029.
    assert 0.95 < summary.cost_usd <= 1.00
    assert summary.n_made == len(carrier.made) >= 48
    assert summary.n_not_attempted == 1_000 - summary.n_made
    assert CallLog(tmp_path).totals()["n_calls"].sum() == summary.n_made


@pytest.mark.parametrize("n_at_once", [1, 4])
def test_what_costs_more_than_it_should_is_over_by_the_calls_in_flight(
    n_at_once: int, tmp_path: Path
) -> None:
    summary = make_calls(
        questions(1_000),
        transport=Scripted(n_at_once, counted(10, 60)),
        log=CallLog(tmp_path),
        budget=Budget(usd=1.00),
        prices=PRICES,
    )

    assert summary.is_budget_stopped
    assert 0.90 < summary.cost_usd <= 1.00 + n_at_once * 0.07


def test_a_budget_of_four_workers_over_http_is_kept(tmp_path: Path) -> None:
    prices = Prices({"tested": Price(prompt=2_000, completion=2_000)})
    with serving(lambda _: completion(seconds=0.005)) as server:
        summary, _ = made(
            questions(200),
            server.url,
            tmp_path,
            max_concurrency=4,
            budget=Budget(usd=1.00),
            prices=prices,
        )
        bigger, _ = made(
            questions(200),
            server.url,
            tmp_path,
            max_concurrency=4,
            budget=Budget(usd=100.0),
            prices=prices,
        )

    assert summary.is_budget_stopped
    assert 0.9 < summary.cost_usd <= 1.00
    # What is done is kept, and paid for once.
    assert bigger.n_logged == summary.n_made
    assert not bigger.is_budget_stopped
    assert set(server.n_by_question.values()) == {1}


def test_a_budget_in_tokens_needs_no_price(tmp_path: Path) -> None:
    summary = make_calls(
        questions(100),
        transport=Scripted(4, counted(10, 10)),
        log=CallLog(tmp_path),
        budget=Budget(tokens=1_000),
    )

    assert summary.is_budget_stopped
    assert 900 < summary.n_prompt_tokens + summary.n_completion_tokens <= 1_000
    assert summary.cost_usd == 0


def test_answers_without_usage_count_as_what_was_set_aside(tmp_path: Path) -> None:
    summary = make_calls(
        questions(100),
        transport=Scripted(1, lambda one: Reply(key=one.key, status="answered")),
        log=CallLog(tmp_path),
        budget=Budget(tokens=1_000),
    )

    assert summary.is_budget_stopped
    assert 20 <= summary.n_made <= 40
    assert summary.n_without_usage == summary.n_made


def test_a_budget_in_usd_without_a_price_is_an_error_before_the_first_call(
    tmp_path: Path,
) -> None:
    with serving() as server, pytest.raises(InvalidInputError, match="no price"):
        made(questions(5), server.url, tmp_path, budget=Budget(usd=1.0))

    assert not server.asked


def test_a_budget_of_nothing_makes_no_call(tmp_path: Path) -> None:
    carrier = Scripted(1, counted(1, 1))

    summary = make_calls(
        questions(300),
        transport=carrier,
        log=CallLog(tmp_path),
        budget=Budget(tokens=0),
    )

    assert summary.is_budget_stopped
    assert summary.n_not_attempted == 300
    assert not carrier.made


def test_progress_is_told_seldom_and_at_the_end(tmp_path: Path) -> None:
    told: list[CallProgress] = []
    began = time.monotonic()
    with serving(lambda _: completion(seconds=0.05)) as server:
        made(
            questions(100),
            server.url,
            tmp_path,
            max_concurrency=4,
            progress=told.append,
            budget=Budget(tokens=10_000),
        )
    seconds = time.monotonic() - began

    assert 2 <= len(told) <= 2 * seconds + 2
    for progress in told[:-1]:
        assert progress.n_left == 100 - progress.n_made
        assert progress.calls_per_second > 0
        assert 0 < (progress.seconds_left or 0) < 60
        assert progress.left_tokens == 10_000 - progress.n_tokens
    assert told[-1].n_done == 100
    assert told[-1].n_tokens == 1_500


def test_calls_that_a_transport_forgets_are_not_attempted(tmp_path: Path) -> None:
    class Forgetful(Scripted):
        def transmit(
            self, calls: Iterable[Call], deliver: Callable[[Reply], None]
        ) -> None:
            super().transmit(calls, lambda r: None if self.forgets(r) else deliver(r))

        def forgets(self, reply: Reply) -> bool:
            return reply.key < "8"

    summary = make_calls(
        questions(100), transport=Forgetful(4, counted(1, 1)), log=CallLog(tmp_path)
    )

    assert summary.n_calls == 100
    assert summary.n_made + summary.n_not_attempted == 100
    assert not summary.is_budget_stopped
    again = make_calls(
        questions(100), transport=Scripted(4, counted(1, 1)), log=CallLog(tmp_path)
    )
    assert again.n_made == summary.n_not_attempted


def ask(url: str, folder: Path, n: int) -> None:
    summary, replies = made(questions(n), url, folder, max_concurrency=4)
    (folder / f"made-{time.monotonic_ns()}").write_text(str(summary.n_made))
    assert len(replies) == n


def test_two_processes_share_the_calls(tmp_path: Path) -> None:
    with serving(lambda _: completion(seconds=0.005)) as server:
        processes = [start(ask, server.url, tmp_path, 300) for _ in range(2)]

        assert finish(*processes) == [0, 0]

    shares = [int(file.read_text()) for file in tmp_path.glob("made-*")]
    assert len(shares) == 2
    assert sum(shares) == len(server.asked) == 300
    assert set(server.n_by_question.values()) == {1}
