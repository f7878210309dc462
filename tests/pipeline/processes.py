"""Other processes that work on a home at the same time, cheap to start and to kill.

A fork server imports everything once; what it starts is a process of its own, as
`skillmap run` is, without the seconds of import.
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from skillmap_dagster.runs import Platform

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.pipeline.preloaded"])
_MOST_SECONDS = 120


def start(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """A process that does ``work``."""
    process = _CONTEXT.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


def finish(*processes: BaseProcess) -> list[int | None]:
    """Exit codes of processes, killed if they take too long."""
    end = time.monotonic() + _MOST_SECONDS
    for process in processes:
        process.join(max(0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
    return [process.exitcode for process in processes]


def bring_up_to_date(home: Path) -> None:
    """Make everything that is stale; a failure is the exit code 1."""
    outcome = Platform.at(home).bring_up_to_date()
    os._exit(1 if outcome.failures else 0)
