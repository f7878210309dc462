"""Concept performance with the difficulty of the items taken out.

A concept's performance can be low only because it sits on hard items. How the other
models did tells how hard an item is; what is left answers "worse than its peers?",
not "bad?": a weakness that all models share is taken out too. Read it beside the raw.

Few models tell difficulty poorly, so a part of it stays in what is adjusted. The plain
difference from the peers has no such remainder, but takes all models to lose as much
on a hard item: only what both show is a model's own.
"""

from typing import NamedTuple, cast

import numpy as np
import polars as pl
from scipy.special import expit, logit, ndtr  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import Activations, Pooling, Scores
from skillmap.concepts.permutation import null_variance
from skillmap.concepts.sums import (
    POOLINGS,
    LatentScores,
    cluster_scores,
    cluster_sums_of_squares,
    latent_scores,
)
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats
from skillmap.metrics.multiplicity import benjamini_hochberg
from skillmap.routing.folds import group_folds

# Keeps the slope finite where difficulty tells right from wrong without a miss.
_RIDGE = 1e-2
_STEPS = 50


def expected_scores(
    activations: Activations, scores: Scores, *, n_folds: int = 5, seed: int = 0
) -> Floats:
    """Score that each model is expected to get on each item, by the other models.

    Args:
        activations: Whose items and clusters are meant.
        scores: Of all models; at least two say something.
        n_folds: A model's own scores on an item's fold are not used for it; a cluster
            is in one fold.
        seed: Of the folds.

    Returns:
        In (0, 1), shape ``(n_items, n_models)``; NaN where the model has no score.

    Source:
        Difficulty is the logit of the other models' mean with half a right answer
        added to both sides; the model's score on it by logistic regression, fitted to
        the other folds.
    """
    names = activations.cluster_ids.gather(activations.clusters)
    folds = group_folds(names, n_folds=n_folds, seed=seed)
    filled, known = scores.filled, scores.is_known.astype(np.float64)
    expected = np.full(filled.shape, np.nan)
    for model in range(filled.shape[1]):
        others = filled.sum(axis=1) - filled[:, model]
        n_others = known.sum(axis=1) - known[:, model]
        ease = cast("Floats", logit((others + 0.5) / (n_others + 1)))
        for fold in range(n_folds):
            fit = (folds != fold) & scores.is_known[:, model]
            held_out = (folds == fold) & scores.is_known[:, model]
            level, slope = _logistic(ease[fit], filled[fit, model])
            expected[held_out, model] = expit(level + slope * ease[held_out])
    return expected


def adjusted_performance(
    activations: Activations,
    scores: Scores,
    latents: Integers,
    *,
    poolings: tuple[Pooling, ...] = POOLINGS,
    min_ranked: float = 10,
    n_folds: int = 5,
    seed: int = 0,
) -> pl.DataFrame:
    """What each model got beyond expectation where a concept is active.

    Args:
        activations: Of one encoder and benchmark.
        scores: Of all models on its items.
        latents: Latents that count, such as those of the dictionary.
        poolings: Weights by the mean or by the largest activation.
        min_ranked: Effective clusters from which a concept is tested.
        n_folds: As in `expected_scores`.
        seed: Of the folds.

    Returns:
        One row per model, pooling and latent that a scored item activates, columns of
        ``mart.concept_adjusted``. ``adjusted`` is the saliency-weighted mean of score
        less expected score; its error is that of right and wrong answers, alike
        within a cluster: too large for graded scores. ``peer_difference`` is that of
        score less the mean score of the others, less the same over all items; its z
        is by permutation of clusters. No rows for a single model.

    Source:
        ``z = sum w (s - p) / sqrt(sum w² p (1 - p))``, with w √(p (1 - p)) summed
        within clusters before it is squared.
    """
    if scores.models.len() < 2:  # noqa: PLR2004 - one model has no peers
        return pl.DataFrame(schema=_SCHEMA)
    expected = expected_scores(activations, scores, n_folds=n_folds, seed=seed)
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for pooling in poolings:
        beyond = _Beyond.of(activations, scores, expected, pooling)
        peers = _Peers.of(activations, scores, pooling)
        for model, model_id in enumerate(scores.models):
            counted = latents[beyond.total[latents, model] > 0]
            columns = beyond.columns(counted, model, min_ranked) | peers.columns(
                counted, model
            )
            is_tested = ~np.isnan(columns["adjusted_p"])
            columns["peer_q"] = benjamini_hochberg(
                np.where(is_tested, _p_value(columns["peer_z"]), np.nan)
            )
            frame = pl.DataFrame({"latent_index": counted, **columns}, nan_to_null=True)
            parts.append(
                frame.select(
                    pl.lit(activations.encoder_id).alias("encoder_id"),
                    pl.lit(activations.benchmark_id).alias("benchmark_id"),
                    pl.lit(model_id).alias("model_id"),
                    pl.lit(pooling).alias("pooling"),
                    pl.all(),
                )
            )
    return pl.concat(parts).sort("model_id", "pooling", "latent_index")


