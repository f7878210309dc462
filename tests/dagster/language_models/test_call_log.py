"""The log keeps every answer once, apart from every other, whatever happens."""

import random
from dataclasses import fields
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest

from skillmap.calls import FINISHED_STATUSES, Image, Message, Reply, Structure
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.call_log import CallLog
from tests.dagster.language_models.asking import call, questions
from tests.pipeline.processes import finish, start


def answer(key: str, text: str = "B") -> Reply:
    return Reply(
        key=key,
        status="answered",
        text=text,
        finish_reason="stop",
        n_prompt_tokens=10,
        n_completion_tokens=5,
        latency_seconds=0.5,
        n_attempts=2,
        cost_usd=0.25,
        served_model="loopback-1",
        structure_form="prompt",
    )


def test_a_reply_comes_back_as_it_was_written(tmp_path: Path) -> None:
    one, other = questions(2)
    with CallLog(tmp_path) as log:
        log.write(one, answer(one.key))
        log.write(other, Reply(key=other.key, status="error", error="HTTP 500"))

    with CallLog(tmp_path) as log:
        found = log.replies([other.key, one.key, "f" * 64])
        frame = log.frame([one.key]).row(0, named=True)

    assert found == {
        one.key: answer(one.key),
        other.key: Reply(key=other.key, status="error", error="HTTP 500"),
    }
    assert Reply(**frame) == answer(one.key)
    assert list(frame) == [field.name for field in fields(Reply)]


def test_a_log_of_nothing_makes_no_file(tmp_path: Path) -> None:
    with CallLog(tmp_path / "calls") as log:
        assert log.replies(["a"]) == {}
        assert log.frame(["a"]).is_empty()
        assert log.missing(["a"]) == ["a"]
        assert log.totals().is_empty()

    assert not (tmp_path / "calls").exists()


def test_only_calls_without_an_outcome_are_missing(tmp_path: Path) -> None:
    asked = questions(7)
    statuses = sorted(FINISHED_STATUSES)
    with CallLog(tmp_path) as log:
        for one, status in zip(asked, [*statuses, "error"], strict=False):
            log.write(one, Reply(key=one.key, status=status))  # type: ignore[arg-type]

        assert log.missing([one.key for one in asked]) == [c.key for c in asked[5:]]


def test_an_error_gives_way_and_an_answer_does_not(tmp_path: Path) -> None:
    one = call()
    with CallLog(tmp_path) as log:
        for reply in (
            Reply(key=one.key, status="error", error="HTTP 500"),
            answer(one.key, "first"),
            Reply(key=one.key, status="error", error="HTTP 500"),
            answer(one.key, "second"),
        ):
            log.write(one, reply)

        assert log.replies([one.key])[one.key].text == "first"


def test_a_call_that_was_not_attempted_is_not_logged(tmp_path: Path) -> None:
    one = call()
    with CallLog(tmp_path) as log, pytest.raises(InvalidInputError):
        log.write(one, Reply(key=one.key, status="not_attempted"))


def test_two_models_temperatures_or_epochs_never_share_an_answer(
    tmp_path: Path,
) -> None:
    variants = [
        call(),
        call(model="other"),
        call(served_name="loopback-2"),
        call(revision="1"),
        call(temperature=0.7),
        call(max_tokens=17),
        call(epoch=1),
        call(structure=Structure("s", "{}")),
        call(messages=(Message("system", "Why?"),)),
        call(messages=(Message("user", "Why?", (Image("image/png", "AA"),)),)),
    ]
    with CallLog(tmp_path) as log:
        for number, one in enumerate(variants):
            assert log.missing([one.key]) == [one.key]
            log.write(one, answer(one.key, str(number)))

        found = log.replies([one.key for one in variants])

    assert [found[one.key].text for one in variants] == list("0123456789")


def test_what_was_sent_can_be_looked_up_and_an_image_is_kept_once(
    tmp_path: Path,
) -> None:
    image = Image("image/png", "A" * 10_000)
    asked = [
        call(str(n), messages=(Message("user", f"{n} x\ud835", (image,)),))
        for n in range(50)
    ]
    with CallLog(tmp_path) as log:
        for one in asked:
            log.write(one, answer(one.key))
        request = log.request(asked[7].key)
        assert request is not None
        ((role, text, images),) = request["messages"]

        assert (role, text) == ("user", "7 x\ud835")
        assert log.image(images[0]) == image
        assert log.request("f" * 64) is None
    n_bytes = sum(file.stat().st_size for file in tmp_path.rglob("*"))
    assert n_bytes < 10 * len(image.base64)


