"""Calls that put the items of a benchmark to a model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from skillmap.calls import Call, Image, Message, Parameters, Structure
from skillmap.errors import InvalidInputError
from skillmap.prompting.questions import LETTERS, question_text
from skillmap.prompting.templates import PromptTemplate

ANSWERING_PLACES: Final = {"choice": ("question",), "free": ("question",)}
"""What a template must hold to put items to a model."""

_REQUIRED: Final = ("item_id", "question", "choices")


@dataclass(frozen=True, slots=True)
class Asked:
    """The model that is asked, and how it decodes.

    Attributes:
        model: Name that skillmap knows it by.
        served_name: Name that its server knows it by.
        parameters: How answers are decoded.
        revision: Version of the model, where its name does not fix it.
    """

    model: str
    served_name: str
    parameters: Parameters
    revision: str | None = None

    def call(
        self,
        messages: tuple[Message, ...],
        *,
        about: str,
        structure: Structure | None = None,
        epoch: int = 0,
    ) -> Call:
        """A call to this model."""
        return Call(
            model=self.model,
            served_name=self.served_name,
            messages=messages,
            parameters=self.parameters,
            revision=self.revision,
            structure=structure,
            epoch=epoch,
            about=about,
        )


def item_calls(
    items: pl.DataFrame,
    template: PromptTemplate,
    asked: Asked,
    *,
    epochs: int = 1,
    images: str | None = None,
) -> Iterator[Call]:
    """One call for each item that can be asked, and epoch.

    Args:
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.
        template: With parts "choice", for items that have options, and "free".
        asked: The model.
        epochs: Repetitions of each item, from epoch 0 on; they are distinct calls.
        images: Column of ``items`` with a list of ``media_type`` and ``base64``.

    Returns:
        Calls by item, in the frame's order, then by epoch; ``about`` is the item's
        id. What ``unaskable_items`` lists is left out.

    Raises:
        InvalidInputError: If a column is missing or ``epochs`` is below 1.
        ParseError: If the template cannot put items.
    """
    _check(items, images)
    if epochs < 1:
        raise InvalidInputError(f"epochs must be at least 1, got {epochs}")
    template.require(ANSWERING_PLACES)
    return _calls(askable_items(items), template, asked, epochs, images)


def _calls(
    items: pl.DataFrame,
    template: PromptTemplate,
    asked: Asked,
    epochs: int,
    images: str | None,
) -> Iterator[Call]:
    for item in items.iter_rows(named=True):
        question = question_text(
            item["question"], item["choices"] or (), style=template.options
        )
        part = "choice" if item["choices"] else "free"
        messages = template.chat(
            part, {"question": question}, images=item_images(item, images)
        )
        for epoch in range(epochs):
            yield asked.call(messages, about=item["item_id"], epoch=epoch)


def unaskable_items(items: pl.DataFrame) -> pl.DataFrame:
    """Items that no call is made for, and why.

    Args:
        items: Columns ``item_id``, ``question`` and ``choices`` of ``core.items``.

    Returns:
        ``item_id`` and ``reason``, in the order given: "no_question", or
        "too_many_options" for more options than there are letters.
    """
    _check(items, None)
    return items.select("item_id", reason=_reason()).filter(
        pl.col("reason").is_not_null()
    )


def askable_items(items: pl.DataFrame) -> pl.DataFrame:
    """The other items, in the order given."""
    _check(items, None)
    return items.filter(_reason().is_null())


def asked_columns(items: pl.DataFrame, images: str | None) -> pl.DataFrame:
    """The items that can be asked, with what a call needs of them alone."""
    _check(items, images)
    return askable_items(items).select(*_REQUIRED, *([images] if images else []))


def item_images(item: Mapping[str, Any], column: str | None) -> tuple[Image, ...]:
    """Images of one row of items; none where the column is null or not named."""
    if column is None or not item[column]:
        return ()
    return tuple(Image(one["media_type"], one["base64"]) for one in item[column])


def _reason() -> pl.Expr:
    has_question = pl.col("question").str.strip_chars().fill_null("") != ""
    n_options = pl.col("choices").list.len().fill_null(0)
    return (
        pl.when(~has_question)
        .then(pl.lit("no_question"))
        .when(n_options > len(LETTERS))
        .then(pl.lit("too_many_options"))
    )


def _check(items: pl.DataFrame, images: str | None) -> None:
    needed = (*_REQUIRED, images) if images else _REQUIRED
    missing = [name for name in needed if name not in items.columns]
    if missing:
        raise InvalidInputError(
            f"items must have the columns {', '.join(needed)}: missing {missing}"
        )
