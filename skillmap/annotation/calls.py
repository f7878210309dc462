"""Calls that ask an annotator which skills an item takes."""

from collections.abc import Iterator
from typing import Final, Literal

import polars as pl

from skillmap.calls import Call, Structure
from skillmap.errors import InvalidInputError
from skillmap.prompting.item_calls import Asked, askable_items, item_images
from skillmap.prompting.questions import question_text
from skillmap.prompting.structures import closed_object, list_of, structure_of
from skillmap.prompting.templates import PromptTemplate, bundled_template

AnnotationForm = Literal["json", "markdown", "list"]
"""How the annotator is asked to write.

- "json": a rationale as JSON, held to `RATIONALE_STRUCTURE`;
- "markdown": a rationale as Markdown, for servers that know no schemas;
- "list": skills as bullets, without a solution: the baseline to compare with.
"""

_TEMPLATES: Final = {
    "json": "rationale",
    "markdown": "rationale",
    "list": "skills_direct",
}
_FEWEST_NAMES: Final = 3
_TEXT: Final = {"type": "string"}

RATIONALE_STRUCTURE: Final[Structure] = structure_of(
    "rationale",
    closed_object(
        {
            "steps": list_of(
                closed_object(
                    {
                        "title": _TEXT,
                        "skill": {**list_of(_TEXT), "minItems": _FEWEST_NAMES},
                        "evidence": _TEXT,
                        "conclusion": _TEXT,
                    }
                )
            ),
            "answer": _TEXT,
        }
    ),
)
"""Schema of a rationale: steps with a chain of at least three names, and an answer."""


def annotation_template(form: AnnotationForm) -> PromptTemplate:
    """The bundled template that asks for a form.

    Examples:
        >>> annotation_template("list").name
        'skills_direct'
    """
    if form not in _TEMPLATES:
        raise InvalidInputError(
            f"form must be one of {', '.join(_TEMPLATES)}, got {form!r}"
        )
    return bundled_template(_TEMPLATES[form])


def annotation_calls(
    items: pl.DataFrame,
    asked: Asked,
    *,
    form: AnnotationForm = "json",
    template: PromptTemplate | None = None,
    images: str | None = None,
) -> Iterator[Call]:
    """One call for each item that can be asked; the reference answer is not shown.

    Args:
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.
        asked: The annotator.
        form: How it is asked to write.
        template: With a part named as the form; the bundled one if left out.
        images: Column of ``items`` with a list of ``media_type`` and ``base64``.

    Returns:
        Calls in the frame's order; ``about`` is the item's id. What
        ``unaskable_items`` lists is left out.

    Raises:
        InvalidInputError: If a column is missing.
        ParseError: If the template lacks the part.
    """
    template = template or annotation_template(form)
    template.require({form: ("question",)})
    return _calls(askable_items(items), asked, form, template, images)


def _calls(
    items: pl.DataFrame,
    asked: Asked,
    form: AnnotationForm,
    template: PromptTemplate,
    images: str | None,
) -> Iterator[Call]:
    structure = RATIONALE_STRUCTURE if form == "json" else None
    for item in items.iter_rows(named=True):
        question = question_text(
            item["question"], item["choices"] or (), style=template.options
        )
        messages = template.chat(
            form, {"question": question}, images=item_images(item, images)
        )
        yield asked.call(messages, about=item["item_id"], structure=structure)
