"""Replies of models that answer on this machine, told apart as those of servers are."""

from dataclasses import replace
from typing import Any, Final

from skillmap.calls import Call, Dialect, Reply
from skillmap.calls.chat_replies import read_completion
from skillmap.calls.chat_requests import StructureForm, chat_request

_HEX_DIGITS_OF_A_SEED: Final = 15  # fits a signed 64-bit integer


def chat_of(call: Call, form: StructureForm) -> list[dict[str, Any]]:
    """The messages of a call as the OpenAI interface has them.

    Args:
        call: The call.
        form: How the engine is told the schema of an answer.
    """
    return chat_request(call, Dialect(structure_form=form))["messages"]


def sampling_seed(call: Call) -> int:
    """Seed of a call's own sampling, for engines that are seeded call by call.

    Made of the call's key, in which seed and epoch take part: a repetition with the
    same seed is another draw, and a second run of the same call the same draw.
    """
    return int(call.key[:_HEX_DIGITS_OF_A_SEED], 16)


def answer(
    call: Call, told: dict[str, Any], form: StructureForm, *, seconds: float
) -> Reply:
    """The reply to a call that the engine finished.

    Args:
        call: The call.
        told: ``text``, ``finish_reason``, ``n_prompt_tokens`` and
            ``n_completion_tokens``.
        form: How the engine is told the schema of an answer.
        seconds: What it took, the rest of its batch included.
    """
    choice = {
        "message": {"content": told["text"]},
        "finish_reason": told["finish_reason"],
    }
    usage = {
        "prompt_tokens": told["n_prompt_tokens"],
        "completion_tokens": told["n_completion_tokens"],
    }
    body = {"choices": [choice], "usage": usage, "model": call.served_name}
    return replace(
        read_completion(call.key, body),
        latency_seconds=seconds,
        structure_form=form if call.structure else None,
    )


def failure(call: Call, error: Exception | str) -> Reply:
    """The reply to a call that has no answer."""
    told = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return Reply(call.key, "error", error=told)
