"""What the OpenAI chat completions interface answers, as replies."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from skillmap.calls.chat_requests import without_surrogates
from skillmap.calls.reply import Reply, ReplyStatus
from skillmap.calls.scrubbing import Scrubber
from skillmap.errors import ParseError

_TRUNCATED: Final = frozenset({"length", "max_tokens", "max_length", "model_length"})
_FILTERED: Final = frozenset({"content_filter", "safety"})
_MOST_TOKENS: Final = 2**53


def read_completion(key: str, body: object) -> Reply:
    """The reply that a completion holds.

    Args:
        key: The call's.
        body: The server's answer, decoded.

    Raises:
        ParseError: If the answer is no completion.

    Examples:
        >>> choice = {"message": {"content": ""}, "finish_reason": "length"}
        >>> read_completion("k", {"choices": [choice]}).status
        'truncated'
    """
    told = _mapping(body)
    choices = told.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ParseError(f"no completion: {error_message(body)}")
    choice = _mapping(cast("list[object]", choices)[0])
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ParseError("no completion: the choice has no message")
    spoken = cast("Mapping[str, Any]", message)
    text = _content(spoken.get("content"))
    refusal = _text(spoken.get("refusal"))
    finish_reason = _text(choice.get("finish_reason"))
    usage = _mapping(told.get("usage"))
    return Reply(
        key=key,
        status=_status(text, refusal, finish_reason),
        text=text or refusal or text,
        reasoning=_text(spoken.get("reasoning_content"))
        or _text(spoken.get("reasoning")),
        finish_reason=finish_reason,
        n_prompt_tokens=_count(usage.get("prompt_tokens")),
        n_completion_tokens=_count(usage.get("completion_tokens")),
        served_model=_text(told.get("model")),
    )


def error_message(body: object) -> str:
    """What a server says is wrong, in whichever form it says so.

    Examples:
        >>> error_message({"error": {"message": "no such model", "code": 404}})
        'no such model'
        >>> error_message({"detail": [{"loc": ["body"], "msg": "field required"}]})
        'field required'
    """
    told = _mapping(body)
    for name in ("error", "message", "detail", "errors", "msg"):
        found = told.get(name)
        if isinstance(found, list) and found:
            found = cast("list[object]", found)[0]
        if isinstance(found, dict):
            return error_message(cast("object", found))
        if isinstance(found, str) and found.strip():
            return without_surrogates(found.strip())
    return "the server gives no reason"


def error_code(body: object) -> str:
    """The machine-readable code of an error, or its type, or nothing."""
    told = _mapping(body)
    error = _mapping(told.get("error")) or told
    for name in ("code", "type"):
        if isinstance(error.get(name), str):
            return str(error[name])
    return ""


def scrubbed(reply: Reply, scrubber: Scrubber) -> Reply:
    """The reply without secrets, which a server may have sent back."""
    told = {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish_reason": reply.finish_reason,
        "served_model": reply.served_model,
    }
    clean = {
        name: scrubber.text(text)
        for name, text in told.items()
        if text and scrubber.finds(text)
    }
    return replace(reply, **clean) if clean else reply


def rejected_field(body: object) -> str:
    """The field of a request that a server names when it rejects it, or nothing.

    Examples:
        >>> rejected_field({"detail": [{"loc": ["body", "response_format"]}]})
        'body.response_format'
    """
    told = _mapping(body)
    param = (_mapping(told.get("error")) or told).get("param")
    if isinstance(param, str):
        return param
    details = told.get("detail")
    if not isinstance(details, list) or not details:
        return ""
    place = _mapping(cast("list[object]", details)[0]).get("loc")
    parts = cast("list[object]", place) if isinstance(place, list) else []
    return ".".join(map(str, parts))


def _status(
    text: str | None, refusal: str | None, finish_reason: str | None
) -> ReplyStatus:
    if refusal:
        return "refused"
    if finish_reason in _FILTERED:
        return "filtered"
    if finish_reason in _TRUNCATED:
        return "truncated"
    return "answered" if text and text.strip() else "empty"


def _content(content: object) -> str | None:
    """The text of a message, which some servers send in parts."""
    if not isinstance(content, list):
        return _text(content)
    parts = [_mapping(part) for part in cast("list[object]", content)]
    return "".join(_text(part.get("text")) or "" for part in parts)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return without_surrogates(value) if isinstance(value, str) else None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _MOST_TOKENS else None
