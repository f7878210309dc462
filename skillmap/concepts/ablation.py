"""What removing the items behind the best or worst concepts does to the rest.

Removing items that a model fails raises its scores whatever the concepts: only what
goes beyond removing other items with the same scores is about concepts.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import Activations, Scores
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

Side = Literal["best", "worst"]

# Draws whose sums are held at once.
_BLOCK = 25
_N_SCORE_BINS = 10
_NOTHING = 1e-9
_ROUNDING = 1e-12


def aligned_ablation(
    benchmarks: Sequence[tuple[Activations, Scores]],
    model_id: str,
    *,
    side: Side,
    n_concepts: int = 100,
    share: float = 0.009,
    min_effective: float = 10,
    n_draws: int = 200,
    seed: int = 0,
) -> pl.DataFrame:
    """Median performance without the items that are aligned with some concepts.

    Args:
        benchmarks: Activations of one encoder and scores on each benchmark.
        model_id: The model; benchmarks that it has no score on are left out.
        side: Whether the concepts with the best or the worst performance count.
        n_concepts: How many of them.
        share: Of the items of each benchmark that go: the most aligned ones, at least
            one.
        min_effective: Effective items over all benchmarks from which a concept counts
            at all.
        n_draws: Removals of each control.
        seed: Of the controls.

    Returns:
        One row, columns of ``mart.ablation``: the median over the same concepts
        before and after, its relative change, the same with as many random items and
        with random items of the same scores (mean and central 95 %), and ``excess``:
        the change less that of the score-matched control, with its two-sided
        ``p_value``.

    Raises:
        InvalidInputError: If no benchmark has scores of the model, or no concept has
            the support.

    Source:
        After arXiv 2512.20638; alignment (the concepts' share of an item's mass) and
        both controls are ours.
    """
    parts = [
        _Part.of(activations, scores, model_id)
        for activations, scores in benchmarks
        if model_id in scores.models
    ]
    if not parts:
        raise InvalidInputError(f"benchmarks: none has a score of {model_id!r}")
    support = np.sum([p.support for p in parts], axis=0)
    before = _mean_performance(
        [(p.s1[:, np.newaxis], p.y1[:, np.newaxis]) for p in parts]
    )
    fixed = np.flatnonzero((support >= min_effective) & ~np.isnan(before[:, 0]))
    if not fixed.size:
        raise InvalidInputError(
            f"no concept has {min_effective} effective items of {model_id!r}"
        )
    order = np.lexsort((fixed, before[fixed, 0]))
    chosen = fixed[order[:n_concepts] if side == "worst" else order[::-1][:n_concepts]]
    removed = [p.aligned_items(chosen, share) for p in parts]
    median = float(np.median(before[fixed, 0]))
    after = _medians(parts, [r[np.newaxis] for r in removed], fixed)
    row: dict[str, object] = {
        "encoder_id": parts[0].activations.encoder_id,
        "model_id": model_id,
        "side": side,
        "n_benchmarks": len(parts),
        "n_removed": sum(r.size for r in removed),
        "n_chosen": chosen.size,
        "n_concepts": fixed.size,
        "median_before": median,
        "median_after": float(after[0]),
    }
    seen = float(_change(after, median)[0])
    random = np.random.Generator(np.random.Philox(seed))
    pairs = list(zip(parts, removed, strict=True))
    drawn = [p.random_items(r, n_draws, random) for p, r in pairs]
    matched = [p.matched_items(r, n_draws, random) for p, r in pairs]
    row |= {"change": seen}
    row |= _spread("random", _change(_medians(parts, drawn, fixed), median))
    changes = _change(_medians(parts, matched, fixed), median)
    row |= _spread("matched", changes)
    row |= _excess(seen, changes)
    return pl.DataFrame([row]).with_columns(pl.col(pl.Float64).fill_nan(None))


def _spread(name: str, changes: Floats) -> dict[str, object]:
    low, high = np.quantile(changes, [0.025, 0.975])
    return {
        f"{name}_change": float(changes.mean()),
        f"{name}_change_low": float(low),
        f"{name}_change_high": float(high),
    }


def _excess(seen: float, changes: Floats) -> dict[str, object]:
    """What is beyond the control, and how often the control is as far off itself."""
    off = np.abs(changes - changes.mean())
    excess = seen - float(changes.mean())
    n_as_far = int((off >= abs(excess) - _ROUNDING).sum())
    p = (1 + n_as_far) / (1 + changes.size)
    return {"excess": excess, "p_value": np.nan if np.isnan(seen) else p}


class _Part(NamedTuple):
    """One benchmark, as far as one model has scores on it."""

    activations: Activations
    score: Floats
    matrix: csr_array
    scored: csr_array
    s1: Floats
    y1: Floats
    support: Floats

    @classmethod
    def of(cls, whole: Activations, scores: Scores, model_id: str) -> "_Part":
        values = scores.values[:, scores.models.to_list().index(model_id)]
        known = np.flatnonzero(~np.isnan(values))
        activations = whole.of_items(known)
        score = values[known]
        weights = activations.mean
        s1, s2 = activations.totals(weights), activations.totals(weights**2)
        with np.errstate(invalid="ignore"):
            support = np.nan_to_num(s1**2 / s2)
        by_score = weights * score[activations.item]
        return cls(
            activations,
            score,
            activations.matrix(weights),
            activations.matrix(by_score),
            s1,
            activations.totals(by_score),
            support,
        )

    def aligned_items(self, latents: Integers, share: float) -> Integers:
        """The items with the largest share of their mass in the latents."""
        n = max(1, int(share * self.score.size))
        is_chosen = np.zeros(self.activations.n_latents, np.bool_)
        is_chosen[latents] = True
        mass = self.activations.item_totals()
        inside = self.activations.item_totals(is_chosen)
        alignment = np.divide(inside, mass, out=np.zeros_like(mass), where=mass > 0)
        return np.argsort(-alignment, kind="stable")[:n]

    def random_items(
        self, removed: Integers, n_draws: int, random: np.random.Generator
    ) -> Integers:
        """As many random items, one row a draw."""
        draws = [
            random.choice(self.score.size, removed.size, replace=False)
            for _ in range(n_draws)
        ]
        return np.stack(draws)

    def matched_items(
        self, removed: Integers, n_draws: int, random: np.random.Generator
    ) -> Integers:
        """As many random items with each score, one row a draw."""
        levels = np.unique(self.score)
        if levels.size > _N_SCORE_BINS:
            shares = np.linspace(0, 1, _N_SCORE_BINS + 1)[:-1]
            levels = np.unique(np.quantile(self.score, shares, method="lower"))
        level = np.searchsorted(levels, self.score, side="right") - 1
        n_of_level = np.bincount(level[removed], minlength=levels.size)
        pools = [np.flatnonzero(level == place) for place in range(levels.size)]
        draws = [
            np.concatenate(
                [
                    random.choice(pool, n, replace=False)
                    for pool, n in zip(pools, n_of_level.tolist(), strict=True)
                    if n
                ]
            )
            for _ in range(n_draws)
        ]
        return np.stack(draws)

    def without(self, draws: Integers) -> tuple[Floats, Floats]:
        """Sums of weights and scores without the items of each draw."""
        gone = np.zeros((self.score.size, len(draws)))
        gone[draws, np.arange(len(draws))[:, np.newaxis]] = 1
        s1 = self.s1[:, np.newaxis] - cast("Floats", self.matrix @ gone)
        y1 = self.y1[:, np.newaxis] - cast("Floats", self.scored @ gone)
        # What cancels leaves rounding behind, which is no activity.
        return np.where(s1 > _NOTHING * self.s1[:, np.newaxis], s1, 0.0), y1


def _medians(
    parts: Sequence[_Part], draws: Sequence[Integers], fixed: Integers
) -> Floats:
    """Median performance over the fixed concepts, one a draw."""
    n_draws = len(draws[0])
    medians: list[Floats] = []
    for start in range(0, n_draws, _BLOCK):
        rows = slice(start, start + _BLOCK)
        sums = [p.without(d[rows]) for p, d in zip(parts, draws, strict=True)]
        medians.append(np.nanmedian(_mean_performance(sums)[fixed], axis=0))
    return np.concatenate(medians)


def _mean_performance(sums: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Plain mean over the benchmarks where the concept has one; NaN without any."""
    total, n = np.zeros_like(sums[0][0]), np.zeros_like(sums[0][0])
    for s1, y1 in sums:
        total += np.divide(y1, s1, out=np.zeros_like(y1), where=s1 > 0)
        n += s1 > 0
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)


def _change(after: Floats, before: float) -> Floats:
    return after / before - 1 if before else np.full_like(after, np.nan)
