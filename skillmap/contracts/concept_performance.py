"""How models do where concepts are active, and how far that can be trusted."""

from skillmap.contracts.columns import (
    BENCHMARK_ID,
    MODEL_ID,
    SLICE_ID,
    amount,
    count,
    difference,
    flag,
    fraction,
    one_of,
    text,
    texts,
)
from skillmap.contracts.concepts import (
    BENCHMARK_KEY,
    ENCODER_ID,
    LABEL,
    LATENT_INDEX,
    N_EFFECTIVE,
    N_EFFECTIVE_CLUSTERS,
    POOLING,
    number,
)
from skillmap.contracts.table import Column, Table

_PERFORMANCE = fraction("performance", "Saliency-weighted mean score.", nullable=True)
_MEAN_SCORE = fraction("mean_score", "The model's mean score on the benchmark.")
_Q_VALUE = fraction(
    "q_value",
    "p after Benjamini and Hochberg, over the model's ranked concepts.",
    nullable=True,
)
VERDICT = one_of(
    "verdict",
    "What the evidence allows to say. A gap or strength has the support and is "
    "significant; suggestive ones lack support; insufficient ones are not tested.",
    (
        "no_evidence",
        "insufficient_evidence",
        "not_distinguishable",
        "suggestive_gap",
        "suggestive_strength",
        "gap",
        "strength",
    ),
)

CONCEPT_PERFORMANCE = Table(
    schema="mart",
    name="concept_performance",
    grain="encoder, benchmark, model, pooling and concept",
    description="How well each model does where a concept is active, with support, "
    "error and test. Unknown, not 0, where no scored item activates it.",
    partitions="benchmark",
    primary_key=(*BENCHMARK_KEY, "model_id", "pooling", "latent_index"),
    checks={
        "bounds_hold_performance": "performance between performance_low and "
        "performance_high",
        "undefined_has_no_evidence": "(performance is null) = "
        "(verdict = 'no_evidence')",
        "only_ranked_ones_are_tested": "q_value is null or is_ranked",
    },
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        MODEL_ID,
        POOLING,
        LATENT_INDEX,
        count("n_items", "Encoded items with a score."),
        Column(
            name="n_active_items",
            type="bigint",
            description="Scored items on which it is active.",
            nullable=True,
            minimum=1,
        ),
        N_EFFECTIVE,
        N_EFFECTIVE_CLUSTERS,
        _PERFORMANCE,
        _MEAN_SCORE,
        difference("difference", "Performance less mean score.", nullable=True),
        amount("sampling_error", "Clustered standard error.", nullable=True),
        amount(
            "standard_error",
            "That, or the least that so many effective items can have.",
            nullable=True,
        ),
        fraction("performance_low", "Lower 95 % bound.", nullable=True),
        fraction("performance_high", "Upper 95 % bound.", nullable=True),
        fraction(
            "shrunk_performance",
            "Drawn towards the mean score by as much as its noise calls for.",
            nullable=True,
        ),
        fraction(
            "probability_lower",
            "Chance that the true value is 5 points below the mean score or more.",
            nullable=True,
        ),
        number(
            "null_difference",
            "Performance by clusters less the mean over clusters.",
            nullable=True,
        ),
        amount(
            "null_error",
            "Its standard deviation if scores were dealt at random.",
            nullable=True,
        ),
        number("z", "One over the other.", nullable=True),
        fraction("p_value", "Two-sided; of ranked concepts only.", nullable=True),
        one_of(
            "p_method",
            "Normal curve with exact variance, or permutations drawn.",
            ("closed_form", "monte_carlo"),
            nullable=True,
        ),
        _Q_VALUE,
        flag("is_ranked", "Whether it has the support to be ranked."),
        VERDICT,
    ),
)

