"""Releases of a benchmark, and the items of the current one.

Published result files carry the questions they were made for, and those differ
between generations of a benchmark under the same ids. A result must not be compared
across such a difference, so the releases are told apart here.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.ids import item_id, short_hash
from skillmap.items.content import (
    normalised_choices,
    normalised_text,
    with_content_hashes,
)
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, record_keys

# Columns that say what an item is, with what makes two statements of it differ.
# What a source does not state (no options, no answer) contradicts nothing.
_STATED = ("question_hash", "choices_key", "answer_key")


class Releases(NamedTuple):
    """Releases of one benchmark, and its items.

    Attributes:
        benchmarks: One row per release, columns of ``core.benchmarks``.
        items: One row per item, columns of ``core.items``.
        release_of_source: ``source_id`` and ``release_id``.
    """

    benchmarks: pl.DataFrame
    items: pl.DataFrame
    release_of_source: pl.DataFrame


def with_stated_content(items: pl.DataFrame) -> pl.DataFrame:
    """``items`` with what each states of options and answer, comparable."""
    return items.with_columns(
        choices_key=pl.when(pl.col("choices").list.len() > 0).then(
            normalised_choices(pl.col("choices"))
        ),
        answer_key=normalised_text(pl.col("answer")),
    )


def is_contradiction(suffix: str) -> pl.Expr:
    """Whether two joined statements of an item differ in anything both state.

    Args:
        suffix: Suffix of the second statement's columns after the join.
    """
    differs = [
        (pl.col(name) != pl.col(f"{name}{suffix}")).fill_null(value=False)
        for name in _STATED
    ]
    return pl.any_horizontal(differs)


def releases(
    benchmark_id: str,
    stated: Mapping[str, pl.DataFrame],
    *,
    defining: frozenset[str] = frozenset(),
) -> Releases:
    """The releases that the sources of a benchmark state.

    Sources that contradict each other on no item they share are of one release; a
    source joins the largest release it does not contradict. The current release is
    that of the defining sources, or else that of most sources, of most items, of
    the smallest id, in this order.

    Args:
        benchmark_id: The benchmark.
        stated: By source, one row per item the source states, with ``native_id``,
            ``native_id_type``, ``item_position``, ``question``, ``choices``,
            ``answer``, ``category``, ``origin`` and both hashes. A second statement
            of one id in a source is ignored here and shows as drift of its results.
        defining: Sources that define the benchmark's items and their order.

    Returns:
        The releases and items. An item that only another release has is kept, under
        that release.

    Raises:
        InvalidInputError: If no source states any item.
    """
    frames = {
        source_id: with_stated_content(
            frame.sort("position").unique(
                "native_id", keep="first", maintain_order=True
            )
        )
        for source_id, frame in sorted(stated.items())
        if frame.height
    }
    if not frames:
        raise InvalidInputError(
            f"benchmark {benchmark_id!r}: no source states any item of it. Import a "
            "file with its questions, or declare `n_items` in the manifest"
        )
    groups = _compatible_groups(frames, defining)
    merged = [_whole_items([frames[s] for s in sources]) for sources in groups]
    ids = [_release_id(items) for items in merged]
    current = _current(groups, merged, ids, defining)
    benchmarks = _benchmark_rows(benchmark_id, groups, merged, ids, current)
    order = [current, *(i for i in range(len(groups)) if i != current)]
    items = _item_rows(benchmark_id, [(ids[i], merged[i]) for i in order])
    of_source = pl.DataFrame(
        [(s, ids[i]) for i, sources in enumerate(groups) for s in sources],
        schema={"source_id": pl.String(), "release_id": pl.String()},
        orient="row",
    )
    return Releases(benchmarks, items, of_source.sort("source_id"))


def _compatible_groups(
    frames: Mapping[str, pl.DataFrame], defining: frozenset[str]
) -> list[list[str]]:
    first = [s for s in frames if s in defining]
    groups: list[list[str]] = [first] if first else []
    known = (
        [_merged([frames[s].select("native_id", *_STATED) for s in first])]
        if first
        else []
    )
    rest = [s for s in frames if s not in defining]
    for source_id in sorted(rest, key=lambda s: (-frames[s].height, s)):
        frame = frames[source_id].select("native_id", *_STATED)
        fitting = [
            i for i, items in enumerate(known) if _n_contradictions(items, frame) == 0
        ]
        if fitting:
            best = max(fitting, key=lambda i: (len(groups[i]), known[i].height, -i))
            groups[best].append(source_id)
            known[best] = _merged([known[best], frame])
        else:
            groups.append([source_id])
            known.append(frame)
    return [sorted(group) for group in groups]


def _n_contradictions(left: pl.DataFrame, right: pl.DataFrame) -> int:
    both = left.join(right, on="native_id", suffix="_other")
    return both.select(is_contradiction("_other").sum()).item()


def _merged(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """One row per item, each column from the first frame that states it."""
    everything = pl.concat(frames, how="diagonal").with_columns(
        pl.when(pl.col(name).list.len() > 0).then(pl.col(name)).alias(name)
        for name in ("choices",)
        if "choices" in frames[0].columns
    )
    return everything.group_by("native_id", maintain_order=True).agg(
        pl.all().drop_nulls().first()
    )


def _whole_items(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The merged items, with hashes of what they state together."""
    merged = _merged(frames)
    hashed = pl.concat(
        [frame.select("native_id", *_STATED) for frame in frames]
    ).filter(pl.col("question_hash").is_not_null())
    first = hashed.unique("native_id", keep="first", maintain_order=True)
    completed = [
        pl.col(name).is_not_null() & pl.col(f"{name}_first").is_null()
        for name in _STATED
    ]
    # A source that states no answer, say, has the hash of half an item.
    halves = merged.join(first, on="native_id", suffix="_first").filter(
        pl.any_horizontal(completed)
    )
    whole = with_content_hashes(halves).select("native_id", "content_hash")
    return merged.update(whole, on="native_id")


