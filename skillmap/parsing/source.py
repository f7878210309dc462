"""What every importer returns: the same frames, whatever the file looked like.

Bytes become frames here and nothing more: joining results to items, naming models
and keeping one item per id belong to whoever assembles several sources.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import polars as pl

from skillmap.items.content import with_content_hashes

OUTCOMES = (
    "correct",
    "wrong",
    "partial",
    "unparsed",
    "refusal",
    "empty",
    "truncated",
    "error",
    "not_attempted",
    "unscored",
)
"""What can become of a response; `unscored` is a score that the source left open."""

_IDENTITY: dict[str, pl.DataType] = {
    "position": pl.Int64(),
    "benchmark": pl.String(),
    "native_id": pl.String(),
    "native_id_type": pl.String(),
}

ITEMS_SCHEMA = pl.Schema(
    {
        **_IDENTITY,
        "question": pl.String(),
        "choices": pl.List(pl.String()),
        "answer": pl.String(),
        "category": pl.String(),
        "origin": pl.String(),
        "has_replaced_characters": pl.Boolean(),
        "content_hash": pl.String(),
        "question_hash": pl.String(),
    }
)
"""One row per record that tells something about an item beyond its id."""

RESULTS_SCHEMA = pl.Schema(
    {
        **_IDENTITY,
        "model": pl.String(),
        "epoch": pl.Int64(),
        "score": pl.Float64(),
        "outcome": pl.String(),
        "prediction": pl.String(),
        "expects_prediction": pl.Boolean(),
        "response": pl.String(),
        "has_replaced_characters": pl.Boolean(),
        "content_hash": pl.String(),
        "question_hash": pl.String(),
    }
)
"""One row per record and model. `content_hash` is null where the record does not
state the reference answer: the hash of half an item differs from the item's."""

SKILLS_SCHEMA = pl.Schema(
    {
        **_IDENTITY,
        "annotator": pl.String(),
        "level_index": pl.Int64(),
        "phrase": pl.String(),
    }
)
"""One row per record and skill phrase; `level_index` is the place in its list."""

RATIONALES_SCHEMA = pl.Schema(
    {**_IDENTITY, "annotator": pl.String(), "rationale": pl.String()}
)
"""One row per record with a rationale."""

REMARKS_SCHEMA = pl.Schema(
    {"position": pl.Int64(), "reason": pl.String(), "value": pl.String()}
)
"""One row per reject or warning: where, the rule, and the culprit as text."""

Remark: TypeAlias = tuple[int | None, str, str | None]
"""Position, reason and value of a reject or a warning."""


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """What the caller knows about a source that its content may not tell.

    Attributes:
        benchmark: Benchmark of every record.
        model: Model of every result.
        annotator: Who wrote the skill phrases and rationales.
        category: Category of items whose record states none.
        task: Name of a BIG-Bench Hard task, used as category.
        max_bytes: Largest size, in bytes, that a file may unpack to.
    """

    benchmark: str | None = None
    model: str | None = None
    annotator: str | None = None
    category: str | None = None
    task: str | None = None
    max_bytes: int = 4 * 1024**3


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """One file, read.

    Attributes:
        format: Name of the format it was read as.
        importer_version: Version of that format's reader; changes with its output.
        n_records: Records met, good or bad.
        items: One row per item record (`ITEMS_SCHEMA`).
        results: One row per record and model (`RESULTS_SCHEMA`).
        skills: One row per record and skill phrase (`SKILLS_SCHEMA`).
        rationales: One row per record with a rationale (`RATIONALES_SCHEMA`).
        rejects: What was left out and why (`REMARKS_SCHEMA`), by position.
        warnings: What was kept but looks wrong (`REMARKS_SCHEMA`), by position.
        notes: Texts about the whole file, such as a canary string.
    """

    format: str
    importer_version: str
    n_records: int
    items: pl.DataFrame
    results: pl.DataFrame
    skills: pl.DataFrame
    rationales: pl.DataFrame
    rejects: pl.DataFrame
    warnings: pl.DataFrame
    notes: tuple[str, ...] = ()


def typed_frame(schema: pl.Schema, columns: Mapping[str, object]) -> pl.DataFrame:
    """Frame of exactly ``schema``, from whatever columns are known.

    Args:
        schema: Names and types of the columns, in order.
        columns: A sequence or series per column, all of one length, or a constant.
            A column left out is null, except that ``choices`` is an empty list,
            ``epoch`` 0 and every flag false.

    Returns:
        One row per entry of ``columns["position"]``; none when that is left out.

    Examples:
        >>> typed_frame(REMARKS_SCHEMA, {"position": [3], "reason": "is odd"}).rows()
        [(3, 'is odd', None)]
    """
    height = _height(columns.get("position", ()))
    series = [
        _series(name, dtype, columns.get(name, _default(name, dtype)), height)
        for name, dtype in schema.items()
    ]
    return pl.DataFrame(series)


def items_frame(columns: Mapping[str, object]) -> pl.DataFrame:
    """Items with their hashes, one row per entry of ``columns["position"]``."""
    items = typed_frame(ITEMS_SCHEMA, columns).drop("content_hash", "question_hash")
    return with_content_hashes(items).select(ITEMS_SCHEMA.names())


def results_frame(
    columns: Mapping[str, object], *, items: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Results, with the hashes of the item that the same record states.

    Args:
        columns: As for `typed_frame`, without the hashes.
        items: The items of the same file (`ITEMS_SCHEMA`), one per position at most.

    Returns:
        One row per entry of ``columns["position"]``, in that order.
    """
    results = typed_frame(RESULTS_SCHEMA, columns)
    if items is None:
        return results
    hashes = items.select(
        "position",
        pl.when(pl.col("answer").is_not_null()).then("content_hash"),
        "question_hash",
    )
    return (
        results.drop("content_hash", "question_hash")
        .join(hashes, on="position", how="left", maintain_order="left")
        .select(RESULTS_SCHEMA.names())
    )


def remarks_frame(remarks: Sequence[Remark]) -> pl.DataFrame:
    """Rejects or warnings as a frame, by position and then by reason."""
    frame = pl.DataFrame(remarks, schema=REMARKS_SCHEMA, orient="row")
    return frame.sort("position", "reason", "value", maintain_order=True)


def _default(name: str, dtype: pl.DataType) -> object:
    if name == "choices":
        no_choices: list[str] = []
        return no_choices
    if name == "epoch":
        return 0
    return False if dtype == pl.Boolean() else None


def _series(name: str, dtype: pl.DataType, values: object, height: int) -> pl.Series:
    if isinstance(values, pl.Series):
        return values.cast(dtype).alias(name)
    # An empty list is a constant of a list column, unless there are no rows at all.
    if isinstance(values, list | tuple | range) and (values or not height):
        return pl.Series(name, cast("Sequence[object]", values), dtype=dtype)
    return pl.Series(name, [values], dtype=dtype).new_from_index(0, height)


def _height(positions: object) -> int:
    return len(cast("Sequence[object]", positions))
