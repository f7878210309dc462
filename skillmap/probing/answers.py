"""Questions of probes put to the tested model: the open one three times."""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from skillmap.calls import Call, Reply
from skillmap.errors import InvalidInputError
from skillmap.probing.probes import PROBES_SCHEMA
from skillmap.prompting.item_calls import Asked, asked_columns, item_images
from skillmap.prompting.questions import question_text
from skillmap.prompting.spoken import refusals_in_words, spoken, status_of
from skillmap.prompting.templates import PromptTemplate, bundled_template

ASKED_QUESTIONS: Final = (("q1", 0), ("q2", 0), ("q3", 0), ("q3", 1), ("q3", 2))
"""Question and epoch of each of the five calls about a probe."""

ANSWERS_SCHEMA: Final = pl.Schema(
    {
        "probe_id": pl.String(),
        "model": pl.String(),
        "question": pl.String(),
        "epoch": pl.Int64(),
        "probe_question": pl.String(),
        "answer": pl.String(),
        "reason": pl.String(),
        "call_key": pl.String(),
    }
)
"""Five rows a probe that could be made. ``question`` is "q1", "q2" or "q3", ``reason``
says why there is no answer and is NULL where there is one."""

_SEPARATOR: Final = "|"


def answer_calls(
    probes: pl.DataFrame,
    items: pl.DataFrame,
    asked: Asked,
    *,
    template: PromptTemplate | None = None,
    images: str | None = None,
) -> Iterator[Call]:
    """Five calls for each probe, with the item's question as background.

    The three calls of the open question are epochs of it. Greedy decoding would
    mostly give one answer three times: ask with a temperature above 0.

    Args:
        probes: `PROBES_SCHEMA`; probes with a ``reason`` are left out.
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.
        asked: The tested model.
        template: With a part "answer"; the bundled one if left out.
        images: Column of ``items`` with a list of ``media_type`` and ``base64``.

    Returns:
        Calls by probe; ``about`` is the probe's id, the question and its number,
        such as "skill:ocr#b:1|q3|2". A probe whose item cannot be asked has none.

    Raises:
        InvalidInputError: If a column is missing.
        ParseError: If the template lacks the part.
    """
    template = template or bundled_template("probe")
    template.require({"answer": ("question", "probe")})
    together = made_probes(probes).join(
        asked_columns(items, images), on="item_id", how="inner", maintain_order="left"
    )
    return _calls(together, asked, template, images)


def _calls(
    probes: pl.DataFrame, asked: Asked, template: PromptTemplate, images: str | None
) -> Iterator[Call]:
    for row in probes.iter_rows(named=True):
        background = question_text(
            row["question"], row["choices"] or (), style=template.options
        )
        for question, epoch in ASKED_QUESTIONS:
            messages = template.chat(
                "answer",
                {"question": background, "probe": row[question]},
                images=item_images(row, images),
            )
            about = _about(row["probe_id"], question, epoch)
            yield asked.call(messages, about=about, epoch=epoch)


def read_answers(
    probes: pl.DataFrame, replies: Iterable[tuple[str, Reply]], *, model: str
) -> pl.DataFrame:
    """Answers of one model, five for each probe.

    Args:
        probes: `PROBES_SCHEMA`; probes with a ``reason`` are left out.
        replies: What each call is about (its ``about``) and its reply.
        model: The tested model.

    Returns:
        `ANSWERS_SCHEMA`, by probe and question. A reply that was cut off is no
        answer: what it would have gone on to say could contradict another.
    """
    told: dict[str, Reply] = {}
    for about, reply in replies:
        told.setdefault(about, reply)
    asked = [
        (probe["probe_id"], model, question, epoch, probe[question])
        for probe in made_probes(probes).iter_rows(named=True)
        for question, epoch in ASKED_QUESTIONS
    ]
    found = [told.get(_about(probe, q, epoch)) for probe, _, q, epoch, _ in asked]
    said = [_answer(reply) for reply in found]
    is_refusal = refusals_in_words([text or "" for text, _ in said])
    rows = [
        (*one, *((None, "refused") if refuses else outcome), reply and reply.key)
        for one, outcome, refuses, reply in zip(
            asked, said, is_refusal, found, strict=True
        )
    ]
    return pl.DataFrame(rows, schema=ANSWERS_SCHEMA, orient="row")


def made_probes(probes: pl.DataFrame) -> pl.DataFrame:
    """Probes that could be made, with `PROBES_SCHEMA` alone."""
    missing = [name for name in PROBES_SCHEMA.names() if name not in probes.columns]
    if missing:
        raise InvalidInputError(f"probes: columns are missing: {missing}")
    return probes.filter(pl.col("reason").is_null()).select(PROBES_SCHEMA.names())


def _answer(reply: Reply | None) -> tuple[str | None, str | None]:
    if reply is None:
        return None, "not_attempted"
    status = status_of(reply)
    if status != "answered":
        return None, status
    return spoken(reply.text).text.strip(), None


def _about(probe_id: str, question: str, epoch: int) -> str:
    return _SEPARATOR.join((probe_id, question, str(epoch)))
