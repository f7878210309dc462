"""Steps, skills and answer of a rationale written as Markdown or plain text."""

import re

from skillmap.parsing.rationales.chains import Chain
from skillmap.parsing.rationales.labels import Label, find_labels, flat_text
from skillmap.parsing.rationales.outline import with_every_step
from skillmap.parsing.rationales.skill_lines import listed_skills, read_skills
from skillmap.parsing.rationales.steps import (
    Rationale,
    Step,
    chain_faults,
    normalised_answer,
    without_lone_surrogates,
)

_RULE = re.compile(r"[-*_=~•\s]++\Z")
# An answer can stand in displayed mathematics, below the label.
_DISPLAY_OPENER = re.compile(r"\A\s*+(?:(?:\\\[|\$\$)[ \t]*+\n\s*+)?+")
_TITLE_MARKUP = " \t\n\u00a0*_`#:\uff1a|-\u2013—"
_STRUCTURE = frozenset({"step", "evidence", "conclusion"})


def read_markdown(text: str) -> Rationale:
    """Steps, answer and faults of a rationale, in time linear in its length.

    Args:
        text: The rationale as received.

    Returns:
        Steps with offsets into ``text``. Text without any label, or with only a
        skill header, is read as a bare list of skills, one step a bullet.
    """
    flat = flat_text(without_lone_surrogates(text))
    labels = find_labels(flat)
    listed = _bare_list(flat, labels)
    if listed:
        return Rationale(listed, None, ())

    reader = _StepReader(flat)
    labels = with_every_step(flat, labels)
    for index, label in enumerate(labels):
        following = labels[index + 1].start if index + 1 < len(labels) else len(flat)
        reader.read(label, following if label.value_end is None else label.value_end)
    reader.close(len(flat))
    if reader.answer is None:
        reader.faults.append("missing_answer")
    return Rationale(tuple(reader.steps), reader.answer, tuple(reader.faults))


class _StepReader:
    """Puts labelled text together into steps."""

    def __init__(self, flat: str) -> None:
        self.flat = flat
        self.steps: list[Step] = []
        self.faults: list[str] = []
        self.answer: str | None = None
        self._start: int | None = None
        self._title: str | None = None
        self._chains: list[Chain] = []
        self._is_unreadable = False
        self._texts: dict[str, list[str]] = {}

    def read(self, label: Label, end: int) -> None:
        if label.kind == "step":
            self._open(label, end)
        elif label.kind == "skill":
            self._add_skills(label, end)
        elif label.kind in _STRUCTURE:
            self._add_text(label, end)
        elif label.kind in {"answer", "answer_in_step"}:
            if label.kind == "answer":
                self.close(label.start)
            self._read_answer(label, end)

    def close(self, end: int) -> None:
        if self._start is None:
            return
        chains = tuple(self._chains)
        if chains or not self._is_unreadable:
            self.faults.extend(chain_faults(chains))
        self.steps.append(
            Step(
                self._title,
                chains,
                self._text("evidence"),
                self._text("conclusion"),
                self._start - 1,
                _content_end(self.flat, self._start, end) - 1,
            )
        )
        self._start = None

    def _open(self, label: Label, end: int) -> None:
        self.close(label.start)
        title = self.flat[label.value_start : end].split("\n", 1)[0]
        self._start = label.start
        self._title = title.strip(_TITLE_MARKUP) or None
        self._chains = []
        self._is_unreadable = False
        self._texts = {}

    def _add_skills(self, label: Label, end: int) -> None:
        chains = read_skills(self.flat, label, end)
        if chains is None:
            self._is_unreadable = True
            self.faults.append("skill_line_too_long")
        else:
            self._chains.extend(chains)

    def _add_text(self, label: Label, end: int) -> None:
        if self._start is None:
            self.faults.append("evidence_not_in_step")
            return
        text = _section_text(self.flat[label.value_start : end])
        if text:
            self._texts.setdefault(label.kind, []).append(text)

    def _text(self, kind: str) -> str | None:
        return "\n".join(self._texts[kind]) if kind in self._texts else None

    def _read_answer(self, label: Label, end: int) -> None:
        value = _DISPLAY_OPENER.sub("", self.flat[label.value_start : end])
        answer = normalised_answer(value.split("\n", 1)[0])
        # A later label without an answer takes nothing away.
        self.answer = answer or self.answer


def _bare_list(flat: str, labels: list[Label]) -> tuple[Step, ...]:
    # An answer means that the item was solved: its bullets are working, not skills.
    if any(label.kind in _STRUCTURE or label.kind == "answer" for label in labels):
        return ()
    headers = [label for label in labels if label.kind == "skill"]
    if not headers:
        return listed_skills(flat, 0)
    first_line = flat[headers[0].value_start :].split("\n", 1)[0]
    if len(headers) > 1 or first_line.strip():
        return ()
    return listed_skills(flat, headers[0].value_start)


def _section_text(raw: str) -> str:
    lines = [stripped for line in raw.split("\n") if (stripped := line.strip())]
    while lines and _RULE.match(lines[-1]):
        lines.pop()
    text = "\n".join(lines).removesuffix(" -")
    # A marker opened before the label is closed at the end of the section.
    if text.endswith("*") and text.count("*") % 2:
        text = text.rstrip("*").rstrip()
    elif text.endswith("**") and text.count("**") % 2:
        text = text.removesuffix("**").rstrip()
    return text


def _content_end(flat: str, start: int, end: int) -> int:
    # Neither white space nor a rule between steps belongs to the step above it.
    while True:
        while end > start and flat[end - 1].isspace():
            end -= 1
        line_start = flat.rfind("\n", start, end) + 1
        if line_start <= start or not _RULE.match(flat, line_start, end):
            return end
        end = line_start
