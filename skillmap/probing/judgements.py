"""Whether a model's answers about one probe fit together, and how often they do not."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import polars as pl

from skillmap.calls import Call, Reply
from skillmap.errors import InvalidInputError
from skillmap.probing.answers import ANSWERS_SCHEMA, ASKED_QUESTIONS
from skillmap.probing.probes import PROBES_SCHEMA, failure_of
from skillmap.prompting.item_calls import Asked, asked_columns, item_images
from skillmap.prompting.json_replies import JsonObject, read_json_reply
from skillmap.prompting.questions import question_text
from skillmap.prompting.spoken import spoken, status_of
from skillmap.prompting.structures import closed_object, structure_of
from skillmap.prompting.templates import PromptTemplate, bundled_template
from skillmap.verification.shares import grouped_shares

JUDGEMENT_STRUCTURE: Final = structure_of(
    "judgement", closed_object({"consistent": {"type": "boolean"}})
)

JUDGEMENTS_SCHEMA: Final = pl.Schema(
    {
        "probe_id": pl.String(),
        "skill_id": pl.String(),
        "item_id": pl.String(),
        "model": pl.String(),
        "judge": pl.String(),
        "is_consistent": pl.Boolean(),
        "failed_stage": pl.String(),
        "reason": pl.String(),
        "call_key": pl.String(),
    }
)
"""One row a probe and tested model. Where ``is_consistent`` is NULL, ``failed_stage``
is "probe", "answer" or "judgement", and ``reason`` what went wrong there."""

RATES_SCHEMA: Final = pl.Schema(
    {
        "model": pl.String(),
        "n_probes": pl.Int64(),
        "n_failed": pl.Int64(),
        "n_items": pl.Int64(),
        "inconsistency": pl.Float64(),
        "inconsistency_low": pl.Float64(),
        "inconsistency_high": pl.Float64(),
    }
)
"""``n_probes`` were judged and ``n_failed`` were not; those count nowhere. Bounds are
Wilson's with the effective number of probes, for probes of one item share it. NULL
without a judged probe."""

_WORDS: Final = {"true": True, "false": False, "yes": True, "no": False}


def judge_calls(
    probes: pl.DataFrame,
    answers: pl.DataFrame,
    items: pl.DataFrame,
    asked: Asked,
    *,
    template: PromptTemplate | None = None,
    images: str | None = None,
) -> Iterator[Call]:
    """One call for each probe of which one model gave all five answers.

    Args:
        probes: `PROBES_SCHEMA`.
        answers: `ANSWERS_SCHEMA` of one model.
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.
        asked: The judge.
        template: With a part "judge"; the bundled one if left out.
        images: Column of ``items`` with a list of ``media_type`` and ``base64``.

    Returns:
        Calls by probe; ``about`` is the probe's id. The claim is not shown.

    Raises:
        InvalidInputError: If a column is missing or there are several models.
        ParseError: If the template lacks the part.
    """
    template = template or bundled_template("probe")
    template.require({"judge": ("question", "answers")})
    _require("probes", probes, PROBES_SCHEMA.names())
    _one_model(answers)
    whole = _whole(answers).filter(pl.col("n_answers") == len(ASKED_QUESTIONS))
    together = (
        probes.select("probe_id", "item_id")
        .join(whole, on="probe_id", how="inner", maintain_order="left")
        .join(
            asked_columns(items, images),
            on="item_id",
            how="inner",
            maintain_order="left",
        )
    )
    return _calls(together, asked, template, images)


def _calls(
    probes: pl.DataFrame, asked: Asked, template: PromptTemplate, images: str | None
) -> Iterator[Call]:
    for row in probes.iter_rows(named=True):
        pairs = zip(row["probe_question"], row["answer"], strict=True)
        told = "\n\n".join(
            f"Question {number}: {question}\nAnswer {number}: {answer}"
            for number, (question, answer) in enumerate(pairs, start=1)
        )
        background = question_text(
            row["question"], row["choices"] or (), style=template.options
        )
        messages = template.chat(
            "judge",
            {"question": background, "answers": told},
            images=item_images(row, images),
        )
        yield asked.call(messages, about=row["probe_id"], structure=JUDGEMENT_STRUCTURE)


def read_judgements(
    probes: pl.DataFrame,
    answers: pl.DataFrame,
    replies: Iterable[tuple[str, Reply]],
    *,
    judge: str,
) -> pl.DataFrame:
    """What became of every probe with one model.

    Args:
        probes: `PROBES_SCHEMA`, failed ones included.
        answers: `ANSWERS_SCHEMA` of one model.
        replies: The probe of each reply (the call's ``about``) and the reply. The
            first about a probe counts.
        judge: Name of the judge.

    Returns:
        `JUDGEMENTS_SCHEMA`, in the order of the probes.

    Raises:
        InvalidInputError: If a column is missing or there are several models.
    """
    _require("probes", probes, PROBES_SCHEMA.names())
    model = _one_model(answers)
    told: dict[str, Reply] = {}
    for probe, reply in replies:
        told.setdefault(probe, reply)
    whole = _whole(answers)
    failures: dict[str, str | None] = dict(whole.select("probe_id", "reason").rows())
    rows: list[tuple[Any, ...]] = []
    columns = ("probe_id", "skill_id", "item_id", "reason")
    for probe, skill, item, reason in probes.select(columns).rows():
        reply = told.get(probe)
        if reason is not None:
            outcome = (None, "probe", reason)
        elif failures.get(probe, "not_attempted") is not None:
            outcome = (None, "answer", failures.get(probe, "not_attempted"))
        else:
            outcome = _judged(reply)
        key = reply.key if reply and outcome[1] in (None, "judgement") else None
        rows.append((probe, skill, item, model, judge, *outcome, key))
    return pl.DataFrame(rows, schema=JUDGEMENTS_SCHEMA, orient="row")


def inconsistency_rates(
    judgements: pl.DataFrame,
    *,
    by: Sequence[str] = (),
    confidence_level: float = 0.95,
) -> pl.DataFrame:
    """Share of judged probes whose answers contradict each other, failures apart.

    Args:
        judgements: `JUDGEMENTS_SCHEMA`, of any models, and the columns of ``by``.
        by: Columns to split by, such as "skill_id" or the "level" of
            `probed_skills`.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        The columns of ``by`` and `RATES_SCHEMA`, sorted by them and the model.

    Raises:
        InvalidInputError: If a column is missing.
    """
    _require("judgements", judgements, (*JUDGEMENTS_SCHEMA.names(), *by))
    told = judgements.with_columns(value=~pl.col("is_consistent"))
    shares = grouped_shares(told, [*by, "model"], confidence_level=confidence_level)
    named = {
        "n_known": "n_probes",
        "n_unknown": "n_failed",
        "share": "inconsistency",
        "share_low": "inconsistency_low",
        "share_high": "inconsistency_high",
    }
    return shares.rename(named).select(
        *by, *(pl.col(name).cast(kind) for name, kind in RATES_SCHEMA.items())
    )


def _judged(reply: Reply | None) -> tuple[bool | None, str | None, str | None]:
    if reply is None:
        return None, "judgement", "not_attempted"
    text = spoken(reply.text).text
    verdict = _consistent(text) if status_of(reply) == "answered" else None
    if verdict is None:
        return None, "judgement", failure_of(reply, text)
    return verdict, None, None


def _consistent(text: str) -> bool | None:
    value = read_json_reply(text, names=frozenset({"consistent"})).value
    if isinstance(value, JsonObject):
        said = {
            str(inner).lower() for name, inner in value.pairs if name == "consistent"
        }
        return _WORDS.get(said.pop()) if len(said) == 1 else None
    return _WORDS.get(text.strip(" \t\r\n*_`\"'.").lower())


def _whole(answers: pl.DataFrame) -> pl.DataFrame:
    return (
        answers.sort("probe_id", "question", "epoch")
        .group_by("probe_id", maintain_order=True)
        .agg(
            "probe_question",
            "answer",
            pl.col("reason").drop_nulls().first(),
            n_answers=pl.col("answer").is_not_null().sum(),
        )
    )


def _one_model(answers: pl.DataFrame) -> str | None:
    _require("answers", answers, ANSWERS_SCHEMA.names())
    models = answers["model"].unique()
    if models.len() > 1:
        raise InvalidInputError(
            f"answers must be of one model, got {models.len()}: {models.sort()[0]!r} "
            f"and {models.sort()[1]!r} among them"
        )
    return models[0] if models.len() else None


def _require(name: str, frame: pl.DataFrame, columns: Iterable[str]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InvalidInputError(f"{name}: columns are missing: {missing}")
