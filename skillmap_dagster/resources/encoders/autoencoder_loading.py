"""Finds the autoencoder of an entry: in a folder, or through sae-lens."""

import importlib
import uuid
from pathlib import Path
from typing import Any, Final

from skillmap.concepts.encoding.autoencoder import (
    CONFIGURATION,
    WEIGHTS,
    Autoencoder,
    read_autoencoder,
)
from skillmap.concepts.encoding.registry import BUNDLED, EncoderEntry, bundled_folder
from skillmap.errors import InvalidInputError
from skillmap.ids import short_hash

INSTALL: Final = "pip install 'skillmap[sae-lens]'"


def load_autoencoder(entry: EncoderEntry, cache: Path) -> Autoencoder:
    """The autoencoder of an entry.

    One that sae-lens has to fetch is saved in the cache, in the form that is read
    here: later loads need neither sae-lens nor the network.

    Args:
        entry: Which one.
        cache: Folder that may be deleted at any time.

    Raises:
        InvalidInputError: If it is not to be had, or does not fit its entry.
        ParseError: If its files cannot be read.
    """
    autoencoder = read_autoencoder(_folder(entry, cache))
    expected = {
        "d_in": (entry.d_in, autoencoder.d_in),
        "d_sae": (entry.d_sae, autoencoder.d_sae),
        "architecture": (entry.architecture, autoencoder.architecture),
    }
    for name, (told, found) in expected.items():
        if told is not None and told != found:
            raise InvalidInputError(
                f"encoder {entry.name!r}: its autoencoder has {name} {found}, the "
                f"registry says {told}"
            )
    return autoencoder


def _folder(entry: EncoderEntry, cache: Path) -> Path:
    if entry.folder == BUNDLED:
        return bundled_folder()
    if entry.folder is not None:
        return Path(entry.folder).expanduser()
    if entry.repository is not None:
        raise InvalidInputError(
            f"encoder {entry.name!r}: download {CONFIGURATION} and {WEIGHTS} of "
            f"{entry.repository}, and name their folder as folder in the settings"
        )
    key = short_hash(f"{entry.release}\n{entry.sae_id}")
    folder = cache / "autoencoders" / key
    if not (folder / CONFIGURATION).is_file():
        _fetch(entry, folder)
    return folder


def _fetch(entry: EncoderEntry, folder: Path) -> None:
    """Let sae-lens download an autoencoder, fold its scale in, and save it."""
    sae_lens = _sae_lens()
    try:
        sae = sae_lens.SAE.from_pretrained(entry.release, entry.sae_id, device="cpu")
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"encoder {entry.name!r}: {error}") from error
    temporary = folder.with_name(f".{uuid.uuid4().hex}.tmp")
    temporary.mkdir(parents=True)
    sae.save_model(temporary)
    temporary.replace(folder)


def _sae_lens() -> Any:
    try:
        return importlib.import_module("sae_lens")
    except ImportError as error:
        raise InvalidInputError(
            f"sae-lens is not installed. Install it with `{INSTALL}`"
        ) from error
