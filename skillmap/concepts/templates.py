"""Concepts that mark how a benchmark is worded rather than what it asks."""

import numpy as np
import polars as pl

from skillmap.concepts.activations import Activations
from skillmap.metrics.clustered import Integers


def template_concepts(
    activations: Activations,
    *,
    min_item_share: float = 0.95,
    min_position_share: float = 0.95,
) -> pl.DataFrame:
    """Latents that are active in nearly all items, at the same token each time.

    The position is that of the largest activation, counted from the first token for a
    head of the prompt and from the last for its tail.

    Args:
        activations: Of one encoder and benchmark.
        min_item_share: Share of the items that must be exceeded.
        min_position_share: Least share of the active items that have the commonest
            position.

    Returns:
        One row per such latent: ``encoder_id``, ``benchmark_id``, ``latent_index``,
        ``item_share``, ``position_share`` and ``anchor`` ("start" or "end").

    Source:
        The rule is ours. Such a concept is constant over the benchmark: it inflates
        coverage and says nothing about performance.
    """
    n_items = max(activations.n_items, 1)
    latents = np.flatnonzero(activations.n_active_items > min_item_share * n_items)
    part = activations.part(latents)
    from_start = part.position_of_max.astype(np.int64)
    from_end = part.n_tokens[part.item] - from_start
    shares = {
        "start": _share_of_commonest(part, from_start),
        "end": _share_of_commonest(part, from_end),
    }
    frame = pl.DataFrame(
        {
            "latent_index": latents,
            "item_share": part.n_active_items / n_items,
            **shares,
        },
        schema_overrides=dict.fromkeys(shares, pl.Float64),
    )
    return frame.select(
        encoder_id=pl.lit(activations.encoder_id),
        benchmark_id=pl.lit(activations.benchmark_id),
        latent_index="latent_index",
        item_share="item_share",
        position_share=pl.max_horizontal("start", "end"),
        anchor=pl.when(pl.col("start") >= pl.col("end"))
        .then(pl.lit("start"))
        .otherwise(pl.lit("end")),
    ).filter(pl.col("position_share") >= min_position_share)


def _share_of_commonest(part: Activations, position: Integers) -> pl.Series:
    counts = (
        pl.DataFrame({"latent": part.latent, "position": position})
        .group_by("latent", "position")
        .len()
        .group_by("latent")
        .agg(share=pl.col("len").max() / pl.col("len").sum())
    )
    return counts.sort("latent")["share"]
