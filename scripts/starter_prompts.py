"""Prompts of the starter suite's three modes, read from ``scripts/prompts``.

A prompt file has one part for multiple choice (``# choice``) and one for free form
items (``# number``); each is a chat whose turns begin with ``## user`` or
``## assistant``. ``{question}`` stands for the question, with its options below it.
A chat that ends with the assistant leaves its last turn for the model to go on with.

The options carry no letters: with letters this small model clings to one of them,
whatever the question.
"""

import re
from pathlib import Path
from typing import Any

from skillmap.errors import ParseError

FORMS = ("choice", "number")
_PLACE = "{question}"
_PART = re.compile(r"^# (\w+)\n", re.MULTILINE)
_TURN = re.compile(r"^## (user|assistant)\n", re.MULTILINE)

Chat = list[dict[str, str]]


def read_prompt(path: Path) -> dict[str, Chat]:
    """Chats by form, with ``{question}`` still in place.

    Args:
        path: A prompt file.

    Returns:
        One chat for each of ``FORMS``.

    Raises:
        ParseError: If a form is missing or does not hold ``{question}`` once.
    """
    pieces = _PART.split(path.read_text(encoding="utf-8"))
    chats = {
        form: _chat(text) for form, text in zip(pieces[1::2], pieces[2::2], strict=True)
    }
    for form in FORMS:
        n_places = sum(turn["content"].count(_PLACE) for turn in chats.get(form, []))
        if n_places != 1:
            raise ParseError(
                f"{path.name}: part {form!r} must hold {_PLACE} once, "
                f"has it {n_places} times"
            )
    return chats


def chat_about(item: dict[str, Any], prompt: dict[str, Chat]) -> Chat:
    """Chat that asks a model one item.

    Args:
        item: A record of ``skillmap/starter/items``.
        prompt: A prompt, from ``read_prompt``.

    Returns:
        Turns with ``role`` and ``content``.
    """
    choices = item.get("choices", [])
    options = [f"- {choice}" for choice in choices]
    question = "\n".join([item["question"], *options])
    return [
        {"role": turn["role"], "content": turn["content"].replace(_PLACE, question)}
        for turn in prompt["choice" if choices else "number"]
    ]


def _chat(text: str) -> Chat:
    pieces = _TURN.split(text)
    return [
        {"role": role, "content": content.strip()}
        for role, content in zip(pieces[1::2], pieces[2::2], strict=True)
    ]
