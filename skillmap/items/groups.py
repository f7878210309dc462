"""Groups of items that are the same question.

Duplicates are not independent evidence: they are clusters of the standard errors,
and are never split between the half that finds a slice and the half that confirms it.
"""

from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse.csgraph import (  # pyright: ignore[reportMissingTypeStubs]
    connected_components,  # pyright: ignore[reportUnknownVariableType]
)

from skillmap.items.content import normalised_choices, normalised_options


def item_groups(items: pl.DataFrame) -> pl.DataFrame:
    """Exact and near duplicates among items, within and across benchmarks.

    Exact: the same normalised question and the same set of options. Near: the same
    normalised question, and options that overlap or are missing on a side, so that
    an item remade with more options is linked to the original, while "Which of the
    following is correct?" with other options is not.

    Args:
        items: Rows of ``core.items``.

    Returns:
        One row per kind and item that has a twin, columns of ``core.item_groups``,
        sorted by kind, group and item. Items without a question have no twin. Near
        groups hold the exact ones.
    """
    # Looking at the options is the slow part, and few items share their question.
    asked = items.filter(
        pl.col("question_hash").is_not_null(), pl.len().over("question_hash") > 1
    ).select(
        "item_id",
        "benchmark_id",
        "question_hash",
        option_set=normalised_choices(pl.col("choices"), sort=True),
        options=normalised_options(pl.col("choices")),
    )
    exact = _grouped(asked, pl.struct("question_hash", "option_set"), kind="exact")
    near = _grouped(_with_component(asked), pl.col("component"), kind="near")
    return pl.concat([exact, near]).sort("kind", "group_id", "item_id")


def _grouped(asked: pl.DataFrame, key: pl.Expr, *, kind: str) -> pl.DataFrame:
    twins = asked.with_columns(
        n_group_items=pl.len().over(key).cast(pl.Int64),
        first_item=pl.col("item_id").min().over(key),
    ).filter(pl.col("n_group_items") > 1)
    return twins.select(
        "item_id",
        "benchmark_id",
        kind=pl.lit(kind),
        group_id=pl.format("{}:{}", pl.lit(kind), "first_item"),
        n_group_items="n_group_items",
    )


def _with_component(asked: pl.DataFrame) -> pl.DataFrame:
    """Items linked, directly or through others, by question and options."""
    numbered = asked.sort("item_id").with_row_index("row")
    if numbered.is_empty():
        return numbered.with_columns(component=pl.lit(0))
    # One edge per shared option suffices: all items with it are one component.
    edges = pl.concat(
        [
            _edges(numbered.explode("options").drop_nulls("options"), "options"),
            _optionless_edges(numbered),
        ]
    )
    n = numbered.height
    graph = coo_array(
        (np.ones(edges.height, np.int8), (edges["row"], edges["first"])), shape=(n, n)
    )
    labels = cast(
        "tuple[int, NDArray[np.int32]]", connected_components(graph, directed=False)
    )[1]
    return numbered.with_columns(component=pl.Series(labels, dtype=pl.Int64))


def _edges(rows: pl.DataFrame, option: str) -> pl.DataFrame:
    first = pl.col("row").min().over("question_hash", option)
    return rows.select("row", first=first)


def _optionless_edges(numbered: pl.DataFrame) -> pl.DataFrame:
    """A free form item is linked to every item that asks the same question."""
    has_optionless = (pl.col("options").list.len() == 0).any().over("question_hash")
    return numbered.filter(has_optionless).select(
        "row", first=pl.col("row").min().over("question_hash")
    )
