"""Vectors of phrases, computed once and kept."""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import dagster as dg
import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.embedding import Embedder
from skillmap.ids import short_hash

# The embedders that come with skillmap, by the name given in the settings.
_PACKAGED = "minilm"
_N_PER_SHARD = 4096


class Embedding(dg.ConfigurableResource):
    """Embeds phrases, each once for each embedder.

    Vectors are kept in Parquet shards named by their content, so that any number of
    processes add to them at once, and a killed one loses only the shard it was at.

    Attributes:
        cache: Where vectors are kept; may be deleted at any time.
    """

    cache: str

    def vectors(self, embedder: str, phrases: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of ``phrases``, in their order.

        Args:
            embedder: Name in the settings.
            phrases: Any number of texts, repeats allowed.

        Returns:
            Shape ``(n_phrases, dimensions)``, rows of length 1.
        """
        model = _embedder(embedder)
        folder = Path(self.cache) / "embeddings" / short_hash(model.embedder_id)
        wanted = pl.DataFrame({"phrase": phrases}, schema={"phrase": pl.String()})
        known = _kept(folder, wanted, model.dimensions)
        missing = (
            wanted.unique()
            .join(known, on="phrase", how="anti")
            .sort("phrase")["phrase"]
            .to_list()
        )
        log = dg.get_dagster_logger()
        for start in range(0, len(missing), _N_PER_SHARD):
            part = missing[start : start + _N_PER_SHARD]
            shard = pl.DataFrame({"phrase": part, "vector": model.embed(part)})
            _keep(folder, shard)
            known = pl.concat([known, shard])
            log.info("embedded %d of %d phrases", start + len(part), len(missing))
        rows = wanted.join(known, on="phrase", how="left", maintain_order="left")
        if rows.is_empty():
            return np.empty((0, model.dimensions), np.float32)
        return rows["vector"].to_numpy()


def _embedder(name: str) -> Embedder:
    if name == _PACKAGED:
        from skillmap.embedding.minilm import MiniLM  # noqa: PLC0415  loads ONNX

        # A cached property fulfils a protocol's property, which pyright denies.
        return cast("Embedder", MiniLM())
    from skillmap.embedding.sentence_transformers import (  # noqa: PLC0415  loads torch
        SentenceTransformersEmbedder,
    )

    return cast("Embedder", SentenceTransformersEmbedder(name))


def _kept(folder: Path, wanted: pl.DataFrame, dimensions: int) -> pl.DataFrame:
    schema = {"phrase": pl.String(), "vector": pl.Array(pl.Float32(), dimensions)}
    shards = [
        pl.scan_parquet(file).join(wanted.lazy(), on="phrase", how="semi")
        for file in sorted(folder.glob("*.parquet"))
    ]
    if not shards:
        return pl.DataFrame(schema=schema)
    return pl.concat(shards).unique("phrase", keep="any").collect()


def _keep(folder: Path, shard: pl.DataFrame) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = short_hash("\n".join(shard["phrase"]))
    temporary = folder / f".{uuid.uuid4().hex}.tmp"
    shard.write_parquet(temporary)
    temporary.replace(folder / f"{name}.parquet")
