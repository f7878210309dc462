"""Concepts that are one idea split over several latents, scored together."""

from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.concepts.activations import Activations
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats
from skillmap.slicing.clusters import average_linkage_clusters
from skillmap.slicing.neighbours import (
    Neighbours,
    Vectors,
    paired_dots,
    threshold_neighbours,
)

# Decoder rows this alike are one idea; so are latents whose saliencies correlate so.
DECODER_COSINE = 0.6
ITEM_CORRELATION = 0.7

# Beyond, the principal directions cost more than all products.
_MOST_DIMENSIONS = 2_048
_BLOCK = 512
# Rounding of a product of 32 bits, with room.
_ROUNDING = 1e-4


def decoder_families(
    encoder_id: str,
    decoder: NDArray[np.float32],
    latents: Integers | None = None,
    *,
    threshold: float = DECODER_COSINE,
) -> pl.DataFrame:
    """Families of latents whose decoder rows point the same way.

    Args:
        encoder_id: Whose decoder it is.
        decoder: One row a latent, shape ``(n_latents, d_in)``.
        latents: Those to group; all whose row is not zero when left out.
        threshold: Least average cosine within a family.

    Returns:
        One row per latent, columns of ``core.concept_families``, sorted by latent.
        ``decoder_norm`` is the length of the row, the weight of its activations.
        A latent that is like no other is a family of its own.

    Raises:
        InvalidInputError: If a row to group is zero or not finite.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", decoder, decoder, dtype=np.float64))
    chosen = np.flatnonzero(norms > 0) if latents is None else latents
    bad = chosen[~(np.isfinite(norms[chosen]) & (norms[chosen] > 0))]
    if bad.size:
        raise InvalidInputError(
            f"decoder: {bad.size} of {chosen.size} rows are zero or not finite, first "
            f"latent {bad[0]}"
        )
    vectors = (decoder[chosen] / norms[chosen, np.newaxis]).astype(np.float32)
    return _families(encoder_id, "decoder", chosen, norms[chosen], vectors, threshold)


def correlation_families(
    activations: Activations,
    latents: Integers,
    *,
    threshold: float = ITEM_CORRELATION,
) -> pl.DataFrame:
    """Families of latents that are salient on the same items.

    Args:
        activations: Of one encoder and benchmark.
        latents: Those to group: the saliencies of all are held at once, 4 bytes an
            item and latent.
        threshold: Least average correlation within a family.

    Returns:
        As `decoder_families`; all weights are 1. Latents that do not vary over the
        items are left out.
    """
    vectors, varies = standardised(activations, latents)
    kept = latents[varies]
    ones = np.ones(kept.size)
    return _families(
        activations.encoder_id, "items", kept, ones, vectors[varies], threshold
    )


def standardised(
    activations: Activations, latents: Integers
) -> tuple[Vectors, NDArray[np.bool_]]:
    """Saliencies less their mean, of length 1, and whether each latent varies.

    Returns:
        Shape ``(n_latents, n_items)``: products of two rows are correlations; zeros
        for a latent that does not vary.
    """
    part = activations.part(latents)
    dense = np.zeros((latents.size, activations.n_items))
    dense[part.latent, part.item] = part.mean
    dense -= dense.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("ij,ij->i", dense, dense))
    scale = np.maximum(np.abs(dense).max(axis=1, initial=0), 1e-300)
    varies = length > 1e-9 * scale
    dense /= np.where(varies, length, np.inf)[:, np.newaxis]
    return dense.astype(np.float32), varies


def family_item_concepts(
    item_concepts: pl.DataFrame, families: pl.DataFrame
) -> pl.DataFrame:
    """Activations of the families, to be measured as latents are.

    Args:
        item_concepts: Rows of ``core.item_concepts``.
        families: Of `decoder_families` or `correlation_families`.

    Returns:
        The same columns with the family's first latent as ``latent_index``: means and
        largest activations weighted by the decoder's norms and summed (so the largest
        is a bound), the most active tokens of any member, and the position of its
        largest. Sorted by benchmark, item and latent. Latents of no family are left
        out.

    Source:
        ``w = sum over members of w_c times the norm of its decoder row``.
    """
    keys = ["encoder_id", "benchmark_id", "item_id"]
    norm = pl.col("decoder_norm")
    largest = pl.col("max_activation") * norm
    whole = item_concepts.schema["latent_index"]
    grouping = families.select(
        "encoder_id",
        pl.col("latent_index", "family_index").cast(whole),
        "decoder_norm",
    )
    return (
        item_concepts.join(grouping, on=["encoder_id", "latent_index"])
        .group_by(*keys, "family_index")
        .agg(
            mean_activation=(pl.col("mean_activation") * norm).sum(),
            max_activation=largest.sum(),
            n_active_tokens=pl.col("n_active_tokens").max(),
            position_of_max=pl.col("position_of_max")
            .sort_by(largest, "latent_index", descending=[True, False])
            .first(),
        )
        .rename({"family_index": "latent_index"})
        .select(item_concepts.columns)
        .sort(*keys, "latent_index")
    )


def _families(
    encoder_id: str,
    method: str,
    latents: Integers,
    norms: Floats,
    vectors: Vectors,
    threshold: float,
) -> pl.DataFrame:
    labels = np.empty(0, np.int64)
    if latents.size:
        neighbours = _neighbours(vectors, threshold)
        labels = average_linkage_clusters(neighbours, vectors, threshold=threshold)
    # Labels count up by first member, so a family is named for its first latent.
    _, first = cast("tuple[Integers, Integers]", np.unique(labels, return_index=True))
    sizes = np.bincount(labels, minlength=first.size)
    return pl.DataFrame(
        {
            "encoder_id": pl.repeat(encoder_id, latents.size, eager=True),
            "method": pl.repeat(method, latents.size, eager=True),
            "latent_index": latents,
            "family_index": latents[first[labels]],
            "n_members": sizes[labels],
            "decoder_norm": norms,
        },
        schema_overrides={
            "latent_index": pl.Int64,
            "family_index": pl.Int64,
            "n_members": pl.Int64,
            "encoder_id": pl.String,
            "method": pl.String,
        },
    ).sort("latent_index")


def _neighbours(vectors: Vectors, threshold: float) -> Neighbours:
    """Pairs at the threshold or above, whatever the number of dimensions."""
    n, n_dimensions = vectors.shape
    if n_dimensions <= _MOST_DIMENSIONS:
        return threshold_neighbours(vectors, threshold=threshold)
    parts = [Neighbours(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))]
    for start in range(0, n, _BLOCK):
        products = vectors[start : start + _BLOCK] @ vectors[start:].T
        row, column = np.nonzero(np.triu(products >= threshold - _ROUNDING, k=1))
        for first in range(0, row.size, _BLOCK):
            at = slice(first, first + _BLOCK)
            rows, columns = start + row[at], start + column[at]
            dots = paired_dots(
                vectors[rows].astype(np.float64), vectors[columns].astype(np.float64)
            )
            reach = dots >= threshold
            found = rows[reach].astype(np.int32), columns[reach].astype(np.int32)
            parts.append(Neighbours(*found, dots[reach]))
    return Neighbours(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.similarity for part in parts]),
    )
