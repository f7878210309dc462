"""Encodes the items of a benchmark, shard by shard.

A shard is written when its items are done, under a name made of what went into it. So
a run that was ended goes on where it stopped: at most one shard is done twice. Memory
depends on the size of a shard, not on the number of items.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from skillmap.concepts.encoding.frames import ITEM_ENCODINGS, Encoded, encoded_frames
from skillmap.concepts.encoding.fused import FusedEncoder
from skillmap.concepts.encoding.identity import Encoder
from skillmap.concepts.encoding.pooling import Cells, merged, pool
from skillmap.concepts.encoding.storage import StoredCells, write_cells, write_frame
from skillmap.concepts.encoding.tokens import TextTokenizer, TokenisedText
from skillmap.ids import short_hash
from skillmap_dagster.resources.encoders.residual_stream import ResidualStream

ITEMS_PER_SHARD: Final = 512
_TOKENS_PER_BATCH: Final = {"cpu": 2_048, "cuda": 16_384}


@dataclass(frozen=True)
class Progress:
    """How far an encoding has come.

    Attributes:
        n_items: Items that are done, those of an earlier run counted in.
        n_tokens: Tokens that the model has read in this run.
        seconds: Of this run so far.
    """

    n_items: int
    n_tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens that the model reads in a second, 0 before the first."""
        return self.n_tokens / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        """One line for a log."""
        return (
            f"encoded {self.n_items:,} items, {self.n_tokens:,} tokens at "
            f"{self.tokens_per_second:,.0f} tokens/s"
        )


class EncodedBenchmark(NamedTuple):
    """What encoding a benchmark gave.

    Attributes:
        cells: Files of the active cells, in both orders.
        items: File of the items, as ``frames.ITEM_ENCODINGS`` has them.
        progress: At the end.
    """

    cells: StoredCells
    items: Path
    progress: Progress


@dataclass(frozen=True)
class RunningEncoder:
    """An encoder that is loaded.

    Attributes:
        encoder: What it is.
        stream: Its model.
        texts: Its token policy.
        fused: Its autoencoder.
    """

    encoder: Encoder
    stream: ResidualStream
    texts: TextTokenizer
    fused: FusedEncoder

    def encode(
        self, item_ids: Sequence[str], contents: Sequence[str | None], benchmark_id: str
    ) -> tuple[Encoded, int]:
        """Rows of some items, and the number of tokens that the model read.

        Args:
            item_ids: Of the items.
            contents: Text of each item, None where it is not known.
            benchmark_id: Where they are from.
        """
        texts = [self.texts.tokenised(content) for content in contents]
        read = [place for place, text in enumerate(texts) if text.kept]
        batches = self.stream.batches(
            [(texts[place].ids, texts[place].kept) for place in read],
            tokens_per_batch=_TOKENS_PER_BATCH[self.stream.device],
        )
        outliers = [0] * len(texts)
        parts: list[Cells] = [_no_cells()]
        n_read = 0
        for batch in batches:
            places = [read[place] for place in batch.texts]
            parts += self._cells(batch.vectors, places, texts, outliers)
            n_read += batch.n_read
        frames = encoded_frames(
            texts,
            merged(parts),
            outliers,
            item_ids=item_ids,
            encoder_id=self.encoder.encoder_id,
            benchmark_id=benchmark_id,
        )
        return frames, n_read

    def _cells(
        self,
        vectors: Any,
        places: Sequence[int],
        texts: Sequence[TokenisedText],
        outliers: list[int],
    ) -> Iterator[Cells]:
        sizes = [len(texts[place].kept) for place in places]
        items = np.repeat(np.array(places, np.int64), sizes)
        positions = np.concatenate([np.arange(size) for size in sizes])
        limit = self.encoder.policy.max_norm or np.finfo(np.float32).max
        # A vector that is no number is none of an autoencoder's either.
        is_outlier = ~(vectors.norm(dim=1) <= limit).cpu().numpy()
        if is_outlier.any():
            for place in items[is_outlier].tolist():
                outliers[place] += 1
            inside = np.flatnonzero(~is_outlier)
            vectors, items, positions = (
                vectors[inside],
                items[inside],
                positions[inside],
            )
        step = self.fused.tokens_per_chunk
        for start in range(0, len(items), step):
            part = slice(start, start + step)
            entries = self.fused.entries(vectors[part])
            yield pool(entries, items[part], positions[part])


def encode_benchmark(
    running: RunningEncoder,
    items: Iterable[tuple[str, str | None]],
    folder: Path,
    *,
    benchmark_id: str,
    items_per_shard: int = ITEMS_PER_SHARD,
    report: Callable[[Progress], None] | None = None,
) -> EncodedBenchmark:
    """Encode all items of a benchmark into files.

    Args:
        running: The encoder.
        items: Id and content of each item, in rising order of ids, read as they are
            needed.
        folder: Where the files are written; its ``shards`` are kept for another try
            and may be deleted at any time.
        benchmark_id: Whose items.
        items_per_shard: Items that are done twice at most, and held at once.
        report: Is told after each shard.
    """
    shards = folder / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    progress = Progress(0, 0, 0.0)
    done: list[Path] = []
    remaining = iter(items)
    while part := list(islice(remaining, items_per_shard)):
        shard = shards / _shard_name(running.encoder.encoder_id, benchmark_id, part)
        n_read = 0
        if not shard.is_file():
            ids = [item_id for item_id, _ in part]
            contents = [content for _, content in part]
            frames, n_read = running.encode(ids, contents, benchmark_id)
            _write_shard(frames, shard)
        done.append(shard)
        progress = Progress(
            progress.n_items + len(part),
            progress.n_tokens + n_read,
            time.monotonic() - start,
        )
        if report is not None:
            report(progress)
    return _together(running, done, folder, progress)


def _together(
    running: RunningEncoder, shards: Sequence[Path], folder: Path, progress: Progress
) -> EncodedBenchmark:
    def parts() -> Iterator[pl.LazyFrame]:
        return (pl.scan_parquet(_cells_file(shard)) for shard in shards)

    cells = write_cells(parts, folder, n_latents=running.fused.autoencoder.d_sae)
    file = folder / "items.parquet"
    tables = [pl.scan_parquet(shard) for shard in shards]
    empty = pl.LazyFrame(schema=ITEM_ENCODINGS)
    pl.concat([empty, *tables]).sink_parquet(file)
    return EncodedBenchmark(cells, file, progress)


def _shard_name(encoder_id: str, benchmark_id: str, part: Sequence[Any]) -> str:
    return f"{short_hash(repr((encoder_id, benchmark_id, part)))}.items.parquet"


def _cells_file(shard: Path) -> Path:
    return shard.with_name(shard.name.replace(".items.", ".cells."))


def _write_shard(frames: Encoded, shard: Path) -> None:
    # The items come last: where they are, the shard is complete.
    write_frame(frames.cells, _cells_file(shard))
    temporary = shard.with_name(f".{uuid.uuid4().hex}.tmp")
    frames.items.write_parquet(temporary)
    temporary.replace(shard)


def _no_cells() -> Cells:
    none = np.empty(0, np.int64)
    return Cells(none, none, none.astype(float), none.astype(float), none, none)
