"""What language models answered. Made only when a person asks: calls may cost money."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl

from skillmap.annotation.asked import annotator_replies as replies_of_annotator
from skillmap.annotation.calls import (
    AnnotationForm,
    annotation_calls,
    annotation_template,
)
from skillmap.calls import Call
from skillmap.contracts import core, raw
from skillmap.errors import InvalidInputError
from skillmap.prompting.item_calls import askable_items, item_calls, unaskable_items
from skillmap.prompting.templates import template_of
from skillmap.results.replies import model_replies as replies_of_model
from skillmap_dagster import pictures
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.language_models.configuration import LanguageModel
from skillmap_dagster.resources.language_models.models import LanguageModels
from skillmap_dagster.resources.settings import AnalysisSettings, Settings


def _responder(partition: Partition, settings: AnalysisSettings) -> Sequence[str]:
    responder = settings.responders.get(partition["model"])
    if responder is None:
        return ["not configured"]
    prompt = template_of(responder.prompt).prompt_id
    model = settings.language_models.get(responder.language_model)
    return [repr(responder), repr(model), prompt]


@table_asset(
    raw.MODEL_REPLIES,
    group="asked",
    reads=[core.ITEMS],
    settings=_responder,
    asks_models=True,
    picture=pictures.counts_of("status"),
)
def model_replies(
    partition: Partition,
    lake: Lake,
    settings: Settings,
    language_models: LanguageModels,
) -> pl.DataFrame:
    """What a configured model answers when it is asked the benchmark's items."""
    benchmark_id, model_id = partition["benchmark"], partition["model"]
    chosen = settings.read()
    if model_id not in chosen.responders:
        raise InvalidInputError(
            f"settings: no responder {model_id!r} under `responders`, so nobody can "
            "be asked. `skillmap evaluate` adds one"
        )
    responder = chosen.responders[model_id]
    template = template_of(responder.prompt)
    items = lake.read(core.ITEMS, benchmark=benchmark_id)
    name = responder.language_model
    model = chosen.language_model(name)
    asked = language_models.asked(name, model, max_tokens=responder.max_tokens)
    answers = _answers(
        language_models,
        name,
        model,
        items,
        lambda some: item_calls(some, template, asked, epochs=responder.epochs),
        n_each=responder.epochs,
    )
    return replies_of_model(
        items,
        pl.concat([_about_items(answers), _not_asked(items)], how="diagonal"),
        benchmark_id=benchmark_id,
        model_id=model_id,
        prompt_id=template.prompt_id,
    )


def _answers(
    language_models: LanguageModels,
    name: str,
    model: LanguageModel,
    items: pl.DataFrame,
    calls_about: Callable[[pl.DataFrame], Iterator[Call]],
    *,
    n_each: int = 1,
    is_asked: bool = True,
) -> pl.DataFrame:
    """Answers about the items that are asked now, and those known of the others.

    A trial on the first items leaves out nothing that is in the log.
    """
    askable = askable_items(items)
    first = language_models.first_items(askable)
    asked = language_models.answers(
        name,
        model,
        calls_about(first),
        n_calls=first.height * n_each,
        is_asked=is_asked,
    )
    rest = askable.join(first, on="item_id", how="anti", maintain_order="left")
    known = language_models.answers(
        name, model, calls_about(rest), n_calls=0, is_asked=False
    )
    return pl.concat([asked, known.filter(pl.col("status") != "not_attempted")])


def _not_asked(items: pl.DataFrame) -> pl.DataFrame:
    """Replies of items that cannot be put to a model: none, with the reason."""
    return unaskable_items(items).select(
        "item_id",
        epoch=pl.lit(0, pl.Int64),
        begun=pl.lit(""),
        call_key=pl.lit(None, pl.String),
        status=pl.lit("not_attempted"),
        error="reason",
    )


_FORMS: Mapping[str, AnnotationForm] = {"rationale": "json", "direct": "list"}


@table_asset(
    raw.ANNOTATOR_REPLIES,
    group="asked",
    reads=[core.ITEMS],
    settings=["annotators", "language_models"],
    asks_models=True,
    picture=pictures.counts_of("status"),
)
def annotator_replies(
    partition: Partition,
    lake: Lake,
    settings: Settings,
    language_models: LanguageModels,
) -> pl.DataFrame:
    """What configured annotators write about the benchmark's items."""
    benchmark_id = partition["benchmark"]
    chosen = settings.read()
    if not chosen.annotators:
        raise InvalidInputError(
            "settings: no annotator under `annotators`, so nobody can be asked. "
            "`skillmap annotate` adds one"
        )
    items = lake.read(core.ITEMS, benchmark=benchmark_id)
    made = []
    for name, annotator in sorted(chosen.annotators.items()):
        model = chosen.language_model(annotator.language_model)
        form = _FORMS[annotator.prompt]
        asked = language_models.asked(annotator.language_model, model)
        answers = _answers(
            language_models,
            annotator.language_model,
            model,
            items,
            functools.partial(annotation_calls, asked=asked, form=form),
            is_asked=language_models.asks(name),
        )
        made.append(
            replies_of_annotator(
                pl.concat([_about_items(answers), _not_asked(items)], how="diagonal"),
                benchmark_id=benchmark_id,
                annotator=name,
                prompt_id=annotation_template(form).prompt_id,
            )
        )
    return pl.concat(made)


def _about_items(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.rename({"about": "item_id"})
