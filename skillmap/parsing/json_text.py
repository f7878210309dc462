"""JSON documents and JSON lines, told apart by content."""

import json
import re
from typing import NamedTuple

from skillmap.errors import ParseError
from skillmap.parsing.source import Remark
from skillmap.parsing.values import excerpt, is_object

# Lines looked at to tell JSON lines with a bad first line from a broken document.
_N_LINES_TRIED = 20

_MAX_FRAGMENT = 9
_FRAGMENT = re.compile(rf"[\\\w-]{{0,{_MAX_FRAGMENT}}}")


class JsonDocument(NamedTuple):
    """One JSON value."""

    value: object


class JsonLines(NamedTuple):
    """One JSON value per line; `positions` counts the lines that are not blank."""

    positions: list[int]
    values: list[object]
    rejects: list[Remark]


def parse_json_text(text: str, *, name: str) -> JsonDocument | JsonLines:
    """Decode a JSON document, or JSON lines.

    Bare NaN and Infinity, control characters inside strings and repeated keys (the
    last one counts) are accepted, as evaluation tools write them.

    Args:
        text: Starts with an opening bracket, apart from white space.
        name: The file, for messages.

    Returns:
        `JsonLines` when a whole first line is followed by others. A line in the
        middle that is not JSON is rejected and the rest kept.

    Raises:
        ParseError: If a document, or the last line, is cut off or is not JSON: what
            would have followed is unknown, and a part must not pass for the whole.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and _is_json(lines[0]):
        return _json_lines(lines, name=name)
    try:
        return JsonDocument(_decode(text))
    except (ValueError, RecursionError) as error:
        if _mostly_objects(lines[:_N_LINES_TRIED]):
            return _json_lines(lines, name=name)
        raise ParseError(_explanation(error, text, name)) from error


def _json_lines(lines: list[str], *, name: str) -> JsonLines:
    positions: list[int] = []
    values: list[object] = []
    rejects: list[Remark] = []
    for position, line in enumerate(lines):
        try:
            values.append(_decode(line))
        except (ValueError, RecursionError) as error:
            if position == len(lines) - 1 and _is_cut_off(error, line):
                msg = (
                    f"{name}: the last line, record {position}, is cut off: "
                    f"{excerpt(line)!r}. Fetch the file again, or delete that line"
                )
                raise ParseError(msg) from error
            rejects.append((position, "line is not JSON", excerpt(line.strip())))
        else:
            positions.append(position)
    return JsonLines(positions, values, rejects)


def _decode(text: str) -> object:
    # strict=False keeps control characters, which models do write.
    return json.loads(text, strict=False)


def _is_json(line: str) -> bool:
    try:
        _decode(line)
    except (ValueError, RecursionError):
        return False
    return True


def _mostly_objects(lines: list[str]) -> bool:
    if not lines or not lines[0].startswith("{"):
        return False
    n_objects = 0
    for line in lines:
        try:
            n_objects += is_object(_decode(line))
        except (ValueError, RecursionError):
            continue
    return n_objects > len(lines) / 2


def _is_cut_off(error: Exception, text: str) -> bool:
    if not isinstance(error, json.JSONDecodeError):
        return False
    # An open string is reported at its start; the rest where reading stopped, which is
    # the end of the text, or the begin of half a word or half an escape before it.
    rest = text[error.pos : error.pos + _MAX_FRAGMENT + 1].rstrip()
    is_fragment = _FRAGMENT.fullmatch(rest) is not None
    return error.msg.startswith("Unterminated") or is_fragment


def _explanation(error: Exception, text: str, name: str) -> str:
    if isinstance(error, RecursionError):
        return f"{name}: JSON is nested too deeply to be read"
    if not isinstance(error, json.JSONDecodeError):
        return f"{name}: JSON holds a number that cannot be read: {error}"
    byte = len(text[: error.pos].encode("utf-8", "surrogateescape"))
    where = f"line {error.lineno}, column {error.colno} (byte {byte})"
    if _is_cut_off(error, text):
        return (
            f"{name}: JSON is cut off: {error.msg.lower()} at {where}. "
            "Fetch the file again"
        )
    found = excerpt(text[error.pos : error.pos + 40])
    return f"{name}: not JSON: {error.msg.lower()} at {where}: {found!r}"
