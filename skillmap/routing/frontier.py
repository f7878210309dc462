"""What quality costs: policies at a sweep of prices, beside each single model."""

from typing import Final

import numpy as np
import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.costs import (
    call_costs,
    frontier_choices,
    is_dominated,
    usual_costs,
)
from skillmap.routing.estimates import accuracy_columns, gain_columns, group_codes
from skillmap.routing.evaluation import (
    BASELINE,
    RoutingEvaluation,
    default_policies,
    models_read,
)
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.membership import Integers
from skillmap.routing.policies import RoutingPolicy, SingleModelPolicy
from skillmap.routing.published import first_best
from skillmap.routing.rationale_policy import RationalePolicy
from skillmap.routing.skill_policy import SkillPolicy

_SCHEMA: Final[dict[str, pl.DataType]] = {
    "candidate_models": pl.List(pl.String()),
    **dict.fromkeys(("policy", "reads_response_of"), pl.String()),
    "point": pl.Int64(),
    "price_of_quality": pl.Float64(),
    **dict.fromkeys(("n_items", "n_groups"), pl.Int64()),
    **dict.fromkeys(
        (
            *("mean_cost", "accuracy", "accuracy_low", "accuracy_high"),
            *("gain", "gain_low", "gain_high"),
        ),
        pl.Float64(),
    ),
    "is_dominated": pl.Boolean(),
}


def priced_policies(items: RoutingItems) -> list[RoutingPolicy]:
    """The default policies that can weigh a cost: the others have no scale for it."""
    return [
        policy
        for policy in default_policies(items)
        if isinstance(policy, SkillPolicy | RationalePolicy)
    ]


def routing_frontier(
    items: RoutingItems,
    evaluation: RoutingEvaluation,
    *,
    n_prices: int = 41,
    confidence_level: float = 0.95,
) -> pl.DataFrame:
    """Accuracy and mean cost of the policies at a sweep of prices of quality.

    A price is weighed against each model's mean cost, since what a call will cost is
    not known before it is made; what is counted is what the calls did cost.

    Args:
        items: With costs.
        evaluation: Of these items, with `priced_policies`; its first split is used.
        n_prices: At most so many points a policy, at least 2.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        One row per policy and point, the dearest first, and one per single model:
        ``candidate_models``, ``policy``, ``reads_response_of``, ``point``,
        ``price_of_quality`` (null where the cheapest is asked whatever it is, and for
        single models), ``n_items``, ``n_groups``, ``mean_cost``, accuracy and gain
        with their intervals, and ``is_dominated`` by another point of the policy.
        No rows without a common item.

    Raises:
        InvalidInputError: If the items have no costs, or not all of them.
    """
    if items.costs is None:
        raise InvalidInputError("items: have no costs. Set a price for every model")
    costs = items.costs[items.is_common]
    if not len(costs):
        return pl.DataFrame(schema=_SCHEMA)
    usual = usual_costs(costs)
    frames: list[pl.DataFrame] = []
    for policy in priced_policies(items):
        reads = evaluation.reads[policy.name]
        points = frontier_choices(
            evaluation.expected[policy.name],
            call_costs(usual, reads),
            n_prices=n_prices,
        )
        frames.append(
            _points(
                policy.name,
                np.stack([point.choices for point in points], axis=1),
                np.array([point.price_of_quality for point in points]),
                call_costs(costs, reads),
                models_read(items, reads),
            )
        )
    for place, model in enumerate(items.model_ids):
        always = np.full((len(costs), 1), place)
        name = SingleModelPolicy(model).name
        frames.append(_points(name, always, np.array([np.inf]), costs, None))
    return _with_scores(
        pl.concat(frames), items, evaluation, confidence_level=confidence_level
    )


def _points(
    policy: str, choices: Integers, prices: Floats, costs: Floats, read: str | None
) -> pl.DataFrame:
    """Points whose choices differ, with the choices."""
    spent = np.take_along_axis(costs, choices, axis=1).mean(axis=0)
    return pl.DataFrame(
        {
            "policy": [policy] * len(prices),
            "reads_response_of": pl.Series([read] * len(prices), dtype=pl.String),
            "price_of_quality": np.where(np.isinf(prices), np.nan, prices),
            "mean_cost": spent,
            "choices": choices.T.astype(np.int32),
        },
        nan_to_null=True,
    ).unique("choices", keep="first", maintain_order=True)


def _with_scores(
    points: pl.DataFrame,
    items: RoutingItems,
    evaluation: RoutingEvaluation,
    *,
    confidence_level: float,
) -> pl.DataFrame:
    scores = items.scores[items.is_common]
    groups = group_codes(items.groups.filter(pl.Series(items.is_common)))
    choices = points["choices"].to_numpy().T.astype(np.int64)
    outcomes = np.take_along_axis(scores, choices, axis=1)
    best = first_best(evaluation.expected[BASELINE])[:, np.newaxis]
    gains = outcomes - np.take_along_axis(scores, best, axis=1)
    level = confidence_level
    found = points.with_columns(
        **{
            name: pl.Series(values)
            for name, values in (
                accuracy_columns(outcomes, groups, confidence_level=level)
                | gain_columns("gain", gains, groups, confidence_level=level)
            ).items()
        },
        n_items=pl.lit(len(scores), dtype=pl.Int64),
        n_groups=pl.lit(int(groups.max()) + 1, dtype=pl.Int64),
        point=pl.int_range(pl.len()).over("policy"),
        candidate_models=pl.Series([sorted(items.model_ids)] * points.height),
    )
    marked = [
        own.with_columns(
            is_dominated=pl.Series(
                is_dominated(own["mean_cost"].to_numpy(), own["accuracy"].to_numpy())
            )
        )
        for own in found.partition_by("policy", maintain_order=True)
    ]
    return (
        pl.concat(marked)
        .with_columns(pl.col("gain_low", "gain_high").fill_nan(None))
        .select(_SCHEMA.keys())
        .cast(dict(_SCHEMA))  # pyright: ignore[reportArgumentType]
    )
