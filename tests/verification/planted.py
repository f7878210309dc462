"""A small corpus of skills in known directions, and items that list some of them."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

N_FIELDS = 30
N_SKILLS = 6


def corpus() -> tuple[pl.DataFrame, NDArray[np.float32]]:
    """Skills of one field have a cosine of 0.64, those of two fields 0.

    Field f's skill k is 0.8 e_f + 0.6 e_(f, k).
    """
    names = [f"field {f} skill {k}" for f in range(N_FIELDS) for k in range(N_SKILLS)]
    vectors = np.zeros((len(names), N_FIELDS + len(names)), np.float32)
    for row in range(len(names)):
        vectors[row, row // N_SKILLS] = 0.8
        vectors[row, N_FIELDS + row] = 0.6
    return pl.DataFrame({"phrase": names}), vectors


def item_skills(n_items: int, *, benchmarks: int = 1) -> pl.DataFrame:
    """Five skills of five fields for each item, the skills 0 to 2 of a field."""
    rows = [
        (f"b{b}", f"b{b}:{i}", f"field {(i + 3 * j) % N_FIELDS} skill {(i + j) % 3}")
        for b in range(benchmarks)
        for i in range(n_items)
        for j in range(5)
    ]
    columns = ["benchmark_id", "item_id", "phrase"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def items_of(skills: pl.DataFrame) -> pl.DataFrame:
    return (
        skills.select("item_id")
        .unique()
        .sort("item_id")
        .with_columns(
            question=pl.format("What of {}?", "item_id"),
            choices=pl.lit(["one", "two"]),
        )
    )
