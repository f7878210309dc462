"""The text of an item as models get to see it."""

from collections.abc import Sequence
from typing import Final

from skillmap.prompting.templates import OptionStyle

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def question_text(
    question: str,
    choices: Sequence[str | None],
    *,
    style: OptionStyle = "letters",
) -> str:
    r"""The question, with its options below it.

    Examples:
        >>> question_text("Which is a city?", ["Rome", "red"])
        'Which is a city?\nA. Rome\nB. red'
    """
    marks = ["-"] * len(choices) if style == "bullets" else [f"{c}." for c in LETTERS]
    options = [
        f"{mark} {choice or ''}" for mark, choice in zip(marks, choices, strict=False)
    ]
    return "\n".join([question, *options])
