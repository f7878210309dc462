"""Benchmark and model names that the caller tells, over those in the content."""

from dataclasses import replace

import polars as pl

from skillmap.errors import ParseError
from skillmap.parsing.source import (
    ParsedSource,
    ParseOptions,
    Remark,
    remarks_frame,
)


def with_told_names(
    source: ParsedSource, options: ParseOptions, *, name: str
) -> ParsedSource:
    """A source whose records all have the benchmark and model that the caller told.

    Args:
        source: As a reader made it.
        options: ``benchmark`` and ``model``; null leaves what the content says.
        name: The file, for messages.

    Returns:
        The source; with a warning where the content has another name.

    Raises:
        ParseError: If the content has several names where the caller told one: they
            would be merged into one.
    """
    frames = {
        "items": source.items,
        "results": source.results,
        "skills": source.skills,
        "rationales": source.rationales,
    }
    warnings: list[Remark] = []
    for column, told in (("benchmark", options.benchmark), ("model", options.model)):
        if told is None:
            continue
        holders = [key for key, frame in frames.items() if column in frame.columns]
        found = sorted(
            set[str]().union(
                *(frames[key][column].drop_nulls().to_list() for key in holders)
            )
        )
        if len(found) > 1:
            msg = (
                f"{name}: one {column} {told!r} was told, the file has {len(found)}: "
                f"{found[:8]}. Leave the {column} out"
            )
            raise ParseError(msg)
        if found and found != [told]:
            warnings.append(
                (None, f"{column} in the file is not the one told", found[0])
            )
        for key in holders:
            frames[key] = frames[key].with_columns(pl.lit(told).alias(column))
    return replace(
        source,
        items=frames["items"],
        results=frames["results"],
        skills=frames["skills"],
        rationales=frames["rationales"],
        warnings=remarks_frame([*source.warnings.rows(), *warnings]),
    )
