"""Encoders that can be asked for by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import yaml

from skillmap.concepts.encoding.autoencoder import Architecture
from skillmap.concepts.encoding.identity import Precision, TokenPolicy
from skillmap.errors import InvalidInputError

BUNDLED: Final = "bundled"


@dataclass(frozen=True, kw_only=True)
class EncoderEntry:
    """A model, and where an autoencoder of one of its layers is to be had.

    One of ``folder``, ``release`` with ``sae_id``, and ``repository`` is given.

    Attributes:
        name: What it is asked for by.
        model: Folder of the model, or its name on the hub.
        layer: Index of the layer whose output is read.
        folder: Local autoencoder; "bundled" is the one that comes with skillmap.
        release: Release that sae-lens knows.
        sae_id: Autoencoder in the release.
        repository: Where its files are, if sae-lens does not know it.
        revision: Commit of the model on the hub.
        dtype: Precision of the model; None for what suits the device.
        attention: Implementation of attention.
        policy: Which text is read, and which tokens count.
        d_in: Length of a vector, if known beforehand.
        d_sae: Latents, if known beforehand.
        architecture: Kind of its encoder, if known beforehand.
        l0: Active latents of a token, as published.
        neuronpedia: Source of its labels.
        of_paper: Whether the Competency Gaps paper used it, as far as it says.
        licence: Of the autoencoder.
        notes: What a user should know.
        not_supported: Why it cannot be used, None if it can.
    """

    name: str
    model: str
    layer: int
    folder: str | None = None
    release: str | None = None
    sae_id: str | None = None
    repository: str | None = None
    revision: str | None = None
    dtype: Precision | None = None
    attention: str = "eager"
    policy: TokenPolicy = field(default_factory=TokenPolicy)
    d_in: int | None = None
    d_sae: int | None = None
    architecture: Architecture | None = None
    l0: float | None = None
    neuronpedia: str | None = None
    of_paper: bool = False
    licence: str | None = None
    notes: str | None = None
    not_supported: str | None = None

    def __post_init__(self) -> None:
        """Refuse an entry without a place for its autoencoder, or with several.

        Raises:
            InvalidInputError: If that is so.
        """
        places = [self.folder, self.release, self.repository]
        if sum(place is not None for place in places) != 1:
            raise InvalidInputError(
                f"encoder {self.name!r}: give one of folder, release and repository"
            )
        if (self.release is None) != (self.sae_id is None):
            raise InvalidInputError(
                f"encoder {self.name!r}: release and sae_id go together"
            )


def encoder_entry(name: str, content: Mapping[str, Any]) -> EncoderEntry:
    """One entry, as the registry or the settings hold it.

    Raises:
        InvalidInputError: If a field is missing, unknown or impossible.
    """
    try:
        policy = TokenPolicy(**content.get("policy", {}))
        fields: dict[str, Any] = {**content, "policy": policy, "name": name}
        return EncoderEntry(**fields)
    except TypeError as error:
        raise InvalidInputError(f"encoder {name!r}: {error}") from error


def registry(
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, EncoderEntry]:
    """All encoders, by name.

    Args:
        own: Entries of the settings, which stand before those that come with
            skillmap.

    Examples:
        >>> registry()["gemma-2-2b-it-l20-16k"].sae_id
        'layer_20/width_16k/canonical'
    """
    file = files("skillmap.concepts.encoding").joinpath("registry.yaml")
    content = cast("dict[str, dict[str, Any]]", yaml.safe_load(file.read_text("utf-8")))
    entries = {**content, **(own or {})}
    return {name: encoder_entry(name, entry) for name, entry in entries.items()}


def find_encoder(
    name: str, own: Mapping[str, Mapping[str, Any]] | None = None
) -> EncoderEntry:
    """The encoder of this name.

    Raises:
        InvalidInputError: If there is none, or it cannot be used.
    """
    entries = registry(own)
    if name not in entries:
        raise InvalidInputError(
            f"encoder {name!r} is not known. Known are: {', '.join(sorted(entries))}"
        )
    entry = entries[name]
    if entry.not_supported:
        raise InvalidInputError(f"encoder {name!r}: {entry.not_supported}")
    return entry


def bundled_folder() -> Path:
    """Folder of the encoder that comes with skillmap."""
    from skillmap import starter  # noqa: PLC0415  has data, which few need

    return starter.folder() / "encoder"
