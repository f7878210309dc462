"""CSV in its many dialects: separators, quoted line breaks, ragged rows."""

import csv
import io
from collections import Counter
from itertools import islice
from typing import NamedTuple

from skillmap.errors import ParseError
from skillmap.parsing.source import Remark
from skillmap.parsing.values import excerpt

_SEPARATORS = (",", ";", "\t", "|")
_N_ROWS_TRIED = 20
_N_CHARACTERS_TRIED = 2**20

# The standard library's limit of 131,072 characters is shorter than some responses.
_MAX_FIELD_CHARACTERS = 2**31 - 1


class DelimitedTable(NamedTuple):
    """Columns of text; `positions` counts the rows that are not blank."""

    positions: list[int]
    columns: dict[str, list[str]]
    rejects: list[Remark]


def parse_delimited_text(text: str, *, name: str) -> DelimitedTable:
    """Decode comma, semicolon, tab or bar separated text with a header row.

    Args:
        text: The whole text; quotes may enclose separators and line breaks.
        name: The file, for messages.

    Returns:
        Cells as written. A row with more or fewer cells than the header is rejected
        and the rest kept.

    Raises:
        ParseError: If there is no header, two columns have one name, or a quote is
            never closed (which would swallow all rows after it).
    """
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_FIELD_CHARACTERS))
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=_separator(text), strict=True
    )
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        msg = (
            f"{name}: not CSV: {error} at line {reader.line_num}. "
            "Close every quote, and double those inside a quoted cell"
        )
        raise ParseError(msg) from error
    if not rows:
        msg = f"{name}: no header row"
        raise ParseError(msg)
    header = _header(rows[0], name)
    good: list[list[str]] = []
    positions: list[int] = []
    rejects: list[Remark] = []
    for position, row in enumerate(rows[1:]):
        if len(row) == len(header):
            positions.append(position)
            good.append(row)
        else:
            reason = f"row does not have the header's {len(header)} cells"
            rejects.append((position, reason, excerpt(row)))
    cells = list(zip(*good, strict=True)) or [()] * len(header)
    # A nameless column is the row number that pandas writes.
    columns = {
        column: list(values)
        for column, values in zip(header, cells, strict=True)
        if column
    }
    return DelimitedTable(positions, columns, rejects)


def _header(row: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in row]
    twice = sorted(cell for cell, n in Counter(header).items() if n > 1 and cell)
    if twice:
        msg = f"{name}: column names must differ, found twice: {twice[:8]}"
        raise ParseError(msg)
    return header


def _separator(text: str) -> str:
    """The separator that gives the most columns, all rows alike before ragged ones."""
    head = text[:_N_CHARACTERS_TRIED]
    return max(_SEPARATORS, key=lambda separator: _n_columns(head, separator))


def _n_columns(text: str, separator: str) -> tuple[bool, int]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [row for row in islice(reader, _N_ROWS_TRIED) if row]
    except csv.Error:
        return False, 0
    # Where the head ends early, it ends within a row.
    whole_rows = rows[:-1] if 1 < len(rows) < _N_ROWS_TRIED else rows
    n_columns = len(rows[0]) if rows else 0
    is_even = {len(row) for row in whole_rows} == {n_columns}
    return is_even and n_columns > 1, n_columns
