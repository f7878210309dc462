"""Tables of rationales and of the skills they mention."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.parsing.rationales.markdown import read_markdown
from skillmap.parsing.rationales.steps import Rationale
from skillmap.parsing.rationales.structured import looks_structured, read_structured

_COLUMNS = ("item_id", "annotator", "rationale")


class ParsedRationales(NamedTuple):
    """Rationales and the skill mentions in them.

    Attributes:
        rationales: One row per rationale given, in the order given: ``item_id``,
            ``annotator``, ``rationale`` (as given), ``parse_status``, ``n_steps``,
            ``n_mentions``, ``answer`` and ``faults`` (one code per occurrence).
        mentions: One row per name of a skill chain, by rationale, step and place in
            it: ``item_id``, ``annotator``, ``step_index`` (zero-based),
            ``level_index`` (0 for the family's own name, then 1, 2, ... from general
            to specific), ``phrase``, ``family``, ``step_title``, ``evidence``,
            ``conclusion``, ``span_start`` and ``span_end`` (characters of the
            rationale, the whole step), ``order`` (zero-based row number).
    """

    rationales: pl.DataFrame
    mentions: pl.DataFrame


def parse_rationale(text: str) -> Rationale:
    r"""Steps, answer and faults of one rationale; never fails on any text.

    Args:
        text: Markdown, plain text, or the JSON form, fenced or not. Lone surrogates
            are read as U+FFFD, which keeps the offsets.

    Returns:
        The rationale's steps, with offsets into ``text``. Blank text has no steps,
        no answer and no faults.

    Examples:
        >>> parsed = parse_rationale(
        ...     "1. **Step 1: Sum**\n- **Skill:** Reasoning: algebra\n\nANSWER: (B)"
        ... )
        >>> parsed.steps[0].title, parsed.steps[0].chains[0].names, parsed.answer
        ('Sum', ('Reasoning', 'algebra'), 'B')
    """
    if not text.strip():
        return Rationale((), None, ())
    if not looks_structured(text):
        return read_markdown(text)
    structured = read_structured(text)
    if structured is not None:
        return structured
    parsed = read_markdown(text)
    if any(step.chains for step in parsed.steps):
        return parsed
    return parsed._replace(faults=("invalid_json", *parsed.faults))


def parse_rationales(rationales: pl.DataFrame) -> ParsedRationales:
    """Skill mentions of every rationale, and how well each rationale was read.

    Nothing is dropped in silence: a rationale without skills keeps its row, with a
    status and the faults found.

    Args:
        rationales: ``item_id``, ``annotator`` and ``rationale`` (text or null), one
            row per item and annotator; other columns are left out.

    Returns:
        Two frames. ``parse_status`` is "parsed", "parsed_with_faults" (skills were
        found, and faults), "no_skills", or "empty" for null or blank text. Fault
        codes: step_without_skill, skill_line_too_long, single_name_chain,
        unknown_family, evidence_not_in_step (evidence or a conclusion outside any
        step), missing_answer, invalid_json (text that opens with a JSON object, or
        holds one in a fence, and gives no skill in any form), unreadable_step (a
        JSON step that is no object).

    Raises:
        InvalidInputError: If a column is missing or does not hold text.
    """
    texts = _checked(rationales)
    readings = _Readings()
    for index, text in enumerate(texts["rationale"]):
        readings.add(index, text)
    return ParsedRationales(
        _rationale_rows(texts, readings), _mention_rows(texts, readings)
    )


def _checked(rationales: pl.DataFrame) -> pl.DataFrame:
    missing = [name for name in _COLUMNS if name not in rationales.columns]
    if missing:
        raise InvalidInputError(
            f"rationales: columns must include {list(_COLUMNS)}: missing {missing}. "
            "Rename the source's columns."
        )
    for name in _COLUMNS:
        dtype = rationales.schema[name]
        if not isinstance(dtype, pl.String | pl.Null | pl.Categorical | pl.Enum):
            raise InvalidInputError(
                f"rationales: column {name!r} must hold text: got {dtype}. "
                "Cast it before parsing."
            )
    return rationales.select(pl.col(_COLUMNS).cast(pl.String))


@dataclass
class _Readings:
    """Columns of what was read, as plain lists: rows are made once, at the end."""

    status: list[str] = field(default_factory=list[str])
    n_steps: list[int] = field(default_factory=list[int])
    n_mentions: list[int] = field(default_factory=list[int])
    answer: list[str | None] = field(default_factory=list[str | None])
    faults: list[list[str]] = field(default_factory=list[list[str]])

    # One entry per step that has skills.
    rationale_row: list[int] = field(default_factory=list[int])
    step_index: list[int] = field(default_factory=list[int])
    title: list[str | None] = field(default_factory=list[str | None])
    evidence: list[str | None] = field(default_factory=list[str | None])
    conclusion: list[str | None] = field(default_factory=list[str | None])
    start: list[int] = field(default_factory=list[int])
    end: list[int] = field(default_factory=list[int])

    # One entry per mention.
    step_row: list[int] = field(default_factory=list[int])
    level: list[int] = field(default_factory=list[int])
    phrase: list[str] = field(default_factory=list[str])
    family: list[str | None] = field(default_factory=list[str | None])

    def add(self, row: int, text: str | None) -> None:
        parsed = parse_rationale(text or "")
        n_before = len(self.phrase)
        for step_index, step in enumerate(parsed.steps):
            if not step.chains:
                continue
            self._add_mentions(parsed, step_index)
            self.rationale_row.append(row)
            self.step_index.append(step_index)
            self.title.append(step.title)
            self.evidence.append(step.evidence)
            self.conclusion.append(step.conclusion)
            self.start.append(step.start)
            self.end.append(step.end)
        n_mentions = len(self.phrase) - n_before
        is_empty = not (text and text.strip())
        self.status.append(_status(n_mentions, parsed.faults, is_empty=is_empty))
        self.n_steps.append(len(parsed.steps))
        self.n_mentions.append(n_mentions)
        self.answer.append(parsed.answer)
        self.faults.append(list(parsed.faults))

    def _add_mentions(self, parsed: Rationale, step_index: int) -> None:
        step_row = len(self.rationale_row)
        for chain in parsed.steps[step_index].chains:
            n_names = len(chain.names)
            first = chain.first_level
            self.step_row.extend([step_row] * n_names)
            self.level.extend(range(first, first + n_names))
            self.phrase.extend(chain.names)
            self.family.extend([chain.family] * n_names)


def _status(n_mentions: int, faults: Iterable[str], *, is_empty: bool) -> str:
    if is_empty:
        return "empty"
    if n_mentions == 0:
        return "no_skills"
    return "parsed_with_faults" if any(faults) else "parsed"


def _rationale_rows(texts: pl.DataFrame, readings: _Readings) -> pl.DataFrame:
    return texts.with_columns(
        pl.Series("parse_status", readings.status, dtype=pl.String),
        pl.Series("n_steps", readings.n_steps, dtype=pl.Int64),
        pl.Series("n_mentions", readings.n_mentions, dtype=pl.Int64),
        pl.Series("answer", readings.answer, dtype=pl.String),
        pl.Series("faults", readings.faults, dtype=pl.List(pl.String)),
    )


def _mention_rows(texts: pl.DataFrame, readings: _Readings) -> pl.DataFrame:
    steps = texts.select("item_id", "annotator")[readings.rationale_row].with_columns(
        pl.Series("step_index", readings.step_index, dtype=pl.Int64),
        pl.Series("step_title", readings.title, dtype=pl.String),
        pl.Series("evidence", readings.evidence, dtype=pl.String),
        pl.Series("conclusion", readings.conclusion, dtype=pl.String),
        pl.Series("span_start", readings.start, dtype=pl.Int64),
        pl.Series("span_end", readings.end, dtype=pl.Int64),
    )
    mentions = steps[readings.step_row].with_columns(
        pl.Series("level_index", readings.level, dtype=pl.Int64),
        pl.Series("phrase", readings.phrase, dtype=pl.String),
        pl.Series("family", readings.family, dtype=pl.String),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("order"),
    )
    return mentions.select(
        "item_id",
        "annotator",
        "step_index",
        "level_index",
        "phrase",
        "family",
        "step_title",
        "evidence",
        "conclusion",
        "span_start",
        "span_end",
        "order",
    )
