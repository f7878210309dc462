"""Tables of small questions that test whether a model's skill hangs together."""

from skillmap.contracts.columns import (
    ITEM_ID,
    SKILL_ID,
    SKILL_NAME,
    count,
    flag,
    fraction,
    one_of,
    text,
)
from skillmap.contracts.table import Table

_LEVEL = one_of(
    "level",
    "Whether the skill is among those with the lowest, middle or highest accuracy, "
    "the mean over models.",
    ("lowest", "middle", "highest"),
)
_TESTED = text("language_model", "The language model that was probed.")

SKILL_PROBES = Table(
    schema="core",
    name="skill_probes",
    grain="skill, item and probed language model",
    description="Questions made of one step of a rationale, and whether a model's "
    "answers to them agree with each other.",
    primary_key=("probe_id", "language_model"),
    keyed_in_duckdb=False,
    checks={
        "a_judgement_or_a_reason": "(is_consistent is null) = (reason is not null)"
    },
    columns=(
        text("probe_id", "The probe: skill and item, joined."),
        SKILL_ID,
        SKILL_NAME,
        _LEVEL,
        fraction("accuracy", "The skill's accuracy, the mean over models."),
        ITEM_ID,
        text("span", "The step that the probe was made of."),
        text("claim", "What the step claims.", nullable=True),
        text("q1", "The claim as a question to say yes to.", nullable=True),
        text("q2", "A near claim that contradicts it, as a question.", nullable=True),
        text("q3", "An open question that the claim answers.", nullable=True),
        _TESTED,
        text("judge", "The language model that judged the answers."),
        flag(
            "is_consistent",
            "Whether the five answers agree; unknown where none could be judged.",
            nullable=True,
        ),
        one_of(
            "failed_stage",
            "Where it failed: making the probe, answering, or judging.",
            ("probe", "answer", "judgement"),
            nullable=True,
        ),
        text("reason", "Why there is no judgement.", nullable=True),
    ),
)

PROBE_INCONSISTENCY = Table(
    schema="mart",
    name="probe_inconsistency",
    grain="level of accuracy and probed language model",
    description="How often a model's answers about one step contradict each other. "
    "Probes that failed are counted apart, and as neither.",
    primary_key=("level", "language_model"),
    columns=(
        _LEVEL,
        _TESTED,
        count("n_probes", "Probes that were judged."),
        count("n_failed", "Probes that were not, which count nowhere."),
        count("n_items", "Items of those judged."),
        fraction(
            "inconsistency",
            "Share of judged probes that are not consistent.",
            nullable=True,
        ),
        fraction("inconsistency_low", "Lower 95 % bound, by items.", nullable=True),
        fraction("inconsistency_high", "Upper 95 % bound, by items.", nullable=True),
    ),
)
