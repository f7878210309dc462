"""Calls through the log beside a bare loop over the same client, and their memory.

    python -m benchmarks.calls --calls 46000 --concurrency 32

The server answers from another process, after a fixed time, and does nothing else.
Each measurement is a process of its own; both kinds take turns, so that what else the
machine does falls on both. Compare ratios within one run only.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from skillmap.calls import Call, Message, Parameters

PROMPT = "A train leaves at noon and runs at sixty miles an hour. " * 4
MEBIBYTE = 1 << 20
COMPLETION = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "ANSWER: B"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 60, "completion_tokens": 4, "total_tokens": 64},
    }
).encode()
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    % len(COMPLETION)
) + COMPLETION


class Measured(NamedTuple):
    kind: str
    seconds: float
    cpu_seconds: float
    mebibytes_before: float
    mebibytes_peak: float


class Answering(asyncio.Protocol):
    """Answers every request alike, as cheaply as can be."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.received) < end + 4 + length:
                return
            self.received = self.received[end + 4 + length :]
            loop = asyncio.get_running_loop()
            loop.call_later(self.seconds, self.transport.write, ANSWER)  # type: ignore[attr-defined]


def serve(seconds: float, port: Connection) -> None:
    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Answering(seconds), "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def calls(n: int) -> Iterator[Call]:
    parameters = Parameters(max_tokens=16)
    for number in range(n):
        messages = (Message("user", f"{PROMPT}Question {number}?"),)
        yield Call("loopback", "loopback", messages, parameters, about=str(number))


def bare(url: str, n: int, concurrency: int) -> None:
    """What one would write without a log, retries, pacing, keys or a budget."""
    import openai  # noqa: PLC0415  counted where it is used

    async def work() -> None:
        async with openai.AsyncOpenAI(
            api_key="EMPTY", base_url=url, max_retries=0
        ) as client:
            numbers = iter(range(n))
            answers: list[str | None] = []

            async def worker() -> None:
                for number in numbers:
                    completion = await client.chat.completions.create(
                        model="loopback",
                        messages=[
                            {"role": "user", "content": f"{PROMPT}Question {number}?"}
                        ],
                        max_tokens=16,
                        temperature=0,
                    )
                    answers.append(completion.choices[0].message.content)

            await asyncio.gather(*(worker() for _ in range(concurrency)))
        if len(answers) != n:
            raise SystemExit(f"{len(answers)} answers to {n} calls")

    asyncio.run(work())


def logged(url: str, n: int, concurrency: int) -> None:
    from skillmap_dagster.resources.language_models.call_log import (  # noqa: PLC0415
        CallLog,
    )
    from skillmap_dagster.resources.language_models.endpoint import (  # noqa: PLC0415
        Endpoint,
    )
    from skillmap_dagster.resources.language_models.openai_transport import (  # noqa: PLC0415
        OpenAITransport,
    )
    from skillmap_dagster.resources.language_models.runner import (  # noqa: PLC0415
        make_calls,
    )

    endpoint = Endpoint(base_url=url, max_concurrency=concurrency)
    with tempfile.TemporaryDirectory(prefix="skillmap-benchmark-") as folder:
        summary = make_calls(
            calls(n), transport=OpenAITransport(endpoint), log=CallLog(Path(folder))
        )
    if summary.n_by_status != {"answered": n}:
        raise SystemExit(f"not all answered: {summary}")


def measure(kind: str, url: str, n: int, concurrency: int, result: Connection) -> None:
    import openai  # noqa: F401, PLC0415

    import skillmap_dagster.resources.language_models.runner  # noqa: F401, PLC0415

    work = {"bare": bare, "logged": logged}[kind]
    work(url, 64, concurrency)
    before = peak_mebibytes()
    cpu, wall = time.process_time(), time.perf_counter()
    work(url, n, concurrency)
    seconds = time.perf_counter() - wall
    cpu_seconds = time.process_time() - cpu
    result.send(Measured(kind, seconds, cpu_seconds, before, peak_mebibytes()))


def peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEBIBYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=46_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--milliseconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(
        target=serve, args=(options.milliseconds / 1_000, theirs), daemon=True
    )
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    found: list[Measured] = []
    for _ in range(options.rounds):
        for kind in ("bare", "logged"):
            given = (kind, url, options.calls, options.concurrency, theirs)
            process = context.Process(target=measure, args=given)
            process.start()
            found.append(ours.recv())
            process.join()
            tell(found[-1], options.calls)
    for what in ("seconds", "cpu_seconds"):
        ratio = median(found, "logged", what) / median(found, "bare", what)
        print(f"logged calls take {ratio:.1%} of the bare loop's {what}")
    server.kill()


def tell(measured: Measured, n: int) -> None:
    print(
        f"{measured.kind:7} {n / measured.seconds:8,.0f} calls/s  "
        f"{measured.cpu_seconds / n * 1e6:6,.0f} µs of CPU a call  "
        f"peak {measured.mebibytes_peak:,.0f} MiB, "
        f"{measured.mebibytes_peak - measured.mebibytes_before:,.0f} above the start"
    )


def median(found: list[Measured], kind: str, what: str) -> float:
    return statistics.median(getattr(m, what) for m in found if m.kind == kind)


if __name__ == "__main__":
    main()
