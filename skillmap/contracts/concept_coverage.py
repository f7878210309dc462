"""What benchmarks exercise, in concepts, and what they leave out."""

from skillmap.contracts.columns import (
    BENCHMARK_ID,
    amount,
    count,
    flag,
    fraction,
    one_of,
    place,
    text,
    texts,
)
from skillmap.contracts.concepts import (
    BENCHMARK_KEY,
    CONCEPT_KEY,
    ENCODER_ID,
    LABEL,
    LATENT_INDEX,
    N_EFFECTIVE,
    N_EFFECTIVE_CLUSTERS,
    number,
)
from skillmap.contracts.table import Table

CONCEPT_COVERAGE = Table(
    schema="mart",
    name="concept_coverage",
    grain="encoder, benchmark and concept of the dictionary",
    description="How much each benchmark exercises each concept; 1 is its own mean "
    "concept, 0 is never active.",
    partitions="benchmark",
    primary_key=CONCEPT_KEY,
    checks={"strictly_missing_is_missing": "is_missing or not is_missing_strict"},
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        LATENT_INDEX,
        amount("saliency", "Sum of the mean activations over the items."),
        amount("coverage", "Saliency over the normaliser.", nullable=True),
        amount(
            "coverage_without_dense",
            "Over the mean of the latents that are not dense; unknown for dense ones.",
            nullable=True,
        ),
        fraction("share", "Share of the benchmark's saliency.", nullable=True),
        count("n_items", "Encoded items."),
        count("n_active_items", "Items on which it is active."),
        N_EFFECTIVE,
        N_EFFECTIVE_CLUSTERS,
        fraction("item_share", "Share of the items on which it is active."),
        fraction(
            "prevalence_high",
            "Upper 95 % bound of that share among items of the kind, one-sided.",
        ),
        fraction("token_share", "Share of the kept tokens.", nullable=True),
        number(
            "lift",
            "Logarithm of that share over the reference corpus's.",
            nullable=True,
        ),
        flag("is_missing_strict", "Whether it is never active."),
        flag("is_missing", "Whether its coverage is below the threshold."),
        one_of(
            "representation",
            "Missing, or its place among the concepts that are not.",
            ("missing", "under", "typical", "over"),
        ),
        flag("is_dense", "Whether it is active on much of any text."),
        flag("is_template", "Whether it marks the benchmark's wording."),
    ),
)

COVERAGE_SUMMARY = Table(
    schema="mart",
    name="coverage_summary",
    grain="encoder and benchmark",
    description="What each benchmark leaves out, and how its saliency is spread.",
    primary_key=BENCHMARK_KEY,
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        count("n_items", "Encoded items."),
        count("n_concepts", "Concepts of the dictionary."),
        count("n_missing_strict", "Never active."),
        count("n_missing", "Missing."),
        fraction("missing_share", "Share of the concepts that is missing."),
        count("n_under", "Under-represented."),
        count("n_over", "Over-represented."),
        count("n_dense", "Dense latents."),
        count("n_template", "Template latents."),
        fraction("dense_share", "Share of saliency in dense latents."),
        fraction("template_share", "Share of saliency in template latents."),
        fraction("top_1_share", "Share of saliency in the first concept."),
        fraction("top_10_share", "Share in the first 10."),
        fraction("top_100_share", "Share in the first 100."),
        amount("entropy", "Of the shares, in nats.", nullable=True),
        amount("n_effective_concepts", "Exponential of the entropy.", nullable=True),
    ),
)

CONCEPT_COVERAGE_OVERALL = Table(
    schema="mart",
    name="concept_coverage_overall",
    grain="encoder and concept",
    description="Mean coverage over the benchmarks; never active counts as 0.",
    primary_key=("encoder_id", "latent_index"),
    columns=(
        ENCODER_ID,
        LATENT_INDEX,
        amount("coverage", "Plain mean over the benchmarks.", nullable=True),
        count("n_benchmarks", "Benchmarks."),
        count("n_benchmarks_missing", "Benchmarks that it is missing in."),
        flag("is_missing_everywhere", "Whether it is missing in all of them."),
        count("n_active_items", "Items on which it is active, of all."),
        amount("n_effective_clusters", "Sum of its effective clusters."),
    ),
)

