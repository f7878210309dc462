"""The OpenAI batch format: one line for each request, one for each result."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from skillmap.calls.call import Call
from skillmap.calls.chat_replies import (
    error_code,
    error_message,
    read_completion,
    scrubbed,
)
from skillmap.calls.chat_requests import Dialect, chat_request
from skillmap.calls.reply import FINISHED_STATUSES, Reply
from skillmap.calls.scrubbing import Scrubber
from skillmap.errors import ParseError

_URL: Final = "/v1/chat/completions"
_OK: Final = 200
_MOST_CHARACTERS: Final = 200
# Rows of requests that the batch had no time for.
_NEVER_SENT: Final = frozenset({"batch_expired", "batch_cancelled"})


@dataclass(frozen=True, slots=True)
class BatchFault:
    """A line of results that could not be used.

    Attributes:
        file: Name of the file.
        line_number: From 1.
        reason: What is wrong with it.
        excerpt: How the line begins.
    """

    file: str
    line_number: int
    reason: str
    excerpt: str


def request_line(call: Call, dialect: Dialect) -> bytes:
    """The line of a request file that asks for ``call``, by its key."""
    told = {
        "custom_id": call.key,
        "method": "POST",
        "url": _URL,
        "body": chat_request(call, dialect),
    }
    return json.dumps(told).encode("ascii") + b"\n"


class BatchResults:
    """The results of a batch, in whatever order and in however many files.

    A call may have several rows, such as when a batch was sent twice: the last answer
    counts, and an error only where there is no answer.

    Attributes:
        replies: By key.
        faults: Lines that could not be used.
        n_duplicates: Rows beyond the first of a call.

    Args:
        keys: Of the calls that were asked.
        scrubber: Takes the key of the server out of what is kept.
    """

    def __init__(self, keys: Collection[str], scrubber: Scrubber | None = None) -> None:
        self._keys = frozenset(keys)
        self._scrubber = scrubber or Scrubber()
        self.replies: dict[str, Reply] = {}
        self.faults: list[BatchFault] = []
        self.n_duplicates = 0

    def read(self, lines: Iterable[bytes], *, file: str) -> None:
        """Read the lines of an output file or an error file."""
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                self._keep(self._reply(line))
            except ParseError as error:
                shown = line[:_MOST_CHARACTERS].decode("utf-8", "replace").strip()
                excerpt = self._scrubber.text(shown)
                self.faults.append(BatchFault(file, number, str(error), excerpt))

    def missing(self) -> list[str]:
        """Keys of calls without a row, sorted."""
        return sorted(self._keys - self.replies.keys())

    def _keep(self, reply: Reply) -> None:
        earlier = self.replies.get(reply.key)
        self.n_duplicates += earlier is not None
        is_answer = reply.status in FINISHED_STATUSES
        if earlier is None or is_answer or earlier.status not in FINISHED_STATUSES:
            self.replies[reply.key] = reply

    def _reply(self, line: bytes) -> Reply:
        row = _row(line)
        key = row.get("custom_id")
        if not isinstance(key, str):
            raise ParseError("the row has no custom_id")
        if key not in self._keys:
            raise ParseError("the row answers no call of this batch")
        return _reply(key, row, self._scrubber)


def _row(line: bytes) -> Mapping[str, Any]:
    try:
        row: object = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ParseError("the line is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ParseError("the line is torn, or not JSON") from None
    if not isinstance(row, dict):
        raise ParseError("the line is no JSON object")
    return cast("Mapping[str, Any]", row)


def _reply(key: str, row: Mapping[str, Any], scrubber: Scrubber) -> Reply:
    response = row.get("response")
    told: Mapping[str, Any] = {}
    if isinstance(response, dict):
        told = cast("Mapping[str, Any]", response)
    body: object = told.get("body")
    if told.get("status_code") == _OK:
        try:
            return scrubbed(read_completion(key, body), scrubber)
        except ParseError as error:
            return Reply(key=key, status="error", error=scrubber.error(str(error)))
    failure: object = {"error": row["error"]} if row.get("error") else body
    is_sent = error_code(failure) not in _NEVER_SENT
    status = f"HTTP {told['status_code']}: " if told.get("status_code") else ""
    return Reply(
        key=key,
        status="error" if is_sent else "not_attempted",
        n_attempts=int(is_sent),
        error=scrubber.error(status + error_message(failure)),
    )
