"""Commands that ask language models: what is asked may cost money."""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from skillmap.errors import InvalidInputError
from skillmap_dagster.cli import making, screen
from skillmap_dagster.cli.options import Home

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import BaseModel

    from skillmap.contracts.table import Table
    from skillmap_dagster.resources.lake import Partition
    from skillmap_dagster.resources.language_models.session import Session
    from skillmap_dagster.runs import Platform

_Configured = TypeVar("_Configured", bound="BaseModel")

_Benchmarks = Annotated[
    list[str] | None,
    typer.Option("--benchmark", help="A benchmark; repeatable. Default: all."),
]
_LanguageModel = Annotated[
    str | None,
    typer.Option(help="Name among the language models in the settings."),
]
_BaseUrl = Annotated[
    str | None, typer.Option(help="An OpenAI-compatible server, up to /v1.")
]
_ServedName = Annotated[
    str | None, typer.Option(help="Name that the server knows the model by.")
]
_Folder = Annotated[
    str | None,
    typer.Option(help="Weights on this machine; smollm2 for the packaged model."),
]
_KeyVariable = Annotated[
    str | None, typer.Option(help="Environment variable that holds the server's key.")
]
_MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Most tokens of an answer.")
]
_Items = Annotated[
    int | None,
    typer.Option("--items", min=1, help="Most items of a benchmark, for a trial."),
]
BudgetUsd = Annotated[
    float | None, typer.Option(min=0, help="Most USD that this command may spend.")
]
BudgetTokens = Annotated[
    int | None, typer.Option(min=0, help="Most tokens that this command may use.")
]


def evaluate(
    model: Annotated[str, typer.Option(help="Name of the evaluated model.")],
    benchmark: _Benchmarks = None,
    home: Home = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="direct, few_shot, step_by_step, or a file. Default: direct."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Times that each item is asked.")
    ] = None,
    language_model: _LanguageModel = None,
    base_url: _BaseUrl = None,
    served_name: _ServedName = None,
    folder: _Folder = None,
    api_key_variable: _KeyVariable = None,
    max_tokens: _MaxTokens = None,
    items: _Items = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
) -> None:
    """Ask a model the items of benchmarks, and bring everything up to date."""
    from skillmap.contracts import raw

    platform = making.platform(home)
    benchmarks = _benchmarks(platform, benchmark)
    name = _configured(
        platform,
        language_model or _responders_model(platform, model) or served_name or model,
        base_url=base_url,
        served_name=served_name,
        folder=folder,
        api_key_variable=api_key_variable,
    )
    _set_responder(
        platform,
        model,
        language_model=name,
        prompt=prompt,
        epochs=epochs,
        max_tokens=max_tokens,
    )
    partitions = [{"benchmark": b, "model": model} for b in benchmarks]
    failures = ask_for(
        platform.with_language_models(n_items=items),
        raw.MODEL_REPLIES,
        partitions,
        budget_usd,
        budget_tokens,
    )
    making.exit_if([*failures, *making.bring_up_to_date(platform)])


def annotate(
    benchmark: _Benchmarks = None,
    annotator: Annotated[
        str | None, typer.Option(help="Name of the annotator. Default: the model's.")
    ] = None,
    home: Home = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline",
            help="Ask no model: take skills that the items' sentences are close to, "
            "where nobody else named any.",
        ),
    ] = False,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="rationale, skills out of a solution; or direct, a bare list."
        ),
    ] = None,
    language_model: _LanguageModel = None,
    base_url: _BaseUrl = None,
    served_name: _ServedName = None,
    folder: _Folder = None,
    api_key_variable: _KeyVariable = None,
    items: _Items = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
) -> None:
    """Have the skills of items named, and bring everything up to date."""
    from skillmap.contracts import raw

    platform = making.platform(home)
    if offline:
        _set_offline(platform)
        making.exit_if(making.bring_up_to_date(platform))
        return
    known = platform.resources["settings"].read().annotators
    named = language_model or served_name or annotator
    if named is None:
        named, annotator = _only(known, "annotator")
    elif annotator in known and language_model is None and served_name is None:
        named = known[annotator].language_model
    name = _configured(
        platform,
        named,
        base_url=base_url,
        served_name=served_name,
        folder=folder,
        api_key_variable=api_key_variable,
    )
    annotator = annotator or name
    _set_annotator(platform, annotator, language_model=name, prompt=prompt)
    partitions = [{"benchmark": b} for b in _benchmarks(platform, benchmark)]
    failures = ask_for(
        platform.with_language_models(n_items=items, names=[annotator]),
        raw.ANNOTATOR_REPLIES,
        partitions,
        budget_usd,
        budget_tokens,
    )
    making.exit_if([*failures, *making.bring_up_to_date(platform)])