def _release_id(items: pl.DataFrame) -> str:
    # Each part after its length: no text can pass for the end of another.
    parts = [pl.col(name).fill_null("") for name in ("native_id", *_STATED)]
    told = [pl.format("{}:{}", part.str.len_bytes(), part) for part in parts]
    rows = items.sort("native_id").select(pl.concat_str(told))
    return short_hash("".join(rows.to_series().to_list()))


def _current(
    groups: list[list[str]],
    merged: list[pl.DataFrame],
    ids: list[str],
    defining: frozenset[str],
) -> int:
    return min(
        range(len(groups)),
        key=lambda i: (
            defining.isdisjoint(groups[i]),
            -len(groups[i]),
            -merged[i].height,
            ids[i],
        ),
    )


def _benchmark_rows(
    benchmark_id: str,
    groups: list[list[str]],
    merged: list[pl.DataFrame],
    ids: list[str],
    current: int,
) -> pl.DataFrame:
    reference = merged[current]
    return pl.DataFrame(
        [
            {
                "benchmark_id": benchmark_id,
                "release_id": ids[i],
                "is_current": i == current,
                "n_items": merged[i].height,
                "n_drifted_items": _n_contradictions(reference, merged[i]),
                "n_sources": len(groups[i]),
                "source_ids": groups[i],
            }
            for i in range(len(groups))
        ]
    ).sort("is_current", "n_sources", "release_id", descending=[True, True, False])


def _item_rows(
    benchmark_id: str, by_release: list[tuple[str, pl.DataFrame]]
) -> pl.DataFrame:
    everything = pl.concat(
        [items.with_columns(release_id=pl.lit(i)) for i, items in by_release],
        how="diagonal",
    ).unique("native_id", keep="first", maintain_order=True)
    choices = pl.col("choices").fill_null([])
    return everything.select(
        item_id=item_id(pl.lit(benchmark_id), pl.col("native_id")),
        benchmark_id=pl.lit(benchmark_id),
        native_id="native_id",
        native_id_type="native_id_type",
        item_position="item_position",
        question="question",
        choices=choices,
        n_choices=choices.list.len().cast(pl.Int64),
        answer="answer",
        category="category",
        origin="origin",
        content_hash="content_hash",
        question_hash="question_hash",
        release_id="release_id",
    ).sort("item_position", "native_id", nulls_last=True)


def benchmark_releases(
    benchmark_id: str, sources: Sequence[BenchmarkSource], order: BenchmarkOrder
) -> Releases:
    """Releases and items of a benchmark, from all its sources.

    Args:
        benchmark_id: The benchmark.
        sources: Its sources, those that define its order among them.
        order: Its declared order. Where only a number of items is declared, the
            items are known by their position alone.

    Raises:
        InvalidInputError: If no source states any item and none is declared.
        ParseError: If a source that names items by position has another number of
            records than the benchmark has items.
    """
    stated: dict[str, pl.DataFrame] = {}
    for source in sources:
        # Also for sources without items: this is where a wrong length is refused.
        keys = record_keys(source, order, benchmark_id=benchmark_id)
        stated[source.source_id] = source.parsed.items.drop(
            "native_id", "native_id_type"
        ).join(keys.drop_nulls("native_id"), on="position", maintain_order="left")
    defining = frozenset(s.source_id for s in sources if s.order_offset is not None)
    if order.n_items is not None:
        places = _unread_places(sources) if defining else range(order.n_items)
        stated = {_DECLARED: _by_position_alone(places), **stated}
        defining |= {_DECLARED}
    return _without_declaration(releases(benchmark_id, stated, defining=defining))


# Stands for the declared order among the sources: an item may be known by its place
# alone, where nothing else is declared or its record could not be read.
_DECLARED = "declared"


def _unread_places(sources: Sequence[BenchmarkSource]) -> list[int]:
    """Places in the order that belong to records which could not be read."""
    return sorted(
        {
            position + source.order_offset
            for source in sources
            if source.order_offset is not None
            for position in source.parsed.rejects["position"].drop_nulls()
        }
    )


def _by_position_alone(places: Sequence[int]) -> pl.DataFrame:
    texts = (
        "question",
        "answer",
        "category",
        "origin",
        "content_hash",
        "question_hash",
    )
    place = pl.Series("position", places, dtype=pl.Int64)
    return pl.DataFrame([place]).with_columns(
        native_id=pl.col("position").cast(pl.String),
        native_id_type=pl.lit("position"),
        item_position=pl.col("position"),
        choices=pl.lit([], pl.List(pl.String)),
        **{name: pl.lit(None, pl.String) for name in texts},
    )


def _without_declaration(made: Releases) -> Releases:
    sources = pl.col("source_ids").list.set_difference([_DECLARED]).list.sort()
    return Releases(
        made.benchmarks.with_columns(
            source_ids=sources, n_sources=sources.list.len().cast(pl.Int64)
        ),
        made.items,
        made.release_of_source.filter(pl.col("source_id") != _DECLARED),
    )
