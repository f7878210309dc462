"""Files of the OpenAI batch format: requests to hand in, results to read."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from skillmap.calls import Call, Dialect, Reply
from skillmap.calls.batch_lines import BatchFault, BatchResults, request_line


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What one request file may hold.

    Attributes:
        n_requests: Most requests.
        n_bytes: Most bytes.
    """

    n_requests: int = 50_000
    n_bytes: int = 200_000_000


@dataclass(frozen=True, slots=True)
class RequestFile:
    """A file of requests that is ready to be handed in.

    Attributes:
        path: Where it is.
        keys: Of its calls, in order.
    """

    path: Path
    keys: tuple[str, ...]


def write_request_files(
    calls: Iterable[Call],
    folder: Path,
    *,
    dialect: Dialect | None = None,
    limits: BatchLimits | None = None,
    refuse: Callable[[Reply], None] = lambda _: None,
) -> Iterator[RequestFile]:
    """Write requests, a file at a time, each within the limits.

    Args:
        calls: What to ask.
        folder: Where ``requests-0001.jsonl`` and so on are written.
        dialect: What the server understands.
        limits: Of one file.
        refuse: Given the reply to a call that is too large for any file.

    Yields:
        Each file as soon as it is complete.
    """
    dialect, limits = dialect or Dialect(), limits or BatchLimits()
    lines: list[bytes] = []
    keys: list[str] = []
    n_bytes = n_files = 0
    for call in calls:
        line = request_line(call, dialect)
        if len(line) > limits.n_bytes:
            reason = f"the request has {len(line):,} bytes, more than a batch takes"
            refuse(Reply(key=call.key, status="error", n_attempts=0, error=reason))
            continue
        if len(keys) == limits.n_requests or n_bytes + len(line) > limits.n_bytes:
            n_files += 1
            yield _written(folder, n_files, lines, keys)
            lines, keys, n_bytes = [], [], 0
        lines.append(line)
        keys.append(call.key)
        n_bytes += len(line)
    if keys:
        yield _written(folder, n_files + 1, lines, keys)


class ResultFiles:
    """A transport that has the answers already: results of a batch, in files.

    A call without a row is "not_attempted", and so asked for again by whatever makes
    the calls next.

    Attributes:
        faults: Lines that could not be used, after a transmission.
        n_duplicates: Rows beyond the first of a call.

    Args:
        files: Output files and error files, in any order.
        quarantine: File that unusable lines are told in, or None.
    """

    def __init__(self, files: Sequence[Path], quarantine: Path | None = None) -> None:
        self._files = files
        self._quarantine = quarantine
        self.faults: list[BatchFault] = []
        self.n_duplicates = 0

    def transmit(self, calls: Iterable[Call], deliver: Callable[[Reply], None]) -> None:
        """As ``Transport.transmit``."""
        results = BatchResults([call.key for call in calls])
        for file in self._files:
            with file.open("rb") as lines:
                results.read(lines, file=file.name)
        self.faults, self.n_duplicates = results.faults, results.n_duplicates
        if self._quarantine:
            write_quarantine(self._quarantine, results.faults)
        deliver_all(results, deliver)


def deliver_all(
    results: BatchResults,
    deliver: Callable[[Reply], None],
    *,
    reason: str = "missing in the batch's results",
) -> None:
    """Deliver every reply, and the reason for every call that has none."""
    for reply in results.replies.values():
        deliver(reply)
    for key in results.missing():
        deliver(Reply(key=key, status="not_attempted", n_attempts=0, error=reason))


def write_quarantine(file: Path, faults: Sequence[BatchFault]) -> None:
    """Tell lines that could not be used, in place of those told before."""
    if not faults:
        file.unlink(missing_ok=True)
        return
    lines = (json.dumps(asdict(fault)) + "\n" for fault in faults)
    replace_file(file, "".join(lines).encode("ascii"))


def replace_file(file: Path, content: bytes) -> None:
    """Write a file whole, or leave what was there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(file)


def _written(
    folder: Path, number: int, lines: Sequence[bytes], keys: Sequence[str]
) -> RequestFile:
    path = folder / f"requests-{number:04d}.jsonl"
    replace_file(path, b"".join(lines))
    return RequestFile(path, tuple(keys))