CONCEPT_PERFORMANCE_OVERALL = Table(
    schema="mart",
    name="concept_performance_overall",
    grain="encoder, model, pooling and concept",
    description="Performance over all benchmarks: the plain mean, and what it is off "
    "from each benchmark's mean score, by random effects.",
    primary_key=("encoder_id", "model_id", "pooling", "latent_index"),
    columns=(
        ENCODER_ID,
        MODEL_ID,
        POOLING,
        LATENT_INDEX,
        texts("benchmark_ids", "Benchmarks where it is defined, sorted."),
        count("n_benchmarks", "How many they are."),
        fraction("performance", "Plain mean over them.", nullable=True),
        difference("difference", "Mean of what it is off.", nullable=True),
        amount("difference_error", "Standard error of that.", nullable=True),
        amount("between_variance", "Variance between benchmarks.", nullable=True),
        fraction("i_squared", "Share of the scatter that is it.", nullable=True),
        amount("n_effective_clusters", "Sum over the benchmarks.", nullable=True),
        number("z", "Of the plain mean, by permutation.", nullable=True),
        fraction("p_value", "Two-sided, of z.", nullable=True),
        fraction(
            "q_value", "Of the difference, over the model's concepts.", nullable=True
        ),
        VERDICT,
    ),
)

_PEER_DIFFERENCE = (
    "Weighted score less the other models', less the same over all items."
)

CONCEPT_ADJUSTED = Table(
    schema="mart",
    name="concept_adjusted",
    grain="encoder, benchmark, model, pooling and concept active on a scored item",
    description="What each model got beyond what the others' scores on the same items "
    "let expect: worse than its peers, not bad.",
    partitions="benchmark",
    primary_key=(*BENCHMARK_KEY, "model_id", "pooling", "latent_index"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        MODEL_ID,
        POOLING,
        LATENT_INDEX,
        amount("n_effective_clusters", "Effective clusters."),
        difference("adjusted", "Saliency-weighted score less expected score."),
        amount("adjusted_error", "Standard error of that."),
        number("adjusted_z", "One over the other.", nullable=True),
        fraction("adjusted_p", "Two-sided; of ranked concepts.", nullable=True),
        fraction("adjusted_q", "After Benjamini and Hochberg.", nullable=True),
        number("peer_difference", _PEER_DIFFERENCE, nullable=True),
        number("peer_z", "Of that, by permutation of clusters.", nullable=True),
        fraction("peer_q", "Its q value.", nullable=True),
    ),
)

MODEL_GAPS = Table(
    schema="mart",
    name="model_gaps",
    grain="encoder, benchmark, model and concept",
    description="Concepts with support on which a model is significantly below its "
    "own mean score.",
    primary_key=(*BENCHMARK_KEY, "model_id", "latent_index"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        MODEL_ID,
        LATENT_INDEX,
        LABEL,
        count("n_active_items", "Scored items on which it is active."),
        N_EFFECTIVE_CLUSTERS,
        _PERFORMANCE,
        fraction("performance_low", "Lower 95 % bound."),
        fraction("performance_high", "Upper 95 % bound."),
        fraction("shrunk_performance", "Drawn towards the mean score."),
        _MEAN_SCORE,
        difference("difference", "Performance less mean score."),
        _Q_VALUE,
        fraction("performance_by_max", "By largest activations.", nullable=True),
        flag("is_robust", "Whether it is a gap by those too.", nullable=True),
        difference("adjusted", "Beyond what peers let expect.", nullable=True),
        amount("adjusted_error", "Standard error of that.", nullable=True),
        fraction("adjusted_q", "Its q value.", nullable=True),
        number("peer_difference", _PEER_DIFFERENCE, nullable=True),
        fraction("peer_q", "Its q value.", nullable=True),
        flag("is_lower_than_peers", "Whether both are lower.", nullable=True),
    ),
)

