"""Steps of rationales, and the small questions made of them."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import polars as pl

from skillmap.calls import Call, Reply
from skillmap.errors import InvalidInputError
from skillmap.prompting.draws import drawn
from skillmap.prompting.item_calls import Asked
from skillmap.prompting.json_replies import JsonObject, read_json_reply
from skillmap.prompting.spoken import refusals_in_words, spoken, status_of
from skillmap.prompting.structures import closed_object, structure_of
from skillmap.prompting.templates import PromptTemplate, bundled_template

LEVELS: Final = ("lowest", "middle", "highest")

SPANS_SCHEMA: Final = pl.Schema(
    {
        "probe_id": pl.String(),
        "skill_id": pl.String(),
        "skill_name": pl.String(),
        "item_id": pl.String(),
        "span": pl.String(),
    }
)
"""One row per skill and step that a probe is made of."""

PROBES_SCHEMA: Final = pl.Schema(
    {
        **SPANS_SCHEMA,
        "claim": pl.String(),
        "q1": pl.String(),
        "q2": pl.String(),
        "q3": pl.String(),
        "reason": pl.String(),
        "call_key": pl.String(),
    }
)
"""``reason`` says why there is no probe, and is NULL where there is one: "unreadable"
(a question is missing), or what became of the reply, such as "refused"."""

PROBE_STRUCTURE: Final = structure_of(
    "probe",
    closed_object({name: {"type": "string"} for name in ("claim", "q1", "q2", "q3")}),
)

_QUESTIONS: Final = ("claim", "q1", "q2", "q3")
_SPAN_COLUMNS: Final = ("skill_id", "skill_name", "item_id", "span")


_NOTHING: Final = (None, None, None, None)


class Made(NamedTuple):
    """A probe's claim and questions, or why there are none."""

    texts: tuple[str | None, str | None, str | None, str | None]
    reason: str | None


