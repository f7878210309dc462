"""Which labels of a rationale open a step.

A step heading does, unless it is a reference to a step within a section. Where the
heading is missing or does not say "step", the skill label shows where a step is.
"""

import re
from dataclasses import dataclass, field

from skillmap.parsing.rationales.labels import Label, indent

# A line that can be the heading of the skill label under it: numbered, a Markdown
# heading, or bold from end to end.
_WEAK_HEADING = re.compile(
    r"[ \t>]*+(?:\d{1,3}[.)][ \t]+|\#{1,6}[ \t]+"
    r"|(?=(?:\*\*|__)[^*_]++(?:\*\*|__):?\s*+\Z))"
)
_PLAIN_BULLET = re.compile(r"[ \t>]*+[-+•*][ \t]+(?![*_])")
_SECTIONS = frozenset({"evidence", "conclusion"})
_PLAIN_KINDS = frozenset({"other", "bold"})


def with_every_step(flat: str, labels: list[Label]) -> list[Label]:
    """``labels`` with one "step" label where each step begins, and no others.

    Args:
        flat: The flat text.
        labels: As found, by offset.

    Returns:
        Labels by offset. Each added step label has a title if a heading stands on
        the line before, else an empty one. References to steps are left out.
    """
    outline = _Outline(flat)
    for index, label in enumerate(labels):
        if label.kind == "step":
            outline.add_heading(label)
        elif label.kind == "answer":
            following = labels[index + 1].kind if index + 1 < len(labels) else ""
            outline.add_answer(label, is_last=following not in _SECTIONS)
        else:
            outline.add(label)
    return outline.labels


@dataclass
class _Outline:
    flat: str
    labels: list[Label] = field(default_factory=list[Label])
    is_open: bool = False
    is_headed: bool = False
    number: int | None = None
    seen: set[str] = field(default_factory=set[str])
    section_start: int | None = None

    def add_heading(self, label: Label) -> None:
        if self._is_reference(label):
            return
        if self._repeats_heading(label):
            first = self.labels.pop()
            label = label._replace(start=first.start)
        self._open(label, is_headed=True)

    def add_answer(self, label: Label, *, is_last: bool) -> None:
        # "Answer" can be one more bullet of a step that goes on.
        if is_last or not self.is_open:
            self.is_open = False
            self.section_start = None
            self.labels.append(label)
        else:
            self.labels.append(label._replace(kind="answer_in_step"))

    def add(self, label: Label) -> None:
        if label.kind == "bold" and self._is_in_skill_list():
            return
        if self._may_open_step(label):
            heading = self._weak_heading_before(label)
            if heading is not None:
                if self.labels and self.labels[-1].start == heading.start:
                    self.labels.pop()
                self._open(heading, is_headed=True)
            elif self._must_open_step(label):
                at = label.start
                self._open(Label("step", at, at, at, None), is_headed=False)
        self.labels.append(label)
        self.seen.add(label.kind)
        self.section_start = label.start if label.kind != "skill" else None

    def _open(self, label: Label, *, is_headed: bool) -> None:
        self.labels.append(label)
        self.is_open = True
        self.is_headed = is_headed
        self.number = label.number
        self.seen = set()
        self.section_start = None

    def _is_reference(self, label: Label) -> bool:
        if not self.is_open or self.section_start is None:
            return False
        if indent(self.flat, label.start) > indent(self.flat, self.section_start):
            return True
        goes_back = (
            label.number is not None
            and self.number is not None
            and label.number <= self.number
        )
        return goes_back and _PLAIN_BULLET.match(self.flat, label.start) is not None

    def _repeats_heading(self, label: Label) -> bool:
        # "## Step 1" over "**Step 1: title**".
        return (
            self.is_open
            and not self.seen
            and label.number is not None
            and label.number == self.number
            and self.labels[-1].kind == "step"
        )

    def _is_in_skill_list(self) -> bool:
        # "Skill:" over "- **Algebra:** linear equations".
        last = self.labels[-1] if self.labels else None
        return (
            last is not None
            and last.kind == "skill"
            and last.value_end is None
            and self.flat[last.value_start : last.value_start + 1] == "\n"
        )

    def _may_open_step(self, label: Label) -> bool:
        if not self.is_open:
            return label.kind in {"skill", "evidence"}
        if label.kind == "skill":
            return bool(self.seen & {"skill", "evidence", "conclusion"})
        return label.kind == "evidence" and bool(self.seen & _SECTIONS)

    def _must_open_step(self, label: Label) -> bool:
        if label.kind != "skill":
            return False
        goes_on = self.is_headed and not self.seen & _SECTIONS
        return not (self.is_open and goes_on)

    def _weak_heading_before(self, label: Label) -> Label | None:
        end = label.start - 1
        if self.flat[end : end + 1] != "\n":
            return None
        last = self.labels[-1] if self.labels else None
        floor = last.start if last else 0
        while end > floor and self.flat[end - 1].isspace():
            end -= 1
        start = self.flat.rfind("\n", floor, end) + 1 or floor
        if last and start <= last.start and last.kind not in _PLAIN_KINDS:
            return None
        match = _WEAK_HEADING.match(self.flat[start:end])
        if match is None or start == end:
            return None
        return Label("step", start, start + match.end(), end, None)
