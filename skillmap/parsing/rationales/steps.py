"""What a rationale says once it is read: steps, an answer, and what was wrong."""

import re
from typing import NamedTuple

from skillmap.parsing.rationales.chains import Chain, without_full_stop

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Only all of the answer, or an option letter before the option's text, is unwrapped:
# "(x + 1)(x - 2)" keeps its parentheses.
_ANSWER_WRAPPERS = (
    re.compile(r"\\\[(.*)\\\]|\$\$(.*)\$\$"),
    re.compile(r"\$?\\boxed\{([^{}]*)\}\$?"),
    re.compile(r"\\text\{([^{}]*)\}"),
    re.compile(r"<([^<>]*)>"),
    re.compile(r"\[([^\[\]]*)\]"),
    re.compile(r"\(([A-Za-z])\)"),
)
_OPTION_LETTER = re.compile(r"\(([A-Za-z])\)(?=\s)")
_MARKUP = " \t\n\u00a0*_`"


class Step(NamedTuple):
    """One step of a rationale.

    Attributes:
        title: The heading's text, or None.
        chains: The step's skills, in reading order; empty if it names none.
        evidence: What the step rests on, or None.
        conclusion: What the step finds, or None.
        start: First character of the step in the original text.
        end: One past its last character.
    """

    title: str | None
    chains: tuple[Chain, ...]
    evidence: str | None
    conclusion: str | None
    start: int
    end: int


class Rationale(NamedTuple):
    """One rationale, read.

    Attributes:
        steps: In reading order, those without a skill included.
        answer: The final answer, without markup, or None.
        faults: One code for each departure from the format, in reading order.
    """

    steps: tuple[Step, ...]
    answer: str | None
    faults: tuple[str, ...]


def without_lone_surrogates(text: str) -> str:
    """``text`` with each lone surrogate replaced by U+FFFD; the length stays.

    Examples:
        >>> without_lone_surrogates("a" + chr(0xD800) + "b") == "a" + chr(0xFFFD) + "b"
        True
    """
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def normalised_answer(text: str) -> str | None:
    """An answer without markup, wrapping and closing full stop; None if blank.

    Args:
        text: What follows the answer label.

    Returns:
        The answer as written otherwise: letter case and option text stay.

    Examples:
        >>> normalised_answer("**(B)** ")
        'B'
        >>> normalised_answer("(B) $7.50.")
        'B $7.50'
    """
    answer = without_full_stop(without_lone_surrogates(text).strip(_MARKUP))
    for wrapper in _ANSWER_WRAPPERS:
        if whole := wrapper.fullmatch(answer):
            answer = (whole[whole.lastindex or 0]).strip(_MARKUP)
    return _OPTION_LETTER.sub(r"\1", answer, count=1) or None if answer else None


def chain_faults(chains: tuple[Chain, ...]) -> list[str]:
    """Fault codes of a step's chains: none named, a lone name, no known family."""
    if not chains:
        return ["step_without_skill"]
    faults: list[str] = []
    for chain in chains:
        if chain.n_levels <= 1:
            faults.append("single_name_chain")
        if chain.family is None:
            faults.append("unknown_family")
    return faults
