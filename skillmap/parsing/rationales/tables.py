"""Skill tables in a rationale's Markdown: one step a row, or one label a row."""

import re
from itertools import pairwise
from typing import NamedTuple

_TABLE = re.compile(r"(?:\n[ \t]*\|[^\n]*+){2,}")
_RULE = re.compile(r"[|\-: \t]++\Z")
_CELL_END = re.compile(r"(?<!\\)\|")
_MAX_LABEL_LENGTH = 40
_MARKUP = " \t*_`:"

_COLUMN_KINDS = {
    "step": "step",
    "title": "step",
    "step title": "step",
    "skill": "skill",
    "skills": "skill",
    "evidence": "evidence",
    "conclusion": "conclusion",
}


class Cell(NamedTuple):
    """A table cell that stands for a label.

    Attributes:
        kind: "step", "skill", "evidence" or "conclusion".
        line_start: Offset of the row's first character.
        start: Offset of the cell's text.
        end: One past it.
    """

    kind: str
    line_start: int
    start: int
    end: int


def table_cells(flat: str) -> list[Cell]:
    """Cells that name steps, skills, evidence and conclusions, in reading order.

    A table whose header has a skill column is read by columns, each row a step. In
    any other, rows whose first cell is a label are read as that label and its value.
    """
    if "|" not in flat:
        return []
    cells: list[Cell] = []
    for table in _TABLE.finditer(flat):
        rows = _rows(flat, table.start(), table.end())
        header = [_kind(flat, span) for span in rows[0]]
        if _is_header(header):
            cells.extend(_cells_by_column(header, flat, rows[1:]))
        else:
            cells.extend(_cells_by_row(flat, rows))
    return cells


def _is_header(kinds: list[str | None]) -> bool:
    # "| Skill | Knowledge: a |" is a label and its value.
    n_named = len(kinds) - kinds.count(None)
    return kinds.count("skill") == 1 and (
        kinds[0] != "skill" or n_named > 1 or len(kinds) == 1
    )


def _cells_by_column(
    header: list[str | None], flat: str, rows: list[list[tuple[int, int]]]
) -> list[Cell]:
    cells: list[Cell] = []
    for row in rows:
        line_start = flat.rfind("\n", 0, row[0][0]) + 1
        named = [
            Cell(kind, line_start, *span)
            for kind, span in zip(header, row, strict=False)
            if kind is not None
        ]
        # The last of the columns that name the step is its title, the first its number.
        titles = [cell for cell in named if cell.kind == "step"]
        step = (
            titles[-1] if titles else Cell("step", line_start, line_start, line_start)
        )
        cells.extend([step, *(cell for cell in named if cell.kind != "step")])
    return cells


def _cells_by_row(flat: str, rows: list[list[tuple[int, int]]]) -> list[Cell]:
    cells: list[Cell] = []
    for row in rows:
        kind = _kind(flat, row[0])
        if kind is not None and kind != "step" and len(row) > 1:
            line_start = flat.rfind("\n", 0, row[0][0]) + 1
            cells.append(Cell(kind, line_start, row[1][0], row[-1][1]))
    return cells


def _rows(flat: str, start: int, end: int) -> list[list[tuple[int, int]]]:
    rows: list[list[tuple[int, int]]] = []
    line_start = start + 1
    while line_start < end:
        line_end = flat.find("\n", line_start, end)
        line_end = end if line_end < 0 else line_end
        if not rows or not _RULE.match(flat[line_start:line_end]):
            rows.append(_row(flat, line_start, line_end))
        line_start = line_end + 1
    return rows


def _row(flat: str, start: int, end: int) -> list[tuple[int, int]]:
    bars = [match.start() for match in _CELL_END.finditer(flat, start, end)]
    bounds = [*bars, end] if flat[bars[-1] : end].strip("| \t") else bars
    bounds = bounds if len(bounds) > 1 else [bars[0], end]
    return [(left + 1, right) for left, right in pairwise(bounds)]


def _kind(flat: str, span: tuple[int, int]) -> str | None:
    text = flat[span[0] : span[1]]
    if len(text) > _MAX_LABEL_LENGTH:
        return None
    return _COLUMN_KINDS.get(text.strip(_MARKUP).lower())
