"""Reads sparse autoencoders in the form in which sae-lens saves them.

sae-lens itself is not needed: importing it takes 20 s and brings a second copy of every
model. The mathematics of its four kinds of encoders is a few lines each.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from skillmap.errors import InvalidInputError, ParseError

Architecture = Literal["standard", "topk", "jumprelu", "gated"]
Normalisation = Literal["none", "layer_norm", "constant_norm_rescale"]
Floats32 = NDArray[np.float32]
# Of NumPy or torch, whose types are not known without it.
Array = Any

CONFIGURATION: Final = "cfg.json"
WEIGHTS: Final = "sae_weights.safetensors"

# As sae-lens adds it to the standard deviation.
_LAYER_NORM_EPSILON: Final = np.float32(1e-5)
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "standard": ("W_enc", "b_enc"),
    "topk": ("W_enc", "b_enc"),
    "jumprelu": ("W_enc", "b_enc", "threshold"),
    "gated": ("W_enc", "b_gate", "r_mag", "b_mag"),
}


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """Weights of a sparse autoencoder, and how its encoder uses them.

    Attributes:
        architecture: The kind of encoder.
        weights: Arrays by sae-lens's names, float32: ``W_enc`` of shape
            ``(d_in, d_sae)``, ``W_dec`` of shape ``(d_sae, d_in)``, and vectors.
        k: Latents that are active on a token, for "topk".
        normalisation: What is done to a vector first.
        is_centred: Whether ``b_dec`` is taken off a vector.
        is_scaled: Whether "topk" compares latents by the lengths of their decoder
            rows too.
        metadata: What else the configuration says.
        file_hash: Hash of both files, empty for one that is in memory only.
    """

    architecture: Architecture
    weights: Mapping[str, Floats32]
    k: int | None = None
    normalisation: Normalisation = "none"
    is_centred: bool = True
    is_scaled: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    file_hash: str = ""

    def __post_init__(self) -> None:
        """Refuse weights that the encoder cannot use.

        Raises:
            InvalidInputError: If an array is missing or has the wrong shape, or k is.
        """
        _check_weights(self)

    @property
    def d_in(self) -> int:
        """Length of a vector of the model."""
        return self.weights["W_enc"].shape[0]

    @property
    def d_sae(self) -> int:
        """Latents."""
        return self.weights["W_enc"].shape[1]

    @cached_property
    def decoder_norms(self) -> Floats32:
        """Length of each latent's decoder row."""
        return np.linalg.norm(self.weights["W_dec"], axis=1).astype(np.float32)

    def prepared(self, vectors: Floats32) -> Floats32:
        """The vectors as the encoder multiplies them: normalised and centred."""
        prepared = normalised(np, vectors, self.normalisation)
        if self.is_centred and "b_dec" in self.weights:
            return prepared - self.weights["b_dec"]
        return prepared

    def encode(self, vectors: Floats32) -> Floats32:
        """Activations of all latents on each token, none of them left out.

        For few tokens: this holds tokens × latents numbers. ``fused.FusedEncoder``
        does not.

        Args:
            vectors: Of the residual stream, shape ``(n_tokens, d_in)``.

        Returns:
            Shape ``(n_tokens, d_sae)``, 0 where a latent is not active.
        """
        w = self.weights
        product = self.prepared(vectors.astype(np.float32, copy=False)) @ w["W_enc"]
        if self.architecture == "gated":
            magnitude = np.maximum(product * np.exp(w["r_mag"]) + w["b_mag"], 0)
            return np.where(product + w["b_gate"] > 0, magnitude, np.float32(0))
        hidden = product + w["b_enc"]
        if self.architecture == "jumprelu":
            return np.where(
                hidden > w["threshold"], np.maximum(hidden, 0), np.float32(0)
            )
        if self.architecture == "topk":
            return self._top(hidden * self.decoder_norms if self.is_scaled else hidden)
        return np.maximum(hidden, 0)

    def decode(self, activations: Floats32) -> Floats32:
        """Vectors made of activations, before any normalisation is undone."""
        if self.is_scaled:
            activations = activations / self.decoder_norms
        bias = self.weights.get("b_dec", np.zeros(self.d_in, np.float32))
        return activations @ self.weights["W_dec"] + bias

    def _top(self, hidden: Floats32) -> Floats32:
        k = cast("int", self.k)
        places = np.argpartition(hidden, -k, axis=1)[:, -k:]
        kept = np.zeros_like(hidden)
        top = np.take_along_axis(hidden, places, axis=1)
        np.put_along_axis(kept, places, np.maximum(top, 0), axis=1)
        return kept


