"""Runs that are killed: no call that was logged is made again."""

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.dagster.language_models.asking import made, questions
from tests.dagster.language_models.misbehaving_server import completion, serving
from tests.pipeline.processes import start

N_CALLS = 400
N_AT_ONCE = 8


def ask(url: str, folder: Path) -> None:
    made(questions(N_CALLS), url, folder, max_concurrency=N_AT_ONCE)
    os._exit(0)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_killed_run_repeats_no_more_than_was_in_flight(
    share: float, tmp_path: Path
) -> None:
    with serving(lambda _: completion(seconds=0.01)) as server:
        process = start(ask, server.url, tmp_path)
        while len(server.asked) < share * N_CALLS:
            assert process.is_alive()
            time.sleep(0.001)
        process.kill()
        process.join()
        n_before = len(server.asked)
        summary, replies = made(
            questions(N_CALLS), server.url, tmp_path, max_concurrency=N_AT_ONCE
        )

    assert process.exitcode == -9
    assert len(replies) == N_CALLS
    assert {reply.status for reply in replies.values()} == {"answered"}
    assert summary.n_logged >= n_before - N_AT_ONCE
    assert summary.n_made == N_CALLS - summary.n_logged
    repeats = Counter(server.n_by_question.values())
    assert repeats.keys() <= {1, 2}
    assert repeats[2] <= N_AT_ONCE
