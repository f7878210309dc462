"""The encoder that comes with skillmap, and what it gave on the starter suite."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from skillmap.concepts.encoding.autoencoder import Autoencoder, read_autoencoder
from skillmap.concepts.encoding.frames import ITEM_ENCODINGS
from skillmap.concepts.encoding.identity import Encoder
from skillmap.concepts.encoding.labels import concept_frame, csv_labels
from skillmap.concepts.encoding.registry import bundled_folder
from skillmap.concepts.encoding.storage import read_cells
from skillmap.errors import ParseError

IDENTITY: Final = "encoder.json"
LATENTS: Final = "latents.csv"
ITEM_CONCEPTS_FILE: Final = "item_concepts.parquet"
ITEM_ENCODINGS_FILE: Final = "item_encodings.parquet"


@dataclass(frozen=True)
class BundledEncoder:
    """An encoder's files, each read when it is asked for.

    Attributes:
        folder: Where they are.
    """

    folder: Path

    @cached_property
    def encoder(self) -> Encoder:
        """What recorded the activations."""
        file = self.folder / IDENTITY
        try:
            return Encoder.from_json(json.loads(file.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise ParseError(f"{file}: {error}") from error

    @cached_property
    def autoencoder(self) -> Autoencoder:
        """Its weights."""
        return read_autoencoder(self.folder)

    def concepts(self) -> pl.DataFrame:
        """Its dictionary, as ``frames.CONCEPTS`` has it."""
        file = self.folder / LATENTS
        densities = pl.read_csv(file, columns=["latent_index", "reference_density"])
        return concept_frame(
            self.encoder.encoder_id,
            densities.height,
            csv_labels(file),
            densities,
        )

    def item_concepts(self) -> pl.DataFrame:
        """Active cells of the starter suite, as ``frames.ITEM_CONCEPTS`` has them."""
        return read_cells(self.folder / ITEM_CONCEPTS_FILE)

    def item_encodings(self) -> pl.DataFrame:
        """Items of the starter suite, as ``frames.ITEM_ENCODINGS`` has them."""
        file = self.folder / ITEM_ENCODINGS_FILE
        return pl.read_parquet(file).cast(ITEM_ENCODINGS)


def bundled_encoder() -> BundledEncoder:
    """The encoder that comes with skillmap.

    Examples:
        >>> bundled_encoder().encoder.layer
        11
    """
    return BundledEncoder(bundled_folder())
