"""What encoders found on items, and what that adds up to.

Not among the registered tables yet: each needs its asset first.
"""

from skillmap.contracts.columns import (
    BENCHMARK_ID,
    ITEM_ID,
    MODEL_ID,
    amount,
    count,
    flag,
    fraction,
    one_of,
    place,
    text,
)
from skillmap.contracts.table import Column, Table

ENCODER_ID = text(
    "encoder_id",
    "The encoder: model, sparse autoencoder, hook, token policy and versions, hashed.",
)
LATENT_INDEX = place("latent_index", "The latent of the encoder's dictionary, from 0.")
POOLING = one_of(
    "pooling",
    "Saliency of an item: its mean or its largest activation.",
    ("mean", "max"),
)
BENCHMARK_KEY = ("encoder_id", "benchmark_id")
CONCEPT_KEY = (*BENCHMARK_KEY, "latent_index")
LABEL = text("label", "What the concept is about; unknown for none.", nullable=True)


def number(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column of numbers of either sign."""
    return Column(name=name, type="double", description=description, nullable=nullable)


N_EFFECTIVE = amount(
    "n_effective",
    "Equally salient items that would say as much: (sum w)² / sum w².",
    nullable=True,
)
N_EFFECTIVE_CLUSTERS = amount(
    "n_effective_clusters",
    "The same of clusters: items that are duplicates of each other count once.",
    nullable=True,
)

ITEM_CONCEPTS = Table(
    schema="core",
    name="item_concepts",
    grain="encoder, item and latent that is active on it",
    description="How strongly each item activates each latent. What is not here is 0.",
    partitions="benchmark",
    keyed_in_duckdb=False,
    published_as="view",
    primary_key=("encoder_id", "item_id", "latent_index"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        ITEM_ID,
        LATENT_INDEX,
        amount("mean_activation", "Mean over the item's kept tokens, above 0."),
        amount("max_activation", "Largest activation on a kept token."),
        Column(
            name="n_active_tokens",
            type="bigint",
            description="Kept tokens on which the latent is active.",
            minimum=1,
        ),
        place("position_of_max", "Place of the largest among the kept tokens."),
    ),
    checks={"mean_is_no_larger": "mean_activation <= max_activation * 1.000001"},
)

ITEM_ENCODINGS = Table(
    schema="core",
    name="item_encodings",
    grain="encoder and item",
    description="What became of each item's text in the encoder.",
    partitions="benchmark",
    primary_key=("encoder_id", "item_id"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        ITEM_ID,
        text("status", "'encoded', or why there are no activations."),
        text("reason", "More on that, where there is more to say.", nullable=True),
        count("n_tokens", "Tokens of the whole text."),
        count("n_kept_tokens", "Tokens that activations are means over."),
        count("n_outlier_tokens", "Tokens left out for the length of their vectors."),
        flag("is_truncated", "Whether the text was cut to the longest length."),
        amount("mass", "Sum of the mean activations.", nullable=True),
        amount("l0_mean", "Mean active latents of a kept token.", nullable=True),
        Column(
            name="n_active_latents",
            type="bigint",
            description="Latents that are active on the item.",
            nullable=True,
            minimum=0,
        ),
    ),
)

CONCEPTS = Table(
    schema="core",
    name="concepts",
    grain="latent of an encoder",
    description="The encoder's dictionary, with labels where there are any.",
    primary_key=("encoder_id", "latent_index"),
    columns=(
        ENCODER_ID,
        LATENT_INDEX,
        LABEL,
        text("label_source", "Where the label comes from.", nullable=True),
        flag("in_dictionary", "Whether the concept counts in coverage by default."),
        text("reason", "Why it is or is not in the dictionary.", nullable=True),
        flag("is_dense", "Whether it is active on over a tenth of ordinary tokens."),
        fraction(
            "reference_density",
            "Share of a reference corpus's tokens on which it is active.",
            nullable=True,
        ),
    ),
)

BENCHMARK_SUMS = Table(
    schema="core",
    name="benchmark_sums",
    grain="encoder and benchmark",
    description="How much of the benchmark was encoded.",
    primary_key=BENCHMARK_KEY,
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        count("n_items", "Encoded items."),
        count("n_clusters", "Clusters of encoded items."),
        count("n_tokens", "Kept tokens of the encoded items."),
    ),
)

CONCEPT_SUMS = Table(
    schema="core",
    name="concept_sums",
    grain="encoder, benchmark and latent that is active on an item",
    description="What the saliencies w of the encoded items add up to.",
    partitions="benchmark",
    primary_key=CONCEPT_KEY,
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        LATENT_INDEX,
        count("n_active_items", "Items on which it is active."),
        count("n_active_clusters", "Clusters with such an item."),
        count("n_active_tokens", "Tokens on which it is active."),
        amount("s1", "Sum of w."),
        amount("s2", "Sum of w²."),
        amount("cluster_s2", "Sum over clusters of the squared sum of w."),
        amount("max_activation", "Largest activation on any token."),
    ),
)

CONCEPT_SCORE_SUMS = Table(
    schema="core",
    name="concept_score_sums",
    grain="encoder, benchmark, model, pooling and latent active on a scored item",
    description="What saliencies w and scores s of the scored items add up to; W and V "
    "are the sums of w and ws within a cluster.",
    partitions="benchmark",
    primary_key=(*BENCHMARK_KEY, "model_id", "pooling", "latent_index"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        MODEL_ID,
        POOLING,
        LATENT_INDEX,
        count("n_active_items", "Scored items on which it is active."),
        amount("s1", "Sum of w."),
        amount("s2", "Sum of w²."),
        amount("y1", "Sum of ws."),
        amount("y2", "Sum of w²s."),
        amount("y3", "Sum of w²s²."),
        amount("cluster_s2", "Sum of W²."),
        amount("cluster_y1", "Sum of W times the cluster's mean score."),
        amount("cluster_y2", "Sum of WV."),
        amount("cluster_y3", "Sum of V²."),
    ),
)

BENCHMARK_SCORE_SUMS = Table(
    schema="core",
    name="benchmark_score_sums",
    grain="encoder, benchmark and model",
    description="Scores of the encoded items, whatever is active on them.",
    primary_key=(*BENCHMARK_KEY, "model_id"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        MODEL_ID,
        count("n_items", "Encoded items with a score."),
        fraction("mean_score", "Mean over the items."),
        amount("score_variance", "Sample variance over the items.", nullable=True),
        count("n_clusters", "Clusters with a score."),
        fraction("cluster_mean_score", "Mean of the clusters' mean scores."),
        amount("cluster_score_variance", "Their sample variance.", nullable=True),
    ),
)

CONCEPT_FAMILIES = Table(
    schema="core",
    name="concept_families",
    grain="encoder, method and latent",
    description="Latents that are one idea split up: decoder rows that point the same "
    "way, or saliencies that rise and fall together.",
    primary_key=("encoder_id", "method", "latent_index"),
    columns=(
        ENCODER_ID,
        one_of("method", "What makes latents alike.", ("decoder", "items")),
        LATENT_INDEX,
        place("family_index", "The family: its first latent."),
        Column(name="n_members", type="bigint", description="Its latents.", minimum=1),
        amount("decoder_norm", "Weight of the latent's activations in the family's."),
    ),
)

CONCEPT_RELEVANCE = Table(
    schema="core",
    name="concept_relevance",
    grain="encoder, benchmark, concept and method",
    description="Whether a concept belongs to what the benchmark sets out to test.",
    primary_key=(*CONCEPT_KEY, "method"),
    columns=(
        ENCODER_ID,
        BENCHMARK_ID,
        LATENT_INDEX,
        text("method", "'terms' for shared words; else the judge."),
        one_of(
            "relevance",
            "Whether a careful designer would expect items that exercise it.",
            ("relevant", "irrelevant", "unclear"),
        ),
        fraction("score", "Cosine, or the judge's confidence.", nullable=True),
    ),
)
