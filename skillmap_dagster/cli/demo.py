"""The whole path on the bundled starter suite."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import polars as pl
import typer

from skillmap_dagster.cli import making, screen
from skillmap_dagster.cli.ask import ask_for
from skillmap_dagster.cli.options import Home

if TYPE_CHECKING:
    from skillmap_dagster.runs import Platform

# Three small benchmarks: a slice of a hundred items would be one of them.
_SLICE_ITEMS: Final = 10
_LIVE: Final = "SmolLM2-135M-Instruct-live"
_RECORDED: Final = "SmolLM2-135M-Instruct-direct"
_LANGUAGE_MODEL: Final = "smollm2"
_MAX_TOKENS: Final = 16


def demo(
    home: Home = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Also ask the packaged model now; needs what `make torch` installs.",
        ),
    ] = False,
    items: Annotated[
        int, typer.Option(min=1, help="Items of a benchmark that are asked live.")
    ] = 10,
) -> None:
    """Run the whole path on the bundled starter suite, and say where to look."""
    from skillmap import starter
    from skillmap_dagster.importing import manifest_request, register

    platform = making.platform(home)
    folder = starter.folder()
    with screen.progress("reading") as progress:
        registered = register(
            manifest_request(folder / "suite.yaml", folder),
            platform.resources["registry"],
            progress=progress,
        )
    making.tell_registered(registered)
    settings = platform.resources["settings"]
    if not Path(settings.file).exists():
        few = {"minimum_slice_items": _SLICE_ITEMS}
        settings.write(settings.read().model_copy(update=few))
    failures = making.bring_up_to_date(platform)
    if live and not failures:
        failures = _ask_live(platform, items)
    making.exit_if(failures)
    _show(home)


def _ask_live(platform: "Platform", n_items: int) -> list[str]:
    """Ask the packaged model, and compare with what it said when it was recorded."""
    from skillmap.contracts import raw
    from skillmap_dagster.resources.language_models.configuration import (
        LanguageModel,
        Responder,
    )

    settings = platform.resources["settings"]
    chosen = settings.read()
    local = LanguageModel(kind="transformers", folder=_LANGUAGE_MODEL)
    direct = Responder(
        language_model=_LANGUAGE_MODEL, prompt="starter_direct", max_tokens=_MAX_TOKENS
    )
    settings.write(
        chosen.model_copy(
            update={
                "language_models": {**chosen.language_models, _LANGUAGE_MODEL: local},
                "responders": {**chosen.responders, _LIVE: direct},
            }
        )
    )
    benchmarks = platform.resources["registry"].benchmarks()
    starters = [name for name in benchmarks if name.startswith("starter_")]
    failures = ask_for(
        platform.with_language_models(n_items=n_items),
        raw.MODEL_REPLIES,
        [{"benchmark": name, "model": _LIVE} for name in starters],
        None,
        None,
    )
    failures += making.bring_up_to_date(platform)
    _compare(platform)
    return failures


def _compare(platform: "Platform") -> None:
    """Say how many live responses are, letter by letter, the recorded ones."""
    responses = platform.resources["warehouse"].query(
        "select benchmark_id as benchmark, model_id, item_id, response "
        "from core.responses"
    )
    live, recorded = (
        responses.filter(model_id=name).drop("model_id") for name in (_LIVE, _RECORDED)
    )
    rows = (
        live.join(recorded, on=["benchmark", "item_id"])
        .group_by("benchmark")
        .agg(
            n_items=pl.len(),
            n_as_recorded=(pl.col("response") == pl.col("response_right")).sum(),
        )
        .sort("benchmark")
    )
    screen.show(rows, title="asked live, beside the recorded responses")


def _show(home: Path | None) -> None:
    warehouse = making.warehouse(home)
    screen.show(
        warehouse.query(
            "select benchmark_id, model_id, n_items, accuracy, accuracy_low, "
            "accuracy_high from mart.model_accuracy"
        ),
        title="accuracy by benchmark and model",
    )
    screen.show(
        warehouse.query(
            "select model_id, slice_name, n_items, accuracy, accuracy_low, "
            "accuracy_high, difference_to_expected from mart.weakest_slices "
            "where weakness_rank <= 3"
        ),
        title="weakest slices of each model, with 95 % intervals",
    )
    at = f" --home {home}" if home else ""
    screen.CONSOLE.print(
        f"\nLook on:  skillmap report{at} --open\n"
        f"          skillmap query{at} 'from mart.slice_differences limit 10'\n"
        f"          skillmap status{at}\n"
        "          dagster dev -w workspace.yaml",
        markup=False,
    )