def verify(
    benchmark: _Benchmarks = None,
    home: Home = None,
    language_model: _LanguageModel = None,
    base_url: _BaseUrl = None,
    served_name: _ServedName = None,
    folder: _Folder = None,
    api_key_variable: _KeyVariable = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
) -> None:
    """Have a sample of the items' skills checked, and bring everything up to date."""
    from skillmap.contracts import annotation

    platform = making.platform(home)
    settings = platform.resources["settings"]
    named = language_model or served_name
    if named is None:
        named, _ = _only({v: v for v in settings.read().verifiers}, "verifier")
    name = _configured(
        platform,
        named,
        base_url=base_url,
        served_name=served_name,
        folder=folder,
        api_key_variable=api_key_variable,
    )
    chosen = settings.read()
    verifiers = tuple(sorted({*chosen.verifiers, name}))
    settings.write(chosen.model_copy(update={"verifiers": verifiers}))
    partitions = [{"benchmark": b} for b in _benchmarks(platform, benchmark)]
    failures = ask_for(
        platform.with_language_models(names=[name]),
        annotation.SKILL_VERDICTS,
        partitions,
        budget_usd,
        budget_tokens,
    )
    failures += making.bring_up_to_date(platform)
    screen.show(
        making.warehouse(home).query(
            "select scope, verifier, role, measure, n_checks, n_unreadable, n_items, "
            "rate, rate_low, rate_high from mart.verification_rates"
        ),
        title="what verifiers say, with 95 % intervals",
    )
    making.exit_if(failures)


def _only(known: "Mapping[str, Any]", what: str) -> tuple[str, str]:
    """The only one that is configured, as language model and under its own name."""
    if len(known) != 1:
        raise InvalidInputError(
            f"say which {what} to ask with --language-model, or --base-url and "
            f"--served-name; configured are: {', '.join(sorted(known)) or 'none'}"
        )
    name, configured = next(iter(known.items()))
    return getattr(configured, "language_model", name), name


def _set_offline(platform: "Platform") -> None:
    from skillmap_dagster.resources.language_models.configuration import (
        OfflineAnnotator,
    )

    settings = platform.resources["settings"]
    chosen = settings.read()
    if chosen.offline_annotator is None:
        settings.write(
            chosen.model_copy(update={"offline_annotator": OfflineAnnotator()})
        )


def _set_annotator(platform: "Platform", name: str, **given: Any) -> None:
    from skillmap_dagster.resources.language_models.configuration import (
        AnnotatorModel,
    )

    settings = platform.resources["settings"]
    chosen = settings.read()
    before = chosen.annotators.get(name)
    annotators = {**chosen.annotators, name: _updated(AnnotatorModel, before, given)}
    settings.write(chosen.model_copy(update={"annotators": annotators}))


def _updated(
    kind: "type[_Configured]", before: "_Configured | None", given: dict[str, Any]
) -> "_Configured":
    """What was configured, with the fields that were given instead."""
    told = {field: value for field, value in given.items() if value is not None}
    kept = before.model_dump(exclude_unset=True) if before else {}
    try:
        return kind.model_validate({**kept, **told})
    except ValueError as error:
        raise InvalidInputError(str(error)) from error


def _benchmarks(platform: "Platform", asked: list[str] | None) -> list[str]:
    known = platform.resources["registry"].benchmarks()
    unknown = sorted(set(asked or ()) - set(known))
    if unknown or not known:
        raise InvalidInputError(
            f"no benchmark {unknown[0]!r}; there are: {', '.join(known)}"
            if known
            else "no benchmark is here yet: import one with `skillmap import PATH`"
        )
    return sorted(asked) if asked else known


def _responders_model(platform: "Platform", model: str) -> str | None:
    responder = platform.resources["settings"].read().responders.get(model)
    return responder.language_model if responder else None


def _configured(platform: "Platform", name: str, **given: Any) -> str:
    """Note what is told of a language model in the settings; returns its name."""
    from skillmap_dagster.asking import with_language_model

    if given["folder"] is not None:
        given["kind"] = "transformers"
    settings = platform.resources["settings"]
    settings.write(with_language_model(settings.read(), name, given))
    return name


def _set_responder(platform: "Platform", model: str, **given: Any) -> None:
    from skillmap_dagster.resources.language_models.configuration import Responder

    settings = platform.resources["settings"]
    chosen = settings.read()
    responder = _updated(Responder, chosen.responders.get(model), given)
    responders = {**chosen.responders, model: responder}
    settings.write(chosen.model_copy(update={"responders": responders}))


def ask_for(
    platform: "Platform",
    table: "Table",
    partitions: "Sequence[Partition]",
    budget_usd: float | None,
    budget_tokens: int | None,
) -> list[str]:
    """Make an asset that asks models, with progress, and say what came of it."""
    from skillmap.calls.budget import Budget
    from skillmap_dagster.asking import ask, outcomes
    from skillmap_dagster.resources.language_models.session import Session

    with screen.calls("asking") as shown:
        session = Session(
            Budget(usd=budget_usd, tokens=budget_tokens), progress=shown.progress
        )
        failures = ask(platform, table, partitions, session, beginning=shown.beginning)
    _tell_session(session)
    if "status" in table.polars_schema:
        rows = outcomes(platform, table, partitions)
        screen.show(rows, title="replies by outcome")
    making.tell_outcome(len(partitions), failures)
    return failures


def _tell_session(session: "Session") -> None:
    made = sum(s.n_made for s in session.summaries)
    logged = sum(s.n_logged for s in session.summaries)
    cost = sum(s.cost_usd for s in session.summaries)
    screen.CONSOLE.print(
        f"{made:,} calls made, {logged:,} in the log before, {cost:.4f} USD"
    )
    left_out = sum(s.n_not_attempted for s in session.summaries)
    if any(s.is_budget_stopped for s in session.summaries):
        screen.ERRORS.print(
            f"budget_stopped: {left_out:,} calls were not made; a larger budget goes "
            "on from here",
            style="yellow",
        )
