"""Annotators' replies, read into rationales, skill mentions and what became of each."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

import polars as pl

from skillmap.calls import Reply
from skillmap.errors import InvalidInputError
from skillmap.parsing.rationales import parse_rationales
from skillmap.prompting.json_replies import JsonObject, JsonReply, read_json_reply
from skillmap.prompting.spoken import refusals_in_words, spoken, status_of

STATUSES_SCHEMA: Final = pl.Schema(
    {
        "item_id": pl.String(),
        "annotator": pl.String(),
        "reply_status": pl.String(),
        "call_key": pl.String(),
        "error": pl.String(),
        "n_mentions": pl.Int64(),
    }
)

_TOLD_SCHEMA: Final = pl.Schema(list(STATUSES_SCHEMA.items())[:-1])
_NAMES: Final = frozenset({"steps", "answer"})
_SEPARATOR: Final = re.compile("[,;:\n]")


class Annotations(NamedTuple):
    """What an annotator said about items.

    Attributes:
        rationales: As ``parse_rationales`` gives them, for every reply with text:
            ``item_id``, ``annotator``, ``rationale``, ``parse_status``, ``n_steps``,
            ``n_mentions``, ``answer``, ``faults``. The rationale is the text that
            was read, so that reading it again gives the same: without thought,
            without its unfinished end, and as whole JSON. What was done to it is
            among the faults: "truncated", "mended_json".
        mentions: As ``parse_rationales`` gives them, with spans in ``rationale``.
        statuses: One row an item (`STATUSES_SCHEMA`), in the order of the items:
            a `ReplyStatus`, where a refusal in words counts as "refused".
    """

    rationales: pl.DataFrame
    mentions: pl.DataFrame
    statuses: pl.DataFrame

    def counts(self) -> dict[str, int]:
        """Items by ``reply_status``, sorted by name."""
        counted = self.statuses["reply_status"].value_counts().sort("reply_status")
        return dict(counted.rows())


class Readable(NamedTuple):
    """A reply's text as it is read.

    Attributes:
        text: Empty if the reply says nothing.
        faults: What was done to it.
    """

    text: str
    faults: tuple[str, ...]


def read_annotations(
    items: pl.DataFrame, replies: Iterable[tuple[str, Reply]], *, annotator: str
) -> Annotations:
    """Rationales and skills out of replies, one bad reply never stopping the others.

    Args:
        items: The items that were to be annotated: column ``item_id``.
        replies: The item of each reply (the call's ``about``) and the reply, in any
            order. Of several about one item the first that was answered counts, else
            the first that was cut off, else the first; those about other items are
            left out.
        annotator: Name to write beside the skills.

    Returns:
        Three frames. An item without a reply is "not_attempted".

    Raises:
        InvalidInputError: If ``items`` has no ``item_id``.
    """
    if "item_id" not in items.columns:
        raise InvalidInputError("items must have the column item_id")
    wanted: list[str] = items["item_id"].to_list()
    kept = _one_an_item(frozenset(wanted), replies)
    said = {item: _readable(reply) for item, reply in kept.items()}
    texts = _Texts()
    for item in dict.fromkeys(wanted):
        if item in said and said[item].text.strip():
            texts.add(item, said[item])
    parsed = parse_rationales(texts.frame(annotator))
    rationales = _with_faults(parsed.rationales, texts.faults)
    refused = _refused(rationales)
    statuses = [
        _status_row(item, annotator, kept.get(item), refused) for item in wanted
    ]
    counts = rationales.select("item_id", "n_mentions")
    known = pl.DataFrame(statuses, schema=_TOLD_SCHEMA, orient="row").join(
        counts, on="item_id", how="left", maintain_order="left"
    )
    return Annotations(
        rationales,
        parsed.mentions,
        known.with_columns(pl.col("n_mentions").fill_null(0)).select(
            pl.col(name).cast(kind) for name, kind in STATUSES_SCHEMA.items()
        ),
    )


@dataclass
class _Texts:
    items: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    faults: list[list[str]] = field(default_factory=list[list[str]])

    def add(self, item: str, said: Readable) -> None:
        self.items.append(item)
        self.texts.append(said.text)
        self.faults.append(list(said.faults))

    def frame(self, annotator: str) -> pl.DataFrame:
        columns = {"item_id": self.items, "rationale": self.texts}
        schema = {"item_id": pl.String, "rationale": pl.String}
        return pl.DataFrame(columns, schema=schema).with_columns(
            annotator=pl.lit(annotator)
        )


_PREFERRED: Final = {"answered": 0, "truncated": 1}


def _one_an_item(
    wanted: frozenset[str], replies: Iterable[tuple[str, Reply]]
) -> dict[str, Reply]:
    kept: dict[str, Reply] = {}
    for item, reply in replies:
        if item in wanted and (
            item not in kept or _preference(reply) < _preference(kept[item])
        ):
            kept[item] = reply
    return kept


def _preference(reply: Reply) -> int:
    return _PREFERRED.get(status_of(reply), 2)


def _readable(reply: Reply) -> Readable:
    """What a reply says, without thought and unfinished ends, JSON made whole."""
    said = spoken(reply.text)
    if status_of(reply) not in _PREFERRED or not said.text.strip():
        return Readable("", ())
    is_cut = reply.status == "truncated" or said.is_in_thought
    whole = _whole_json(said.text)
    if whole is not None:
        return Readable(
            whole.text, (*(("truncated",) if is_cut else ()), *whole.faults)
        )
    if reply.status == "truncated" and not said.is_in_thought:
        return Readable(_finished(said.text), ("truncated",))
    return Readable(said.text, ("truncated",) if is_cut else ())


def _whole_json(text: str) -> Readable | None:
    if "{" not in text:
        return None
    reply = read_json_reply(text, names=_NAMES)
    told = _rationale_in(reply)
    if told is None:
        return None
    if told is reply.value and not reply.faults:
        return Readable(text, ())
    return Readable(json.dumps(told, ensure_ascii=False, indent=1), ("mended_json",))


def _rationale_in(reply: JsonReply) -> dict[str, Any] | None:
    value = reply.value
    if isinstance(value, JsonObject):
        if isinstance(value.get("steps"), list):
            return value
        # Some put it all under one name.
        inner: list[Any] = list(value.values())
        found = [one for one in inner if isinstance(one, JsonObject)]
        return next((o for o in found if isinstance(o.get("steps"), list)), None)
    if value and all(isinstance(part, JsonObject) for part in value):
        members = cast("list[JsonObject]", value)
        has_skills = any({"skill", "skills"} & member.keys() for member in members)
        return {"steps": value} if has_skills else None
    return None


def _finished(text: str) -> str:
    """The text up to its last whole line, or the last whole name of a single one."""
    text = text.rstrip()
    line_end = text.rfind("\n")
    if line_end >= 0:
        return text[:line_end]
    ends = [match.start() for match in _SEPARATOR.finditer(text)]
    return text[: ends[-1]] if ends else ""


def _with_faults(rationales: pl.DataFrame, faults: list[list[str]]) -> pl.DataFrame:
    more = pl.Series("more", faults, dtype=pl.List(pl.String))
    is_faulty = pl.col("more").list.len() > 0
    return (
        rationales.with_columns(more)
        .with_columns(
            parse_status=pl.when((pl.col("parse_status") == "parsed") & is_faulty)
            .then(pl.lit("parsed_with_faults"))
            .otherwise("parse_status"),
            faults=pl.concat_list("more", "faults"),
        )
        .drop("more")
    )


def _refused(rationales: pl.DataFrame) -> frozenset[str]:
    mute = rationales.filter(pl.col("n_mentions") == 0)
    is_refusal = refusals_in_words(mute["rationale"].to_list())
    pairs = zip(mute["item_id"], is_refusal, strict=True)
    return frozenset(item for item, refuses in pairs if refuses)


def _status_row(
    item: str, annotator: str, reply: Reply | None, refused: frozenset[str]
) -> tuple[str, str, str, str | None, str | None]:
    if reply is None:
        return item, annotator, "not_attempted", None, None
    status = status_of(reply)
    if status == "answered" and item in refused:
        status = "refused"
    return item, annotator, status, reply.key, reply.error
