"""Calls that ask a verifier which skills an item takes."""

from collections.abc import Iterator
from typing import Final, Literal

import polars as pl

from skillmap.calls import Call, Structure
from skillmap.errors import InvalidInputError
from skillmap.prompting.draws import generator
from skillmap.prompting.item_calls import Asked, asked_columns, item_images
from skillmap.prompting.questions import question_text
from skillmap.prompting.structures import closed_object, structure_of
from skillmap.prompting.templates import PromptTemplate, bundled_template

VerdictForm = Literal["json", "lines"]
"""How the verifier is asked to write: a JSON object by id, or a line an id."""

PLACES: Final = ("question", "skills")


def verdict_structure(ids: list[str]) -> Structure:
    """Schema of verdicts: true or false for every id."""
    properties = {one: {"type": "boolean"} for one in ids}
    return structure_of("verdicts", closed_object(properties))


def verification_calls(
    checks: pl.DataFrame,
    items: pl.DataFrame,
    asked: Asked,
    *,
    seed: int = 0,
    form: VerdictForm = "json",
    template: PromptTemplate | None = None,
    images: str | None = None,
) -> Iterator[Call]:
    """One call for each item that has checks, with its skills in an order of its own.

    The order is shuffled by seed, item and verifier; ids stay with their skills.

    Args:
        checks: ``item_id``, ``phrase`` and ``prompt_skill_id`` of a sample.
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.
        asked: The verifier.
        seed: Of the order.
        form: How it is asked to write.
        template: With a part named as the form; the bundled one if left out.
        images: Column of ``items`` with a list of ``media_type`` and ``base64``.

    Returns:
        Calls in the order of the items; ``about`` is the item's id. Items that
        cannot be asked have none, and their verdicts will read "not_attempted".

    Raises:
        InvalidInputError: If a column is missing.
        ParseError: If the template lacks the part.
    """
    template = template or bundled_template("verification")
    template.require({form: PLACES})
    needed = ("item_id", "phrase", "prompt_skill_id")
    missing = [name for name in needed if name not in checks.columns]
    if missing:
        raise InvalidInputError(f"checks: columns are missing: {missing}")
    by_number = pl.col("prompt_skill_id").str.slice(1).cast(pl.Int64)
    skills = checks.sort("item_id", by_number).group_by("item_id").agg(needed[1:])
    together = asked_columns(items, images).join(
        skills, on="item_id", how="inner", maintain_order="left"
    )
    return _calls(together, asked, seed, form, template, images)


def _calls(
    items: pl.DataFrame,
    asked: Asked,
    seed: int,
    form: VerdictForm,
    template: PromptTemplate,
    images: str | None,
) -> Iterator[Call]:
    for item in items.iter_rows(named=True):
        ids: list[str] = item["prompt_skill_id"]
        order = generator(seed, item["item_id"], asked.model).permutation(len(ids))
        lines = [f"{ids[k]}: {_one_line(item['phrase'][k])}" for k in order]
        question = question_text(
            item["question"], item["choices"] or (), style=template.options
        )
        messages = template.chat(
            form,
            {"question": question, "skills": "\n".join(lines)},
            images=item_images(item, images),
        )
        yield asked.call(
            messages,
            about=item["item_id"],
            structure=verdict_structure(ids) if form == "json" else None,
        )


def _one_line(phrase: str) -> str:
    # A line break in a phrase could pass for another id's line.
    return " ".join(phrase.split())
