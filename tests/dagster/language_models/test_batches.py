"""Batches: files to hand in and to read, and a service that is asked for them."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillmap.calls import Call, Dialect, Reply
from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models.batch_files import (
    BatchLimits,
    ResultFiles,
    write_request_files,
)
from skillmap_dagster.resources.language_models.batch_transport import BatchTransport
from skillmap_dagster.resources.language_models.call_log import CallLog
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.runner import make_calls
from tests.dagster.language_models.asking import call, questions
from tests.dagster.language_models.batches import answered, failed, lines
from tests.dagster.language_models.misbehaving_server import Server, serving


def request(one: Call) -> dict[str, Any]:
    return {"custom_id": one.key, "body": {"messages": [{"content": one.about}]}}


def status(folder: Path) -> dict[str, int]:
    totals = CallLog(folder).totals()
    return {"answered": totals["n_answered"].sum(), "error": totals["n_error"].sum()}


def test_a_request_file_is_in_the_form_of_the_interface(tmp_path: Path) -> None:
    one = call("Was heißt das?")
    (file,) = write_request_files([one], tmp_path, dialect=Dialect())

    assert file.keys == (one.key,)
    assert [json.loads(line) for line in file.path.read_bytes().splitlines()] == [
        {
            "custom_id": one.key,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": "loopback-1",
                "messages": [{"role": "user", "content": "Was heißt das?"}],
                "max_tokens": 16,
                "temperature": 0.0,
            },
        }
    ]


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        (BatchLimits(n_requests=4), [4, 4, 2]),
        (BatchLimits(n_bytes=800), [3, 3, 3, 1]),
        (BatchLimits(), [10]),
    ],
)
def test_a_request_file_keeps_to_its_limits(
    limits: BatchLimits, sizes: list[int], tmp_path: Path
) -> None:
    asked = questions(10)
    files = list(write_request_files(asked, tmp_path, limits=limits))

    assert [len(file.keys) for file in files] == sizes
    assert [key for file in files for key in file.keys] == [one.key for one in asked]
    for file in files:
        assert file.path.stat().st_size <= limits.n_bytes
        assert len(file.path.read_bytes().splitlines()) == len(file.keys)


def test_a_request_that_fits_no_file_is_refused_by_itself(tmp_path: Path) -> None:
    refused: list[Reply] = []
    asked = [call("short"), call("long " * 200), call("short too")]

    (file,) = write_request_files(
        asked, tmp_path, limits=BatchLimits(n_bytes=900), refuse=refused.append
    )

    assert file.keys == (asked[0].key, asked[2].key)
    assert [(r.key, r.status) for r in refused] == [(asked[1].key, "error")]


def test_results_are_read_in_any_order_with_what_is_wrong_told(tmp_path: Path) -> None:
    asked = questions(10)
    rows = [answered(request(one)) for one in reversed(asked[:6])]
    output = [
        *lines(rows),
        lines(rows)[0],
        lines([failed(request(asked[5]))])[0],
        b"",
        lines([answered(request(call("of another batch")))])[0],
        b"[]",
        b'{"custom_id": 5}',
        b"\xff\xfe",
        lines(rows)[0][:40],
    ]
    (tmp_path / "output.jsonl").write_bytes(b"\n".join(output))
    errors = lines([failed(request(one)) for one in asked[6:8]])
    (tmp_path / "error.jsonl").write_bytes(b"\n".join(errors))
    files = ResultFiles(
        [tmp_path / "error.jsonl", tmp_path / "output.jsonl"],
        tmp_path / "quarantine.jsonl",
    )

    log = CallLog(tmp_path / "calls")
    summary = make_calls(asked, transport=files, log=log)

    assert summary.n_by_status == {"answered": 6, "error": 2, "not_attempted": 2}
    assert not summary.is_budget_stopped
    replies = log.replies([one.key for one in asked])
    for one in asked[:6]:
        assert replies[one.key].text == f"about {one.about}"
    assert replies[asked[6].key].error == "HTTP 400: bad request"
    assert files.n_duplicates == 2
    told = (tmp_path / "quarantine.jsonl").read_text().splitlines()
    assert [json.loads(line)["reason"] for line in told] == [
        "the row answers no call of this batch",
        "the line is no JSON object",
        "the row has no custom_id",
        "the line is not UTF-8",
        "the line is torn, or not JSON",
    ]
    assert Counter(fault.file for fault in files.faults) == {"output.jsonl": 5}
    assert status(tmp_path / "calls") == {"answered": 6, "error": 2}


def batches(
    server: Server, folder: Path, sleep: Callable[[float], None] = lambda _: None
) -> BatchTransport:
    endpoint = Endpoint(base_url=server.url, n_tries=1)
    return BatchTransport(
        endpoint, folder / "batches", limits=BatchLimits(n_requests=40), sleep=sleep
    )


def test_a_service_is_handed_batches_and_asked_until_they_are_done(
    tmp_path: Path,
) -> None:
    asked = questions(100)
    with serving() as server:
        server.batches.row = lambda r: (
            failed(r) if "7" in r["body"]["messages"][0]["content"] else answered(r)
        )
        server.batches.spoil = lambda found: [*found, found[0], b'{"custom_id": "']
        sender = batches(server, tmp_path)
        log = CallLog(tmp_path)
        summary = make_calls(asked, transport=sender, log=log)

    n_failed = sum("7" in one.about for one in asked)
    assert summary.n_by_status == {"answered": 100 - n_failed, "error": n_failed}
    replies = log.replies([one.key for one in asked])
    for one in asked:
        expected = None if "7" in one.about else f"about {one.about}"
        assert replies[one.key].text == expected
    assert len(server.batches.batches) == 3
    # A torn line at the end of each of the files of results and of errors.
    assert sender.n_faults == 6
    left = [file.name for file in (tmp_path / "batches").iterdir()]
    assert all(name.endswith(".quarantine.jsonl") for name in left)


class StoppedError(Exception):
    """Stands for a kill."""


def stop(_: float) -> None:
    raise StoppedError


def test_a_run_that_stopped_while_it_waited_reads_the_same_batches(
    tmp_path: Path,
) -> None:
    asked = questions(100)
    with serving() as server:
        with pytest.raises(StoppedError):
            make_calls(
                asked,
                transport=batches(server, tmp_path, stop),
                log=CallLog(tmp_path),
            )
        assert len(server.batches.batches) == 3
        # Others are asked for besides, and some no more.
        wider = [*asked[:90], *(call(f"New {n}?") for n in range(5))]
        first = make_calls(
            wider, transport=batches(server, tmp_path), log=CallLog(tmp_path)
        )
        assert len(server.batches.batches) == 4
        second = make_calls(
            asked, transport=batches(server, tmp_path), log=CallLog(tmp_path)
        )

    assert first.n_by_status == {"answered": 95}
    assert (second.n_logged, second.n_by_status) == (90, {"answered": 10})
    assert len(server.batches.batches) == 4
    assert not list((tmp_path / "batches").iterdir())


def test_a_batch_that_was_handed_in_but_not_noted_is_found_again(
    tmp_path: Path,
) -> None:
    asked = questions(10)
    with serving() as server:
        with pytest.raises(StoppedError):
            batches(server, tmp_path, stop).transmit(asked, lambda _: None)
        (file,) = (tmp_path / "batches").glob("*/batch.json")
        note = json.loads(file.read_text())
        file.write_text(json.dumps(note | {"batch_id": None}))
        replies: list[Reply] = []
        batches(server, tmp_path).transmit(asked, replies.append)

    assert len(server.batches.batches) == 1
    assert {reply.key for reply in replies} == {one.key for one in asked}


def test_a_batch_that_expired_leaves_calls_to_be_asked_again(tmp_path: Path) -> None:
    with serving() as server:
        server.batches.status = "expired"
        server.batches.spoil = lambda found: found[:4]
        first = make_calls(
            questions(10), transport=batches(server, tmp_path), log=CallLog(tmp_path)
        )
        server.batches.spoil = lambda found: found
        second = make_calls(
            questions(10), transport=batches(server, tmp_path), log=CallLog(tmp_path)
        )

    assert first.n_by_status == {"answered": 4, "not_attempted": 6}
    assert second.n_by_status == {"answered": 6}


def test_a_batch_that_the_service_lost_is_handed_in_again(tmp_path: Path) -> None:
    with serving() as server:
        with pytest.raises(StoppedError):
            batches(server, tmp_path, stop).transmit(questions(3), lambda _: None)
        server.batches.batches.clear()
        first = make_calls(
            questions(3), transport=batches(server, tmp_path), log=CallLog(tmp_path)
        )
        second = make_calls(
            questions(3), transport=batches(server, tmp_path), log=CallLog(tmp_path)
        )

    assert first.n_by_status == {"not_attempted": 3}
    assert second.n_by_status == {"answered": 3}


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    with serving() as server:
        sender = batches(server, tmp_path)

    with pytest.raises(ServiceError, match=r"batches at 127\.0\.0\.1"):
        sender.transmit(questions(3), lambda _: None)


def test_a_key_that_is_not_there_is_told_by_its_variable(tmp_path: Path) -> None:
    endpoint = Endpoint(
        base_url="http://127.0.0.1:9/v1", api_key_variable="NOT_SET_ANYWHERE"
    )
    with pytest.raises(InvalidInputError, match="NOT_SET_ANYWHERE holds no key"):
        BatchTransport(endpoint, tmp_path).transmit([], lambda _: None)
