"""Reader of the hand-written item files in ``scripts/starter_items``.

The files keep what a person writes and checks, and nothing that can be derived:
one block an item, one line a step, skills by a short key of ``skills.txt``.

    @ item id | category
    ? question, continued on lines that begin with two spaces
    + the right option, in its place among the others
    - a wrong option
    = the answer, instead of options, for a free form item
    > skill key | title | evidence | conclusion

Evidence quotes the question or an option in double quotes, or names an earlier
step as ``#1``.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from skillmap.errors import ParseError

LETTERS = "ABCDE"
_QUOTED = re.compile(r'"([^"]+)"')
_EARLIER_STEP = re.compile(r"#(\d)")
_SKILL = re.compile(
    r"(?P<key>[a-z]+2?) *= (?P<chain>(?:Knowledge|Perception|Reasoning): "
    r"[^,:]+, [^,:]+, [^,:]+)"
)
_MIN_STEPS, _MAX_STEPS = 2, 4


@dataclass(frozen=True)
class Step:
    """One step of a rationale, with its skill as a key."""

    skill: str
    title: str
    evidence: str
    conclusion: str


@dataclass
class Item:
    """One block of an item file."""

    item_id: str
    category: str
    question: str = ""
    choices: list[str] = field(default_factory=list[str])
    right: list[int] = field(default_factory=list[int])
    value: str = ""
    steps: list[Step] = field(default_factory=list[Step])

    @property
    def answer(self) -> str:
        """Letter of the right option, or the value of a free form item."""
        return LETTERS[self.right[0]] if self.choices else self.value


def read_skills(path: Path) -> dict[str, str]:
    """Skill chains by key, as ``skills.txt`` lists them.

    Args:
        path: A text file with one ``key = Family: broad, narrower, narrowest`` a line;
            empty lines and lines that begin with ``#`` are passed over.

    Returns:
        The chain of each key, in the order of the file.

    Raises:
        ParseError: If a line has another form or a key comes twice.
    """
    skills: dict[str, str] = {}
    for number, line in _numbered_lines(path):
        match = _SKILL.fullmatch(line)
        if match is None or match["key"] in skills:
            raise ParseError(
                f"{path.name}: line {number} is no new "
                f"'key = Family: name, name, name': {line!r}"
            )
        skills[match["key"]] = match["chain"]
    return skills


def read_items(path: Path, skills: dict[str, str]) -> list[Item]:
    """Items of one file, in its order, each checked.

    Args:
        path: An item file.
        skills: The chains by key, from ``read_skills``.

    Returns:
        One object an item.

    Raises:
        ParseError: If a line has no known form, or an item lacks a part, names an
            unknown skill, quotes what its question does not say or refers to a
            step that does not come before.
    """
    items: list[Item] = []
    for number, line in _numbered_lines(path):
        mark, text = line[:2], line[2:]
        if mark == "@ " and text.count(" | ") == 1:
            items.append(Item(*text.split(" | ")))
        elif not items or not _add_line(items[-1], mark, text):
            raise ParseError(f"{path.name}: line {number} has no known form: {line!r}")
    for item in items:
        faults = [*_form_faults(item), *_step_faults(item, skills)]
        if faults:
            raise ParseError(f"{path.name}: {item.item_id}: {faults[0]}")
    return items


def rationale(item: Item, skills: dict[str, str]) -> str:
    """Markdown of an item's steps, closed by its ``ANSWER:`` line.

    Args:
        item: A checked item.
        skills: The chains by key.

    Returns:
        Numbered steps with a blank line between them, no newline at the end.
    """
    blocks = [
        f"{number}. **Step {number}: {step.title}**\n"
        f"   - **Skill:** {skills[step.skill]}\n"
        f"   - **Evidence:** {_spelled_out(step.evidence)}\n"
        f"   - **Conclusion:** {step.conclusion}"
        for number, step in enumerate(item.steps, start=1)
    ]
    return "\n\n".join([*blocks, f"ANSWER: {item.answer}"])


def _numbered_lines(path: Path) -> list[tuple[int, str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]


def _add_line(item: Item, mark: str, text: str) -> bool:
    """Whether the line had a known mark; if so ``item`` now holds it."""
    if mark == "? ":
        item.question = text
    elif mark == "  ":
        item.question += "\n" + text
    elif mark in ("+ ", "- "):
        if mark == "+ ":
            item.right.append(len(item.choices))
        item.choices.append(text)
    elif mark == "= ":
        item.value = text
    elif mark == "> " and text.count(" | ") == len(Step.__dataclass_fields__) - 1:
        item.steps.append(Step(*text.split(" | ")))
    else:
        return False
    return True


def _form_faults(item: Item) -> list[str]:
    faults: list[str] = []
    if not item.question:
        faults.append("has no question")
    if bool(item.choices) == bool(item.value):
        faults.append("needs either options or an answer")
    if item.choices and len(item.right) != 1:
        faults.append(f"needs one right option, has {len(item.right)}")
    if not _MIN_STEPS <= len(item.steps) <= _MAX_STEPS:
        faults.append(f"needs 2 to 4 steps, has {len(item.steps)}")
    return faults


def _step_faults(item: Item, skills: dict[str, str]) -> list[str]:
    said = "\n".join([item.question, *item.choices])
    faults: list[str] = []
    for number, step in enumerate(item.steps, start=1):
        if step.skill not in skills:
            faults.append(f"step {number} has the unknown skill {step.skill!r}")
        faults += [
            f"step {number} quotes what the item does not say: {quote!r}"
            for quote in _QUOTED.findall(step.evidence)
            if quote not in said
        ]
        faults += [
            f"step {number} rests on step {earlier}, which is not before it"
            for earlier in _EARLIER_STEP.findall(step.evidence)
            if int(earlier) >= number
        ]
    return faults


def _spelled_out(evidence: str) -> str:
    text = _EARLIER_STEP.sub(r"the finding of step \1", evidence)
    return text[:1].upper() + text[1:] if text.startswith("the finding") else text
