"""Whether another encoder, reading the same items, tells the same of a model."""

from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import Activations
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

# Latents of the first encoder that are correlated with all of the other at once.
_BLOCK = 256


def match_concepts(
    first: Activations,
    second: Activations,
    *,
    min_items: int = 10,
    min_correlation: float = 0.5,
) -> pl.DataFrame:
    """Concepts of two encoders that are each other's best match.

    Args:
        first: Of one encoder.
        second: Of another, on the same benchmark; items that only one encoded are
            left out.
        min_items: Common items on which a latent is active, at least.
        min_correlation: Of the item saliencies, at least.

    Returns:
        One row per matched pair, sorted: ``encoder_id``, ``other_encoder_id``,
        ``benchmark_id``, ``latent_index``, ``other_latent_index`` and
        ``correlation``. Of equally good matches the lowest latent counts.

    Raises:
        InvalidInputError: If the two are of different benchmarks, or clustered
            differently.
    """
    first, second = _common(first, second)
    left, right = _Standard.of(first, min_items), _Standard.of(second, min_items)
    best = np.full(left.latents.size, -np.inf)
    best_at = np.zeros(left.latents.size, np.int64)
    other_best = np.full(right.latents.size, -np.inf)
    other_at = np.zeros(right.latents.size, np.int64)
    for start in range(0, left.latents.size if right.latents.size else 0, _BLOCK):
        rows = slice(start, start + _BLOCK)
        correlation = left.correlations(rows, right)
        best_at[rows] = correlation.argmax(axis=1)
        best[rows] = correlation.max(axis=1)
        column = correlation.max(axis=0)
        is_better = column > other_best
        other_at[is_better] = start + correlation.argmax(axis=0)[is_better]
        other_best[is_better] = column[is_better]
    place = np.arange(best.size)
    mutual = (best >= min_correlation) & (
        other_at[best_at] == place if other_at.size else place < 0
    )
    return pl.DataFrame(
        {
            "latent_index": left.latents[mutual],
            "other_latent_index": right.latents[best_at[mutual]],
            "correlation": best[mutual],
        },
        schema={
            "latent_index": pl.Int64,
            "other_latent_index": pl.Int64,
            "correlation": pl.Float64,
        },
    ).select(
        pl.lit(first.encoder_id).alias("encoder_id"),
        pl.lit(second.encoder_id).alias("other_encoder_id"),
        pl.lit(first.benchmark_id).alias("benchmark_id"),
        pl.all(),
    )


def encoder_agreement(
    performance: pl.DataFrame,
    other_performance: pl.DataFrame,
    matches: pl.DataFrame,
    *,
    min_ranked: float = 10,
    n_permutations: int = 999,
    seed: int = 0,
) -> pl.DataFrame:
    """Whether matched concepts of two encoders rank a model's performance alike.

    Args:
        performance: Of `concept_performance` under the first encoder.
        other_performance: Under the other, with the same models' scores.
        matches: Of `match_concepts`.
        min_ranked: Effective clusters of both concepts from which a pair counts.
        n_permutations: Random matches that the agreement is held against.
        seed: Of those.

    Returns:
        One row per benchmark and model, columns of ``mart.encoder_agreement``:
        ``matched_share`` is the matched share of the first encoder's ranked concepts;
        ``rank_correlation`` is weighted by the smaller effective number;
        ``highest_jaccard`` and ``lowest_jaccard`` compare the tenths at both ends.
        ``null_correlation_high`` is the 95th percentile over random matches and
        ``p_value`` one-sided. Null for fewer than three pairs.
    """
    keys = ["encoder_id", "benchmark_id", "model_id"]
    is_mean = pl.col("pooling") == "mean"
    reached = pl.col("n_effective_clusters") >= min_ranked - 1e-9
    ours = performance.filter(is_mean & reached)
    theirs = other_performance.filter(is_mean & reached).select(
        "benchmark_id",
        "model_id",
        other_encoder_id="encoder_id",
        other_latent_index="latent_index",
        other_performance="performance",
        other_effective="n_effective_clusters",
    )
    ranked = ours.group_by(keys).agg(n_ranked=pl.len().cast(pl.Int64))
    pairs = ours.join(matches, on=["encoder_id", "benchmark_id", "latent_index"]).join(
        theirs,
        on=["other_encoder_id", "benchmark_id", "model_id", "other_latent_index"],
    )
    rows: list[dict[str, object]] = []
    grouped = pairs.sort("latent_index").partition_by(
        [*keys, "other_encoder_id"], as_dict=True
    )
    for key, part in sorted(grouped.items()):
        named = dict(zip([*keys, "other_encoder_id"], key, strict=True))
        rows.append(named | _agreement(part, n_permutations, seed))
    found = pl.DataFrame(rows, schema=_AGREEMENT)
    return (
        found.join(ranked, on=keys, how="left")
        .with_columns(matched_share=pl.col("n_matched") / pl.col("n_ranked"))
        .select(*_AGREEMENT, "n_ranked", "matched_share")
        .sort(keys)
    )


