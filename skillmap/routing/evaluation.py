"""What each policy would have gained on items it has not learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats, wilson_interval
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.folds import group_folds
from skillmap.routing.membership import Integers
from skillmap.routing.policies import (
    BestSinglePolicy,
    LabelPolicy,
    NeighbourPolicy,
    PublishedPolicy,
    RoutingPolicy,
    SingleModelPolicy,
)
from skillmap.routing.published import Weighting, first_best
from skillmap.routing.skill_policy import SkillPolicy

_BASELINE: Final = "best_single"
_CATEGORY: Final = "category"


@dataclass(frozen=True, eq=False)
class RoutingEvaluation:
    """Policies compared on the candidates' common items.

    Attributes:
        policies: One row per policy: ``candidate_models`` (sorted), ``policy``,
            ``n_items``, ``n_groups``, ``n_splits``, ``accuracy`` with
            ``accuracy_low`` and ``accuracy_high``, ``gain`` over the best single model
            and ``gain_over_category``, each with ``_low`` and ``_high``,
            ``gain_lowest_split`` and ``gain_highest_split``, and ``mean_cost``. Null
            where there is no such number.
        choices: One row per split, policy that chooses and item: ``seed``, ``fold``,
            ``policy``, ``item_id``, ``model_id``.
        expected: Expected scores by policy on the first split, each of shape
            ``(n_common_items, n_models)``: what a cost is weighed against.
    """

    policies: pl.DataFrame
    choices: pl.DataFrame
    expected: dict[str, Floats]


def default_policies(items: RoutingItems) -> tuple[RoutingPolicy, ...]:
    """Every policy that the evidence on the items allows, baselines first."""
    policies: list[RoutingPolicy] = []
    if _CATEGORY in items.labels:
        policies.append(LabelPolicy(_CATEGORY))
    if items.vectors is not None:
        policies.append(NeighbourPolicy())
    if "skill" in items.labels:
        policies += [PublishedPolicy(), PublishedPolicy(Weighting.UNIFORM)]
    return (*policies, SkillPolicy())


def route_evaluation(
    items: RoutingItems,
    *,
    policies: Sequence[RoutingPolicy] | None = None,
    n_folds: int = 5,
    seeds: Sequence[int] = (0,),
    confidence_level: float = 0.95,
) -> RoutingEvaluation:
    """Cross-fitted accuracy of each policy, beside each model, chance and oracle.

    Every choice is made by a policy that learned from the other folds only, and
    folds do not part duplicates. With several seeds an item's outcome is its mean
    over the splits, so the interval stays that of one set of items: it is about
    which items were drawn, the range over the splits about how they were split.

    Args:
        items: As `routing_items` gives them.
        policies: To compare; all that the evidence allows if not given.
        n_folds: At least 2.
        seeds: One a split, at least one.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        The comparison. Without a common item, every number in it is null.

    Raises:
        InvalidInputError: If there is no seed, or two policies share a name.

    Source:
        Clustered standard error of the paired difference as in Miller (2024), arXiv
        2411.00640, with C / (C - 1) and Student's t for C groups.
    """
    compared = _compared(items, policies, seeds)
    common = np.flatnonzero(items.is_common).astype(np.int64)
    scores = items.scores[common]
    outcomes: dict[str, list[Floats]] = {policy.name: [] for policy in compared}
    costs: dict[str, list[Floats]] = {policy.name: [] for policy in compared}
    chosen: list[pl.DataFrame] = []
    first: dict[str, Floats] = {}
    at = np.arange(len(common))
    for seed in seeds:
        folds = group_folds(items.groups, n_folds=n_folds, seed=seed)
        for policy in compared:
            expected = _cross_fitted(items, policy, folds, common, n_folds)
            first.setdefault(policy.name, expected)
            choice = first_best(expected)
            outcomes[policy.name].append(scores[at, choice])
            if items.costs is not None:
                costs[policy.name].append(items.costs[common][at, choice])
            chosen.append(
                _choices(items, policy.name, seed, folds[common], common, choice)
            )
    summary = _Summary(
        items,
        {name: np.stack(values) for name, values in outcomes.items()},
        {name: np.stack(values) for name, values in costs.items() if values},
        common,
        confidence_level,
    )
    return RoutingEvaluation(summary.table(), pl.concat(chosen), first)


def _compared(
    items: RoutingItems,
    policies: Sequence[RoutingPolicy] | None,
    seeds: Sequence[int],
) -> list[RoutingPolicy]:
    own = default_policies(items) if policies is None else policies
    singles = [SingleModelPolicy(model) for model in items.model_ids]
    compared: list[RoutingPolicy] = [*singles, BestSinglePolicy(), *own]
    names = [policy.name for policy in compared]
    if len(set(names)) < len(names):
        raise InvalidInputError(f"policies: names must differ, got {names}")
    if not seeds:
        raise InvalidInputError("seeds: must hold at least one, got none")
    return compared


def _cross_fitted(
    items: RoutingItems,
    policy: RoutingPolicy,
    folds: Integers,
    common: Integers,
    n_folds: int,
) -> Floats:
    expected = np.full((len(common), len(items.model_ids)), np.nan)
    for fold in range(n_folds):
        asked = np.flatnonzero(folds[common] == fold)
        if asked.size:
            fitted = policy.fit(items, np.flatnonzero(folds != fold).astype(np.int64))
            expected[asked] = fitted.expected_scores(items, common[asked])
    return expected


def _choices(
    items: RoutingItems,
    policy: str,
    seed: int,
    folds: Integers,
    common: Integers,
    choice: Integers,
) -> pl.DataFrame:
    models = pl.Series(items.model_ids, dtype=pl.String)
    return pl.DataFrame(
        {"fold": folds, "item_id": items.item_ids[common], "model_id": models[choice]}
    ).select(
        pl.lit(seed, dtype=pl.Int64).alias("seed"),
        "fold",
        pl.lit(policy).alias("policy"),
        "item_id",
        "model_id",
    )


@dataclass(frozen=True, eq=False)
class _Summary:
    """Outcomes of all policies, each of shape ``(n_splits, n_common_items)``."""

    items: RoutingItems
    outcomes: dict[str, NDArray[np.float64]]
    costs: dict[str, NDArray[np.float64]]
    common: Integers
    confidence_level: float

    def table(self) -> pl.DataFrame:
        scores = self.items.scores[self.common]
        everything = {
            **self.outcomes,
            "random": scores.mean(axis=1)[np.newaxis],
            "oracle": scores.max(axis=1)[np.newaxis],
        }
        rows = [self._row(name, everything[name]) for name in everything]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def _row(self, name: str, outcome: NDArray[np.float64]) -> dict[str, object]:
        groups = self._group_codes
        gains = outcome - self.outcomes[_BASELINE]
        by_split = gains.mean(axis=1) if self.common.size else np.zeros(0)
        over_category = (
            outcome - self.outcomes[_CATEGORY] if _CATEGORY in self.outcomes else None
        )
        n_groups = int(groups.max(initial=-1)) + 1
        return {
            "candidate_models": sorted(self.items.model_ids),
            "policy": name,
            "n_items": len(self.common),
            "n_groups": n_groups,
            "n_splits": len(self.outcomes[_BASELINE]),
            **self._accuracy(outcome.mean(axis=0), groups),
            **self._interval("gain", gains, groups),
            **self._interval("gain_over_category", over_category, groups),
            "gain_lowest_split": by_split.min() if by_split.size else None,
            "gain_highest_split": by_split.max() if by_split.size else None,
            "mean_cost": self._mean_cost(name),
        }

    @property
    def _group_codes(self) -> Integers:
        names = self.items.groups[self.common]
        places = names.unique().sort().search_sorted(names)
        return places.to_numpy().astype(np.int64)

    def _mean_cost(self, name: str) -> float | None:
        if name in self.costs and self.common.size:
            return float(self.costs[name].mean())
        if name == "random" and self.items.costs is not None and self.common.size:
            return float(self.items.costs[self.common].mean())
        return None

    def _accuracy(self, outcome: Floats, groups: Integers) -> dict[str, float | None]:
        names = ("accuracy", "accuracy_low", "accuracy_high")
        n = len(outcome)
        if not n:
            return dict.fromkeys(names)
        mean = float(outcome.mean())
        naive = outcome.var() / n
        clustered = clustered_error(outcome, groups) ** 2
        # With no variance, or no second group, there is no sign of dependence.
        inflation = clustered / naive if naive > 0 and np.isfinite(clustered) else 1.0
        n_effective = n / max(inflation, 1.0)
        low, high = wilson_interval(
            np.array([mean * n_effective]),
            np.array([n_effective]),
            confidence_level=self.confidence_level,
        )
        values = (mean, float(low[0]), float(high[0]))
        return dict(zip(names, values, strict=True))

    def _interval(
        self, name: str, gains: NDArray[np.float64] | None, groups: Integers
    ) -> dict[str, float | None]:
        names = (name, f"{name}_low", f"{name}_high")
        if gains is None or not self.common.size:
            return dict.fromkeys(names)
        mean = gains.mean(axis=0)
        half = clustered_error(mean, groups) * _t_quantile(
            self.confidence_level, int(groups.max()) + 1
        )
        centre = float(mean.mean())
        bounds = (centre - half, centre + half) if np.isfinite(half) else (None, None)
        return dict(zip(names, (centre, *bounds), strict=True))


def clustered_error(values: Floats, groups: Integers) -> float:
    """Standard error of a mean whose values depend on each other within groups.

    Args:
        values: Shape ``(n_items,)``.
        groups: Codes from 0, shape ``(n_items,)``.

    Returns:
        The error; NaN for fewer than two groups, which tell nothing about it.

    Examples:
        >>> round(clustered_error(np.array([1.0, 0, 1, 0]), np.arange(4)), 4)
        0.2887
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < 2:  # noqa: PLR2004 - a spread needs two
        return float("nan")
    sums = np.bincount(groups, values - values.mean(), minlength=n_groups)
    variance = np.square(sums).sum() * n_groups / (n_groups - 1) / len(values) ** 2
    return float(np.sqrt(variance))


def _t_quantile(confidence_level: float, n_groups: int) -> float:
    if not 0 < confidence_level < 1:
        raise InvalidInputError(
            f"confidence_level must be between 0 and 1, got {confidence_level}"
        )
    quantile = cast("float", stdtrit(max(n_groups - 1, 1), 0.5 + confidence_level / 2))
    return float(quantile)


_NUMBERS: Final = (
    *("accuracy", "accuracy_low", "accuracy_high", "gain", "gain_low", "gain_high"),
    *("gain_over_category", "gain_over_category_low", "gain_over_category_high"),
    *("gain_lowest_split", "gain_highest_split", "mean_cost"),
)
_SCHEMA: Final[dict[str, pl.DataType]] = {
    "candidate_models": pl.List(pl.String()),
    "policy": pl.String(),
    **dict.fromkeys(("n_items", "n_groups", "n_splits"), pl.Int64()),
    **dict.fromkeys(_NUMBERS, pl.Float64()),
}
