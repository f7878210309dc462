"""Typed, keyed facts: benchmarks, items, models, results, skills and slices."""

from skillmap.contracts.columns import (
    ANNOTATOR,
    BENCHMARK_ID,
    BROAD_SKILL_ID,
    BROAD_SKILL_NAME,
    CONTENT_HASH,
    EPOCH,
    EVAL_RUN_ID,
    IS_DRIFTED,
    IS_PRIMARY,
    ITEM_ID,
    MODEL_ID,
    OUTCOMES,
    RATIONALE_ID,
    RELEASE_ID,
    SKILL_ID,
    SKILL_NAME,
    SLICE_ID,
    SLICE_NAME,
    SOURCE_ID,
    count,
    flag,
    fraction,
    one_of,
    place,
    text,
    texts,
)
from skillmap.contracts.raw import CALL_COLUMNS
from skillmap.contracts.table import Column, Table

ITEMS = Table(
    schema="core",
    name="items",
    grain="item of a benchmark",
    description="The questions, with their options and reference answers, as the "
    "benchmark's current release states them; items that only another release has are "
    "kept under that release.",
    partitions="benchmark",
    primary_key=("item_id",),
    checks={"item_id_names_its_benchmark": "starts_with(item_id, benchmark_id)"},
    columns=(
        ITEM_ID,
        BENCHMARK_ID,
        text("native_id", "The id the benchmark's authors gave, as text."),
        one_of(
            "native_id_type",
            "What the native id was before it became text.",
            ("integer", "text", "position"),
        ),
        place(
            "item_position",
            "Place in the benchmark's declared order, from 0; unknown "
            "where no order is declared.",
            nullable=True,
        ),
        text(
            "question", "The question; unknown where no source has it.", nullable=True
        ),
        texts("choices", "The options in their order; empty for a free form item."),
        count("n_choices", "Options of the item; 0 for a free form item."),
        text("answer", "The reference answer: a letter or a text.", nullable=True),
        text("category", "The benchmark's own category.", nullable=True),
        text("origin", "Where the benchmark took the item from.", nullable=True),
        CONTENT_HASH,
        text("question_hash", "Hash of the normalised question.", nullable=True),
        RELEASE_ID,
    ),
)

BENCHMARKS = Table(
    schema="core",
    name="benchmarks",
    grain="release of a benchmark met in the sources",
    description="Versions of each benchmark. Sources that agree on every item they "
    "share are of one release; the release of most sources is the current one.",
    partitions="benchmark",
    primary_key=("benchmark_id", "release_id"),
    columns=(
        BENCHMARK_ID,
        RELEASE_ID,
        flag("is_current", "Whether core.items holds this release."),
        count("n_items", "Items of the release."),
        count("n_drifted_items", "Items that differ from the current release's."),
        count("n_sources", "Sources that state this release."),
        texts("source_ids", "Those sources, sorted."),
    ),
)

ITEM_GROUPS = Table(
    schema="core",
    name="item_groups",
    grain="item that has a duplicate, and kind of duplicate",
    description="Items that are the same question. Exact: same question and same set "
    "of options. Near: same question, options that overlap, such as an MMLU-Pro item "
    "made from an MMLU item. Items without a twin are not listed.",
    primary_key=("item_id", "kind"),
    columns=(
        ITEM_ID,
        BENCHMARK_ID,
        one_of("kind", "How alike the items of the group are.", ("exact", "near")),
        text("group_id", "The duplicate group."),
        Column(
            name="n_group_items",
            type="bigint",
            description="Items in the group, over all benchmarks.",
            minimum=2,
        ),
    ),
    cross_checks=("every_grouped_item_is_known",),
)

EVAL_RUNS = Table(
    schema="core",
    name="eval_runs",
    grain="model, benchmark and configuration",
    description="One model on one benchmark in one configuration. Sources of a format "
    "that share no item are parts of one eval run; sources that score the same items "
    "are eval runs of their own.",
    partitions="benchmark_model",
    primary_key=("eval_run_id",),
    columns=(
        EVAL_RUN_ID,
        BENCHMARK_ID,
        MODEL_ID,
        texts("source_ids", "The imported files, sorted."),
        texts("source_model_names", "The model's names in those files, sorted."),
        text("format", "The format that was read."),
        IS_PRIMARY,
        text(
            "release_id",
            "The benchmark release that the source states; unknown where "
            "it states no questions.",
            nullable=True,
        ),
        count("n_responses", "Responses of the eval run."),
        count("n_items", "Items with at least one response."),
        count("n_drifted", "Responses to an item that differs from the current one."),
    ),
)

