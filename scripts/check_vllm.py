"""Put the starter suite to SmolLM2 in vLLM, over HTTP and offline, and compare.

Needs an environment with vLLM and a folder with the model; ``make vllm-check`` has
both. Run from the repository's root::

    python -m scripts.check_vllm --interpreter PYTHON --folder FOLDER

It ends with exit code 1 if an answer failed, or if the two ways gave answers to one
item that differ.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.record_starter_responses import BENCHMARKS, MODES, Mode
from scripts.starter_calls import is_as_recorded, recorded_responses, starter_calls
from skillmap.calls import Call, Reply
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.openai_transport import OpenAITransport
from skillmap_dagster.resources.language_models.transport import Transport
from skillmap_dagster.resources.language_models.vllm_engine import VllmEngine
from skillmap_dagster.resources.language_models.vllm_server import VllmServer

_CONCURRENCY = 16


def main() -> int:
    """Ask through both, then compare all that was asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interpreter", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--modes", nargs="+", default=["direct"])
    parser.add_argument("--benchmarks", nargs="+", default=list(BENCHMARKS))
    given = parser.parse_args()
    modes = [mode for mode in MODES if mode.name in given.modes]
    calls = {
        m.name: starter_calls(m, served_name="smollm2", benchmarks=given.benchmarks)
        for m in modes
    }
    with _server(given.interpreter, given.folder) as transport:
        served = {
            m.name: _answers("over HTTP", transport, calls[m.name]) for m in modes
        }
    with VllmEngine(folder=given.folder, interpreter=given.interpreter) as engine:
        offline = {m.name: _answers("offline", engine, calls[m.name]) for m in modes}
        _tell(f"offline on {engine.picked_device}")
    counts = [
        _compared(m, calls[m.name], served[m.name], offline[m.name]) for m in modes
    ]
    return 1 if any(counts) else 0


@contextmanager
def _server(interpreter: Path, folder: Path) -> Iterator[Transport]:
    server = VllmServer(folder=folder, interpreter=interpreter, served_name="smollm2")
    start = time.monotonic()
    with server.running(_waiting) as served:
        _tell(f"server ready after {time.monotonic() - start:.0f} s on {served.device}")
        endpoint = Endpoint(
            base_url=served.base_url,
            continues_messages=True,
            first_concurrency=_CONCURRENCY,
            max_concurrency=_CONCURRENCY,
        )
        yield OpenAITransport(endpoint)
    _tell("server stopped")


def _waiting(seconds: float, line: str) -> None:
    _tell(f"waiting for the server, {seconds:.0f} s: {line[:100]}")


def _answers(way: str, transport: Transport, calls: list[Call]) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}
    start = time.monotonic()
    transport.transmit(calls, _keeper(replies))
    seconds = time.monotonic() - start
    n_tokens = sum(reply.n_completion_tokens or 0 for reply in replies.values())
    _tell(f"{way}: {len(replies)} calls, {n_tokens} tokens in {seconds:.0f} s")
    return replies


def _keeper(replies: dict[str, Reply]) -> Callable[[Reply], None]:
    def keep(reply: Reply) -> None:
        replies[reply.key] = reply

    return keep


def _compared(
    mode: Mode, calls: list[Call], served: dict[str, Reply], offline: dict[str, Reply]
) -> int:
    """Answers that failed, or differ between the two ways."""
    recorded = recorded_responses(mode)
    n_same = n_recorded = 0
    for call in calls:
        told = [served[call.key], offline[call.key]]
        texts = [reply.text if reply.status != "error" else None for reply in told]
        is_same = texts[0] is not None and texts[0] == texts[1]
        n_same += is_same
        n_recorded += is_as_recorded(call, told[1], recorded[call.about])
        if not is_same:
            _tell(f"{mode.name} {call.about}: {told[0]} / {told[1]}")
    _tell(
        f"{mode.name}: {n_same} of {len(calls)} answers are the same over HTTP and "
        f"offline; {n_recorded} offline are as transformers recorded them"
    )
    return len(calls) - n_same


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
