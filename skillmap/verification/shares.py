"""Shares of yes among checks of items, with intervals that respect the items."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from skillmap.metrics.clustered import (
    Membership,
    cluster_sums,
    clustered_wilson_interval,
    effective_items,
    mean,
)


def grouped_shares(
    told: pl.DataFrame, group: Sequence[str], *, confidence_level: float = 0.95
) -> pl.DataFrame:
    """Share of yes in each group.

    Args:
        told: The columns of ``group``, ``item_id`` and ``value`` (true, false, or
            NULL where nothing is known), one row a check.
        group: Columns that tell groups apart; NULL is a value of its own.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        The columns of ``group``, sorted by them, and ``n_known``, ``n_unknown``,
        ``n_items`` (with something known), ``share``, ``share_low``, ``share_high``
        and ``n_effective``. Bounds are Wilson's with the effective number of checks,
        for those of one item are not independent. The share and its bounds are NULL
        where nothing is known.
    """
    numbered = (
        told.select(*group, "item_id", pl.col("value").cast(pl.Float64))
        .sort(*group, nulls_last=True, maintain_order=True)
        .with_columns(
            group=pl.struct(group).rle_id().cast(pl.Int64),
            cluster=pl.col("item_id").rank("dense").cast(pl.Int64) - 1,
        )
    )
    rows = numbered.group_by("group", maintain_order=True).agg(
        *(pl.col(name).first() for name in group),
        n_unknown=pl.col("value").is_null().sum().cast(pl.Int64),
    )
    n_checks = numbered.height
    codes = numbered["group"].to_numpy()
    sums = cluster_sums(
        Membership(codes, np.arange(n_checks), rows.height, n_checks),
        numbered["value"].to_numpy().reshape(-1, 1),
        numbered["cluster"].to_numpy(),
    )
    low, high = clustered_wilson_interval(sums, confidence_level=confidence_level)
    columns: dict[str, Any] = {
        "n_known": sums.n_items.astype(np.int64),
        "n_items": sums.n_clusters.astype(np.int64),
        "share": mean(sums),
        "share_low": low,
        "share_high": high,
        "n_effective": effective_items(sums),
    }
    return (
        rows.drop("group")
        .with_columns(pl.Series(name, found[:, 0]) for name, found in columns.items())
        .with_columns(pl.col("share", "share_low", "share_high").fill_nan(None))
    )
