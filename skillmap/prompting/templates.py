"""Prompt templates: text files with a header, parts, and the turns of a chat.

A file has header lines (``version: 2``), then parts (``# choice``), each a chat
whose turns begin with ``## system``, ``## user`` or ``## assistant``. A name in
braces, such as ``{question}``, is a place. A chat that ends with the assistant leaves
its last turn for the model to go on with.

A template is taken apart before anything is put in, and each place is filled once,
so that nothing a question says (a brace, a ``## user`` line) can change the chat.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

from skillmap.calls import Image, Message
from skillmap.calls.call import Role
from skillmap.errors import InvalidInputError, ParseError

OptionStyle = Literal["letters", "bullets"]
"""How options are shown: "A. Rome", or "- Rome" without a letter."""

_PART: Final = re.compile(r"^# (\w+)[ \t]*\n", re.MULTILINE)
_TURN: Final = re.compile(r"^## (system|user|assistant)[ \t]*\n", re.MULTILINE)
_PLACE: Final = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_HEADER: Final = re.compile(r"([a-z]+): *(\S+)")
_STYLES: Final = ("letters", "bullets")
_HASH_LENGTH: Final = 8


class Turn(NamedTuple):
    """One turn of a template, its places still open."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt file, taken apart.

    Attributes:
        name: The file's name without its ending.
        version: Raised by whoever changes the file.
        options: How the options of an item are shown.
        parts: Turns by the part's name.
        content_hash: SHA-256, in hexadecimal, of the file's text.
    """

    name: str
    version: int
    options: OptionStyle
    parts: Mapping[str, tuple[Turn, ...]]
    content_hash: str

    @property
    def prompt_id(self) -> str:
        """Name and a short hash of the text, such as "direct@1f0c9a2b"."""
        return f"{self.name}@{self.content_hash[:_HASH_LENGTH]}"

    def chat(
        self,
        part: str,
        values: Mapping[str, str],
        *,
        images: tuple[Image, ...] = (),
    ) -> tuple[Message, ...]:
        """The chat of one part, with every place filled.

        Args:
            part: Name of the part.
            values: Text by place. Braces that hold no such name stay as they are.
            images: Go with the turn that holds ``{question}``, else the last of the
                user's.

        Returns:
            One message a turn. Texts that are put in are never read again.
        """
        turns = self.parts[part]
        shown = _image_turn(turns) if images else -1
        return tuple(
            Message(turn.role, _filled(turn.content, values), images)
            if index == shown
            else Message(turn.role, _filled(turn.content, values))
            for index, turn in enumerate(turns)
        )

    def require(self, places: Mapping[str, tuple[str, ...]]) -> None:
        """Check that the template can be used for what is planned.

        Args:
            places: Places that each part must hold once, by the part's name.

        Raises:
            ParseError: If a part is missing, or holds a place never or twice.
        """
        for part, names in places.items():
            turns = self.parts.get(part, ())
            for name in names:
                n_places = sum(turn.content.count(f"{{{name}}}") for turn in turns)
                if n_places != 1:
                    raise ParseError(
                        f"prompt {self.name}: part {part!r} must hold {{{name}}} once, "
                        f"has it {n_places} times"
                    )


def bundled_template(name: str) -> PromptTemplate:
    """A template that comes with skillmap.

    Args:
        name: One of ``bundled_names()``.

    Raises:
        InvalidInputError: If there is none of that name.

    Examples:
        >>> sorted(bundled_template("step_by_step").parts)
        ['choice', 'free']
    """
    if name not in bundled_names():
        raise InvalidInputError(
            f"no bundled prompt is named {name!r}: there are "
            f"{', '.join(bundled_names())}. A file of your own goes by its path"
        )
    file = resources.files("skillmap.prompting") / "prompts" / f"{name}.txt"
    return read_template(name, file.read_text(encoding="utf-8"))


def bundled_names() -> tuple[str, ...]:
    """Names of the templates that come with skillmap, sorted."""
    folder = resources.files("skillmap.prompting") / "prompts"
    names = (file.name for file in folder.iterdir())
    return tuple(sorted(n.removesuffix(".txt") for n in names if n.endswith(".txt")))


def template_of(name_or_path: str | Path) -> PromptTemplate:
    """A template by the name of a bundled one, or by the path of a file.

    Args:
        name_or_path: A bare word is a name; anything with a folder or an ending is
            a path.

    Raises:
        InvalidInputError: If there is no such template.
        ParseError: If the file is not in the form of a template.
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and path.name == name_or_path and not path.suffix:
        return bundled_template(name_or_path)
    if not path.is_file():
        raise InvalidInputError(f"no prompt file at {str(path)!r}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"prompt {path.name}: is not UTF-8: {error.reason}") from error
    return read_template(path.stem, text)


def read_template(name: str, text: str) -> PromptTemplate:
    """Take a prompt file's text apart.

    Args:
        name: What the template is called.
        text: Header lines ``version`` (1 if left out) and ``options`` ("letters" if
            left out), then parts.

    Raises:
        ParseError: If a header line is unknown, a part comes twice or has text before
            its first turn, or there is no part at all.
    """
    text = text.replace("\r\n", "\n")
    head, *pieces = _PART.split(text)
    version, options = _header(name, head)
    parts: dict[str, tuple[Turn, ...]] = {}
    for part, body in zip(pieces[::2], pieces[1::2], strict=True):
        if part in parts:
            raise ParseError(f"prompt {name}: part {part!r} comes twice")
        parts[part] = _turns(name, part, body)
    if not parts:
        raise ParseError(f"prompt {name}: has no part: one begins with '# choice'")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return PromptTemplate(name, version, options, parts, digest)


def _header(name: str, head: str) -> tuple[int, OptionStyle]:
    told = {"version": "1", "options": "letters"}
    for line in filter(None, map(str.strip, head.split("\n"))):
        match = _HEADER.fullmatch(line)
        if match is None or match[1] not in told:
            raise ParseError(
                f"prompt {name}: header line {line!r} is not 'version: <number>' or "
                "'options: letters|bullets'"
            )
        told[match[1]] = match[2]
    if not told["version"].isdecimal():
        raise ParseError(
            f"prompt {name}: version must be a number, got {told['version']!r}"
        )
    if told["options"] not in _STYLES:
        raise ParseError(
            f"prompt {name}: options must be letters or bullets, "
            f"got {told['options']!r}"
        )
    return int(told["version"]), told["options"]


def _turns(name: str, part: str, body: str) -> tuple[Turn, ...]:
    before, *pieces = _TURN.split(body)
    if before.strip() or not pieces:
        raise ParseError(
            f"prompt {name}: part {part!r} must begin with '## system', '## user' or "
            "'## assistant'"
        )
    return tuple(
        Turn(cast("Role", role), content.strip())
        for role, content in zip(pieces[::2], pieces[1::2], strict=True)
    )


def _filled(content: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), content)


def _image_turn(turns: tuple[Turn, ...]) -> int:
    asking = [k for k, turn in enumerate(turns) if "{question}" in turn.content]
    users = [k for k, turn in enumerate(turns) if turn.role == "user"]
    return (asking or users or [len(turns) - 1])[-1]