def test_totals_are_told_by_model(tmp_path: Path) -> None:
    with CallLog(tmp_path) as log:
        for one in questions(3):
            log.write(one, answer(one.key))
        other = call(model="another")
        log.write(other, Reply(key=other.key, status="error"))
        totals = log.totals()

    assert totals["model"].to_list() == ["another", "tested"]
    assert totals.row(1, named=True) == {
        "model": "tested",
        "n_calls": 3,
        "n_answered": 3,
        "n_refused": 0,
        "n_filtered": 0,
        "n_empty": 0,
        "n_truncated": 0,
        "n_error": 0,
        "n_prompt_tokens": 30,
        "n_completion_tokens": 15,
        "cost_usd": 0.75,
    }
    assert totals["cost_usd"].to_list()[0] is None


def test_many_keys_are_looked_up_in_few_queries(tmp_path: Path) -> None:
    asked = questions(5_000)
    with CallLog(tmp_path) as log:
        log.claim([])
        log._connection.execute("begin")  # noqa: SLF001  one commit for the setup
        for one in asked:
            row = (one.key, "answered", 1, "m", "m", 0, "", 1, 0.0, "{}", b"")
            log._connection.execute(  # noqa: SLF001
                "insert into calls (key, status, is_finished, model, served_name, "
                "epoch, about, n_attempts, finished_at, parameters, request) "
                "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        log._connection.execute("commit")  # noqa: SLF001
        queries: list[str] = []
        log._connection.set_trace_callback(queries.append)  # noqa: SLF001

        assert log.frame([one.key for one in asked]).height == 5_000
        assert log.missing([one.key for one in asked]) == []
        assert len(queries) <= 6


def test_a_claim_keeps_others_away_until_it_is_given_up(tmp_path: Path) -> None:
    keys = [one.key for one in questions(3)]
    with CallLog(tmp_path) as mine, CallLog(tmp_path) as other:
        assert mine.claim(keys[:2]) == (set(), set())
        assert other.claim(keys) == (set(), set(keys[:2]))
        assert mine.claim(keys) == (set(), {keys[2]})
        mine.release([keys[0]])
        mine.write(questions(2)[1], answer(keys[1]))
        assert other.claim(keys) == ({keys[1]}, set())
        other.close()
        assert mine.claim(keys) == ({keys[1]}, set())


def claim_and_hold(folder: Path, keys: list[str]) -> None:
    log = CallLog(folder)
    log.claim(keys)
    (folder / "claimed").touch()
    get_context().Event().wait()


def test_the_claims_of_a_killed_process_end_with_it(tmp_path: Path) -> None:
    keys = [one.key for one in questions(3)]
    process = start(claim_and_hold, tmp_path, keys)
    with CallLog(tmp_path) as log:
        while not (tmp_path / "claimed").exists():
            assert process.is_alive()
        assert log.claim(keys) == (set(), set(keys))
        process.kill()
        process.join()
        assert log.claim(keys) == (set(), set())
    assert list((tmp_path / "owners").iterdir()) == []


def write_shuffled(folder: Path, n: int, seed: int) -> None:
    asked = questions(n)
    random.Random(seed).shuffle(asked)  # noqa: S311  any order will do
    with CallLog(folder) as log:
        for one in asked:
            log.write(one, answer(one.key, str(seed)))


def test_processes_write_to_one_log_at_once(tmp_path: Path) -> None:
    processes = [start(write_shuffled, tmp_path, 200, seed) for seed in range(3)]

    assert finish(*processes) == [0, 0, 0]
    with CallLog(tmp_path) as log:
        found = log.frame([one.key for one in questions(200)])
    assert found.height == 200
    assert found["status"].unique().to_list() == ["answered"]


def test_a_log_of_a_later_release_is_left_alone(tmp_path: Path) -> None:
    with CallLog(tmp_path) as log:
        log.claim([])
        log._connection.execute("pragma user_version = 99")  # noqa: SLF001

    with CallLog(tmp_path) as log, pytest.raises(InvalidInputError, match="later"):
        log.totals()


def test_the_frame_of_replies_holds_long_texts(tmp_path: Path) -> None:
    one = call()
    with CallLog(tmp_path) as log:
        log.write(one, answer(one.key, "ü\0" * 100_000))
        frame = log.frame([one.key])

    assert frame.schema["text"] == pl.String
    assert frame["text"][0] == "ü\0" * 100_000