MODELS = Table(
    schema="core",
    name="models",
    grain="evaluated model",
    description="The models, each under one name, with the names its sources use.",
    partitions="model",
    primary_key=("model_id",),
    columns=(
        MODEL_ID,
        texts("source_names", "Names of the model in its sources, sorted."),
        texts("benchmark_ids", "Benchmarks with results of the model, sorted."),
    ),
)

RESPONSES = Table(
    schema="core",
    name="responses",
    grain="eval run, item and epoch",
    description="What the model wrote, as the source gave it.",
    partitions="benchmark_model",
    primary_key=("eval_run_id", "item_id", "epoch"),
    keyed_in_duckdb=False,
    published_as="view",
    cross_checks=("every_response_has_an_item",),
    columns=(
        EVAL_RUN_ID,
        BENCHMARK_ID,
        MODEL_ID,
        ITEM_ID,
        EPOCH,
        SOURCE_ID,
        place("record_position", "Number of the record in its source, from 0."),
        text("response", "The model's text; unknown where not kept.", nullable=True),
        text("prediction", "The answer the source read from it.", nullable=True),
        CONTENT_HASH,
        IS_DRIFTED,
        flag(
            "has_replaced_characters",
            "Whether characters that are not text were replaced by U+FFFD.",
        ),
        *CALL_COLUMNS,
    ),
)

SCORES = Table(
    schema="core",
    name="scores",
    grain="response and extractor version",
    description="How good each response is, and what became of it. The score is NULL "
    "where there is none; how such an outcome counts is the marts' policy.",
    partitions="benchmark_model",
    primary_key=("eval_run_id", "item_id", "epoch", "extractor"),
    keyed_in_duckdb=False,
    checks={
        "a_correct_answer_scores_1": "outcome != 'correct' or score = 1",
        "a_wrong_answer_scores_0": "outcome != 'wrong' or score = 0",
        "a_partial_answer_scores_between": "outcome != 'partial' or "
        "(score > 0 and score < 1)",
        "only_an_answer_has_a_score": "outcome in ('correct', 'wrong', 'partial', "
        "'unparsed', 'empty') or score is null",
    },
    cross_checks=("every_score_has_a_response", "responses_are_not_all_empty"),
    cautions=("results_are_of_the_current_release", "predictions_stand_in_responses"),
    columns=(
        EVAL_RUN_ID,
        BENCHMARK_ID,
        MODEL_ID,
        ITEM_ID,
        EPOCH,
        text("extractor", "What read the answer; 'source' is the source itself."),
        text("prediction", "The answer it read; unknown where none.", nullable=True),
        one_of("outcome", "What became of the response.", OUTCOMES),
        fraction("score", "How right it is; NULL where there is none.", nullable=True),
        IS_PRIMARY,
        IS_DRIFTED,
        flag(
            "is_prediction_in_response",
            "Whether the prediction, or the option it stands for, is anywhere in the "
            "response; unknown without either.",
            nullable=True,
        ),
    ),
)

RATIONALES = Table(
    schema="core",
    name="rationales",
    grain="item and annotator",
    description="Step by step solutions, and how well they could be read.",
    partitions="benchmark",
    primary_key=("rationale_id",),
    cross_checks=("every_rationale_has_an_item",),
    columns=(
        RATIONALE_ID,
        BENCHMARK_ID,
        ITEM_ID,
        ANNOTATOR,
        SOURCE_ID,
        text("rationale", "The annotator's text.", nullable=True),
        one_of(
            "parse_status",
            "How the text was read.",
            ("parsed", "parsed_with_faults", "no_skills", "empty"),
        ),
        count("n_steps", "Steps found."),
        count("n_mentions", "Skill mentions found."),
        text("answer", "The answer the rationale ends in.", nullable=True),
        texts("faults", "What was wrong with the text, as fault names."),
    ),
)

