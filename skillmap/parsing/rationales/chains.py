"""A skill line split into chains of names, from general to specific."""

import re
from string import punctuation
from typing import NamedTuple

FAMILIES = ("knowledge", "perception", "reasoning")

# Characters of one skill line. Chains run to about 150; a line far beyond that is
# prose, and every clause of it would become a skill.
MAX_SKILL_LINE = 1_000

# Digits on both sides make a colon a ratio, a comma a thousands mark, a dash a
# minus, a ">" a comparison. An unspaced "/" splits two words, not a unit ("km/h"),
# a fraction or "and/or". The look-ahead is only for speed: most characters fail there.
_SEPARATOR = re.compile(
    r"""(?=[;\uff1b:\uff1a,\uff0c、=→⟶»\u203a>/|\u2013—-])(?:
      [;\uff1b]
    | [:\uff1a](?!//)(?:(?<!\d[:\uff1a])|(?!\d))(?:(?<!\d\s[:\uff1a])|(?!\s\d))
    | [,\uff0c](?:(?<!\d[,\uff0c])|(?!\d))
    | 、
    | [-=]>|[→⟶»\u203a]
    | >(?![>=])(?!\s?\d)
    | (?<=\s)[/|](?=\s)
    | (?<=[^\W\d_]{3})/(?=[^\W\d_]{3})
    | (?<=\s)[-\u2013—](?=\s)(?:(?<!\d\s[-\u2013—])|(?!\s\d))
    )""",
    re.VERBOSE,
)
_BRACKET = re.compile(r"[(\[{)\]}\uff08\uff09]")
_OPENERS = "([{\uff08"
_CLOSERS = ")]}\uff09"
_QUOTES = "\"'“”\u2018\u2019«»"
_MARKUP = " \t\r\n\u00a0\u3000\ufeff\u200b*_`"
_BULLET = re.compile(r"\A(?:[-\u2013—•·*+]|\d{1,3}[.)])\s+")
# Lower case alone: "AND gates" is a skill.
_CONJUNCTION = re.compile(r"\A(?:and|&)\s+")


class Chain(NamedTuple):
    """One skill: names from general to specific.

    Attributes:
        family: "knowledge", "perception", "reasoning", or None if not one of them.
        names: As written, without markup; at least one.
        first_level: Level of the first name: 0 if it is the family's own name, else
            1, so that level 0 never holds anything but a family.
    """

    family: str | None
    names: tuple[str, ...]
    first_level: int

    @property
    def n_levels(self) -> int:
        """Names of the chain, with the family it belongs to if left unsaid."""
        return len(self.names) + int(self.family is not None and self.first_level == 1)


def skill_chains(line: str) -> list[Chain]:
    """The skills that a skill line names.

    Semicolons part skills. Colons, commas, arrows, spaced dashes and slashes part
    the names of one skill, except inside brackets and inside numbers. A skill after
    a semicolon that names no family has that of the skill before it.

    Args:
        line: What follows the skill label.

    Returns:
        Chains in reading order; empty if the line holds no name.

    Examples:
        >>> for chain in skill_chains("Knowledge: Chemistry, and molar mass; ratios."):
        ...     print(chain.family, chain.names)
        knowledge ('Knowledge', 'Chemistry', 'molar mass')
        knowledge ('ratios',)
        >>> skill_chains("comparing 1,000 and 2,000 (a, b)")[0].names
        ('comparing 1,000 and 2,000 (a, b)',)
    """
    chains: list[Chain] = []
    for names in _name_lists(_unwrapped(line.strip(_MARKUP))):
        chain = chain_of(names)
        if chain is not None and chain.family is None and chains:
            chain = chain._replace(family=chains[-1].family)
        if chain is not None:
            chains.append(chain)
    return chains


def chain_of(names: list[str]) -> Chain | None:
    """A chain of names that are already apart; None if none of them says anything.

    Examples:
        >>> chain_of(["Reasoning", " **algebra.** "])
        Chain(family='reasoning', names=('Reasoning', 'algebra'), first_level=0)
    """
    kept = tuple(cleaned for name in names if (cleaned := _cleaned(name)))
    if not kept:
        return None
    first = kept[0].lower()
    if first in FAMILIES:
        return Chain(first, kept, 0)
    return Chain(None, kept, 1)


def one_name(text: str) -> Chain | None:
    """A chain of one name, however many commas it holds; None if blank."""
    return chain_of([_BULLET.sub("", text)])


def without_full_stop(text: str) -> str:
    """``text`` without a closing full stop; "U.S." and "e.g." keep theirs.

    Examples:
        >>> without_full_stop("molar mass."), without_full_stop("law of the U.S.")
        ('molar mass', 'law of the U.S.')
    """
    is_abbreviation = text[-3:-2] == "." and text[-2:-1].isalpha()
    if is_abbreviation or not text.endswith((".", "。")):
        return text
    return text.rstrip(".。" + _MARKUP)


def has_levels(text: str) -> bool:
    """Whether ``text`` shows levels by a colon or an arrow, not by commas alone."""
    return any(
        match.group() in {":", "\uff1a", "->", "=>", ">", "→"}
        for match in _SEPARATOR.finditer(text)
    )


def _name_lists(line: str) -> list[list[str]]:
    inside = _bracketed(line)
    chains: list[list[str]] = [[]]
    start = 0
    for match in _SEPARATOR.finditer(line):
        at = match.start()
        if inside and inside[at]:
            continue
        chains[-1].append(line[start:at])
        start = match.end()
        if match.group() in ";\uff1b":
            chains.append([])
    chains[-1].append(line[start:])
    return chains


def _bracketed(line: str) -> bytearray | None:
    # A bracket that is never closed protects nothing, else the rest of the line
    # would be one name. Any closer will do: intervals are written "[a, b)".
    if not any(opener in line for opener in _OPENERS):
        return None
    inside = bytearray(len(line))
    opened: list[int] = []
    for match in _BRACKET.finditer(line):
        if match.group() in _OPENERS:
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            inside[start : match.end()] = b"\x01" * (match.end() - start)
    return inside


def _unwrapped(line: str) -> str:
    # "- Knowledge: a" and "[Knowledge: a, b]" as the whole value.
    line = _BULLET.sub("", line)
    if line[:1] == "[" and line[-1:] == "]" and line.count("[") == 1:
        return line[1:-1]
    return line


def _cleaned(name: str) -> str:
    name = name.strip(_MARKUP)
    if name.startswith(("and", "&")):
        name = _CONJUNCTION.sub("", name).strip(_MARKUP)
    name = without_full_stop(name)
    if len(name) > 1 and name[0] in _QUOTES and name[-1] in _QUOTES:
        name = name[1:-1].strip(_MARKUP)
    # Nothing but marks is no name.
    return name if name.strip(punctuation + " ") else ""