_AGREEMENT = {
    "encoder_id": pl.String(),
    "other_encoder_id": pl.String(),
    "benchmark_id": pl.String(),
    "model_id": pl.String(),
    "n_matched": pl.Int64(),
    "rank_correlation": pl.Float64(),
    "highest_jaccard": pl.Float64(),
    "lowest_jaccard": pl.Float64(),
    "null_correlation_high": pl.Float64(),
    "p_value": pl.Float64(),
}
_LEAST_PAIRS = 3


class _Standard:
    """Saliencies of the latents that vary, ready to be correlated."""

    def __init__(self, part: Activations, latents: Integers) -> None:
        n = max(part.n_items, 1)
        self.latents = latents
        self.matrix = part.matrix(part.mean)
        total = part.totals(part.mean)
        squares = part.totals(part.mean**2)
        self.mean = total / n
        self.scale = np.sqrt(np.maximum(squares - total**2 / n, 0))
        self.n_items = n

    @classmethod
    def of(cls, activations: Activations, min_items: int) -> "_Standard":
        latents = np.flatnonzero(activations.n_active_items >= max(min_items, 1))
        part = activations.part(latents)
        whole = cls(part, latents)
        length = np.sqrt(part.totals(part.mean**2))
        varies = np.flatnonzero(whole.scale > 1e-9 * length)
        return cls(part.part(varies), latents[varies])

    def correlations(self, rows: slice, other: "_Standard") -> Floats:
        """Pearson's, of some latents with all of the other's."""
        block = cast("csr_array", self.matrix[rows])
        turned = other.matrix.T  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
        product = block @ turned  # pyright: ignore[reportUnknownVariableType]
        sums = cast("Floats", product.toarray())  # pyright: ignore[reportUnknownMemberType]
        expected = self.n_items * np.outer(self.mean[rows], other.mean)
        return (sums - expected) / np.outer(self.scale[rows], other.scale)


def _common(first: Activations, second: Activations) -> tuple[Activations, Activations]:
    if first.benchmark_id != second.benchmark_id:
        raise InvalidInputError(
            f"both must be of one benchmark, got {first.benchmark_id!r} and "
            f"{second.benchmark_id!r}"
        )
    one = first.of_items(_places(first.items.is_in(second.items.to_list())))
    two = second.of_items(_places(second.items.is_in(first.items.to_list())))
    if not one.items.equals(two.items):
        raise InvalidInputError(
            f"the items of {first.benchmark_id!r} must have the same clusters under "
            "both encoders"
        )
    return one, two


def _places(flags: pl.Series) -> Integers:
    return np.flatnonzero(flags.to_numpy())


def _agreement(
    pairs: pl.DataFrame, n_permutations: int, seed: int
) -> dict[str, object]:
    n = pairs.height
    nothing = dict.fromkeys(list(_AGREEMENT)[5:], None)
    if n < _LEAST_PAIRS:
        return {"n_matched": n, **nothing}
    ranks = [
        pairs[name].rank("average").to_numpy() / n
        for name in ("performance", "other_performance")
    ]
    weight = pairs.select(
        pl.min_horizontal("n_effective_clusters", "other_effective")
    ).to_series()
    weights = weight.to_numpy() / weight.sum()
    seen = float(_weighted_correlation(ranks[0], ranks[1][np.newaxis], weights)[0])
    random = np.random.Generator(np.random.Philox(seed))
    dealt = random.permuted(np.tile(ranks[1], (n_permutations, 1)), axis=1)
    null = _weighted_correlation(ranks[0], dealt, weights)
    if np.isnan(seen):
        return {"n_matched": n, **nothing}
    p = (1 + int((null >= seen - 1e-12).sum())) / (1 + n_permutations)
    return {
        "n_matched": n,
        "rank_correlation": seen,
        "highest_jaccard": _jaccard(*(r >= np.quantile(r, 0.9) for r in ranks)),
        "lowest_jaccard": _jaccard(*(r <= np.quantile(r, 0.1) for r in ranks)),
        "null_correlation_high": float(np.quantile(null, 0.95)),
        "p_value": p,
    }


def _weighted_correlation(x: Floats, rows: Floats, weights: Floats) -> Floats:
    centred = x - (weights * x).sum()
    # Not BLAS: its order of summing depends on threads.
    others = rows - np.einsum("ij,j->i", rows, weights)[:, np.newaxis]
    both = np.einsum("ij,j->i", others, weights * centred)
    size = np.sqrt(
        (weights * centred**2).sum() * np.einsum("ij,j->i", others**2, weights)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return both / size


def _jaccard(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> float:
    return float((one & two).sum() / (one | two).sum())
