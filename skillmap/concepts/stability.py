"""How far coverage and performance move when a part of the items is left out."""

from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.concepts.activations import Activations, Scores
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

Method = Literal["exact", "blocks"]

# Lower bounds of the bins of effective items that deviations are summed up by.
_BINS = (1, 2, 5, 10, 30, 100, 300)


def drop_stability(
    activations: Activations,
    scores: Scores,
    *,
    n_draws: int = 100,
    share: float = 0.2,
    method: Method = "blocks",
    is_counted: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Standard deviations of both over random parts of the items.

    Args:
        activations: Of one encoder and benchmark.
        scores: Of all models on its items.
        n_draws: Random parts.
        share: Of the items that is left out each time, without replacement.
        method: "exact" leaves out items one by one; "blocks" whole blocks of about
            ``n_items / n_draws`` random items, in one pass over the activations, with
            the same deviations but for chance.
        is_counted: Whether each latent is in the dictionary, for coverage.
        seed: Equal seeds give equal parts.

    Returns:
        One row per model and latent that a scored item activates, columns of
        ``mart.concept_stability``. ``n_undefined`` counts the parts in which no item
        was left to activate it. ``standard_error`` is what the deviation says of the
        whole: ``sqrt((1 - share) / share)`` times it, twice at a fifth.

    Raises:
        InvalidInputError: If the share leaves nothing out or nothing in, or there are
            fewer than two draws.

    Source:
        arXiv 2512.20638 drops a fifth a hundred times; the deviation without
        replacement is ``sqrt(share / (1 - share))`` of the standard error.
    """
    n_units = n_draws if method == "blocks" else activations.n_items
    n_dropped = round(share * n_units)
    if n_draws < 2:  # noqa: PLR2004 - one part has no deviation
        raise InvalidInputError(f"n_draws must be at least 2, got {n_draws}")
    if not 0 < n_dropped < n_units:
        raise InvalidInputError(
            f"share: {share} of {n_units} leaves {n_dropped} out; between 1 and "
            f"{n_units - 1} must go"
        )
    random = np.random.Generator(np.random.Philox(seed))
    kept = _kept(n_units, n_dropped, n_draws, random)
    if method == "blocks":
        order = random.permutation(activations.n_items)
        draws = _Blocks(activations, order % n_units, kept)
    else:
        draws = _Items(activations, kept)
    mass = draws.sums(None)
    unit = (mass if is_counted is None else mass[is_counted]).mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        coverage = _deviation(mass / unit)
    is_full = bool(scores.is_known.all())
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for model, model_id in enumerate(scores.models):
        known = scores.is_known[:, model].astype(np.float64)
        total = mass if is_full else draws.sums(known)
        s1 = activations.sums(known)
        latent = np.flatnonzero(s1 > 0)
        squares = activations.sums(known, values=activations.mean**2)
        effective = s1[latent] ** 2 / squares[latent]
        with np.errstate(invalid="ignore", divide="ignore"):
            scored = draws.sums(scores.filled[:, model])
            performance = scored[latent] / total[latent]
        parts.append(
            _frame(
                activations,
                model_id,
                latent,
                effective=effective,
                coverage=coverage[latent],
                performance=performance,
                scale=np.sqrt((1 - share) / share),
            )
        )
    return pl.concat(parts)


def stability_summary(stability: pl.DataFrame) -> pl.DataFrame:
    """Deviations by effective items: a mean over all concepts hides the tail.

    Args:
        stability: Of `drop_stability`.

    Returns:
        One row per encoder, benchmark, model, measure ("coverage" or "performance")
        and bin of effective items from ``n_effective_from``, and one over all with a
        null there: ``n_concepts``, ``mean_deviation``, its 50th, 90th and 99th
        percentiles, and the ``median_standard_error``.
    """
    keys = ["encoder_id", "benchmark_id", "model_id"]
    lower = pl.lit(_BINS[0], pl.Int64)
    for bound in _BINS[1:]:
        reached = pl.col("n_effective") >= bound
        lower = pl.when(reached).then(pl.lit(bound, pl.Int64)).otherwise(lower)
    parts: list[pl.DataFrame] = []
    for measure in ("coverage", "performance"):
        rows = stability.select(
            *keys,
            pl.lit(measure).alias("measure"),
            lower.alias("n_effective_from"),
            pl.col(f"{measure}_deviation").alias("deviation"),
            pl.col(f"{measure}_standard_error").alias("standard_error"),
        ).filter(pl.col("deviation").is_not_null())
        whole = rows.with_columns(n_effective_from=pl.lit(None, pl.Int64))
        parts += [rows, whole]
    quantiles = {
        f"deviation_{name}": pl.col("deviation").quantile(q, interpolation="linear")
        for name, q in (("median", 0.5), ("90", 0.9), ("99", 0.99))
    }
    return (
        pl.concat(parts)
        .group_by(*keys, "measure", "n_effective_from")
        .agg(
            n_concepts=pl.len().cast(pl.Int64),
            mean_deviation=pl.col("deviation").mean(),
            **quantiles,
            median_standard_error=pl.col("standard_error").median(),
        )
        .sort(*keys, "measure", "n_effective_from", nulls_last=True)
    )


class _Items(NamedTuple):
    """Parts of single items: one column of 0 and 1 a draw, shape (items, draws)."""

    activations: Activations
    kept: Floats

    def sums(self, values: Floats | None) -> Floats:
        columns = self.kept if values is None else self.kept * values[:, np.newaxis]
        return self.activations.sums(columns)


class _Blocks:
    """Parts of whole blocks: the block of each item, and the blocks of each draw."""

    def __init__(self, activations: Activations, block: Integers, kept: Floats) -> None:
        self.activations = activations
        self.kept = kept
        latent = activations.latent.astype(np.int64)
        self.cell = latent * len(kept) + block[activations.item]

    def sums(self, values: Floats | None) -> Floats:
        at = self.activations
        weights = at.mean if values is None else at.mean * values[at.item]
        size = at.n_latents * len(self.kept)
        by_block = np.bincount(self.cell, weights=weights, minlength=size)
        return by_block.reshape(at.n_latents, -1) @ self.kept


def _kept(n: int, n_dropped: int, n_draws: int, random: np.random.Generator) -> Floats:
    """1 where the unit stays in the draw, shape ``(n, n_draws)``."""
    kept = np.ones((n, n_draws))
    for draw in range(n_draws):
        kept[random.choice(n, n_dropped, replace=False), draw] = 0
    return kept


def _deviation(values: Floats) -> Floats:
    """Standard deviation of each row over what is known in it."""
    deviation = _full_deviation(values)
    for row in np.flatnonzero(np.isnan(deviation)):
        known = values[row][~np.isnan(values[row])]
        if known.size > 1:
            deviation[row] = known.std(ddof=1)
    return deviation


def _full_deviation(values: Floats) -> Floats:
    centred = values - values.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", centred, centred)
    return np.sqrt(squares / (values.shape[1] - 1))


_SCHEMA = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "model_id": pl.String(),
        "latent_index": pl.Int64(),
        "n_effective": pl.Float64(),
        "coverage_deviation": pl.Float64(),
        "coverage_standard_error": pl.Float64(),
        "performance_deviation": pl.Float64(),
        "performance_standard_error": pl.Float64(),
        "n_undefined": pl.Int64(),
    }
)


def _frame(
    activations: Activations,
    model_id: str,
    latent: Integers,
    *,
    effective: Floats,
    coverage: Floats,
    performance: Floats,
    scale: float,
) -> pl.DataFrame:
    deviation = _deviation(performance)
    columns = {
        "latent_index": latent,
        "n_effective": effective,
        "coverage_deviation": coverage,
        "coverage_standard_error": scale * coverage,
        "performance_deviation": deviation,
        "performance_standard_error": scale * deviation,
        "n_undefined": np.isnan(performance).sum(axis=1).astype(np.int64),
    }
    keys = (activations.encoder_id, activations.benchmark_id, model_id)
    names = ("encoder_id", "benchmark_id", "model_id")
    return pl.DataFrame(
        {name: pl.Series(v, nan_to_null=True) for name, v in columns.items()}
    ).select(
        *(pl.lit(k).alias(name) for k, name in zip(keys, names, strict=True)), pl.all()
    )