BENCHMARK_OVERLAP = Table(
    schema="mart",
    name="benchmark_overlap",
    grain="encoder and ordered pair of benchmarks",
    description="How alike the concepts of two benchmarks are.",
    primary_key=("encoder_id", "benchmark_id", "other_benchmark_id"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        text("other_benchmark_id", "The other benchmark."),
        count("n_concepts", "Concepts that are not missing in the first."),
        count("n_other_concepts", "In the other."),
        count("n_common", "In both."),
        fraction("jaccard", "Common over either's concepts.", nullable=True),
        fraction("containment", "Common over the smaller's.", nullable=True),
        fraction("jensen_shannon", "Distance of the shares, base 2.", nullable=True),
    ),
)

BENCHMARK_GAPS = Table(
    schema="mart",
    name="benchmark_gaps",
    grain="encoder, benchmark and concept that it lacks",
    description="Relevant concepts that a benchmark leaves out or hardly exercises.",
    primary_key=CONCEPT_KEY,
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        LATENT_INDEX,
        LABEL,
        one_of("representation", "How it is lacking.", ("missing", "under")),
        amount("coverage", "Its coverage.", nullable=True),
        count("n_items", "Encoded items."),
        count("n_active_items", "Items on which it is active."),
        N_EFFECTIVE_CLUSTERS,
        fraction("prevalence_high", "Upper 95 % bound of its share of items."),
        flag("is_missing_strict", "Whether it is never active."),
        text("relevance_method", "Who found it relevant."),
    ),
)

MISSING_BY_TAU = Table(
    schema="mart",
    name="missing_by_tau",
    grain="encoder, benchmark and threshold",
    description="How many concepts are missing at each threshold of coverage.",
    primary_key=(*BENCHMARK_KEY, "tau"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        amount("tau", "Coverage below which a concept is missing; 0: never active."),
        count("n_concepts", "Concepts of the dictionary."),
        count("n_missing", "Those that are missing."),
        fraction("missing_share", "Their share."),
    ),
)

RAREFACTION = Table(
    schema="mart",
    name="rarefaction",
    grain="encoder, benchmark and size",
    description="Concepts expected in a random part of the benchmark.",
    primary_key=(*BENCHMARK_KEY, "n_drawn"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        count("n_drawn", "Items of the part."),
        amount("expected_concepts", "Concepts expected to be active."),
        count("n_concepts", "Concepts of the dictionary."),
        amount("expected_tokens", "Tokens expected in the part."),
        fraction("missing_share", "Share of the dictionary that is not active."),
    ),
)

UNSEEN_CONCEPTS = Table(
    schema="mart",
    name="unseen_concepts",
    grain="encoder and benchmark",
    description="Concepts that more items of the kind would show, by Chao's bound.",
    primary_key=BENCHMARK_KEY,
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        count("n_active_concepts", "Concepts that are active."),
        count("n_once", "Active on one item."),
        count("n_twice", "Active on two."),
        count("n_never_active", "Never active."),
        amount("expected_unseen", "Of those, at least so many would be shown."),
    ),
)

GAP_THEMES = Table(
    schema="mart",
    name="gap_themes",
    grain="encoder, benchmark and theme of its gaps",
    description="Gaps of one benchmark whose labels are alike, with all members.",
    primary_key=(*BENCHMARK_KEY, "theme_index"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        place("theme_index", "The theme, by its first member."),
        text("theme", "Terms that most labels share."),
        count("n_concepts", "Members."),
        count("n_supported", "Members with the support to be ranked."),
        amount("total_coverage", "Sum of their coverages.", nullable=True),
        amount("mean_coverage", "Mean of their coverages.", nullable=True),
        texts("latent_indexes", "The members."),
        texts("labels", "Their labels."),
    ),
)
