"""Sums over items from which every concept metric follows, in one pass.

With w the saliency of an item and s a model's score on it: S1 = sum w, S2 = sum w²,
Y1 = sum ws, Y2 = sum w²s, Y3 = sum w²s²; and the same over clusters, where W = sum w
and V = sum ws within one. ``sql/concepts`` yields the same tables in DuckDB.
"""

from typing import NamedTuple, cast

import numpy as np
import polars as pl

from skillmap.concepts.activations import Activations, Pooling, Scores
from skillmap.metrics.clustered import Integers, sparse_sums
from skillmap.metrics.intervals import Floats

POOLINGS: tuple[Pooling, ...] = ("mean", "max")


class LatentScores(NamedTuple):
    """Sums over the scored items, shape ``(n_latents, n_models)`` each.

    Attributes:
        n_active_items: Scored items on which the latent is active.
        s1: Sum of w.
        s2: Sum of w².
        y1: Sum of w s.
        y2: Sum of w² s.
        y3: Sum of w² s².
        cluster_s2: Sum over clusters of W².
        cluster_y1: Sum over clusters of W times the cluster's mean score.
        cluster_y2: Sum over clusters of W V.
        cluster_y3: Sum over clusters of V².
    """

    n_active_items: Floats
    s1: Floats
    s2: Floats
    y1: Floats
    y2: Floats
    y3: Floats
    cluster_s2: Floats
    cluster_y1: Floats
    cluster_y2: Floats
    cluster_y3: Floats


def concept_sums(activations: Activations) -> pl.DataFrame:
    """What the items add up to, by latent that is active on any.

    Returns:
        Rows of ``core.concept_sums``, sorted by latent.
    """
    weights = activations.mean
    tokens = activations.n_active_tokens.astype(np.float64)
    one = np.ones((activations.n_items, 1))
    squares = activations.sums(one, values=weights**2)[:, 0]
    runs = _runs(activations)
    totals = runs.sums(weights)
    active = np.flatnonzero(activations.n_active_items)
    largest = np.zeros(activations.n_latents)
    if active.size:
        largest[active] = np.maximum.reduceat(
            activations.maximum, activations.starts[active]
        )
    columns = {
        "n_active_items": activations.n_active_items,
        "n_active_clusters": activations.n_active_items - runs.n_fewer,
        "n_active_tokens": activations.totals(tokens),
        "s1": activations.sums(one)[:, 0],
        "s2": squares,
        "cluster_s2": squares + runs.by_latent(totals**2 - runs.sums(weights**2)),
        "max_activation": largest,
    }
    frame = pl.DataFrame(
        {
            "encoder_id": [activations.encoder_id],
            "benchmark_id": [activations.benchmark_id],
        }
    )
    values = pl.DataFrame(
        {
            "latent_index": active,
            **{name: column[active] for name, column in columns.items()},
        }
    )
    whole = pl.col("^n_active_.*$").cast(pl.Int64)
    return frame.join(values, how="cross").with_columns(whole)


def benchmark_sums(activations: Activations) -> pl.DataFrame:
    """How much text was encoded: one row of ``core.benchmark_sums``."""
    return pl.DataFrame(
        {
            "encoder_id": [activations.encoder_id],
            "benchmark_id": [activations.benchmark_id],
            "n_items": [activations.n_items],
            "n_clusters": [activations.n_clusters],
            "n_tokens": [int(activations.n_tokens.sum())],
        }
    )


def concept_score_sums(
    activations: Activations,
    scores: Scores,
    *,
    poolings: tuple[Pooling, ...] = POOLINGS,
) -> pl.DataFrame:
    """What the scored items add up to, by model, pooling and latent.

    Args:
        activations: Of one encoder and benchmark.
        scores: Of all models on its items; items without one do not count.
        poolings: Weights by the mean or by the largest activation of an item.

    Returns:
        Rows of ``core.concept_score_sums``, sorted by model, pooling and latent. A
        latent that no scored item activates has no row.
    """
    parts = [
        _score_frame(activations, scores, latent_scores(activations, scores, p), p)
        for p in poolings
    ]
    return pl.concat(parts).sort("model_id", "pooling", "latent_index")


def benchmark_score_sums(activations: Activations, scores: Scores) -> pl.DataFrame:
    """What the scored items add up to, whatever is active on them.

    Returns:
        Rows of ``core.benchmark_score_sums``: by model, the number of scored items and
        clusters, mean and variance of the scores and of the clusters' mean scores.
        A variance of a single value is null.
    """
    means = cluster_scores(activations, scores)
    return pl.DataFrame(
        {
            "encoder_id": pl.repeat(
                activations.encoder_id, scores.models.len(), eager=True
            ),
            "benchmark_id": pl.repeat(
                activations.benchmark_id, scores.models.len(), eager=True
            ),
            "model_id": scores.models,
            **_moments(scores.values, "n_items", "mean_score", "score_variance"),
            **_moments(
                means, "n_clusters", "cluster_mean_score", "cluster_score_variance"
            ),
        }
    ).with_columns(pl.col("score_variance", "cluster_score_variance").fill_nan(None))


