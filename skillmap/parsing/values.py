"""Plain checks and conversions of single decoded values."""

import json
import math
import re
from typing import TypeAlias, TypeGuard

_EXCERPT_LENGTH = 200
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

NativeId: TypeAlias = tuple[str | None, str | None]
"""An item's own id as text, and its type in the source: 'integer' or 'text'."""


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a decoded JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether a decoded JSON value is an array."""
    return isinstance(value, list)


def is_nan(value: object) -> bool:
    """Whether a value is the number NaN, which sources write for "no value"."""
    return isinstance(value, float) and math.isnan(value)


def excerpt(value: object) -> str:
    """A value as text for a report, at most 200 characters, JSON where it is not text.

    Examples:
        >>> excerpt({"pred": None})
        '{"pred": null}'
    """
    if isinstance(value, str):
        return without_lone_surrogates(value[:_EXCERPT_LENGTH])
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError, TypeError):
        text = f"a {type(value).__name__} that cannot be shown"
    return without_lone_surrogates(text[:_EXCERPT_LENGTH])


def native_id(value: object) -> NativeId:
    """An item's own id as text, with the type it had in the source.

    Args:
        value: An integer, a text, or a whole number that a table library turned
            into a float because another row had no id.

    Returns:
        The id as text and 'integer' or 'text'. Both null for a missing id (null,
        NaN, blank text); also for a value that cannot be an id (a boolean, a
        fraction, a list or an object).

    Examples:
        >>> native_id(7), native_id("7"), native_id(7.0)
        (('7', 'integer'), ('7', 'text'), ('7', 'integer'))
    """
    if isinstance(value, str) and value.strip():
        return value, "text"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value), "integer"
    if isinstance(value, float) and value.is_integer():
        return str(int(value)), "integer"
    return None, None


def native_id_from_untyped_text(text: object) -> NativeId:
    """As `native_id`, for a CSV cell, where an integer is known by its spelling only.

    Examples:
        >>> native_id_from_untyped_text("7"), native_id_from_untyped_text("007")
        (('7', 'integer'), ('007', 'text'))
    """
    if isinstance(text, str) and _INTEGER.fullmatch(text):
        return text, "integer"
    return native_id(text)


def has_lone_surrogate(text: str) -> bool:
    """Whether a text holds half of a surrogate pair, which UTF-8 cannot express."""
    return not text.isascii() and _LONE_SURROGATE.search(text) is not None


def without_lone_surrogates(text: str) -> str:
    r"""A text with U+FFFD for every half of a surrogate pair.

    Examples:
        >>> without_lone_surrogates("x\ud835y")
        'x\ufffdy'
    """
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def replace_lone_surrogates(value: object) -> tuple[object, bool]:
    r"""A decoded value with U+FFFD for every half of a surrogate pair in its texts.

    Args:
        value: Anything `json.loads` returns. Its lists and objects are changed in
            place.

    Returns:
        The value and whether anything was replaced.

    Examples:
        >>> replace_lone_surrogates({"response": "x\ud835y"})
        ({'response': 'x\ufffdy'}, True)
    """
    if isinstance(value, str):
        return without_lone_surrogates(value), has_lone_surrogate(value)
    replaced = False
    # A stack of our own: nesting that the JSON decoder just managed would be too
    # deep for a function that calls itself.
    pending = [value]
    while pending:
        container = pending.pop()
        if is_object(container):
            changed = _clean_object(container)
            pending.extend(container.values())
        elif is_array(container):
            changed = _clean_array(container)
            pending.extend(container)
        else:
            continue
        replaced = replaced or changed
    return value, replaced


def _clean_object(container: dict[str, object]) -> bool:
    texts = (*container, *container.values())
    if not any(isinstance(text, str) and has_lone_surrogate(text) for text in texts):
        return False
    clean = {
        without_lone_surrogates(key): _clean(value) for key, value in container.items()
    }
    container.clear()
    container.update(clean)
    return True


def _clean_array(container: list[object]) -> bool:
    if not any(
        isinstance(text, str) and has_lone_surrogate(text) for text in container
    ):
        return False
    container[:] = [_clean(value) for value in container]
    return True


def _clean(value: object) -> object:
    return without_lone_surrogates(value) if isinstance(value, str) else value
