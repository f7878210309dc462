"""Keeps active cells as Parquet in two orders: by item, and by latent.

Ids that rise are kept as differences, and the bytes of activations beside their likes.
Both files together take at most 13 bytes a cell.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import polars as pl
import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet as pq  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.encoding.frames import ITEM_CONCEPTS

# pyarrow tells no types.
_arrow = cast("Any", pa)
_parquet = cast("Any", pq)

Order = Literal["by_item", "by_latent"]

# What the file by latent holds: enough to find the items of a latent.
ITEMS_OF_LATENTS: Final = pl.Schema(
    {
        name: ITEM_CONCEPTS[name]
        for name in (
            "encoder_id",
            "benchmark_id",
            "latent_index",
            "item_id",
            "mean_activation",
        )
    }
)

_SCHEMAS: Final[dict[Order, pl.Schema]] = {
    "by_item": ITEM_CONCEPTS,
    "by_latent": ITEMS_OF_LATENTS,
}
_KEYS: Final[dict[Order, list[str]]] = {
    "by_item": ["item_id", "latent_index"],
    "by_latent": ["latent_index", "item_id"],
}
_ENCODINGS: Final = {
    "latent_index": "DELTA_BINARY_PACKED",
    "mean_activation": "BYTE_STREAM_SPLIT",
    "max_activation": "BYTE_STREAM_SPLIT",
    "n_active_tokens": "DELTA_BINARY_PACKED",
    "position_of_max": "DELTA_BINARY_PACKED",
}
_TEXTS: Final = ["encoder_id", "benchmark_id", "item_id"]
_ROWS_PER_GROUP: Final = 122_880
# Cells that are held at once while they are sorted by latent.
_CELLS_IN_MEMORY: Final = 1_000_000


class StoredCells(NamedTuple):
    """The two files of one encoder and benchmark.

    Attributes:
        by_item: Sorted by item and latent: all columns of ``frames.ITEM_CONCEPTS``.
        by_latent: Sorted by latent and item: those of ``ITEMS_OF_LATENTS``.
        n_cells: Active cells in each.
        n_bytes: Of both files together.
    """

    by_item: Path
    by_latent: Path
    n_cells: int
    n_bytes: int

    @property
    def bytes_per_cell(self) -> float:
        """Bytes of both files for each cell, NaN where there is none."""
        return self.n_bytes / self.n_cells if self.n_cells else float("nan")


def write_cells(
    parts: Callable[[], Iterable[pl.LazyFrame]], folder: Path, *, n_latents: int
) -> StoredCells:
    """Write both files, holding few of the cells at once.

    Args:
        parts: Gives the cells as often as it is called, in parts of which each is
            sorted by item and latent, and one follows on the other.
        folder: Where ``by_item.parquet`` and ``by_latent.parquet`` are written.
        n_latents: Of the encoder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_item, by_latent = folder / "by_item.parquet", folder / "by_latent.parquet"
    n_cells = _write(by_item, "by_item", (part.collect() for part in parts()))
    n_parts = -(-n_cells // _CELLS_IN_MEMORY) or 1
    _write(by_latent, "by_latent", _ranges(parts, n_latents, n_parts))
    n_bytes = by_item.stat().st_size + by_latent.stat().st_size
    return StoredCells(by_item, by_latent, n_cells, n_bytes)


def write_frame(cells: pl.DataFrame, file: Path, order: Order = "by_item") -> None:
    """Write cells that fit into memory, in one order."""
    _write(file, order, iter([cells.sort(_KEYS[order])]))


def read_cells(file: Path, order: Order = "by_item") -> pl.DataFrame:
    """Cells of a file that was written here."""
    schema = _SCHEMAS[order]
    return pl.read_parquet(file).select(schema.names()).cast(schema)


def _ranges(
    parts: Callable[[], Iterable[pl.LazyFrame]], n_latents: int, n_parts: int
) -> Iterator[pl.DataFrame]:
    """Cells sorted by latent, one range of latents after the other."""
    for number in range(n_parts):
        start, end = (n_latents * n // n_parts for n in (number, number + 1))
        in_range = pl.col("latent_index").is_between(start, end, closed="left")
        columns = ITEMS_OF_LATENTS.names()
        found = [part.filter(in_range).select(columns).collect() for part in parts()]
        if found:
            yield pl.concat(found).sort(_KEYS["by_latent"])


def _write(file: Path, order: Order, frames: Iterator[pl.DataFrame]) -> int:
    schema = _SCHEMAS[order]
    temporary = file.with_name(f".{file.name}.tmp")
    n_rows = 0
    with _parquet.ParquetWriter(
        temporary,
        _arrow_schema(schema),
        compression="zstd",
        compression_level=9,
        use_dictionary=_TEXTS,
        column_encoding={n: e for n, e in _ENCODINGS.items() if n in schema},
    ) as writer:
        for frame in frames:
            table = cast("Any", frame.select(schema.names())).to_arrow()
            writer.write_table(
                table.cast(_arrow_schema(schema)), row_group_size=_ROWS_PER_GROUP
            )
            n_rows += frame.height
    temporary.replace(file)
    return n_rows


def _arrow_schema(schema: pl.Schema) -> Any:  # noqa: ANN401  pyarrow tells no types
    kinds: dict[Any, str] = {
        pl.Int32: "int32",
        pl.Float32: "float32",
        pl.String: "string",
    }
    fields = [
        (name, getattr(_arrow, kinds[kind.base_type()])())
        for name, kind in schema.items()
    ]
    return _arrow.schema(fields)