SLICE_CONCEPTS = Table(
    schema="mart",
    name="slice_concepts",
    grain="encoder, skill slice and concept that marks it",
    description="Concepts that are more or less active on a slice's items than on "
    "others of the same benchmarks.",
    primary_key=("encoder_id", "slice_id", "latent_index"),
    columns=(
        ENCODER_ID,
        SLICE_ID,
        LATENT_INDEX,
        count("n_slice_clusters", "Encoded clusters of the slice."),
        count("n_active_clusters", "Of them, those on which it is active."),
        amount("n_effective_clusters", "Effective ones."),
        amount("mean_inside", "Mean saliency inside the slice."),
        amount("mean_outside", "Outside it, in the same benchmarks."),
        amount("enrichment", "One over the other.", nullable=True),
        number("z", "Against random membership within benchmarks."),
        fraction("p_value", "Two-sided."),
        fraction("q_value", "Over all pairs that were tested."),
    ),
)

CONCEPT_STABILITY = Table(
    schema="mart",
    name="concept_stability",
    grain="encoder, benchmark, model and concept active on a scored item",
    description="How far coverage and performance move when a fifth of the items is "
    "left out, a hundred times.",
    partitions="benchmark",
    primary_key=(*BENCHMARK_KEY, "model_id", "latent_index"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        MODEL_ID,
        LATENT_INDEX,
        amount("n_effective", "Effective items."),
        amount("coverage_deviation", "Standard deviation of coverage.", nullable=True),
        amount(
            "coverage_standard_error",
            "What that says of the whole: twice as much.",
            nullable=True,
        ),
        amount("performance_deviation", "The same of performance.", nullable=True),
        amount("performance_standard_error", "And of the whole.", nullable=True),
        count("n_undefined", "Parts in which no item activates it."),
    ),
)

ENCODER_AGREEMENT = Table(
    schema="mart",
    name="encoder_agreement",
    grain="two encoders, benchmark and model",
    description="Whether concepts of two encoders that are salient on the same items "
    "rank a model's performance alike.",
    primary_key=("encoder_id", "other_encoder_id", "benchmark_id", "model_id"),
    columns=(
        ENCODER_ID,
        text("other_encoder_id", "The other encoder."),
        BENCHMARK_ID,
        MODEL_ID,
        count("n_matched", "Matched pairs, both ranked."),
        difference("rank_correlation", "Spearman's, weighted.", nullable=True),
        fraction("highest_jaccard", "Overlap of the highest tenths.", nullable=True),
        fraction("lowest_jaccard", "Overlap of the lowest tenths.", nullable=True),
        difference(
            "null_correlation_high",
            "95th percentile over random matches.",
            nullable=True,
        ),
        fraction("p_value", "One-sided, by those.", nullable=True),
        count("n_ranked", "Ranked concepts of the first encoder."),
        fraction("matched_share", "Share of them that has a match."),
    ),
)

ABLATION = Table(
    schema="mart",
    name="ablation",
    grain="encoder, model and side",
    description="What removing the items behind the best or worst concepts does to "
    "the median performance, beside two kinds of random removals.",
    primary_key=("encoder_id", "model_id", "side"),
    columns=(
        ENCODER_ID,
        MODEL_ID,
        one_of("side", "Whose items are removed.", ("best", "worst")),
        count("n_benchmarks", "Benchmarks with scores of the model."),
        count("n_removed", "Items removed."),
        count("n_chosen", "Concepts that they are aligned with."),
        count("n_concepts", "Concepts that the median is over."),
        fraction("median_before", "Median performance of them."),
        fraction("median_after", "The same without the items."),
        *(
            number(name, meaning, nullable=True)
            for name, meaning in (
                ("change", "One over the other, less 1."),
                ("random_change", "Mean change by as many random items."),
                ("random_change_low", "Its 2.5th percentile."),
                ("random_change_high", "Its 97.5th percentile."),
                ("matched_change", "Mean change by items of the same scores."),
                ("matched_change_low", "Its 2.5th percentile."),
                ("matched_change_high", "Its 97.5th percentile."),
                ("excess", "Change less that of items of the same scores."),
            )
        ),
        fraction("p_value", "Two-sided, by those.", nullable=True),
    ),
)
