"""Columns that stand in more than one table, each written once."""

from skillmap.contracts.table import Column

OUTCOMES = (
    "correct",
    "wrong",
    "partial",
    "unparsed",
    "refusal",
    "empty",
    "truncated",
    "error",
    "not_attempted",
    "unscored",
)

BENCHMARK_ID = Column(
    name="benchmark_id", type="varchar", description="The benchmark's name."
)
MODEL_ID = Column(
    name="model_id",
    type="varchar",
    description="The evaluated model, one name whatever its sources call it.",
)
ITEM_ID = Column(
    name="item_id",
    type="varchar",
    description="The item: benchmark and native id, joined by a colon.",
)
SOURCE_ID = Column(
    name="source_id",
    type="varchar",
    description="The imported file, a short hash of its place.",
)
EVAL_RUN_ID = Column(
    name="eval_run_id",
    type="varchar",
    description="One model on one benchmark in one configuration.",
)
EPOCH = Column(
    name="epoch",
    type="bigint",
    description="Repetition of the item within the eval run, from 0.",
    minimum=0,
)
IS_PRIMARY = Column(
    name="is_primary",
    type="boolean",
    description="Whether this is the eval run that the marts use for its model and "
    "benchmark: the one that covers most items.",
)
IS_DRIFTED = Column(
    name="is_drifted",
    type="boolean",
    description="Whether the source states another question, options or answer under "
    "this item's id than the current release does; unknown where it states none.",
    nullable=True,
)
CONTENT_HASH = Column(
    name="content_hash",
    type="varchar",
    description="Hash of the normalised question, options and reference answer; "
    "unknown without a question.",
    nullable=True,
)
RELEASE_ID = Column(
    name="release_id",
    type="varchar",
    description="One version of the benchmark, a hash of its items' contents.",
)
ANNOTATOR = Column(
    name="annotator",
    type="varchar",
    description="Who wrote the rationale or named the skill: a model or a person.",
)
RATIONALE_ID = Column(
    name="rationale_id",
    type="varchar",
    description="The item and its annotator, joined.",
)
SKILL_ID = Column(
    name="skill_id",
    type="varchar",
    description="The canonical skill: 'skill:' and its name as a slug.",
)
SKILL_NAME = Column(
    name="skill_name",
    type="varchar",
    description="The skill's most central phrase.",
)
BROAD_SKILL_ID = Column(
    name="broad_skill_id",
    type="varchar",
    description="The broad skill, a group of skills that are akin: 'skills:' and the "
    "slug of its name.",
)
BROAD_SKILL_NAME = Column(
    name="broad_skill_name",
    type="varchar",
    description="The name of the broad skill's most central skill.",
)
SLICE_ID = Column(
    name="slice_id",
    type="varchar",
    description="The items that share a skill or broad skill; the id is the skill's.",
)
SLICE_NAME = Column(
    name="slice_name",
    type="varchar",
    description="The name of the slice's skill, with '(broad)' behind a broad one.",
)
ACCURACY_LOW = Column(
    name="accuracy_low",
    type="double",
    description="Lower 95 % Wilson bound of the accuracy.",
    minimum=0,
    maximum=1,
)
ACCURACY_HIGH = Column(
    name="accuracy_high",
    type="double",
    description="Upper 95 % Wilson bound of the accuracy.",
    minimum=0,
    maximum=1,
)


def count(name: str, description: str) -> Column:
    """A column ``n_<things>``: a whole number from 0."""
    return Column(name=name, type="bigint", description=description, minimum=0)


def place(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column of places in an order, from 0."""
    return Column(
        name=name, type="bigint", description=description, nullable=nullable, minimum=0
    )


def one_of(
    name: str, description: str, allowed: tuple[str, ...], *, nullable: bool = False
) -> Column:
    """A column that holds one of a few words."""
    return Column(
        name=name,
        type="varchar",
        description=description,
        nullable=nullable,
        allowed=allowed,
    )


def amount(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column of numbers from 0, such as costs."""
    return Column(
        name=name, type="double", description=description, nullable=nullable, minimum=0
    )


def fraction(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column in [0, 1]."""
    return Column(
        name=name,
        type="double",
        description=description,
        nullable=nullable,
        minimum=0,
        maximum=1,
    )


def difference(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column in [-1, 1]: one fraction less another."""
    return Column(
        name=name,
        type="double",
        description=description,
        nullable=nullable,
        minimum=-1,
        maximum=1,
    )


def text(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column of free text."""
    return Column(name=name, type="varchar", description=description, nullable=nullable)


def flag(name: str, description: str, *, nullable: bool = False) -> Column:
    """A column that is true or false."""
    return Column(name=name, type="boolean", description=description, nullable=nullable)


def texts(name: str, description: str) -> Column:
    """A column that lists texts; an empty list says none."""
    return Column(name=name, type="varchar[]", description=description)