def latent_scores(
    activations: Activations, scores: Scores, pooling: Pooling = "mean"
) -> LatentScores:
    """The same sums as arrays, for every latent."""
    known = scores.is_known.astype(np.float64)
    filled = scores.filled
    weights = activations.weights(pooling)
    squared = weights**2
    n_models = filled.shape[1]
    s1, y1 = _split(activations.sums(_stack(known, filled), values=weights), n_models)
    sums2 = activations.sums(_stack(known, filled), values=squared)
    s2, y2 = _split(sums2, n_models)
    is_binary = bool(((filled == 0) | (filled == 1)).all())
    y3 = y2 if is_binary else activations.sums(filled**2, values=squared)
    if scores.is_known.all():
        counts = activations.n_active_items.astype(np.float64)
        active = np.broadcast_to(counts[:, np.newaxis], y1.shape)
    else:
        active = activations.sums(known, values=np.ones(weights.size))
    runs = _runs(activations)
    if not runs.cells.size:
        return LatentScores(active, s1, s2, y1, y2, y3, s2, y1, y2, y3)
    means = np.nan_to_num(cluster_scores(activations, scores))
    extra = np.zeros((4, activations.n_latents, n_models))
    for model in range(n_models):
        w = weights * known[activations.item, model]
        v = w * filled[activations.item, model]
        total_w, total_v = runs.sums(w), runs.sums(v)
        more = (
            total_w**2 - runs.sums(w**2),
            total_w * means[runs.cluster, model] - total_v,
            total_w * total_v - runs.sums(w * v),
            total_v**2 - runs.sums(v**2),
        )
        for place, values in enumerate(more):
            extra[place, :, model] = runs.by_latent(values)
    clustered = (s2 + extra[0], y1 + extra[1], y2 + extra[2], y3 + extra[3])
    return LatentScores(active, s1, s2, y1, y2, y3, *clustered)


def cluster_scores(activations: Activations, scores: Scores) -> Floats:
    """Mean score of each cluster, NaN without any, ``(n_clusters, n_models)``."""
    places = np.arange(activations.n_items)
    values = np.concatenate([scores.filled, scores.is_known], axis=1).astype(np.float64)
    sums = sparse_sums(
        activations.clusters, places, values, n_rows=activations.n_clusters
    )
    total, n_known = _split(sums, scores.models.len())
    return np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)


def cluster_sums_of_squares(activations: Activations, values: Floats) -> Floats:
    """Squares of one value a cell, summed within clusters first, by latent."""
    runs = _runs(activations)
    alone = activations.totals(values**2)
    return alone + runs.by_latent(runs.sums(values) ** 2 - runs.sums(values**2))


class _Runs(NamedTuple):
    """Cells of clusters of several items: those of one latent and cluster are a run.

    Attributes:
        cells: The cells, by latent and cluster.
        starts: Where each run starts among them.
        latent: Latent of each run.
        cluster: Cluster of each run.
        n_latents: Of the encoder.
    """

    cells: Integers
    starts: Integers
    latent: Integers
    cluster: Integers
    n_latents: int

    def sums(self, values: Floats) -> Floats:
        """Sum of one value a cell, by run."""
        if not self.starts.size:
            return np.empty(0)
        return cast("Floats", np.add.reduceat(values[self.cells], self.starts))

    def by_latent(self, values: Floats) -> Floats:
        """Sum of one value a run, by latent."""
        totals = np.bincount(self.latent, weights=values, minlength=self.n_latents)
        return totals.astype(np.float64, copy=False)

    @property
    def n_fewer(self) -> Integers:
        """By how many the runs of each latent are fewer than their cells."""
        sizes = np.diff(np.append(self.starts, self.cells.size)) - 1
        return self.by_latent(sizes.astype(np.float64)).astype(np.int64)


def _runs(activations: Activations) -> _Runs:
    sizes = np.bincount(activations.clusters, minlength=activations.n_clusters)
    n_latents = activations.n_latents
    nothing = np.empty(0, np.int64)
    if (sizes < 2).all():  # noqa: PLR2004 - items that stand alone
        return _Runs(nothing, nothing, nothing, nothing, n_latents)
    is_shared = (sizes > 1)[activations.clusters]
    cells = np.flatnonzero(is_shared[activations.item])
    cluster = activations.clusters[activations.item[cells]]
    latent = activations.latent[cells]
    changes = (cluster[1:] != cluster[:-1]) | (latent[1:] != latent[:-1])
    starts = np.flatnonzero(np.concatenate([[True], changes])[: cells.size])
    return _Runs(
        cells, starts, latent[starts].astype(np.int64), cluster[starts], n_latents
    )


def _stack(known: Floats, filled: Floats) -> Floats:
    """Columns to sum: one of ones serves all models whose scores are all known."""
    if (known == 1).all():
        return np.concatenate([np.ones((known.shape[0], 1)), filled], axis=1)
    return np.concatenate([known, filled], axis=1)


def _split(sums: Floats, n_models: int) -> tuple[Floats, Floats]:
    ones, rest = sums[:, :-n_models], sums[:, -n_models:]
    if not n_models:
        return sums[:, :0], sums[:, :0]
    return np.broadcast_to(ones, rest.shape), rest


def _score_frame(
    activations: Activations, scores: Scores, sums: LatentScores, pooling: Pooling
) -> pl.DataFrame:
    latent, model = np.nonzero(sums.s1 > 0)
    n_rows = latent.size
    return pl.DataFrame(
        {
            "encoder_id": pl.repeat(activations.encoder_id, n_rows, eager=True),
            "benchmark_id": pl.repeat(activations.benchmark_id, n_rows, eager=True),
            "model_id": scores.models.gather(model),
            "pooling": pl.repeat(pooling, n_rows, eager=True),
            "latent_index": latent,
            **{name: values[latent, model] for name, values in sums._asdict().items()},
        },
        schema_overrides={"pooling": pl.String, "model_id": pl.String},
    ).with_columns(pl.col("n_active_items").cast(pl.Int64))


def _moments(
    values: Floats, n: str, mean: str, variance: str
) -> dict[str, Floats | Integers]:
    """Number, mean and variance of the known values of each column."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    average = np.where(known, values, 0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(known, (values - average) ** 2, 0).sum(axis=0)
    spread = np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan)
    return {n: count.astype(np.int64), mean: average, variance: spread}
