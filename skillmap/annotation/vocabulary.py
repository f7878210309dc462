"""Skills that the offline annotator chooses from, each with its levels."""

from collections.abc import Iterable
from importlib import resources
from typing import Final, NamedTuple

import polars as pl

from skillmap.errors import InvalidInputError, ParseError
from skillmap.parsing.rationales.chains import Chain, skill_chains

_FILE: Final = "vocabulary.txt"


class Vocabulary(NamedTuple):
    """Skills to choose from.

    Attributes:
        chains: One a skill: names from general to specific.
        phrases: What of each skill is compared with sentences.
    """

    chains: tuple[Chain, ...]
    phrases: tuple[str, ...]


def bundled_vocabulary() -> Vocabulary:
    """The skills of the starter suite, each in one wording.

    Examples:
        >>> bundled_vocabulary().phrases[0]
        'text reading, question reading, identifying given quantities'
    """
    file = resources.files("skillmap.annotation") / _FILE
    return vocabulary_of_text(file.read_text(encoding="utf-8"), name=_FILE)


def vocabulary_of_text(text: str, *, name: str) -> Vocabulary:
    """A vocabulary file: one chain a line, such as "Reasoning: logic, negation".

    Args:
        text: Empty lines and lines that begin with "#" are passed over.
        name: The file, for messages.

    Raises:
        ParseError: If a line is not one chain, or there is none.
    """
    chains: list[Chain] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        found = skill_chains(line)
        if len(found) != 1:
            raise ParseError(
                f"{name}: line {number} is not one skill such as "
                f"'Reasoning: logic, negation': {line!r}"
            )
        chains += found
    if not chains:
        raise ParseError(f"{name}: holds no skill")
    return _vocabulary(chains)


def vocabulary_of_skills(skills: pl.DataFrame) -> Vocabulary:
    """The canonical skills that are already known, under their broad skills.

    Args:
        skills: Columns ``skill_name`` and ``broad_skill_name`` of ``core.skills``.

    Returns:
        A chain of two names a skill, of one where both are the same, by name. The
        narrow name alone is compared: a broad one is often a sibling's name.
    """
    missing = {"skill_name", "broad_skill_name"} - set(skills.columns)
    if missing:
        raise InvalidInputError(f"skills: columns are missing: {sorted(missing)}")
    pairs = skills.select("broad_skill_name", "skill_name").drop_nulls().unique()
    chains = [
        Chain(None, (narrow,) if broad == narrow else (broad, narrow), 1)
        for broad, narrow in pairs.sort("skill_name", "broad_skill_name").rows()
    ]
    return Vocabulary(tuple(chains), tuple(chain.names[-1] for chain in chains))


def _vocabulary(chains: Iterable[Chain]) -> Vocabulary:
    distinct = tuple(dict.fromkeys(chains))
    # The family says nothing about the matter; a lone family is all there is.
    phrases = (", ".join(c.names[1 - c.first_level :] or c.names) for c in distinct)
    return Vocabulary(distinct, tuple(phrases))
