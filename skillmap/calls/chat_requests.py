"""Calls as requests of the OpenAI chat completions interface."""

import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from skillmap.calls.call import Call, Message, Structure

StructureForm = Literal["json_schema", "json_object", "prompt"]
"""How a server is told the schema of an answer.

- "json_schema": as the response format, which the server holds the model to;
- "json_object": any JSON as the response format, and the schema in the prompt;
- "prompt": in the prompt alone.
"""

_NEXT_FORM: dict[StructureForm, StructureForm | None] = {
    "json_schema": "json_object",
    "json_object": "prompt",
    "prompt": None,
}
_NAMES_STRUCTURE = re.compile(
    r"response_?format|json_schema|json_object|structured[ _]outputs?", re.IGNORECASE
)
_NAMES_OTHER_LIMIT = "max_completion_tokens"
_SURROGATE = re.compile("[\ud800-\udfff]")

# Tokenizers differ; three bytes a token is more tokens than English or code takes.
_BYTES_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 8
_TOKENS_PER_IMAGE = 1_500


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one server understands of the interface that others do not.

    Attributes:
        structure_form: How it is told the schema of an answer.
        limit_field: Its name for the limit on tokens.
        continues_messages: Whether it goes on with a chat that ends with the
            assistant when it is told to, as vLLM does; others go on, or do not, by
            themselves.
    """

    structure_form: StructureForm = "json_schema"
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    continues_messages: bool = False

    def after_rejection(self, reason: str, *, is_structured: bool) -> Self | None:
        """The dialect to try when a server rejects a request, if there is another.

        Args:
            reason: What the server said of the request.
            is_structured: Whether the request had a schema.
        """
        if self.limit_field != _NAMES_OTHER_LIMIT and _NAMES_OTHER_LIMIT in reason:
            return replace(self, limit_field="max_completion_tokens")
        form = _NEXT_FORM[self.structure_form]
        if is_structured and form and _NAMES_STRUCTURE.search(reason):
            return replace(self, structure_form=form)
        return None


def chat_request(call: Call, dialect: Dialect) -> dict[str, Any]:
    """The body of the request that makes ``call``."""
    parameters = call.parameters
    messages = call.messages
    body: dict[str, Any] = {
        "model": call.served_name,
        "messages": messages,
        dialect.limit_field: parameters.max_tokens,
    }
    for name in ("temperature", "top_p", "seed"):
        if (value := getattr(parameters, name)) is not None:
            body[name] = value
    if parameters.stop:
        body["stop"] = list(parameters.stop)
    if dialect.continues_messages and messages and messages[-1].role == "assistant":
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    if call.structure:
        if dialect.structure_form != "json_schema":
            messages = _with_schema_told(messages, call.structure)
        if response_format := _response_format(call.structure, dialect):
            body["response_format"] = response_format
    body["messages"] = [_message(message) for message in messages]
    return body | {name: json.loads(value) for name, value in parameters.extra}


def estimated_prompt_tokens(call: Call) -> int:
    """About how many tokens the prompt has, rather too many than too few."""
    n_bytes = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages)
    n_images = sum(len(m.images) for m in call.messages)
    if call.structure:
        n_bytes += len(call.structure.schema)
    return (
        math.ceil(n_bytes / _BYTES_PER_TOKEN)
        + _TOKENS_PER_MESSAGE * len(call.messages)
        + _TOKENS_PER_IMAGE * n_images
    )


def without_surrogates(text: str) -> str:
    """``text`` with each half of a surrogate pair, which UTF-8 has not, as U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _response_format(structure: Structure, dialect: Dialect) -> dict[str, Any] | None:
    if dialect.structure_form == "prompt":
        return None
    if dialect.structure_form == "json_object":
        return {"type": "json_object"}
    schema = json.loads(structure.schema)
    told = {"name": structure.name, "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": told}


def _with_schema_told(
    messages: tuple[Message, ...], structure: Structure
) -> tuple[Message, ...]:
    """The chat with the schema at the end of the last message of the user."""
    last = max(
        (n for n, message in enumerate(messages) if message.role == "user"),
        default=None,
    )
    told = (
        "Answer with one JSON value that follows this JSON schema, and with nothing "
        f"else:\n{structure.schema}"
    )
    if last is None:
        return (*messages, Message("user", told))
    longer = replace(messages[last], content=f"{messages[last].content}\n\n{told}")
    return (*messages[:last], longer, *messages[last + 1 :])


def _message(message: Message) -> dict[str, Any]:
    text = without_surrogates(message.content)
    if not message.images:
        return {"role": message.role, "content": text}
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for image in message.images:
        url = f"data:{image.media_type};base64,{image.base64}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": message.role, "content": parts}