def normalised(library: Array, vectors: Array, normalisation: Normalisation) -> Array:
    """Vectors after an autoencoder's normalisation.

    Args:
        library: numpy or torch: what the vectors are arrays of.
        vectors: Shape ``(n_tokens, d_in)``.
        normalisation: Which one.
    """
    d_in = vectors.shape[-1]
    if normalisation == "layer_norm":
        centred = vectors - vectors.mean(-1, keepdims=True)
        squares = (centred * centred).sum(-1, keepdims=True)
        return centred / (
            library.sqrt(squares / (d_in - 1)) + float(_LAYER_NORM_EPSILON)
        )
    if normalisation == "constant_norm_rescale":
        squares = (vectors * vectors).sum(-1, keepdims=True)
        return vectors * (d_in**0.5 / library.sqrt(squares))
    return vectors


def read_autoencoder(folder: Path) -> Autoencoder:
    """An autoencoder that sae-lens, or ``write_autoencoder``, has saved.

    Weights may be of any floating-point type; they come out as float32. "batchtopk" and
    "matryoshka" ones are saved as "jumprelu".

    Args:
        folder: Holds cfg.json and sae_weights.safetensors.

    Raises:
        ParseError: If a file is missing or cannot be read, or asks for something that
            is not done here.
    """
    configuration = _configuration(folder / CONFIGURATION)
    architecture = configuration.get("architecture", "standard")
    if architecture not in get_args(Architecture):
        raise ParseError(
            f"{folder / CONFIGURATION}: architecture must be one of "
            f"{', '.join(get_args(Architecture))}, got {architecture!r}"
        )
    reshaping = configuration.get("reshape_activations") or "none"
    if reshaping != "none":
        raise ParseError(
            f"{folder / CONFIGURATION}: reshape_activations must be none, got "
            f"{reshaping!r}: only the residual stream is read"
        )
    try:
        return Autoencoder(
            architecture=architecture,
            weights=_weights(folder / WEIGHTS),
            k=_k(configuration),
            normalisation=_normalisation(folder, configuration),
            is_centred=bool(configuration.get("apply_b_dec_to_input", True)),
            is_scaled=bool(configuration.get("rescale_acts_by_decoder_norm", False)),
            metadata=configuration.get("metadata") or {},
            file_hash=autoencoder_hash(folder),
        )
    except InvalidInputError as error:
        raise ParseError(f"{folder}: {error}") from error


def write_autoencoder(
    autoencoder: Autoencoder,
    folder: Path,
    *,
    dtype: Literal["float32", "float16"] = "float32",
) -> None:
    """Save one in sae-lens's form, so that either can read it.

    Args:
        autoencoder: What to save.
        folder: Made if it does not exist.
        dtype: Of the weights in the file.
    """
    import safetensors.numpy  # noqa: PLC0415  rarely needed

    folder.mkdir(parents=True, exist_ok=True)
    configuration: dict[str, Any] = {
        "architecture": autoencoder.architecture,
        "d_in": autoencoder.d_in,
        "d_sae": autoencoder.d_sae,
        "dtype": "float32",
        "device": "cpu",
        "apply_b_dec_to_input": autoencoder.is_centred,
        "normalize_activations": autoencoder.normalisation,
        "reshape_activations": "none",
        "metadata": dict(autoencoder.metadata),
    }
    if autoencoder.architecture == "topk":
        configuration["k"] = autoencoder.k
        configuration["rescale_acts_by_decoder_norm"] = autoencoder.is_scaled
    text = json.dumps(configuration, indent=1, sort_keys=True) + "\n"
    (folder / CONFIGURATION).write_text(text, "utf-8")
    weights = {
        name: np.ascontiguousarray(values, dtype)
        for name, values in autoencoder.weights.items()
    }
    cast("Any", safetensors.numpy).save_file(weights, folder / WEIGHTS)