SKILL_MENTIONS = Table(
    schema="core",
    name="skill_mentions",
    grain="skill named for an item, at one step and level",
    description="Skills as annotators wrote them, from rationales or as phrases.",
    partitions="benchmark",
    primary_key=("mention_id",),
    keyed_in_duckdb=False,
    cross_checks=("every_mention_has_an_item",),
    columns=(
        text("mention_id", "The mention: item, annotator and running number."),
        BENCHMARK_ID,
        ITEM_ID,
        ANNOTATOR,
        SOURCE_ID,
        text(
            "rationale_id",
            "The rationale it stands in; unknown for a bare phrase.",
            nullable=True,
        ),
        place("step_index", "Step of the rationale, from 0.", nullable=True),
        place(
            "level_index", "Place in the step's chain of skills: 0 is the most general."
        ),
        text("phrase", "The skill as written."),
        text(
            "normalised_phrase",
            "The skill in one spelling; NULL where nothing is left.",
            nullable=True,
        ),
        text("family", "Knowledge, perception or reasoning.", nullable=True),
        text("evidence", "What the step rests on.", nullable=True),
        text("conclusion", "What the step concludes.", nullable=True),
        place(
            "span_start",
            "First character of the step in the rationale, from 0.",
            nullable=True,
        ),
        place("span_end", "Character after the step's last.", nullable=True),
    ),
    checks={"span_is_not_reversed": "span_start is null or span_start <= span_end"},
)

SKILL_NAMES = Table(
    schema="core",
    name="skill_names",
    grain="skill phrase in one spelling",
    description="Which canonical skill each phrase belongs to.",
    primary_key=("phrase",),
    columns=(
        text("phrase", "The phrase in one spelling."),
        SKILL_ID,
        SKILL_NAME,
        Column(
            name="similarity",
            type="double",
            description="Cosine of the phrase to its skill's mean direction.",
            # Unit vectors in single precision leave the interval by rounding.
            minimum=-1.000001,
            maximum=1.000001,
        ),
        BROAD_SKILL_ID,
        BROAD_SKILL_NAME,
        count("n_mentions", "Mentions with this phrase."),
        count("n_items", "Items that mention this phrase."),
    ),
)

SKILLS = Table(
    schema="core",
    name="skills",
    grain="canonical skill",
    description="Skills, each a group of phrases that mean the same.",
    primary_key=("skill_id",),
    columns=(
        SKILL_ID,
        SKILL_NAME,
        BROAD_SKILL_ID,
        BROAD_SKILL_NAME,
        count("n_phrases", "Phrases merged in the skill."),
        count("n_mentions", "Mentions of those phrases."),
        count("n_items", "Items that need the skill, inherited ones included."),
        count("n_benchmarks", "Benchmarks of those items."),
    ),
)

ITEM_SKILLS = Table(
    schema="core",
    name="item_skills",
    grain="item and skill",
    description="Which skills each item needs. An item that nobody annotated inherits "
    "the skills of its duplicates.",
    primary_key=("item_id", "skill_id"),
    keyed_in_duckdb=False,
    cross_checks=("every_item_skill_is_known",),
    columns=(
        ITEM_ID,
        BENCHMARK_ID,
        SKILL_ID,
        one_of(
            "origin",
            "Whether the item was annotated or a duplicate of it.",
            ("mention", "exact_duplicate", "near_duplicate"),
        ),
        count("n_mentions", "Mentions of the skill; of the duplicates if inherited."),
    ),
)

SLICES = Table(
    schema="core",
    name="slices",
    grain="skill or broad skill with enough items",
    description="Groups of items that share a skill or a broad skill, across "
    "benchmarks. Slices overlap, and a broad one holds those of its skills.",
    primary_key=("slice_id",),
    columns=(
        SLICE_ID,
        SLICE_NAME,
        Column(
            name="level",
            type="varchar",
            description="Whether its items share a skill or a broad skill.",
            allowed=("skill", "broad"),
        ),
        count("n_items", "Items of the slice."),
        count("n_inherited_items", "Items that have the skill from a duplicate."),
        texts("benchmark_ids", "Benchmarks of the items, sorted."),
    ),
)

SLICE_ITEMS = Table(
    schema="core",
    name="slice_items",
    grain="slice and item",
    description="The items of each slice.",
    primary_key=("slice_id", "item_id"),
    keyed_in_duckdb=False,
    cross_checks=("every_slice_item_is_known",),
    columns=(SLICE_ID, ITEM_ID, BENCHMARK_ID),
)
