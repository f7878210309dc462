"""Tables of what annotators and verifiers say beside the imported skills."""

from skillmap.contracts.columns import (
    ANNOTATOR,
    BENCHMARK_ID,
    ITEM_ID,
    amount,
    count,
    flag,
    fraction,
    one_of,
    place,
    text,
    texts,
)
from skillmap.contracts.table import Column, Table

OFFLINE_MENTIONS = Table(
    schema="core",
    name="offline_mentions",
    grain="sentence of an item and name of a skill that it is close to",
    description="Skills of a vocabulary that the sentences of an item's texts are "
    "close to, found without a language model; empty unless the settings ask for it.",
    partitions="benchmark",
    primary_key=("item_id", "mention_index"),
    keyed_in_duckdb=False,
    checks={"span_is_not_reversed": "span_start <= span_end"},
    columns=(
        BENCHMARK_ID,
        ITEM_ID,
        ANNOTATOR,
        place(
            "mention_index",
            "Running number of the mention within the benchmark, from 0.",
        ),
        one_of(
            "source",
            "The text that the sentence stands in.",
            ("question", "rationale"),
        ),
        place("step_index", "Number of the sentence among those with a skill, from 0."),
        place(
            "level_index", "Place in the skill's chain of names: 0 is the most general."
        ),
        text("phrase", "The skill's name at this level."),
        text("family", "Knowledge, perception or reasoning.", nullable=True),
        text("evidence", "The sentence."),
        place("span_start", "First character of the sentence in the text, from 0."),
        place("span_end", "Character after the sentence's last."),
        Column(
            name="similarity",
            type="double",
            description="Cosine of the sentence and the skill.",
            # Unit vectors in single precision leave the interval by rounding.
            minimum=-1.000001,
            maximum=1.000001,
        ),
    ),
)

_ROLES = ("listed", "easy_negative", "hard_negative")
_ROLE = one_of(
    "role",
    "Whether the item has the skill, or it was drawn from the others: far from all "
    "skills of the item, or near to one.",
    _ROLES,
)
_SCOPE = text("scope", "The benchmark, or 'all'.")

SKILL_VERDICTS = Table(
    schema="core",
    name="skill_verdicts",
    grain="item, skill and verifier",
    description="Whether verifiers find that an item takes a skill: those that it has, "
    "among others that it has not.",
    partitions="benchmark",
    primary_key=("item_id", "phrase", "verifier"),
    keyed_in_duckdb=False,
    checks={"a_verdict_or_a_reason": "(is_relevant is null) = (reason is not null)"},
    columns=(
        BENCHMARK_ID,
        ITEM_ID,
        text("phrase", "The skill's name as it was shown."),
        _ROLE,
        text("verifier", "The language model that was asked."),
        text("prompt_skill_id", "The skill's id in the prompt."),
        flag(
            "is_relevant",
            "The verdict; unknown where none could be read.",
            nullable=True,
        ),
        text("reason", "Why there is no verdict.", nullable=True),
        Column(
            name="similarity",
            type="double",
            description="Largest cosine to a skill of the item; unknown for its own.",
            nullable=True,
            minimum=-1.000001,
            maximum=1.000001,
        ),
        text("call_key", "Key of the call in the call log.", nullable=True),
    ),
)

VERIFICATION_RATES = Table(
    schema="mart",
    name="verification_rates",
    grain="scope, verifier and role",
    description="How often verifiers confirm the skills of items, and reject those "
    "that items do not have.",
    primary_key=("scope", "verifier", "role"),
    columns=(
        _SCOPE,
        text("verifier", "The language model that was asked."),
        _ROLE,
        one_of(
            "measure",
            "Relevancy: share of an item's skills that are called relevant. "
            "Specificity: share of other skills that are called not relevant.",
            ("relevancy", "specificity"),
        ),
        count("n_checks", "Items and skills with a verdict."),
        count("n_unreadable", "Items and skills without one, which count nowhere."),
        count("n_items", "Items of those with a verdict."),
        amount(
            "n_effective",
            "Independent checks that tell as much: those of one item are alike.",
            nullable=True,
        ),
        fraction("rate", "The measure.", nullable=True),
        fraction("rate_low", "Lower 95 % bound.", nullable=True),
        fraction("rate_high", "Upper 95 % bound.", nullable=True),
    ),
)

VERIFIER_AGREEMENT = Table(
    schema="mart",
    name="verifier_agreement",
    grain="scope and set of verifiers",
    description="How far verifiers agree beyond chance.",
    primary_key=("scope", "measure", "verifiers"),
    keyed_in_duckdb=False,
    columns=(
        _SCOPE,
        one_of(
            "measure",
            "Cohen's kappa of two verifiers, or Krippendorff's alpha of all.",
            ("cohen_kappa", "krippendorff_alpha"),
        ),
        texts("verifiers", "The verifiers, sorted."),
        count("n_checks", "Items and skills with at least two verdicts."),
        count("n_items", "Items of those."),
        fraction("agreement", "Share of equal verdicts.", nullable=True),
        Column(
            name="coefficient",
            type="double",
            description="The measure: 1 for full agreement, 0 for what chance gives; "
            "unknown where all verdicts are alike.",
            nullable=True,
            maximum=1,
        ),
        Column(
            name="coefficient_low",
            type="double",
            description="Lower 95 % bound, by items.",
            nullable=True,
        ),
        Column(
            name="coefficient_high",
            type="double",
            description="Upper 95 % bound, by items.",
            nullable=True,
        ),
    ),
)
