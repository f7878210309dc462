"""Encodes tokens and keeps what is active, without holding tokens × latents.

The product with the encoder's weights is made in blocks of latents. A block is
compared with one bound a latent and thrown away: bias, scale and gate are put on the
few entries that pass. So the cost is that of the product, and the memory that of one
block.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from skillmap.concepts.encoding.autoencoder import Autoencoder, Floats32, normalised

Device = Literal["numpy", "cpu", "cuda"]
Ints = NDArray[np.int64]
# Of NumPy or torch, whose types are not known without it.
Array = Any

# 512 × 1,024 float32 are 2 MB: a block stays in the cache of one core.
TOKENS_PER_CHUNK: Final = 512
LATENTS_PER_BLOCK: Final = 1024
# A graphics processor wants more to do at once.
_TOKENS_PER_CHUNK_ON_CUDA: Final = 4096
_LATENTS_PER_BLOCK_ON_CUDA: Final = 16384
_LATENTS_PER_GROUP: Final = 16


@dataclass(frozen=True, eq=False)
class Entries:
    """Active latents of some tokens, in no order.

    Attributes:
        token: Row of the token among those encoded.
        latent: Index of the latent.
        value: The activation, above 0.
    """

    token: Ints
    latent: Ints
    value: Floats32


class FusedEncoder:
    """The encoder of an autoencoder, made ready for many tokens.

    Attributes:
        tokens_per_chunk: Tokens that should be encoded at once.
    """

    def __init__(
        self,
        autoencoder: Autoencoder,
        *,
        device: Device = "numpy",
        latents_per_block: int | None = None,
    ) -> None:
        """Cut the weights into blocks and put them where they are used.

        Args:
            autoencoder: Whose encoder.
            device: "numpy", or "cpu" or "cuda" of torch.
            latents_per_block: Columns of one product; None for what suits the device.
        """
        width = latents_per_block or (
            _LATENTS_PER_BLOCK_ON_CUDA if device == "cuda" else LATENTS_PER_BLOCK
        )
        self.autoencoder: Final = autoencoder
        self.tokens_per_chunk: Final = (
            _TOKENS_PER_CHUNK_ON_CUDA if device == "cuda" else TOKENS_PER_CHUNK
        )
        library = _NumPy() if device == "numpy" else _Torch(device)
        self._library: Final[_Library] = library
        weights, about = _linear(autoencoder)
        self._blocks: Final = [
            (start, library.load(weights[:, start : start + width]))
            for start in range(0, autoencoder.d_sae, width)
        ]
        self._bound: Final = library.load(about.bound)
        self._shift: Final = library.load(about.shift)
        self._gain: Final = about.gain
        self._host_shift: Final = about.shift
        bias = autoencoder.weights.get("b_dec") if autoencoder.is_centred else None
        self._centre: Final = None if bias is None else library.load(bias)

    def entries(self, vectors: Array) -> Entries:
        """Active latents of some tokens.

        Args:
            vectors: Of the residual stream, shape ``(n_tokens, d_in)``, an array of
                NumPy or torch; as many as memory has room for with one block.
        """
        rows = self._library.rows(vectors)
        if not len(rows):
            none = np.empty(0, np.int64)
            return Entries(none, none, none.astype(np.float32))
        rows = normalised(self._library.module, rows, self.autoencoder.normalisation)
        if self._centre is not None:
            rows = rows - self._centre
        if self.autoencoder.architecture == "topk":
            return self._top(rows)
        found = [
            self._library.above(product, self._bound[start : start + product.shape[1]])
            for start, product in self._products(rows)
        ]
        token, latent, value = self._together(found)
        shifted = value if self._gain is None else value * self._gain[latent]
        shifted = shifted + self._host_shift[latent]
        is_active = shifted > 0
        return Entries(token[is_active], latent[is_active], shifted[is_active])

    def _products(self, rows: Array) -> Iterator[tuple[int, Array]]:
        for start, block in self._blocks:
            yield start, self._library.product(rows, block)

    def _together(
        self, found: list[tuple[Ints, Ints, Floats32]]
    ) -> tuple[Ints, Ints, Floats32]:
        starts = [start for start, _ in self._blocks]
        return (
            np.concatenate([token for token, _, _ in found]),
            np.concatenate([e[1] + s for s, e in zip(starts, found, strict=True)]),
            np.concatenate([value for _, _, value in found]),
        )

    def _top(self, rows: Array) -> Entries:
        """The k largest, found among those above a bound on the k-th largest."""
        k = cast("int", self.autoencoder.k)
        bound = _RisingBound(self._library, k)
        found: list[tuple[Ints, Ints, Floats32]] = []
        for start, product in self._products(rows):
            hidden = self._library.add(product, self._shift[start:])
            found.append(self._library.above(hidden, bound.raised_by(hidden)))
        token, latent, value = self._together(found)
        # Most of what passed an early block's bound does not pass the last one.
        is_above = value > self._library.host(bound.last(), len(rows))[token]
        entries = Entries(token[is_above], latent[is_above], value[is_above])
        return _largest(entries, k, len(rows))


def _largest(entries: Entries, k: int, n_tokens: int) -> Entries:
    """The k largest of each token; of equal ones the first latents."""
    token = entries.token
    is_crowded = np.bincount(token, minlength=n_tokens)[token] > k
    if not is_crowded.any():
        return entries
    crowded = np.flatnonzero(is_crowded)
    order = crowded[
        np.lexsort((entries.latent[crowded], -entries.value[crowded], token[crowded]))
    ]
    firsts = np.flatnonzero(np.diff(token[order], prepend=-1))
    sizes = np.diff(firsts, append=order.size)
    rank = np.arange(order.size) - np.repeat(firsts, sizes)
    kept = np.concatenate([np.flatnonzero(~is_crowded), order[rank < k]])
    return Entries(token[kept], entries.latent[kept], entries.value[kept])


class _RisingBound:
    """A bound below the k-th largest of each row, as its blocks come.

    The k-th largest of the maxima of groups is no larger than the k-th largest of
    all. The bound is raised when twice as many blocks have come as at the last time:
    so few entries pass that are not among the largest, and rows are seldom sorted.
    """

    def __init__(self, library: "_Library", k: int) -> None:
        self._library = library
        self._k = k
        self._maxima: list[Array] = []
        self._n_blocks = 0
        self._bound: Array = 0.0

    def raised_by(self, product: Array) -> Array:
        """The bound, once a block is counted: one a row, or 0."""
        self._maxima.append(self._library.maxima(product))
        self._n_blocks += 1
        if self._n_blocks & (self._n_blocks - 1) == 0:
            self._raise()
        return self._bound

    def last(self) -> Array:
        """The bound, once all blocks are counted."""
        self._raise()
        return self._bound

    def _raise(self) -> None:
        least = self._library.k_largest(self._maxima, self._k)
        if least is not None:
            self._maxima = [least[0]]
            self._bound = least[1]


@dataclass(frozen=True)
class _About:
    """How a product becomes an activation: above bound, times gain, plus shift."""

    bound: Floats32
    shift: Floats32
    gain: Floats32 | None = None


def _linear(autoencoder: Autoencoder) -> tuple[Floats32, _About]:
    w = autoencoder.weights
    kind = autoencoder.architecture
    if kind == "gated":
        return w["W_enc"], _About(-w["b_gate"], w["b_mag"], np.exp(w["r_mag"]))
    bias = w["b_enc"]
    if kind == "jumprelu":
        return w["W_enc"], _About(np.maximum(w["threshold"], 0) - bias, bias)
    if kind == "topk" and autoencoder.is_scaled:
        norms = autoencoder.decoder_norms
        return w["W_enc"] * norms, _About(-bias * norms, bias * norms)
    return w["W_enc"], _About(-bias, bias)


class _Library(Protocol):
    """Where the arithmetic is done."""

    module: Array

    def load(self, values: Floats32) -> Array: ...

    def rows(self, vectors: Array) -> Array: ...

    def product(self, rows: Array, block: Array) -> Array: ...

    def add(self, product: Array, shift: Array) -> Array: ...

    def above(self, product: Array, bound: Array) -> tuple[Ints, Ints, Floats32]: ...

    def maxima(self, product: Array) -> Array: ...

    def k_largest(self, maxima: list[Array], k: int) -> tuple[Array, Array] | None: ...

    def host(self, bound: Array, n_tokens: int) -> Floats32: ...


class _NumPy:
    module = np

    def load(self, values: Floats32) -> Array:
        return np.ascontiguousarray(values)

    def rows(self, vectors: Array) -> Array:
        return np.asarray(vectors, np.float32)

    def product(self, rows: Array, block: Array) -> Array:
        return rows @ block

    def add(self, product: Array, shift: Array) -> Array:
        product += shift[: product.shape[1]]
        return product

    def above(self, product: Array, bound: Array) -> tuple[Ints, Ints, Floats32]:
        return _passed(product, bound)

    def maxima(self, product: Array) -> Array:
        return _groups(product).max(1)

    def k_largest(self, maxima: list[Array], k: int) -> tuple[Array, Array] | None:
        together = np.concatenate(maxima, axis=1)
        return _k_largest(together, k) if together.shape[1] >= k else None

    def host(self, bound: Array, n_tokens: int) -> Floats32:
        return np.broadcast_to(bound, (n_tokens, 1)).reshape(-1)


class _Torch:
    def __init__(self, device: str) -> None:
        import torch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

        self.module: Any = torch
        self._device = device
        self._room: Array = None

    def load(self, values: Floats32) -> Array:
        return self.module.tensor(np.ascontiguousarray(values), device=self._device)

    def rows(self, vectors: Array) -> Array:
        torch = self.module
        return torch.as_tensor(vectors, device=self._device).to(torch.float32)

    def product(self, rows: Array, block: Array) -> Array:
        n_tokens, n_latents = rows.shape[0], block.shape[1]
        n_needed = n_tokens * n_latents
        if self._room is None or self._room.numel() < n_needed:
            self._room = self.module.empty(n_needed, device=self._device)
        room = self._room[:n_needed].view(n_tokens, n_latents)
        return self.module.mm(rows, block, out=room)

    def add(self, product: Array, shift: Array) -> Array:
        return product.add_(shift[: product.shape[1]])

    def above(self, product: Array, bound: Array) -> tuple[Ints, Ints, Floats32]:
        if self._device == "cpu":
            # NumPy compares several times as fast as torch does.
            bound = bound if isinstance(bound, float) else bound.numpy()
            return _passed(product.numpy(), bound)
        place = (product > bound).nonzero(as_tuple=True)
        token, latent = (axis.cpu().numpy() for axis in place)
        return token, latent, product[place].cpu().numpy()

    def maxima(self, product: Array) -> Array:
        return _groups(product).amax(1)

    def k_largest(self, maxima: list[Array], k: int) -> tuple[Array, Array] | None:
        torch = self.module
        together = torch.cat(maxima, 1)
        if together.shape[1] < k:
            return None
        if self._device == "cpu":
            # NumPy is several times as fast at this.
            found = _k_largest(together.numpy(), k)
            return torch.from_numpy(found[0]), torch.from_numpy(found[1])
        largest = together.topk(k, 1, sorted=False).values
        least = largest.amin(1, keepdim=True)
        below = torch.nextafter(least, torch.full_like(least, -torch.inf))
        return largest, below.clamp_min(0)

    def host(self, bound: Array, n_tokens: int) -> Floats32:
        known = bound if isinstance(bound, float) else bound.cpu().numpy()
        return np.broadcast_to(known, (n_tokens, 1)).reshape(-1)


def _k_largest(values: Floats32, k: int) -> tuple[Floats32, Floats32]:
    """The k largest of each row, and a number just below them: the k-th is above it."""
    largest = np.partition(values, -k, axis=1)[:, -k:]
    below = np.nextafter(largest[:, :1], np.float32(-np.inf))
    return largest, np.maximum(below, 0)


def _groups(product: Array) -> Array:
    """Latents in groups along the second axis, or each by itself if they don't fit."""
    n_tokens, n_latents = product.shape
    if n_latents % _LATENTS_PER_GROUP:
        return product.reshape(n_tokens, 1, n_latents)
    return product.reshape(n_tokens, _LATENTS_PER_GROUP, -1)


def _passed(product: Floats32, bound: Array) -> tuple[Ints, Ints, Floats32]:
    """Places where the product is above the bound, and the product there.

    Few are, so eight at a time are looked at first.
    """
    is_above = (product > bound).reshape(-1)
    if is_above.size % 8:
        place = np.flatnonzero(is_above)
    else:
        words = np.flatnonzero(is_above.view(np.uint64) != 0)
        inside = np.flatnonzero(is_above.reshape(-1, 8)[words])
        place = words[inside >> 3] * 8 + (inside & 7)
    token = place // product.shape[1]
    latent = place - token * product.shape[1]
    return token, latent, product.reshape(-1)[place]
