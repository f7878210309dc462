from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from skillmap.concepts.encoding import storage
from skillmap.concepts.encoding.frames import ITEM_CONCEPTS, rounded_up
from skillmap.concepts.encoding.storage import (
    ITEMS_OF_LATENTS,
    read_cells,
    write_cells,
    write_frame,
)

N_LATENTS = 4096


def cells(n_items: int, n_active: int = 300, seed: int = 1) -> pl.DataFrame:
    """Cells as real ones are: few latents are on many items, most on few."""
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, N_LATENTS + 1) ** 0.9
    frames = []
    for item in range(n_items):
        latents = random.choice(
            N_LATENTS, n_active, replace=False, p=weights / weights.sum()
        )
        counts = random.geometric(0.4, n_active)
        largest = random.gamma(2, 1, n_active)
        frames.append(
            pl.DataFrame(
                {
                    "item_id": [f"toy:category/{item:05}"] * n_active,
                    "latent_index": np.sort(latents),
                    "mean_activation": largest * counts / 120,
                    "max_activation": rounded_up(largest),
                    "n_active_tokens": counts,
                    "position_of_max": random.integers(0, 120, n_active),
                }
            )
        )
    return (
        pl.concat(frames)
        .with_columns(encoder_id=pl.lit("toy-1"), benchmark_id=pl.lit("toy"))
        .select(ITEM_CONCEPTS.names())
        .cast(ITEM_CONCEPTS)
    )


def by_latent(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort("latent_index", "item_id").select(ITEMS_OF_LATENTS.names())


def test_both_orders_hold_all_cells_in_at_most_13_bytes_each(tmp_path: Path) -> None:
    frame = cells(500)

    def parts() -> Iterator[pl.LazyFrame]:
        return (
            frame[start : start + 60_000].lazy() for start in range(0, 150_000, 60_000)
        )

    stored = write_cells(parts, tmp_path, n_latents=N_LATENTS)

    assert stored.n_cells == frame.height
    assert read_cells(stored.by_item).equals(frame)
    assert read_cells(stored.by_latent, "by_latent").equals(by_latent(frame))
    assert stored.bytes_per_cell <= 13


def test_latents_are_sorted_by_ranges_if_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_CELLS_IN_MEMORY", 1_000)
    frame = cells(30)

    stored = write_cells(lambda: [frame.lazy()], tmp_path, n_latents=N_LATENTS)

    assert read_cells(stored.by_latent, "by_latent").equals(by_latent(frame))


def test_duckdb_reads_what_is_written(tmp_path: Path) -> None:
    frame = cells(20)
    write_frame(frame, tmp_path / "cells.parquet")

    told = duckdb.sql(
        f"select count(*), sum(latent_index), max(max_activation) "
        f"from '{tmp_path}/cells.parquet'"
    ).fetchall()

    expected = frame.select(
        pl.len(), pl.col("latent_index").sum(), pl.col("max_activation").max()
    )
    assert told == expected.rows()


def test_numbers_are_kept_as_differences_and_as_streams_of_bytes(
    tmp_path: Path,
) -> None:
    write_frame(cells(20), tmp_path / "cells.parquet", "by_latent")

    group = pq.ParquetFile(tmp_path / "cells.parquet").metadata.row_group(0)
    encodings = {
        group.column(i).path_in_schema: set(group.column(i).encodings)
        for i in range(group.num_columns)
    }
    assert "BYTE_STREAM_SPLIT" in encodings["mean_activation"]
    assert "DELTA_BINARY_PACKED" in encodings["latent_index"]


def test_no_cells_are_an_empty_file(tmp_path: Path) -> None:
    stored = write_cells(list, tmp_path, n_latents=8)

    assert stored.n_cells == 0
    assert np.isnan(stored.bytes_per_cell)
    assert read_cells(stored.by_latent, "by_latent").schema == ITEMS_OF_LATENTS