_SCHEMA = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "model_id": pl.String(),
        "pooling": pl.String(),
        "latent_index": pl.Int64(),
        **dict.fromkeys(
            (
                "n_effective_clusters",
                "adjusted",
                "adjusted_error",
                "adjusted_z",
                "adjusted_p",
                "adjusted_q",
                "peer_difference",
                "peer_z",
                "peer_q",
            ),
            pl.Float64(),
        ),
    }
)


class _Beyond(NamedTuple):
    """Sums of what is beyond expectation, shape ``(n_latents, n_models)`` each."""

    total: Floats
    residual: Floats
    variance: Floats
    squares: Floats

    @classmethod
    def of(
        cls,
        activations: Activations,
        scores: Scores,
        expected: Floats,
        pooling: Pooling,
    ) -> "_Beyond":
        weights, at = activations.weights(pooling), activations.item
        known = scores.is_known.astype(np.float64)
        spread = np.nan_to_num(np.sqrt(expected * (1 - expected)))
        off = np.nan_to_num(scores.values - expected)
        variance, squares = (
            np.stack(
                [
                    cluster_sums_of_squares(activations, weights * values[at])
                    for values in columns.T
                ],
                axis=1,
            )
            for columns in (spread, known)
        )
        total = activations.sums(known, values=weights)
        return cls(total, activations.sums(off, values=weights), variance, squares)

    def columns(
        self, latents: Integers, model: int, min_ranked: float
    ) -> dict[str, Floats]:
        at = (latents, model)
        adjusted = self.residual[at] / self.total[at]
        error = np.sqrt(self.variance[at]) / self.total[at]
        effective = self.total[at] ** 2 / self.squares[at]
        with np.errstate(invalid="ignore", divide="ignore"):
            z = adjusted / error
        p = np.where(effective >= min_ranked - 1e-9, _p_value(z), np.nan)
        return {
            "n_effective_clusters": effective,
            "adjusted": adjusted,
            "adjusted_error": error,
            "adjusted_z": z,
            "adjusted_p": p,
            "adjusted_q": benjamini_hochberg(p),
        }


class _Peers(NamedTuple):
    """Sums of score less that of the others, and its moments over the clusters."""

    sums: LatentScores
    n: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, activations: Activations, scores: Scores, pooling: Pooling) -> "_Peers":
        beside = _peer_scores(scores)
        moments = _moments(cluster_scores(activations, beside))
        return cls(latent_scores(activations, beside, pooling), *moments)

    def columns(self, latents: Integers, model: int) -> dict[str, Floats]:
        at = (latents, model)
        with np.errstate(invalid="ignore", divide="ignore"):
            effective = self.sums.s1[at] ** 2 / self.sums.cluster_s2[at]
            variance = null_variance(self.variance[model], effective, self.n[model])
            error = np.sqrt(variance)
            off = self.sums.cluster_y1[at] / self.sums.s1[at] - self.mean[model]
            z = np.where(error > 0, off / error, np.nan)
            return {
                "peer_difference": self.sums.y1[at] / self.sums.s1[at],
                "peer_z": z,
            }


def _peer_scores(scores: Scores) -> Scores:
    """Score less the mean of the others, centred; unknown where they have none."""
    n_others = scores.is_known.sum(axis=1, keepdims=True) - scores.is_known
    others = scores.filled.sum(axis=1, keepdims=True) - scores.filled
    known = scores.is_known & (n_others > 0)
    values = np.where(known, scores.filled - others / np.maximum(n_others, 1), np.nan)
    n = np.maximum(known.sum(axis=0), 1)
    return Scores(scores.models, values - np.nan_to_num(values).sum(axis=0) / n)


def _moments(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Number, mean and sample variance of the known values of each column."""
    known = ~np.isnan(values)
    n = known.sum(axis=0).astype(np.float64)
    mean = np.nan_to_num(values).sum(axis=0) / np.maximum(n, 1)
    squares = (np.where(known, values - mean, 0) ** 2).sum(axis=0)
    return n, mean, np.where(n > 1, squares / np.maximum(n - 1, 1), np.nan)


def _p_value(z: Floats) -> Floats:
    return 2 * cast("Floats", ndtr(-np.abs(z)))


def _logistic(ease: Floats, score: Floats) -> tuple[float, float]:
    """Level and slope of a logistic curve through scores in [0, 1], by Newton."""
    design = np.stack([np.ones(ease.size), ease], axis=1)
    found = np.zeros(2)
    penalty = np.array([1e-6, _RIDGE])
    for _ in range(_STEPS):
        p = cast("Floats", expit(found[0] + found[1] * ease))
        # Not BLAS: its order of summing depends on threads.
        ascent = cast("Floats", np.einsum("ij,i->j", design, score - p))
        curvature = cast(
            "Floats", np.einsum("ij,i,ik->jk", design, p * (1 - p), design)
        )
        slope = ascent - penalty * found
        step = np.linalg.solve(curvature + np.diag(penalty), slope)
        # A step longer than this leaves the region where the curve is a parabola.
        step *= min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-300))
        found = found + step
        if float(np.abs(step).max()) < 1e-10:  # noqa: PLR2004 - converged
            break
    return float(found[0]), float(found[1])
