"""Steps, skills and answer of a rationale written as one JSON object."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, cast

from skillmap.parsing.rationales.chains import (
    MAX_SKILL_LINE,
    Chain,
    chain_of,
    has_levels,
    skill_chains,
)
from skillmap.parsing.rationales.steps import (
    Rationale,
    Step,
    chain_faults,
    normalised_answer,
    without_lone_surrogates,
)

_FENCED = re.compile(r"```[ \t]*(?:json|JSON)?[ \t]*[\r\n]\s*(?=\{)")
_SPACE = re.compile(r"[ \t\r\n]*+")


class _Member:
    """A value of a JSON object or array, with the offsets of its text."""

    __slots__ = ("end", "start", "value")

    def __init__(self, value: object, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


def _no_constant(name: str) -> NoReturn:
    # NaN and Infinity are not JSON.
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def looks_structured(text: str) -> bool:
    """Whether ``text`` opens with a brace or holds a fenced block that does."""
    return text.lstrip("\ufeff \t\r\n")[:1] == "{" or (
        "```" in text and _FENCED.search(text) is not None
    )


def read_structured(text: str) -> Rationale | None:
    """Steps, answer and faults of a rationale in JSON form.

    The object has "steps", a list of objects with "title", "skill" (names in a list,
    a list of such lists, or one skill line), "evidence" and "conclusion", and may
    have "answer".

    Args:
        text: The rationale as received; what stands around a fenced block is left
            unread.

    Returns:
        Steps with offsets of their objects in ``text``; None if the text is not
        strict JSON or is another object.
    """
    fenced = _FENCED.search(text)
    is_bare = text.lstrip("\ufeff \t\r\n")[:1] == "{"
    if not is_bare and fenced is None:
        return None
    start = text.index("{") if is_bare or fenced is None else fenced.end()
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if is_bare and text[end:].strip():
        return None
    members = dict(_members(text, start)) if isinstance(value, dict) else {}
    has_steps = "steps" in members and isinstance(members["steps"].value, list)
    return _rationale(text, members) if has_steps else None


def _rationale(text: str, members: dict[str, _Member]) -> Rationale:
    steps: list[Step] = []
    faults: list[str] = []
    for member in _elements(text, members["steps"].start):
        step, step_faults = _step(member)
        steps.append(step)
        faults.extend(step_faults)
    answer = _answer(text, members.get("answer"))
    if answer is None:
        faults.append("missing_answer")
    return Rationale(tuple(steps), answer, tuple(faults))


def _step(member: _Member) -> tuple[Step, list[str]]:
    start, end = member.start, member.end
    if not isinstance(member.value, dict):
        return Step(None, (), None, None, start, end), ["unreadable_step"]
    fields = cast("dict[str, Any]", member.value)
    skill = fields.get("skill", fields.get("skills"))
    chains = _chains(skill)
    step = Step(
        _text(fields.get("title")),
        tuple(chains or ()),
        _text(fields.get("evidence")),
        _text(fields.get("conclusion")),
        start,
        end,
    )
    if chains is None:
        return step, ["skill_line_too_long"]
    return step, chain_faults(step.chains)


def _chains(skill: object) -> list[Chain] | None:
    if isinstance(skill, str):
        if len(skill) > MAX_SKILL_LINE:
            return None
        return skill_chains(without_lone_surrogates(skill))
    return _listed_chains(
        cast("list[object]", skill) if isinstance(skill, list) else []
    )


def _listed_chains(parts: list[object]) -> list[Chain] | None:
    names = [without_lone_surrogates(part) for part in parts if isinstance(part, str)]
    if len(names) == len(parts) and not any(has_levels(name) for name in names):
        if any(len(name) > MAX_SKILL_LINE for name in names):
            return None
        chain = chain_of(names)
        return [chain] if chain else []
    chains: list[Chain] = []
    for part in parts:
        found = _chains(part)
        if found is None:
            return None
        chains.extend(found)
    return chains


def _text(value: object) -> str | None:
    if isinstance(value, list):
        parts = [_text(part) for part in cast("list[object]", value)]
        return "\n".join(part for part in parts if part) or None
    if not isinstance(value, str):
        return None
    return without_lone_surrogates(value).strip() or None


def _answer(text: str, member: _Member | None) -> str | None:
    if member is None or member.value is None:
        return None
    if isinstance(member.value, str):
        return normalised_answer(member.value)
    # A number as written: 7.50 is not 7.5 to whoever compares texts.
    is_number = isinstance(member.value, int | float) and member.value not in (
        True,
        False,
    )
    return text[member.start : member.end] if is_number else None


def _members(text: str, start: int) -> Iterator[tuple[str, _Member]]:
    # The text is known to be valid, so only positions are found here.
    at = _after_space(text, start + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        yield name, _Member(value, at, end)
        at = _after_separator(text, end)


def _elements(text: str, start: int) -> Iterator[_Member]:
    at = _after_space(text, start + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield _Member(value, at, end)
        at = _after_separator(text, end)


def _after_separator(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
