"""Verdicts read out of verifiers' replies: by the skill's id, never by its place."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, cast

import polars as pl

from skillmap.calls import Reply
from skillmap.errors import InvalidInputError
from skillmap.prompting.json_replies import JsonObject, read_json_reply
from skillmap.prompting.spoken import refusals_in_words, spoken, status_of

VERDICTS_SCHEMA: Final = pl.Schema(
    {
        "benchmark_id": pl.String(),
        "item_id": pl.String(),
        "phrase": pl.String(),
        "role": pl.String(),
        "prompt_skill_id": pl.String(),
        "verifier": pl.String(),
        "is_relevant": pl.Boolean(),
        "reason": pl.String(),
        "call_key": pl.String(),
    }
)
"""One row per check and verifier. ``reason`` says why there is no verdict: "missing",
"unreadable" (a verdict in other words), "contradiction" (two that differ), or what
became of the reply: "refused", "filtered", "empty", "truncated", "error",
"not_attempted"."""

_CHECKED: Final = ("benchmark_id", "item_id", "phrase", "role", "prompt_skill_id")

# An id at the begin of a line, after list marks and markup.
_LINE: Final = re.compile(
    r"^[^\w\n]{0,12}(?:\d{1,3}[.)]\s{0,4})?[^\w\n]{0,6}(s\d{1,4})\b([^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_NEGATIVE: Final = (
    r"(?:is |it's |it is )?(?:not|isn't)(?: at all)?[ -](?:relevant|needed|required|"
    r"necessary|used)|non-?relevant|irrelevant|false|no"
)
_POSITIVE: Final = r"(?:is )?(?:relevant|needed|required|necessary)|true|yes"
# What may follow a verdict: nothing, or a reason set off from it.
_ENDS: Final = r"(?=\s*(?:$|[.,;:!(\[|\u2013\u2014-]|because\b|since\b|as\b))"
_VERDICT: Final = re.compile(
    rf"(?P<no>(?:{_NEGATIVE}){_ENDS})|(?P<yes>(?:{_POSITIVE}){_ENDS})"
)
_MARKS: Final = " \t\r\n:=>*_`\"'.|-\u2013\u2014[]()"
_BETWEEN: Final = re.compile(r"[:|\u2013\u2014\u2192]|\s-\s|[-=]>")
# A line that says the skill's name again before its verdict has two parts.
_WITH_NAME: Final = 2
_VERDICT_NAMES: Final = ("is_relevant", "relevant", "verdict", "relevance")
_ID_NAMES: Final = ("id", "skill_id", "skill")


class Verdict(NamedTuple):
    """One verdict, or why there is none."""

    is_relevant: bool | None
    reason: str | None


def read_verdicts(
    checks: pl.DataFrame, replies: Iterable[tuple[str, Reply]], *, verifier: str
) -> pl.DataFrame:
    """A verdict for every check, null with its reason where none can be read.

    Args:
        checks: Columns of ``CHECKS_SCHEMA``; others are kept.
        replies: The item of each reply (the call's ``about``) and the reply, in any
            order. Of several about one item the first counts; those about other
            items are left out.
        verifier: Name to write beside the verdicts.

    Returns:
        `VERDICTS_SCHEMA`, in the order of the checks, and then the other columns of
        ``checks``. An id that the checks do not have is passed over.

    Raises:
        InvalidInputError: If a column is missing.
    """
    missing = [name for name in _CHECKED if name not in checks.columns]
    if missing:
        raise InvalidInputError(f"checks: columns are missing: {missing}")
    ids = {
        item: list(asked)
        for item, asked in checks.group_by("item_id").agg("prompt_skill_id").rows()
    }
    read: dict[str, dict[str, Verdict]] = {}
    keys: dict[str, str] = {}
    for item, reply in replies:
        if item in ids and item not in read:
            read[item] = verdicts_of(reply, ids[item])
            keys[item] = reply.key
    nothing = Verdict(None, "not_attempted")
    pairs = checks.select("item_id", "prompt_skill_id").rows()
    found = [read.get(item, {}).get(one, nothing) for item, one in pairs]
    others = [n for n in checks.columns if n not in VERDICTS_SCHEMA.names()]
    return checks.with_columns(
        pl.lit(verifier).alias("verifier"),
        pl.Series("is_relevant", [v.is_relevant for v in found], dtype=pl.Boolean),
        pl.Series("reason", [v.reason for v in found], dtype=pl.String),
        pl.Series("call_key", [keys.get(i) for i, _ in pairs], dtype=pl.String),
    ).select(*VERDICTS_SCHEMA.names(), *others)


def verdicts_of(reply: Reply, ids: list[str]) -> dict[str, Verdict]:
    """The verdict on each id in one reply.

    A JSON object with the ids as names is read, or a list of objects that each have
    an id and a verdict, else lines that begin with an id. What says the same thing
    twice counts once.

    Examples:
        >>> reply = Reply("key", "answered", "s2: not relevant" + chr(10) + "s1: yes")
        >>> verdicts_of(reply, ["s1", "s2"])["s2"]
        Verdict(is_relevant=False, reason=None)
    """
    text = spoken(reply.text).text
    said: dict[str, set[bool | None]] = {}
    for one, verdict in _statements(text, frozenset(ids)):
        said.setdefault(one.lower(), set()).add(verdict)
    absent = _reason_of_absence(reply, text, found_any=bool(said))
    return {one: _verdict(said.get(one), absent) for one in ids}


def _verdict(said: set[bool | None] | None, absent: str) -> Verdict:
    if said is None:
        return Verdict(None, absent)
    # A preamble may name an id and say nothing of it.
    clear = said - {None}
    if len(clear) > 1:
        return Verdict(None, "contradiction")
    return Verdict(next(iter(clear)), None) if clear else Verdict(None, "unreadable")


def _reason_of_absence(reply: Reply, text: str, *, found_any: bool) -> str:
    status = status_of(reply)
    if status != "answered":
        return status
    if found_any:
        return "missing"
    return "refused" if refusals_in_words([text])[0] else "missing"


def _statements(text: str, ids: frozenset[str]) -> Iterator[tuple[str, bool | None]]:
    in_json = list(_json_statements(text, ids)) if "{" in text else []
    if in_json:
        yield from in_json
        return
    for line in _LINE.finditer(text):
        if line[1].lower() in ids:
            yield line[1], verdict_in(line[2])


def _json_statements(
    text: str, ids: frozenset[str]
) -> Iterator[tuple[str, bool | None]]:
    names = ids | frozenset(_ID_NAMES)
    yield from _stated(read_json_reply(text, names=names).value, ids)


def _stated(value: object, ids: frozenset[str]) -> Iterator[tuple[str, bool | None]]:
    if isinstance(value, JsonObject):
        by_name = [value[name] for name in _ID_NAMES if name in value]
        if by_name and str(by_name[0]).lower() in ids:
            yield str(by_name[0]), _judged(value)
            return
        for name, inner in value.pairs:
            if name.lower() in ids:
                yield name, _judged(inner)
            else:
                yield from _stated(inner, ids)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _stated(part, ids)


def _judged(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return verdict_in(value)
    if isinstance(value, JsonObject):
        told = [value[name] for name in _VERDICT_NAMES if name in value]
        return _judged(told[0]) if len(told) == 1 else None
    return None


def verdict_in(text: str) -> bool | None:
    """Whether words say "relevant"; None if they say neither that nor its opposite.

    The verdict has to come first, and a reason set off from it may follow.

    Examples:
        >>> verdict_in("**Not relevant** (no table here)"), verdict_in("Relevant.")
        (False, True)
        >>> verdict_in("not only relevant but central") is None
        True
    """
    plain = text.lower().replace("\u2019", "'").replace("*", "").replace("_", "")
    match = _VERDICT.match(plain.strip(_MARKS))
    if match is None:
        return _last_word(text)
    return match["yes"] is not None


def _last_word(text: str) -> bool | None:
    """The verdict after the skill's own name, as in "s1: adding numbers: relevant"."""
    parts = [part for part in _BETWEEN.split(text) if part.strip(_MARKS)]
    if len(parts) < _WITH_NAME:
        return None
    plain = parts[-1].lower().replace("\u2019", "'").strip(_MARKS + "!")
    match = _VERDICT.fullmatch(plain)
    return None if match is None else match["yes"] is not None
