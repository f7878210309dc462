"""Tables of what choosing a model item by item would gain, and cost."""

from skillmap.contracts.columns import (
    amount,
    count,
    difference,
    flag,
    fraction,
    one_of,
    place,
    text,
    texts,
)
from skillmap.contracts.table import Table

# What a price is counted in: the settings of a route say which.
COST_UNITS = ("usd", "tokens")

_READS_RESPONSE_OF = text(
    "reads_response_of",
    "The candidate whose response to the item the policy reads before it chooses, "
    "by name, several (one a fold) joined by commas; unknown for one that reads none.",
    nullable=True,
)

ROUTING_EVALUATION = Table(
    schema="mart",
    name="routing_evaluation",
    grain="set of candidate models, scope and policy",
    description="What each way to choose a model for an item would have gained over "
    "the best single model, on items that it has not learned from. Folds do not part "
    "duplicates.",
    primary_key=("candidate_models", "scope", "policy"),
    keyed_in_duckdb=False,
    columns=(
        texts("candidate_models", "The models to choose from, sorted."),
        text("scope", "The benchmark, or 'all'."),
        text(
            "policy",
            "The way to choose: model: and a model's name for that model always, "
            "best_single, random, category, knn, paper, skill, oracle and variants.",
        ),
        count("n_items", "Items that every candidate has a score on."),
        count("n_groups", "Independent groups of those items."),
        fraction("accuracy", "Mean score of the chosen models.", nullable=True),
        fraction("accuracy_low", "Lower 95 % bound.", nullable=True),
        fraction("accuracy_high", "Upper 95 % bound.", nullable=True),
        difference(
            "gain",
            "Accuracy less that of the best single model, chosen within the fold.",
            nullable=True,
        ),
        difference("gain_low", "Lower 95 % bound, paired.", nullable=True),
        difference("gain_high", "Upper 95 % bound, paired.", nullable=True),
        difference(
            "gain_over_category",
            "Accuracy less that of choosing by the benchmark's own category.",
            nullable=True,
        ),
        difference("gain_over_category_low", "Lower 95 % bound.", nullable=True),
        difference("gain_over_category_high", "Upper 95 % bound.", nullable=True),
        count("n_splits", "Splits into folds that the numbers are the mean of."),
        difference(
            "gain_lowest_split", "Gain on the split where it is lowest.", nullable=True
        ),
        difference(
            "gain_highest_split",
            "Gain on the split where it is highest.",
            nullable=True,
        ),
        _READS_RESPONSE_OF,
        one_of(
            "cost_unit",
            "What costs are counted in; unknown without prices.",
            COST_UNITS,
            nullable=True,
        ),
        amount(
            "mean_cost",
            "Of an item, all calls that the policy makes for it; unknown without "
            "prices.",
            nullable=True,
        ),
    ),
)

ROUTING_FRONTIER = Table(
    schema="mart",
    name="routing_frontier",
    grain="set of candidate models, scope, policy and point",
    description="What quality costs: each policy at a sweep of prices that a unit of "
    "cost must bring in expected score, and each single model as one point. Empty "
    "until a route in the settings has prices; the lake knows no tokens.",
    primary_key=("candidate_models", "scope", "policy", "point"),
    keyed_in_duckdb=False,
    checks={
        "bounds_hold_accuracy": "accuracy between accuracy_low and accuracy_high",
    },
    columns=(
        texts("candidate_models", "The models to choose from, sorted."),
        text("scope", "The benchmark, or 'all'."),
        text(
            "policy",
            "The way to choose: skill, skill_with_rationale, or model: and a model's "
            "name for that model always.",
        ),
        place("point", "Place in the sweep, from 0, the dearest first."),
        _READS_RESPONSE_OF,
        amount(
            "price_of_quality",
            "Expected score that one unit of cost had to bring; unknown for a single "
            "model, and where the cheapest call is always made.",
            nullable=True,
        ),
        count("n_items", "Items that every candidate has a score on."),
        count("n_groups", "Independent groups of those items."),
        one_of("cost_unit", "What costs are counted in.", COST_UNITS),
        amount("mean_cost", "Of an item, all calls that the policy makes for it."),
        fraction("accuracy", "Mean score of the chosen models."),
        fraction("accuracy_low", "Lower 95 % bound."),
        fraction("accuracy_high", "Upper 95 % bound."),
        difference(
            "gain",
            "Accuracy less that of the best single model, chosen within the fold.",
        ),
        difference("gain_low", "Lower 95 % bound, paired.", nullable=True),
        difference("gain_high", "Upper 95 % bound, paired.", nullable=True),
        flag(
            "is_dominated",
            "Whether another point of the policy is as good for less, or better for "
            "as much.",
        ),
    ),
)
