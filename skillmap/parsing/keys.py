"""Names that become partition keys, and so parts of file names."""

import unicodedata
from urllib.parse import quote

from skillmap.errors import InvalidInputError

_MAX_CHARACTERS = 200
_MORE_IF_ESCAPED = 20


def validate_key(name: str) -> str:
    """A benchmark or model name, if it can be a partition key.

    Args:
        name: At most 200 characters, none of them ``|`` (which joins two keys into
            one) or a control character, no white space at either end, not empty.

    Returns:
        The name itself.

    Raises:
        InvalidInputError: If a rule is broken.

    Examples:
        >>> validate_key("Meta-Llama-3.1-8B")
        'Meta-Llama-3.1-8B'
    """
    rule = _broken_rule(name)
    if rule:
        shown = name if len(name) <= _MAX_CHARACTERS else f"{name[:40]}..."
        msg = f"a name {rule}, got {shown!r}"
        raise InvalidInputError(msg)
    return name


def _broken_rule(name: str) -> str | None:
    if not name.strip():
        return "must not be empty"
    if name != name.strip():
        return "must not begin or end with white space"
    # Escaped it is a folder's name, in which a letter can take nine characters.
    length = max(len(name), len(quote(name, errors="replace")) - _MORE_IF_ESCAPED)
    if length > _MAX_CHARACTERS:
        return f"must have at most {_MAX_CHARACTERS} characters, this has {length}"
    if "|" in name:
        return "must not contain '|', which joins partition keys"
    # Control characters, and the halves of surrogate pairs that no file can hold.
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in name):
        return "must not contain control characters"
    return None
