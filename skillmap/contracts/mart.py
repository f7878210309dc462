"""Tables that people read: each number with its n and its interval."""

from skillmap.contracts.columns import (
    ACCURACY_HIGH,
    ACCURACY_LOW,
    BENCHMARK_ID,
    EVAL_RUN_ID,
    MODEL_ID,
    SLICE_ID,
    SLICE_NAME,
    count,
    difference,
    fraction,
)
from skillmap.contracts.table import Column, Table

_N_ITEMS = Column(
    name="n_items",
    type="bigint",
    description="Items that count: answered, or counted as wrong by policy.",
    minimum=1,
)
_N_CORRECT = Column(
    name="n_correct",
    type="double",
    description="Sum of the scores; whole unless scores are graded or repeated.",
    minimum=0,
)
_ACCURACY = fraction("accuracy", "Mean score over n_items.")

MODEL_ACCURACY = Table(
    schema="mart",
    name="model_accuracy",
    grain="model and benchmark",
    description="How good each model is on each benchmark, as its source scored it. "
    "Unparsed, refused, empty and truncated answers count as wrong; errors and items "
    "not attempted or not scored are left out; both are shown.",
    primary_key=("benchmark_id", "model_id"),
    checks={
        "bounds_hold_accuracy": "accuracy between accuracy_low and accuracy_high",
        "accuracy_is_the_mean": "abs(accuracy * n_items - n_correct) < 0.000001",
        "answered_items_are_items": "n_answered <= n_items",
    },
    cross_checks=("accuracy_covers_every_scored_cell",),
    columns=(
        BENCHMARK_ID,
        MODEL_ID,
        EVAL_RUN_ID,
        _N_ITEMS,
        _N_CORRECT,
        _ACCURACY,
        ACCURACY_LOW,
        ACCURACY_HIGH,
        count("n_answered", "Items with an answer that could be scored."),
        fraction(
            "accuracy_answered",
            "Mean score over n_answered: the accuracy if what counts as wrong by "
            "policy were left out.",
            nullable=True,
        ),
        count("n_unparsed", "Items whose answer could not be read."),
        count("n_refusal", "Items the model refused."),
        count("n_empty", "Items with an empty response."),
        count("n_truncated", "Items whose response was cut off before an answer."),
        count("n_left_out", "Items left out: error, not attempted or not scored."),
        count("n_benchmark_items", "Items of the benchmark's current release."),
        fraction("coverage", "Share of those items that the model has a response for."),
        count("n_drifted", "Items whose source states another question or answer."),
        count(
            "n_unsupported_predictions",
            "Items whose stored prediction stands nowhere in the response: likely a "
            "fallback guess of the source's extractor.",
        ),
        fraction(
            "chance_accuracy",
            "Mean of one over the number of options: what guessing gets. Unknown "
            "unless every item has options.",
            nullable=True,
        ),
    ),
)

SLICE_ACCURACY = Table(
    schema="mart",
    name="slice_accuracy",
    grain="slice and model",
    description="How good each model is on each skill slice, and how that compares "
    "with the model's own accuracy. Items whose source states another question or "
    "answer are left out and counted. A slice the model has no result on is absent.",
    primary_key=("slice_id", "model_id"),
    checks={
        "bounds_hold_accuracy": "accuracy between accuracy_low and accuracy_high",
        "bounds_hold_difference": "difference between difference_low and "
        "difference_high",
        "items_are_of_the_slice": "n_items <= n_slice_items",
    },
    columns=(
        SLICE_ID,
        SLICE_NAME,
        MODEL_ID,
        _N_ITEMS,
        _N_CORRECT,
        _ACCURACY,
        ACCURACY_LOW,
        ACCURACY_HIGH,
        count("n_slice_items", "Items of the slice, answered by the model or not."),
        count("n_unparsed", "Items counted as wrong since no answer could be read."),
        count("n_drifted", "Items left out because their content drifted."),
        count("n_overall_items", "Items behind the overall accuracy."),
        fraction(
            "overall_accuracy",
            "The model's accuracy over all its items, of every benchmark together.",
        ),
        difference("difference", "Slice accuracy less the overall accuracy."),
        difference("difference_low", "Lower 95 % bound of the difference."),
        difference("difference_high", "Upper 95 % bound of the difference."),
        fraction(
            "expected_accuracy",
            "The model's accuracy on the slice's mix of benchmarks: each item counts "
            "with the model's accuracy on its own benchmark.",
        ),
        difference(
            "difference_to_expected",
            "Slice accuracy less the expected: what is left once hard and easy "
            "benchmarks are evened out.",
        ),
    ),
)
