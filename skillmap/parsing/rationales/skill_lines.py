"""The text that a skill label claims: one line, a wrapped one, or a bullet list."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from skillmap.parsing.rationales.chains import (
    FAMILIES,
    MAX_SKILL_LINE,
    Chain,
    has_levels,
    one_name,
    skill_chains,
)
from skillmap.parsing.rationales.labels import Label, indent
from skillmap.parsing.rationales.steps import Step

# Bullets under one label. More than that is not a skill; and each repeats the names
# above it, so that a bound is needed to stay linear.
_MAX_LIST_ITEMS = 200
# A skill is a phrase. Longer bullets are sentences, those with "=" are working.
_MAX_BULLET_LENGTH = 80
_MAX_BULLET_WORDS = 12
# A bare list may have an introduction, but neither a long one nor a closing remark:
# those come with worked solutions, whose lists are not of skills.
_MAX_INTRODUCTION_LINES = 2
_MAX_INTRODUCTION_LENGTH = 100

_BULLET = re.compile(r"[ \t\u00a0>]*+(?:[-+*•·◦▪●‣\u2013—]|\d{1,3}[.)])[ \t\u00a0]+")
_GOES_ON = (",", ":", ";", "/", ">", "\uff0c", "\uff1a", " -", " and")
_MARKUP = " \t\u00a0*_`"


class _Bullet(NamedTuple):
    indent: int
    text: str


def read_skills(flat: str, label: Label, end: int) -> list[Chain] | None:
    """The skills that a label claims.

    A nested list is read as a tree: each bullet without bullets below it is a skill,
    and the bullets above it are its more general names.

    Args:
        flat: The flat text.
        label: The skill label.
        end: Where the next label begins.

    Returns:
        Chains in reading order; None if the line or list is too long to be a skill.
    """
    line, after = _first_line(flat, label, end)
    if len(line) > MAX_SKILL_LINE:
        return None
    if after >= end:
        return skill_chains(line)
    least_indent = indent(flat, label.start) + 1 if line else 0
    bullets = [_Bullet(-1, line)] if line else []
    bullets.extend(_bullets(flat, after, end, least_indent))
    if len(bullets) > _MAX_LIST_ITEMS:
        return None
    return _chains_of_tree(bullets)


def listed_skills(flat: str, start: int) -> tuple[Step, ...]:
    """A text that is nothing but a bullet list of skills, one step a bullet.

    Args:
        flat: The flat text.
        start: Offset after the list's header, 0 if it has none.

    Returns:
        Steps with offsets into the original text; none if the text is anything else,
        such as prose or a list of sentences.
    """
    steps: list[Step] = []
    n_introduction = 0
    for line_start, line_end in _lines(flat, start):
        line = flat[line_start:line_end]
        if not line.strip():
            continue
        bullet = _BULLET.match(line)
        if bullet is None:
            n_introduction += 1
            is_introduction = not steps and len(line) <= _MAX_INTRODUCTION_LENGTH
            if not is_introduction or n_introduction > _MAX_INTRODUCTION_LINES:
                return ()
            continue
        text = line[bullet.end() :]
        if not _is_phrase(text):
            return ()
        if chains := _bullet_chains(text):
            at = line_start - 1
            step = Step(None, chains, None, None, at, at + len(line))
            steps.append(step)
    return tuple(steps)


def _first_line(flat: str, label: Label, end: int) -> tuple[str, int]:
    # The label's line, or the line below if that is plain text; with it the lines
    # that a closing separator calls for. Then the offset after them.
    start = label.value_start
    parts: list[str] = []
    length = 0
    for line_start, line_end in _lines(flat, start, end):
        line = flat[line_start:line_end].strip()
        is_bullet = line_start > start and _BULLET.match(flat, line_start, line_end)
        if is_bullet or (parts and not _goes_on(parts[-1], line)):
            return " ".join(parts), line_start
        if line.strip(_MARKUP):
            parts.append(line)
            length += len(line) + 1
        if length > MAX_SKILL_LINE:
            break
    return " ".join(parts), end


def _goes_on(line: str, following: str) -> bool:
    return bool(following) and line.endswith(_GOES_ON)


def _bullets(flat: str, start: int, end: int, least_indent: int) -> Iterator[_Bullet]:
    for line_start, line_end in _lines(flat, start, end):
        line = flat[line_start:line_end]
        if not line.strip():
            continue
        bullet = _BULLET.match(line)
        width = indent(flat, line_start)
        if bullet is None or width < least_indent:
            return
        text = line[bullet.end() :]
        if least_indent == 0 or _is_phrase(text):
            yield _Bullet(width, text)


def _chains_of_tree(bullets: list[_Bullet]) -> list[Chain] | None:
    if _is_one_chain(bullets):
        return _read("\n".join(bullet.text for bullet in bullets))
    chains: list[Chain] = []
    path: list[_Bullet] = []
    for index, bullet in enumerate(bullets):
        while path and path[-1].indent >= bullet.indent:
            path.pop()
        path.append(bullet)
        is_last = index + 1 == len(bullets)
        if is_last or bullets[index + 1].indent <= bullet.indent:
            found = _read("\n".join(above.text for above in path))
            if found is None:
                return None
            chains.extend(found)
    return chains


def _is_one_chain(bullets: list[_Bullet]) -> bool:
    # "- Knowledge", "- Chemistry", "- Acids" one under the other.
    names = [bullet.text.strip(_MARKUP + ".:").lower() for bullet in bullets]
    return (
        len(names) > 1
        and names[0] in FAMILIES
        and len({bullet.indent for bullet in bullets}) == 1
        and not any(name.startswith(FAMILIES) for name in names[1:])
    )


def _read(levels: str) -> list[Chain] | None:
    if len(levels) > MAX_SKILL_LINE:
        return None
    return skill_chains(levels.replace("\n", ": "))


def _bullet_chains(text: str) -> tuple[Chain, ...]:
    # Without a sign of levels a comma is part of the phrase: "areas, volumes and
    # lengths" is one skill here.
    if has_levels(text) or text.strip(_MARKUP).lower().startswith(FAMILIES):
        return tuple(skill_chains(text))
    chain = one_name(text)
    return (chain,) if chain else ()


def _is_phrase(text: str) -> bool:
    return (
        len(text) <= _MAX_BULLET_LENGTH
        and "=" not in text
        and len(text.split()) <= _MAX_BULLET_WORDS
    )


def _lines(flat: str, start: int, end: int | None = None) -> Iterator[tuple[int, int]]:
    # Without trailing blanks, which a "\r\n" leaves behind in flat text.
    end = len(flat) if end is None else end
    while start < end:
        line_end = flat.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        yield start, start + len(flat[start:line_end].rstrip())
        start = line_end + 1