def autoencoder_hash(folder: Path) -> str:
    """Hash of both files: 16 hexadecimal characters."""
    digest = hashlib.sha256()
    for name in (CONFIGURATION, WEIGHTS):
        with (folder / name).open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:16]


def _configuration(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ParseError(f"{file}: {error}") from error
    if not isinstance(content, dict):
        raise ParseError(f"{file}: must hold an object, got {type(content).__name__}")
    return cast("dict[str, Any]", content)


def _normalisation(folder: Path, configuration: dict[str, Any]) -> Normalisation:
    told = configuration.get("normalize_activations") or "none"
    if told not in get_args(Normalisation):
        raise ParseError(
            f"{folder / CONFIGURATION}: normalize_activations {told!r} is not done "
            "here. sae-lens folds it into the weights when it loads or trains one: "
            "save that one"
        )
    return told


def _k(configuration: dict[str, Any]) -> int | None:
    # Files of sae-lens 3 and 4 hold it one level down.
    inner = cast("dict[str, Any]", configuration.get("activation_fn_kwargs") or {})
    k = configuration.get("k", inner.get("k"))
    return None if k is None else int(k)


def _weights(file: Path) -> dict[str, Floats32]:
    try:
        with safe_open(file, framework="numpy") as tensors:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            names = cast("list[str]", tensors.keys())  # pyright: ignore[reportUnknownMemberType]
            return {name: _float32(file, tensors, name) for name in names}
    except (OSError, SafetensorError) as error:
        raise ParseError(f"{file}: {error}") from error


def _float32(file: Path, tensors: Array, name: str) -> Floats32:
    kind = tensors.get_slice(name).get_dtype()
    if kind == "BF16":
        return _of_bfloat16(file, name)
    values = tensors.get_tensor(name)
    return np.ascontiguousarray(values, np.float32)


def _of_bfloat16(file: Path, name: str) -> Floats32:
    """A tensor of bfloat16, which NumPy lacks: the upper half of a float32."""
    with file.open("rb") as content:
        size = int.from_bytes(content.read(8), "little")
        about = json.loads(content.read(size))[name]
        start, end = about["data_offsets"]
        content.seek(8 + size + start)
        halves = np.frombuffer(content.read(end - start), "<u2")
    whole = halves.astype(np.uint32) << 16
    return whole.view(np.float32).reshape(about["shape"])


def _check_weights(autoencoder: Autoencoder) -> None:
    needed = [*_NEEDED[autoencoder.architecture]]
    if autoencoder.is_scaled:
        needed.append("W_dec")
    missing = [name for name in needed if name not in autoencoder.weights]
    if missing:
        raise InvalidInputError(
            f"weights of a {autoencoder.architecture} autoencoder lack "
            f"{', '.join(missing)}"
        )
    d_in, d_sae = autoencoder.weights["W_enc"].shape
    shapes = {"W_enc": (d_in, d_sae), "W_dec": (d_sae, d_in), "b_dec": (d_in,)}
    for name, values in autoencoder.weights.items():
        shape = shapes.get(name, (d_sae,))
        if values.shape != shape:
            raise InvalidInputError(
                f"weights: {name} must have shape {shape}, got {values.shape}"
            )
    if autoencoder.architecture == "topk" and not 0 < (autoencoder.k or 0) <= d_sae:
        raise InvalidInputError(f"k must be from 1 to {d_sae}, got {autoencoder.k}")
