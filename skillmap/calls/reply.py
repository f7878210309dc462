"""What came back of a call, told apart by what became of it."""

from dataclasses import dataclass
from typing import Final, Literal

ReplyStatus = Literal[
    "answered",
    "refused",
    "filtered",
    "empty",
    "truncated",
    "error",
    "not_attempted",
]
"""What became of a call, as the server tells it.

- "answered": text, and the model stopped by itself;
- "refused": the server's own refusal field; a refusal in words is "answered", and told
  apart when the answer is read;
- "filtered": withheld by a content filter;
- "empty": no text, and nothing says that it was cut off;
- "truncated": cut off by the limit on tokens, with or without text;
- "error": no answer after all retries, or a request that the server rejects;
- "not_attempted": never sent, such as when the budget is used up.
"""

REPLY_STATUSES: Final = (
    "answered",
    "refused",
    "filtered",
    "empty",
    "truncated",
    "error",
    "not_attempted",
)

FINISHED_STATUSES: Final[frozenset[ReplyStatus]] = frozenset(
    {"answered", "refused", "filtered", "empty", "truncated"}
)
"""Outcomes of the model, which asking again would only pay for twice."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back of one call.

    Attributes:
        key: The call's.
        status: What became of it.
        text: The answer as sent, or the words of the refusal; None where there is none.
        reasoning: Thought that the server keeps apart from the answer.
        finish_reason: As the server names it.
        n_prompt_tokens: As the server counts them; None if it does not.
        n_completion_tokens: Likewise, reasoning included.
        latency_seconds: Of the attempt that succeeded, or the last one.
        n_attempts: Requests that were sent.
        cost_usd: By the price table; None where no price is known.
        served_model: Name that the server gave in its answer.
        structure_form: How the server was told the schema of the answer; None for free
            text. See ``skillmap.calls.chat_requests.StructureForm``.
        error: Reason of an error, without keys and addresses.
    """

    key: str
    status: ReplyStatus
    text: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    n_prompt_tokens: int | None = None
    n_completion_tokens: int | None = None
    latency_seconds: float | None = None
    n_attempts: int = 1
    cost_usd: float | None = None
    served_model: str | None = None
    structure_form: str | None = None
    error: str | None = None