def probed_skills(
    accuracies: pl.DataFrame, *, n_each: int = 20, fewest_items: int = 25
) -> pl.DataFrame:
    """Skills at the lower end, about the middle and at the upper end of accuracy.

    Args:
        accuracies: ``skill_id``, ``n_items`` and ``accuracy``, the mean over models.
        n_each: Skills of each level, at most. A skill has one level: where there are
            too few for three full levels, each has a third of them.
        fewest_items: Items that a skill must have.

    Returns:
        ``skill_id``, ``level`` and ``accuracy``, from low to high accuracy; equal
        ones by id.

    Raises:
        InvalidInputError: If a column is missing.
    """
    needed = ("skill_id", "n_items", "accuracy")
    _require("accuracies", accuracies, needed)
    ranked = accuracies.filter(
        pl.col("n_items") >= fewest_items, pl.col("accuracy").is_not_null()
    ).sort("accuracy", "skill_id")
    n = ranked.height
    n_kept = min(n_each, n // len(LEVELS))
    place = pl.int_range(pl.len())
    middle = (n - n_kept) // 2
    level = (
        pl.when(place < n_kept)
        .then(pl.lit("lowest"))
        .when(place >= n - n_kept)
        .then(pl.lit("highest"))
        .when((place >= middle) & (place < middle + n_kept))
        .then(pl.lit("middle"))
    )
    return (
        ranked.with_columns(level=level)
        .filter(pl.col("level").is_not_null())
        .select("skill_id", "level", "accuracy")
    )


def sampled_spans(
    spans: pl.DataFrame, *, per_skill: int = 20, seed: int = 0
) -> pl.DataFrame:
    """Steps of each skill, drawn at random, of distinct items as far as they go.

    Args:
        spans: ``skill_id``, ``skill_name``, ``item_id`` and ``span``, the text of
            the step; of an item's several steps with the skill one is drawn.
        per_skill: Steps a skill, at most.
        seed: Of the draws. A skill's draw does not depend on other skills.

    Returns:
        `SPANS_SCHEMA`, by skill and item; ``probe_id`` is the skill and the item.

    Raises:
        InvalidInputError: If a column is missing or ``per_skill`` is below 1.
    """
    _require("spans", spans, _SPAN_COLUMNS)
    if per_skill < 1:
        raise InvalidInputError(f"per_skill must be at least 1, got {per_skill}")
    known = spans.select(_SPAN_COLUMNS).filter(
        pl.col("span").str.strip_chars().fill_null("") != ""
    )
    items = known.group_by("skill_id").agg("item_id").rows()
    kept = [
        (skill, item)
        for skill, its_items in items
        for item in drawn(its_items, per_skill, seed=seed, about=skill)
    ]
    pairs = pl.DataFrame(
        kept, schema={"skill_id": pl.String, "item_id": pl.String}, orient="row"
    )
    grouped = known.group_by("skill_id", "item_id").agg(
        pl.col("skill_name").min(), "span"
    )
    chosen = pairs.join(grouped, on=["skill_id", "item_id"]).with_columns(
        probe_id=pl.format("{}#{}", "skill_id", "item_id")
    )
    one = [
        drawn(texts, 1, seed=seed, about=probe)[0]
        for probe, texts in chosen.select("probe_id", "span").rows()
    ]
    return (
        chosen.with_columns(span=pl.Series(one, dtype=pl.String))
        .select(SPANS_SCHEMA.names())
        .sort("skill_id", "item_id")
    )


def probe_calls(
    spans: pl.DataFrame, asked: Asked, *, template: PromptTemplate | None = None
) -> Iterator[Call]:
    """Calls that have a claim and three questions made of each step.

    Args:
        spans: `SPANS_SCHEMA`.
        asked: The model that makes probes.
        template: With a part "make"; the bundled one if left out.

    Returns:
        Calls in the frame's order; ``about`` is the probe's id.

    Raises:
        InvalidInputError: If a column is missing.
        ParseError: If the template lacks the part.
    """
    _require("spans", spans, SPANS_SCHEMA.names())
    template = template or bundled_template("probe")
    template.require({"make": ("skill", "span")})
    return _calls(spans, asked, template)


def _calls(
    spans: pl.DataFrame, asked: Asked, template: PromptTemplate
) -> Iterator[Call]:
    for row in spans.iter_rows(named=True):
        values = {"skill": row["skill_name"], "span": row["span"]}
        messages = template.chat("make", values)
        yield asked.call(messages, about=row["probe_id"], structure=PROBE_STRUCTURE)


def read_probes(
    spans: pl.DataFrame, replies: Iterable[tuple[str, Reply]]
) -> pl.DataFrame:
    """Claims and questions out of replies.

    Args:
        spans: `SPANS_SCHEMA`.
        replies: The probe of each reply (the call's ``about``) and the reply. The
            first about a probe counts; those about others are left out.

    Returns:
        `PROBES_SCHEMA`, in the order of the spans. A probe needs all three
        questions, each another, or it has none.
    """
    _require("spans", spans, SPANS_SCHEMA.names())
    known = set(spans["probe_id"])
    read: dict[str, Made] = {}
    keys: dict[str, str] = {}
    for probe, reply in replies:
        if probe in known and probe not in read:
            read[probe] = _made(reply)
            keys[probe] = reply.key
    nothing = Made(_NOTHING, "not_attempted")
    made = [read.get(probe, nothing) for probe in spans["probe_id"]]
    columns = {
        name: [one.texts[k] for one in made] for k, name in enumerate(_QUESTIONS)
    }
    return spans.select(SPANS_SCHEMA.names()).with_columns(
        *(pl.Series(name, said, dtype=pl.String) for name, said in columns.items()),
        pl.Series("reason", [one.reason for one in made], dtype=pl.String),
        pl.Series(
            "call_key",
            [keys.get(probe) for probe in spans["probe_id"]],
            dtype=pl.String,
        ),
    )


def _made(reply: Reply) -> Made:
    text = spoken(reply.text).text
    value = read_json_reply(text, names=frozenset(_QUESTIONS)).value
    if isinstance(value, JsonObject):
        said = {name.lower(): inner for name, inner in value.items()}
        texts = tuple(_text(said.get(name)) for name in _QUESTIONS)
        claim, *questions = texts
        if all(questions) and len(set(questions)) == len(questions):
            return Made((claim, questions[0], questions[1], questions[2]), None)
    return Made(_NOTHING, failure_of(reply, text))


def failure_of(reply: Reply, text: str) -> str:
    """Why a reply that could not be read could not: never "answered"."""
    status = status_of(reply)
    if status != "answered":
        return status
    return "refused" if refusals_in_words([text])[0] else "unreadable"


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _require(name: str, frame: pl.DataFrame, columns: Iterable[str]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InvalidInputError(f"{name}: columns are missing: {missing}")
