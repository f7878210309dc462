"""JSON out of what models write: fenced, announced, cut off, almost right.

Reads in one pass whose time grows with the text's length, evaluates nothing, and
fails on no text. What was wrong is named, so that nothing is mended in silence.
"""

import json
import math
import re
from typing import Any, Final, NamedTuple, cast

_FENCE: Final = re.compile(r"```[ \t]*(?:\w{1,12})?|~~~")
_BLANK: Final = re.compile(r"[\s\ufeff]*")
_OPENER: Final = re.compile(r"[{\[]")
_BRACKET: Final = re.compile(r"[{}\[\]]")
_BARE: Final = re.compile(r"[^,:{}\[\]\"'“”\n]+")
_NUMBER: Final = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,5})?")
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_OTHER_CONSTANTS: Final = {"True": True, "False": False, "None": None}
_QUOTES: Final = {'"': '"', "'": "'", "“": "”"}
_PLAIN: Final = {c: re.compile(rf"[^{c}\\]*") for c in ('"', "'", "”")}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HEX: Final = re.compile("[0-9a-fA-F]{4}")
# What may stand after a closing quote; else the quote belongs to the text.
_AFTER_QUOTE: Final = frozenset(",:}]")
_MAX_DEPTH: Final = 60


class JsonObject(dict[str, Any]):
    """A JSON object that also knows the members that came twice.

    Attributes:
        pairs: Names and values in the order written, repeated ones included.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class JsonReply(NamedTuple):
    """What a reply holds of JSON.

    Attributes:
        value: A `JsonObject` or a list; None if there is neither.
        faults: What had to be mended, each once, sorted: "bad_escape",
            "missing_comma", "missing_value", "no_json", "nested_too_deeply",
            "single_quotes", "text_around", "trailing_comma", "truncated",
            "unescaped_quote", "unquoted", "mismatched_brackets".
    """

    value: JsonObject | list[Any] | None
    faults: tuple[str, ...]


def read_json_reply(text: str, *, names: frozenset[str] = frozenset()) -> JsonReply:
    r"""The JSON object or array in a reply.

    A text or number that is cut off is left out, for it may go on; what stands
    before it is kept.

    Args:
        text: The reply, without thought.
        names: Members that are looked for: of several objects the one with the most
            of them counts, and of equal ones the last, which corrects the others.

    Returns:
        The value, and what was wrong with it.

    Examples:
        >>> reply = read_json_reply("Sure: ```json\n{'a': True, 'b': [1, 2,], 'c': fa")
        >>> reply.value, reply.faults[-1]
        ({'a': True, 'b': [1, 2]}, 'unquoted')
    """
    strict = _strictly(text)
    if strict is not None:
        return JsonReply(strict, ())
    best: _Candidate | None = None
    at = 0
    while (opener := _OPENER.search(text, at)) is not None:
        reader = _Reader(text, opener.start())
        value = reader.top()
        at = max(reader.at, opener.end())
        if value is None:
            continue
        rank = (_n_found(value, names), int(isinstance(value, JsonObject)))
        if best is None or rank >= best.rank:
            best = _Candidate(value, reader.faults, rank, opener.start(), at)
    if best is None:
        return JsonReply(None, ("no_json",))
    if _is_announced(text, best.start, best.end):
        best.faults.add("text_around")
    return JsonReply(best.value, tuple(sorted(best.faults)))


class _Candidate(NamedTuple):
    """A value that may be the one, and where it stands."""

    value: JsonObject | list[Any]
    faults: set[str]
    rank: tuple[int, int]
    start: int
    end: int


def _strictly(text: str) -> JsonObject | list[Any] | None:
    bare = text.strip("\ufeff \t\r\n")
    if not bare.startswith(("{", "[")) or _is_deep(bare):
        return None
    try:
        value = json.loads(
            bare,
            object_pairs_hook=JsonObject,
            parse_int=_number,
            parse_float=_number,
        )
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject | list[Any]", value)


def _is_deep(text: str) -> bool:
    # Brackets inside texts count too: then the slower way is taken for nothing.
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket.group() in "{[" else -1
        if depth > _MAX_DEPTH:
            return True
    return False


def _n_found(value: JsonObject | list[Any], names: frozenset[str]) -> int:
    if isinstance(value, JsonObject):
        return len(names & value.keys())
    members = [part for part in value if isinstance(part, JsonObject)]
    return max((len(names & part.keys()) for part in members), default=0)


def _is_announced(text: str, start: int, end: int) -> bool:
    around = text[:start], text[end:]
    return any(_FENCE.sub("", part).strip("\ufeff \t\r\n") for part in around)


def _number(said: str) -> Any:  # noqa: ANN401
    try:
        value = float(said) if set(said) & set(".eE") else int(said)
    except ValueError:  # more digits than an int may have
        return said
    return value if not isinstance(value, float) or math.isfinite(value) else said


class _Cut:
    """Stands for a value that the end of the text cuts off."""


_CUT: Final = _Cut()


class _Reader:
    """One pass over the text from an opening bracket on."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at: int = start
        self.faults: set[str] = set()

    def top(self) -> JsonObject | list[Any] | None:
        """The value; None if the bracket opens no JSON."""
        is_object = self.text[self.at] == "{"
        value = self._object(0) if is_object else self._array(0)
        return value if value or not self.faults else None

    def _object(self, depth: int) -> JsonObject:
        pairs: list[tuple[str, Any]] = []
        self.at += 1
        while self._goes_on("}", first=not pairs):
            name = self._name()
            if name is None:
                # Braces of prose or of a formula: what follows may be the object.
                if not pairs and depth == 0:
                    self.faults.add("unquoted")
                    break
                continue
            value = self._value(depth)
            if value is not _CUT:
                pairs.append((name, value))
        return JsonObject(pairs)

    def _array(self, depth: int) -> list[Any]:
        values: list[Any] = []
        self.at += 1
        while self._goes_on("]", first=not values):
            value = self._value(depth)
            if value is not _CUT:
                values.append(value)
        return values

    def _goes_on(self, closer: str, *, first: bool) -> bool:
        """Whether a member follows; takes the separators before it and the closer."""
        n_commas = self._skip_commas()
        if self.at >= len(self.text):
            self.faults.add("truncated")
            return False
        found = self.text[self.at]
        if found in "}]":
            if found == closer:
                self.at += 1
            else:
                self.faults.add("mismatched_brackets")
            if n_commas:
                self.faults.add("trailing_comma")
            return False
        if not first and not n_commas:
            self.faults.add("missing_comma")
        return True

    def _skip_commas(self) -> int:
        n_commas = 0
        self._skip_blank()
        while self.text[self.at : self.at + 1] == ",":
            n_commas += 1
            self.at += 1
            self._skip_blank()
        return n_commas

    def _skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _name(self) -> str | None:
        name = self._scalar(is_name=True)
        self._skip_blank()
        if self.text[self.at : self.at + 1] == ":":
            self.at += 1
            return None if isinstance(name, _Cut) else str(name)
        self.faults.add("truncated" if self._is_over() else "missing_value")
        return None

    def _is_over(self) -> bool:
        return self.at >= len(self.text)

    def _value(self, depth: int) -> Any:  # noqa: ANN401
        self._skip_blank()
        found = self.text[self.at : self.at + 1]
        if found and found in "{[":
            if depth >= _MAX_DEPTH:
                self.faults.add("nested_too_deeply")
                self.at = len(self.text)
                return _CUT
            inner = self._object if found == "{" else self._array
            return inner(depth + 1)
        if found and found in ",}]":
            self.faults.add("missing_value")
            return _CUT
        return self._scalar(is_name=False)

    def _scalar(self, *, is_name: bool) -> Any:  # noqa: ANN401
        if self._is_over():
            return self._cut_off()
        found = self.text[self.at]
        if found in _QUOTES:
            return self._string(_QUOTES[found])
        bare = _BARE.match(self.text, self.at)
        if bare is None:
            # A stray mark: step over it, so that reading always moves on.
            self.faults.add("missing_value")
            self.at += 0 if found == ":" and is_name else 1
            return _CUT
        self.at = bare.end()
        if self._is_over():
            return self._cut_off()
        return self._constant(bare.group().strip(), is_name=is_name)

    def _constant(self, said: str, *, is_name: bool) -> Any:  # noqa: ANN401
        if not is_name and said in _CONSTANTS:
            return _CONSTANTS[said]
        if not is_name and _NUMBER.fullmatch(said):
            return _number(said)
        self.faults.add("unquoted")
        return said if is_name else _OTHER_CONSTANTS.get(said, said)

    def _cut_off(self) -> _Cut:
        self.faults.add("truncated")
        return _CUT

    def _string(self, closer: str) -> str | _Cut:
        if closer == "'":
            self.faults.add("single_quotes")
        elif closer == "”":
            self.faults.add("unquoted")
        self.at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN[closer].match(self.text, self.at)
            parts.append(plain.group() if plain else "")
            self.at = plain.end() if plain else self.at
            if self._is_over():
                return self._cut_off()
            if self.text[self.at] == "\\":
                parts.append(self._escape())
            elif self._closes():
                self.at += 1
                return _joined(parts)
            else:
                self.faults.add("unescaped_quote")
                parts.append(closer)
                self.at += 1

    def _closes(self) -> bool:
        blank = _BLANK.match(self.text, self.at + 1)
        after = blank.end() if blank else self.at + 1
        following = self.text[after : after + 1]
        is_new_line = "\n" in self.text[self.at + 1 : after]
        return (
            not following
            or following in _AFTER_QUOTE
            or (following in _QUOTES and is_new_line)
            or self.text.startswith("```", after)
        )

    def _escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if letter == "u" and _HEX.match(self.text, self.at):
            code = int(self.text[self.at : self.at + 4], 16)
            self.at += 4
            return chr(code)
        if letter not in _ESCAPES and letter not in {'"', "\\", "/"}:
            self.faults.add("bad_escape")
            return letter if letter in {"'", "“", "”"} else "\\" + letter
        return _ESCAPES.get(letter, letter)


def _joined(parts: list[str]) -> str:
    """The text, with halves of surrogate pairs put together and lone ones kept."""
    text = "".join(parts)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "surrogatepass"
    )
