"""Calls, endpoints and runs of the tests, with defaults for what does not matter."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from skillmap.calls import Call, CallSummary, Message, Parameters, Reply
from skillmap_dagster.resources.language_models.call_log import CallLog
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.openai_transport import OpenAITransport
from skillmap_dagster.resources.language_models.runner import make_calls


def call(question: str = "Why?", **told: Any) -> Call:  # noqa: ANN401  fields of a call
    """A call; ``max_tokens`` and ``temperature`` are parameters."""
    names = ("max_tokens", "temperature")
    decoding = {"max_tokens": 16} | {n: told.pop(n) for n in names if n in told}
    fields = {
        "model": "tested",
        "served_name": "loopback-1",
        "messages": (Message("user", question),),
        "parameters": Parameters(**decoding),
        "about": question,
    }
    return Call(**(fields | told))


def questions(n: int) -> list[Call]:
    """As many calls, each with a question of its own."""
    return [call(f"Question {number}?") for number in range(n)]


def transport(url: str, **told: Any) -> OpenAITransport:  # noqa: ANN401  likewise
    """A transport that waits little and gives up late."""
    given = {"base_url": url, "timeout_seconds": 5, "n_tries": 8, **told}
    return OpenAITransport(Endpoint.model_validate(given))


def made(
    calls: Iterable[Call],
    url: str,
    folder: Path,
    **told: Any,  # noqa: ANN401  options of the run and of the endpoint
) -> tuple[CallSummary, dict[str, Reply]]:
    """What came of the calls: in sum, and by question."""
    run = {n: told.pop(n) for n in ("budget", "prices", "progress") if n in told}
    log = CallLog(folder)
    asked = list(calls)
    summary = make_calls(asked, transport=transport(url, **told), log=log, **run)
    replies = log.replies([one.key for one in asked])
    log.close()
    return summary, {c.about: replies[c.key] for c in asked if c.key in replies}
