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
    flag,
    fraction,
    one_of,
    text,
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
    cautions=("no_two_models_respond_alike",),
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
        count("n_benchmark_items", "Items of the benchmark in core.items."),
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

_MODEL_A = text("model_a", "The first model, by name.")
_MODEL_B = text("model_b", "The second model.")

SLICE_CONTRASTS = Table(
    schema="mart",
    name="slice_contrasts",
    grain="slice and pair of models",
    description="Which of two models is better on a slice, on the items that both "
    "answered. Items that are duplicates of each other are one cluster; p-values are "
    "corrected over all rows of the table; intervals are 95 %.",
    primary_key=("slice_id", "model_a", "model_b"),
    checks={
        "models_are_in_order": "model_a < model_b",
        "bounds_hold_difference": "difference between difference_low and "
        "difference_high",
        "correction_raises_p": "q_value is null or q_value >= p_value - 0.000000001",
    },
    columns=(
        SLICE_ID,
        SLICE_NAME,
        _MODEL_A,
        _MODEL_B,
        _N_ITEMS,
        count("n_clusters", "Independent groups of those items."),
        fraction("accuracy_a", "Accuracy of the first model on them."),
        fraction("accuracy_b", "Accuracy of the second."),
        difference("difference", "Accuracy of the first less that of the second."),
        difference("difference_low", "Lower bound of the difference."),
        difference("difference_high", "Upper bound of the difference."),
        fraction(
            "p_value",
            "Chance of such a difference between equal models; unknown for a single "
            "cluster.",
            nullable=True,
        ),
        one_of("test", "The test of p_value.", ("mcnemar exact", "clustered t")),
        fraction("q_value", "p-value after Benjamini-Hochberg.", nullable=True),
        fraction(
            "q_value_strict",
            "p-value after Benjamini-Yekutieli, which allows any dependence.",
            nullable=True,
        ),
        difference(
            "fcr_low",
            "Lower bound that allows for the rows having been selected; unknown "
            "where not selected.",
            nullable=True,
        ),
        difference("fcr_high", "Upper bound of the same.", nullable=True),
        difference(
            "shrunk_difference",
            "The difference drawn towards the two models' mean over slices.",
            nullable=True,
        ),
        Column(
            name="shrunk_difference_low",
            type="double",
            description="Lower bound of the shrunk difference.",
            nullable=True,
        ),
        Column(
            name="shrunk_difference_high",
            type="double",
            description="Upper bound of the shrunk difference.",
            nullable=True,
        ),
        Column(
            name="n_only_a",
            type="double",
            description="Items that only the first got right; sum of the leads where "
            "scores are graded.",
            minimum=0,
        ),
        Column(
            name="n_only_b",
            type="double",
            description="Items that only the second got right.",
            minimum=0,
        ),
        Column(
            name="minimum_detectable_difference",
            type="double",
            description="The difference that would be found in four of five such "
            "comparisons.",
            nullable=True,
            minimum=0,
        ),
        difference(
            "discovery_difference",
            "The difference on the half of the clusters that hypotheses come from.",
            nullable=True,
        ),
        difference(
            "confirmation_difference",
            "The difference on the other half, where nothing was chosen.",
            nullable=True,
        ),
        fraction(
            "confirmation_p_value",
            "p-value on that half, for what was discovered on the first.",
            nullable=True,
        ),
        flag("is_confirmed", "Whether the discovery was confirmed."),
        fraction(
            "largest_benchmark_share", "Share of the items from one benchmark alone."
        ),
        flag(
            "leave_one_benchmark_out_sign_stable",
            "Whether the same model is ahead without any one benchmark; unknown for "
            "a single benchmark.",
            nullable=True,
        ),
        one_of(
            "verdict",
            "What the row allows to say of the first model.",
            ("better", "worse", "tied", "not enough evidence"),
        ),
    ),
)

SLICE_GAINS = Table(
    schema="mart",
    name="slice_gains",
    grain="benchmark, slice and model",
    description="A model against the mean of the others on a slice, over the items of "
    "a benchmark that all its models answered. Bounds and p-values are held against "
    "the largest deviation of all slices and models, so that they hold together.",
    primary_key=("benchmark_id", "slice_id", "model_id"),
    columns=(
        BENCHMARK_ID,
        SLICE_ID,
        SLICE_NAME,
        MODEL_ID,
        _N_ITEMS,
        count("n_clusters", "Independent groups of those items."),
        _ACCURACY,
        fraction("others_accuracy", "Mean accuracy of the other models."),
        difference("gain", "Accuracy less the others' mean."),
        Column(
            name="gain_low",
            type="double",
            description="Lower bound; all bounds of the benchmark hold together.",
            nullable=True,
        ),
        Column(
            name="gain_high",
            type="double",
            description="Upper bound of the same.",
            nullable=True,
        ),
        fraction(
            "p_value",
            "Chance of a deviation that large anywhere, were there no gains.",
            nullable=True,
        ),
    ),
)

EXTRACTION_ACCURACY = Table(
    schema="mart",
    name="extraction_accuracy",
    grain="model and benchmark with stored responses",
    description="Accuracy by the answers that the source read from the responses, and "
    "by those that our extractor reads from the same responses.",
    primary_key=("benchmark_id", "model_id"),
    columns=(
        BENCHMARK_ID,
        MODEL_ID,
        _N_ITEMS,
        fraction("accuracy_source", "Accuracy by the source's reading."),
        fraction("accuracy_source_low", "Lower 95 % Wilson bound."),
        fraction("accuracy_source_high", "Upper 95 % Wilson bound."),
        fraction("accuracy_reextracted", "Accuracy by our reading."),
        fraction("accuracy_reextracted_low", "Lower 95 % Wilson bound."),
        fraction("accuracy_reextracted_high", "Upper 95 % Wilson bound."),
        count("n_changed_predictions", "Responses that the two read differently."),
        count("n_gained_predictions", "Responses that only ours reads."),
        count("n_lost_predictions", "Responses that only the source read."),
    ),
)

EXTRACTION_SENSITIVITY = Table(
    schema="mart",
    name="extraction_sensitivity",
    grain="benchmark and pair of models with stored responses",
    description="Which models change places when the answers are read again from the "
    "stored responses.",
    primary_key=("benchmark_id", "model_a", "model_b"),
    columns=(
        BENCHMARK_ID,
        _MODEL_A,
        _MODEL_B,
        _N_ITEMS,
        difference("difference_source", "Accuracy of the first less the second's."),
        difference("difference_reextracted", "The same by our reading."),
        flag("is_swapped", "Whether the readings put the models in opposite order."),
    ),
)
