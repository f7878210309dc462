r"""The places in a rationale that mean something: headings, labels and the answer.

Everything here works on *flat* text: a line feed put before it and every line break
a single line feed, at unchanged length, so that an offset in the flat text less one
is the offset in the original.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

from skillmap.parsing.rationales.tables import table_cells

# Marks before a label, in any mixture: "- **", "* *", "### ", "> - _". Possessive
# repeats keep the time linear: there is nothing to try again in them.
_MARKS = r"[ \t\u00a0\u3000\ufeff\u200b*_#>+•·◦▪●‣\u2013—`~\[\-]*+"
_NUMBERING = rf"(?:(?:\d{{1,3}}|[A-Za-z])[.)]{_MARKS}){{0,3}}"
_CLOSERS = r"[*_`\] \t\u00a0]*+"
_END_OF_LINE = r"(?=\n|\Z)"
_FAMILY = r"(?i:knowledge|perception|reasoning)"

# What must follow a label word, else it is a word of a sentence: a colon, a spaced
# dash, the end of the line, or straight away a skill chain.
_AFTER_LABEL = (
    rf"(?:{_CLOSERS}[:\uff1a=]|{_CLOSERS}(?<=[ \t])[-\u2013—](?=[ \t\n]|\Z)"
    rf"|{_CLOSERS}{_END_OF_LINE}"
    rf"|[*_]*+[ \t]+(?=[*_]*+{_FAMILY}[*_ \t]*+[:\uff1a,>\u2013—-])){_CLOSERS}"
)
_WORD_NUMBER = r"(?i:one|two|three|four|five|six|seven|eight|nine|ten|[ivx]{1,4})\b"
_AFTER_STEP = (
    rf"(?:(?:(?P<number>\d{{1,4}})|{_WORD_NUMBER})"
    rf"(?:{_CLOSERS}(?:[:\uff1a)]|\.(?!\d)|[-\u2013—])|[*_]++|{_CLOSERS}{_END_OF_LINE})"
    rf"|{_CLOSERS}[:\uff1a]){_CLOSERS}"
)
_QUALIFIER = r"(?i:used|needed|required|applied|exercised|involved|tested|chain|names?)"
_OTHER_WORDS = (
    r"(?i:calculations?|computations?|explanation|observations?|analysis|notes?"
    r"|results?|justification|verification|check|work(?:ing)?|formula|findings?)"
)

_LABEL = re.compile(
    rf"""\n(?:
      {_MARKS}{_NUMBERING}(?:
          (?P<step>(?i:step)[ \t]*+\#?{_AFTER_STEP})
        | (?P<skill>(?:(?i:required|relevant|key)[ ])?+(?i:skills?)(?:\(s\))?+
            (?:[ \t]{_QUALIFIER})?+(?:[ \t]?\d{{1,2}})?+{_AFTER_LABEL})
        | (?P<evidence>(?i:evidences?)(?:[ ](?i:used|\d{{1,2}}))?+{_AFTER_LABEL})
        | (?P<conclusion>(?:(?i:step|intermediate|sub)[ -])?+
            (?i:conclusions?){_AFTER_LABEL})
        | (?P<answer>(?:(?i:the[ ])?+(?i:final|correct)[ ])?+(?i:answer)
            (?:[ ](?i:is))?+{_AFTER_LABEL}|ANSWER[ \t]+(?=\S))
        | (?P<other>{_OTHER_WORDS}{_CLOSERS}[:\uff1a]{_CLOSERS})
      )
    | [ \t>]*+\#{{1,6}}(?:
          (?P<bare_step>[ \t*_]++(?i:step)[ \t]+(?P<bare_number>\d{{1,4}})[ \t]+)
        | (?P<heading>[ \t]+)
      )
    | [ \t>]*+(?:[-+•*][ \t]+)?+(?:\d{{1,3}}[.)][ \t]+)?+
        (?P<bold>\*\*(?!{_FAMILY}\b)[^*\n:\uff1a]{{1,40}}
            (?:[:\uff1a][ \t]*+\*\*|\*\*[ \t]*+[:\uff1a]))
    )""",
    re.VERBOSE,
)
# In the middle of a line only what is bold, capitalised and closed by a colon.
_INLINE_LABEL = re.compile(
    r"\*\*[ \t]*(?:(?P<skill>Skills?)|(?P<evidence>Evidence)"
    r"|(?P<conclusion>Conclusion)|(?P<answer>(?:Final )?Answer|ANSWER))"
    r"(?:[ \t]*[:\uff1a][ \t]*(?:\*\*)?|\*\*[ \t]*[:\uff1a])"
)
_LAST_ANSWER = re.compile(r"ANSWER[ \t]*[:\uff1a]")
_FENCE = re.compile(r"\n[ \t>]*```")
_INDENT = re.compile(r"[ \t\u00a0>]*+")

_KINDS = {"bare_step": "step", "heading": "other"}


class Label(NamedTuple):
    """A place where something begins.

    Attributes:
        kind: "step", "skill", "evidence", "conclusion", "answer", "other" for any
            other known label, or "bold" for a bold one that is not known.
        start: Offset of its line, or of itself if in the middle of a line.
        value_start: Offset at which its value begins.
        value_end: Offset at which its value ends; None for "at the next label".
        number: The number in a step heading, if digits.
    """

    kind: str
    start: int
    value_start: int
    value_end: int | None
    number: int | None


def flat_text(text: str) -> str:
    r"""``text`` after a line feed, with every line break one line feed.

    A "\r\n" becomes a space and a line feed, so that later offsets stay. Form feeds
    are no line breaks: they come from "\frac" read as an escape.

    Examples:
        >>> flat_text("a\r\nb\rc")
        '\na \nb\nc'
    """
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return "\n" + text


def find_labels(flat: str) -> list[Label]:
    """All labels of a flat text, by offset, each with the text it claims.

    Labels in a fenced block are code and left out, unless no skill label stands
    outside: then the fence wraps the rationale.
    """
    labels = _merged(flat, _line_labels(flat), _table_labels(flat))
    labels = _merged(flat, labels, _inline_labels(flat))
    if "```" in flat:
        labels = _without_code(flat, labels)
    if not any(label.kind == "answer" for label in labels):
        labels = _merged(flat, labels, _late_answer(flat))
    return labels


def _table_labels(flat: str) -> list[Label]:
    return [
        Label(cell.kind, cell.line_start, cell.start, cell.end, None)
        for cell in table_cells(flat)
    ]


def indent(flat: str, start: int) -> int:
    """Width of the white space and quote marks that the line at ``start`` opens with.

    Tabs count to the next multiple of four.
    """
    match = _INDENT.match(flat, start)
    return len(match.group().expandtabs(4)) if match else 0


def _line_labels(flat: str) -> list[Label]:
    labels: list[Label] = []
    for match in _LABEL.finditer(flat):
        name = match.lastgroup or ""
        end = match.end()
        if flat[end : end + 1] in {"\n", ""} and _is_lone_word(match.group()):
            continue
        number = match["number"] or match["bare_number"] if "step" in name else None
        labels.append(
            Label(
                _KINDS.get(name, name),
                match.start() + 1,
                end,
                None,
                int(number) if number else None,
            )
        )
    return labels


def _is_lone_word(line: str) -> bool:
    # A line of a wrapped sentence can be the one word "skills".
    word = line.strip()
    return word[-1].isalpha() and word[0].islower()


def _inline_labels(flat: str) -> list[Label]:
    return [
        Label(match.lastgroup or "", match.start(), match.end(), None, None)
        for match in _INLINE_LABEL.finditer(flat)
    ]


def _late_answer(flat: str) -> list[Label]:
    found = list(_LAST_ANSWER.finditer(flat))
    return [Label("answer", m.start(), m.end(), None, None) for m in found[-1:]]


def _merged(flat: str, labels: list[Label], found: list[Label]) -> list[Label]:
    # What is found again within a label, or in a table row already read, is left.
    if not found:
        return labels
    starts = [label.start for label in labels]
    row_ends = _row_ends(flat, labels)
    kept: list[Label] = []
    for label in found:
        before = bisect_right(starts, label.start) - 1
        if before >= 0:
            row_end = row_ends.get(starts[before], -1)
            if label.start < max(labels[before].value_start, row_end):
                continue
        kept.append(label)
    return sorted([*labels, *kept], key=lambda label: label.start)


def _row_ends(flat: str, labels: list[Label]) -> dict[int, int]:
    ends: dict[int, int] = {}
    for label in labels:
        if label.value_end is not None and label.start not in ends:
            end = flat.find("\n", label.start)
            ends[label.start] = len(flat) if end < 0 else end
    return ends


def _without_code(flat: str, labels: list[Label]) -> list[Label]:
    fences = [match.start() for match in _FENCE.finditer(flat)]
    # A fence that is never closed would hide all that follows.
    fences = fences[: len(fences) // 2 * 2]
    outside = [label for label in labels if bisect_right(fences, label.start) % 2 == 0]
    is_wrapped = not any(label.kind == "skill" for label in outside)
    return labels if is_wrapped else outside
