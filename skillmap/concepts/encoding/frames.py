"""The tables that encoding gives, and how their rows are made."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from skillmap.concepts.encoding.autoencoder import Floats32
from skillmap.concepts.encoding.fused import Ints
from skillmap.concepts.encoding.pooling import Cells, Floats
from skillmap.concepts.encoding.tokens import TokenisedText

ITEM_CONCEPTS: Final = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "item_id": pl.String(),
        "latent_index": pl.Int32(),
        "mean_activation": pl.Float32(),
        "max_activation": pl.Float32(),
        "n_active_tokens": pl.Int32(),
        "position_of_max": pl.Int32(),
    }
)
ITEM_ENCODINGS: Final = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "item_id": pl.String(),
        "status": pl.String(),
        "reason": pl.String(),
        "n_tokens": pl.Int32(),
        "n_kept_tokens": pl.Int32(),
        "n_outlier_tokens": pl.Int32(),
        "is_truncated": pl.Boolean(),
        "mass": pl.Float64(),
        "l0_mean": pl.Float64(),
        "n_active_latents": pl.Int32(),
    }
)
CONCEPTS: Final = pl.Schema(
    {
        "encoder_id": pl.String(),
        "latent_index": pl.Int32(),
        "label": pl.String(),
        "label_source": pl.String(),
        "in_dictionary": pl.Boolean(),
        "reason": pl.String(),
        "is_dense": pl.Boolean(),
        "reference_density": pl.Float64(),
    }
)


class Encoded(NamedTuple):
    """Rows of some items: their active latents, and the items themselves."""

    cells: pl.DataFrame
    items: pl.DataFrame


def encoded_frames(
    texts: Sequence[TokenisedText],
    cells: Cells,
    outliers: Sequence[int],
    *,
    item_ids: Sequence[str],
    encoder_id: str,
    benchmark_id: str,
) -> Encoded:
    """Rows of items that were encoded together, sorted by item and latent.

    Args:
        texts: Of the items.
        cells: What is active on them; ``item`` is the place among the items.
        outliers: Tokens of each item that were left out for their length.
        item_ids: Of the items.
        encoder_id: What encoded them.
        benchmark_id: Where they are from.
    """
    n_kept = np.array([len(text.kept) for text in texts], np.int64) - np.array(
        outliers, np.int64
    )
    means = cells.total / n_kept[cells.item]
    about = {"encoder_id": encoder_id, "benchmark_id": benchmark_id}
    cell_rows = pl.DataFrame(
        {
            "item_id": pl.Series(item_ids, dtype=pl.String()).gather(cells.item),
            "latent_index": cells.latent.astype(np.int32),
            "mean_activation": means.astype(np.float32),
            "max_activation": rounded_up(cells.maximum),
            "n_active_tokens": cells.n_active_tokens.astype(np.int32),
            "position_of_max": cells.position_of_max.astype(np.int32),
        }
    )
    item_rows = pl.DataFrame(
        {
            "item_id": item_ids,
            "status": _statuses(texts, n_kept),
            "reason": [text.reason for text in texts],
            "n_tokens": [text.n_tokens for text in texts],
            "n_kept_tokens": n_kept,
            "n_outlier_tokens": outliers,
            "is_truncated": [text.is_truncated for text in texts],
            **_item_sums(cells, means, n_kept),
        },
        schema_overrides={"item_id": pl.String(), "reason": pl.String()},
    )
    return Encoded(
        _shaped(cell_rows, ITEM_CONCEPTS, about).sort("item_id", "latent_index"),
        _shaped(item_rows, ITEM_ENCODINGS, about).sort("item_id"),
    )


def rounded_up(values: Floats) -> Floats32:
    """Values with 16 significant bits, at least as large as they were.

    Maxima rank items and are seldom anything else, so three hundred-thousandths are
    less than they are worth in bytes. Rounding up keeps them no smaller than a mean.

    Examples:
        >>> rounded_up(np.array([1.0, 1.00001]))
        array([1.       , 1.0000305], dtype=float32)
    """
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(0xFF)) & np.uint32(0xFFFFFF00)).view(np.float32)


def _statuses(texts: Sequence[TokenisedText], n_kept: Ints) -> list[str]:
    return [
        # All that was left of it were outliers.
        "empty" if text.status == "encoded" and not n else text.status
        for text, n in zip(texts, n_kept.tolist(), strict=True)
    ]


def _item_sums(cells: Cells, means: Floats, n_kept: Ints) -> dict[str, pl.Series]:
    n_items = n_kept.size
    is_known = pl.Series(n_kept > 0)
    sums = {
        "mass": np.bincount(cells.item, weights=means, minlength=n_items),
        "l0_mean": np.bincount(
            cells.item, weights=cells.n_active_tokens, minlength=n_items
        )
        / np.maximum(n_kept, 1),
        "n_active_latents": np.bincount(cells.item, minlength=n_items),
    }
    # An item that was not encoded has no mass, which is not a mass of 0.
    return {
        name: pl.select(pl.when(is_known).then(pl.Series(values))).to_series()
        for name, values in sums.items()
    }


def _shaped(
    frame: pl.DataFrame, schema: pl.Schema, about: dict[str, str]
) -> pl.DataFrame:
    columns = [pl.lit(value).alias(name) for name, value in about.items()]
    return frame.with_columns(columns).select(schema.names()).cast(schema)
