"""Pools the activations of tokens into those of items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillmap.concepts.encoding.fused import Entries, Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """Latents that are active on items, sorted by item and latent.

    Attributes:
        item: Place of the item among those encoded together.
        latent: Index of the latent.
        total: Sum of the activation over the item's tokens.
        maximum: The largest activation.
        n_active_tokens: Tokens on which the latent is active.
        position_of_max: Place of the largest activation among the item's kept tokens,
            the first of equal ones.
    """

    item: Ints
    latent: Ints
    total: Floats
    maximum: Floats
    n_active_tokens: Ints
    position_of_max: Ints


def pool(entries: Entries, items: Ints, positions: Ints) -> Cells:
    """Cells of some tokens.

    Args:
        entries: What is active on the tokens.
        items: Item of each token.
        positions: Place of each token among the kept tokens of its item.
    """
    value = entries.value.astype(np.float64)
    return _summed(
        Cells(
            item=items[entries.token],
            latent=entries.latent,
            total=value,
            maximum=value,
            n_active_tokens=np.ones(value.size, np.int64),
            position_of_max=positions[entries.token],
        )
    )


def merged(parts: list[Cells]) -> Cells:
    """Cells of several chunks of tokens, whose items may overlap."""
    names = (
        "item",
        "latent",
        "total",
        "maximum",
        "n_active_tokens",
        "position_of_max",
    )
    return _summed(
        Cells(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})
    )


def _summed(parts: Cells) -> Cells:
    """One cell for each item and latent."""
    if not parts.item.size:
        return parts
    n_latents = int(parts.latent.max()) + 1
    n_positions = int(parts.position_of_max.max()) + 1
    key = parts.item * n_latents + parts.latent
    # No two are equal, so any sort gives the same order.
    order = np.argsort(key * n_positions + parts.position_of_max)
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    sizes = np.diff(starts, append=key.size)
    ordered = parts.maximum[order]
    maximum = np.maximum.reduceat(ordered, starts)
    largest = np.flatnonzero(ordered == np.repeat(maximum, sizes))
    group = np.repeat(np.arange(starts.size), sizes)[largest]
    first = largest[np.flatnonzero(np.diff(group, prepend=-1))]
    return Cells(
        item=key[starts] // n_latents,
        latent=key[starts] % n_latents,
        total=np.add.reduceat(parts.total[order], starts),
        maximum=maximum,
        n_active_tokens=np.add.reduceat(parts.n_active_tokens[order], starts),
        position_of_max=parts.position_of_max[order][first],
    )
