"""What each policy would have gained on items it has not learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.costs import NOTHING_READ, call_costs
from skillmap.routing.estimates import accuracy_columns, gain_columns, group_codes
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
from skillmap.routing.rationale_policy import RationaleFit, RationalePolicy
from skillmap.routing.skill_policy import SkillPolicy

# Name of the policy that gains are over.
BASELINE: Final = "best_single"
_CATEGORY: Final = "category"


@dataclass(frozen=True, eq=False)
class RoutingEvaluation:
    """Policies compared on the candidates' common items.

    Attributes:
        policies: One row per policy: ``candidate_models`` (sorted), ``policy``,
            ``n_items``, ``n_groups``, ``n_splits``, ``accuracy`` with
            ``accuracy_low`` and ``accuracy_high``, ``gain`` over the best single model
            and ``gain_over_category``, each with ``_low`` and ``_high``,
            ``gain_lowest_split`` and ``gain_highest_split``, ``reads_response_of`` by
            name, and ``mean_cost`` of all calls. Null where there is no such number.
        choices: One row per split, policy that chooses and item: ``seed``, ``fold``,
            ``policy``, ``item_id``, ``model_id``.
        expected: Expected scores by policy on the first split, each of shape
            ``(n_common_items, n_models)``: what a cost is weighed against.
        reads: By policy on the first split, the place of the candidate whose response
            to each item was read before choosing; `NOTHING_READ` where none was.
    """

    policies: pl.DataFrame
    choices: pl.DataFrame
    expected: dict[str, Floats]
    reads: dict[str, Integers]


def default_policies(items: RoutingItems) -> tuple[RoutingPolicy, ...]:
    """Every policy that the evidence on the items allows, baselines first."""
    policies: list[RoutingPolicy] = []
    if _CATEGORY in items.labels:
        policies.append(LabelPolicy(_CATEGORY))
    if items.vectors is not None:
        policies.append(NeighbourPolicy())
    if "skill" in items.labels:
        policies += [PublishedPolicy(), PublishedPolicy(Weighting.UNIFORM)]
    policies.append(SkillPolicy())
    if items.responses:
        policies.append(RationalePolicy())
    return tuple(policies)


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
    results: dict[str, list[_Split]] = {policy.name: [] for policy in compared}
    chosen: list[pl.DataFrame] = []
    for seed in seeds:
        folds = group_folds(items.groups, n_folds=n_folds, seed=seed)
        for policy in compared:
            split = _cross_fitted(items, policy, folds, common, n_folds)
            results[policy.name].append(split)
            chosen.append(
                _choices(items, policy.name, seed, folds[common], common, split.choice)
            )
    summary = _Summary(items, results, common, confidence_level)
    return RoutingEvaluation(
        summary.table(),
        pl.concat(chosen),
        {name: splits[0].expected for name, splits in results.items()},
        {name: splits[0].reads for name, splits in results.items()},
    )


@dataclass(frozen=True, eq=False)
class _Split:
    """What a policy expected and chose on one split, and whose response it read."""

    expected: Floats
    reads: Integers

    @cached_property
    def choice(self) -> Integers:
        return first_best(self.expected)


def models_read(items: RoutingItems, *reads: Integers) -> str | None:
    """Candidates whose responses were read anywhere, by name; None if none was."""
    places = {int(place) for some in reads for place in np.unique(some)}
    names = sorted(items.model_ids[place] for place in places if place >= 0)
    return ", ".join(names) or None


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
) -> _Split:
    expected = np.full((len(common), len(items.model_ids)), np.nan)
    reads = np.full(len(common), NOTHING_READ)
    for fold in range(n_folds):
        asked = np.flatnonzero(folds[common] == fold)
        if asked.size:
            fitted = policy.fit(items, np.flatnonzero(folds != fold).astype(np.int64))
            expected[asked] = fitted.expected_scores(items, common[asked])
            if isinstance(fitted, RationaleFit) and fitted.reads is not None:
                reads[asked] = items.model_ids.index(fitted.reads)
    return _Split(expected, reads)


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
    """What became of all policies on each split."""

    items: RoutingItems
    results: dict[str, list[_Split]]
    common: Integers
    confidence_level: float

    def table(self) -> pl.DataFrame:
        scores = self.items.scores[self.common]
        at = np.arange(len(self.common))
        outcomes = {
            name: np.stack([scores[at, split.choice] for split in splits])
            for name, splits in self.results.items()
        }
        outcomes["random"] = scores.mean(axis=1)[np.newaxis]
        outcomes["oracle"] = scores.max(axis=1)[np.newaxis]
        # Of each policy and item, the mean over the splits.
        means = np.stack([some.mean(axis=0) for some in outcomes.values()], axis=1)
        names = list(outcomes)
        groups = group_codes(self.items.groups[self.common])
        level = self.confidence_level
        best = means[:, [names.index(BASELINE)]]
        by_category = (
            means[:, [names.index(_CATEGORY)]]
            if _CATEGORY in outcomes
            else np.full_like(best, np.nan)
        )
        by_split = [
            self._by_split(some, outcomes[BASELINE]) for some in outcomes.values()
        ]
        columns = {
            "candidate_models": [sorted(self.items.model_ids)] * len(names),
            "policy": names,
            "n_items": [len(self.common)] * len(names),
            "n_groups": [int(groups.max(initial=-1)) + 1] * len(names),
            "n_splits": [len(self.results[BASELINE])] * len(names),
            **accuracy_columns(means, groups, confidence_level=level),
            **gain_columns("gain", means - best, groups, confidence_level=level),
            **gain_columns(
                "gain_over_category",
                means - by_category,
                groups,
                confidence_level=level,
            ),
            "gain_lowest_split": [low for low, _ in by_split],
            "gain_highest_split": [high for _, high in by_split],
            "reads_response_of": [
                models_read(
                    self.items, *(split.reads for split in self.results.get(name, []))
                )
                for name in names
            ],
            "mean_cost": [self._mean_cost(name) for name in names],
        }
        return (
            pl.DataFrame(columns, nan_to_null=True)
            .select(_SCHEMA.keys())
            .cast(dict(_SCHEMA))  # pyright: ignore[reportArgumentType]
        )

    def _by_split(self, outcome: Floats, baseline: Floats) -> tuple[float, float]:
        if not self.common.size:
            return float("nan"), float("nan")
        gains = (outcome - baseline).mean(axis=1)
        return float(gains.min()), float(gains.max())

    def _mean_cost(self, name: str) -> float | None:
        if self.items.costs is None or not self.common.size or name == "oracle":
            return None
        costs = self.items.costs[self.common]
        if name == "random":
            return float(costs.mean())
        at = np.arange(len(costs))
        return float(
            np.mean(
                [
                    call_costs(costs, split.reads)[at, split.choice]
                    for split in self.results[name]
                ]
            )
        )


_NUMBERS: Final = (
    *("accuracy", "accuracy_low", "accuracy_high", "gain", "gain_low", "gain_high"),
    *("gain_over_category", "gain_over_category_low", "gain_over_category_high"),
    *("gain_lowest_split", "gain_highest_split"),
)
_SCHEMA: Final[dict[str, pl.DataType]] = {
    "candidate_models": pl.List(pl.String()),
    "policy": pl.String(),
    **dict.fromkeys(("n_items", "n_groups", "n_splits"), pl.Int64()),
    **dict.fromkeys(_NUMBERS, pl.Float64()),
    "reads_response_of": pl.String(),
    "mean_cost": pl.Float64(),
}
