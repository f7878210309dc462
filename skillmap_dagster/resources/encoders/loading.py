"""Loads an encoder: its model, its autoencoder, and what the two are together."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Final

from skillmap.concepts.encoding.autoencoder import Autoencoder
from skillmap.concepts.encoding.fused import FusedEncoder
from skillmap.concepts.encoding.identity import Encoder
from skillmap.concepts.encoding.registry import EncoderEntry
from skillmap.concepts.encoding.tokens import TextTokenizer
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.encoders.autoencoder_loading import load_autoencoder
from skillmap_dagster.resources.encoders.benchmark_encoding import RunningEncoder
from skillmap_dagster.resources.encoders.residual_stream import (
    ResidualStream,
    versions,
)
from skillmap_dagster.resources.language_models.device import (
    DeviceChoice,
    pick_device,
)
from skillmap_dagster.resources.language_models.smollm2 import SMOLLM2, smollm2_folder

# Whose content decides what a local model computes.
_MODEL_FILES: Final = ("*.safetensors", "*.bin", "config.json", "tokenizer*.json")


def load_encoder(
    entry: EncoderEntry,
    *,
    cache: Path,
    device: DeviceChoice = "auto",
    model_folder: Path | None = None,
    n_threads: int = 1,
) -> RunningEncoder:
    """Load an encoder, ready to encode.

    Args:
        entry: Which one, from the registry or the settings.
        cache: Where what was fetched is kept; may be deleted at any time.
        device: "auto" takes CUDA where there is one.
        model_folder: Local copy of the entry's model. None for the packaged SmolLM2,
            and to let transformers find others by their names.
        n_threads: Of the CPU.

    Raises:
        InvalidInputError: If torch is missing, or model and autoencoder do not fit.
    """
    autoencoder = load_autoencoder(entry, cache)
    if model_folder is None and entry.model == SMOLLM2:
        model_folder = smollm2_folder(cache)
    picked = pick_device(device, precision=entry.dtype or "auto")
    stream = ResidualStream(
        model_folder or entry.model,
        layer=entry.layer,
        device=picked.name,
        dtype=picked.dtype,
        attention=entry.attention,
        revision=None if model_folder else entry.revision,
        n_threads=n_threads,
    )
    if stream.d_model != autoencoder.d_in:
        raise InvalidInputError(
            f"encoder {entry.name!r}: the model's vectors have {stream.d_model} "
            f"numbers, the autoencoder reads {autoencoder.d_in}"
        )
    policy = entry.policy
    told = autoencoder.metadata.get("max_norm")
    if policy.max_norm is None and told is not None:
        policy = replace(policy, max_norm=float(told))
    texts = TextTokenizer(stream.tokenizer, policy)
    encoder = Encoder(
        name=entry.name,
        model=entry.model,
        model_revision=_revision(entry, model_folder),
        sae=_sae_name(entry, autoencoder),
        sae_hash=autoencoder.file_hash,
        layer=entry.layer,
        dtype=picked.dtype,
        attention=entry.attention,
        policy=policy,
        chat_template_hash=texts.chat_template_hash,
        versions=versions(),
    )
    fused = FusedEncoder(autoencoder, device=picked.name)
    return RunningEncoder(encoder, stream, texts, fused)


def folder_hash(folder: Path) -> str:
    """Hash of a local model's files: 16 hexadecimal characters."""
    digest = hashlib.sha256()
    files = sorted({file for glob in _MODEL_FILES for file in folder.glob(glob)})
    if not files:
        raise InvalidInputError(f"{folder}: no files of a model")
    for file in files:
        with file.open("rb") as content:
            digest.update(file.name.encode("utf-8"))
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:16]


def _revision(entry: EncoderEntry, model_folder: Path | None) -> str:
    if model_folder is not None:
        return folder_hash(model_folder)
    local = Path(entry.model).expanduser()
    return folder_hash(local) if local.is_dir() else (entry.revision or "main")


def _sae_name(entry: EncoderEntry, autoencoder: Autoencoder) -> str:
    if entry.release is not None:
        return f"{entry.release}/{entry.sae_id}"
    return f"{autoencoder.architecture}-{autoencoder.d_sae}"
