"""Asking language models on a person's word: who is asked, by which runs."""

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg
import polars as pl

from skillmap.contracts.table import Table
from skillmap.errors import InvalidInputError
from skillmap_dagster.planning import Task
from skillmap_dagster.resources.lake import Partition
from skillmap_dagster.resources.language_models.configuration import LanguageModel
from skillmap_dagster.resources.language_models.session import Session, shared_session
from skillmap_dagster.resources.language_models.transports import endpoint_of
from skillmap_dagster.resources.settings import AnalysisSettings
from skillmap_dagster.runs import Platform

# Called with the partition that is asked about next, its number and how many.
Beginning = Callable[[str, int, int], None]


def with_language_model(
    settings: AnalysisSettings, name: str, given: dict[str, Any]
) -> AnalysisSettings:
    """``settings`` in which a language model has the fields that were given.

    Args:
        settings: As they are.
        name: The language model.
        given: Fields of `LanguageModel`; None for one that was not given.

    Raises:
        InvalidInputError: If it is not configured and nothing says where it answers.
    """
    told = {field: value for field, value in given.items() if value is not None}
    known = settings.language_models.get(name)
    if known is None and not told:
        raise InvalidInputError(
            f"no language model {name!r} is configured. Say where it answers with "
            "--base-url or --folder, or configure it under `language_models` in the "
            "settings"
        )
    before = known.model_dump(exclude_unset=True) if known else {}
    try:
        model = LanguageModel.model_validate({**before, **told})
    except ValueError as error:
        raise InvalidInputError(f"language model {name!r}: {error}") from error
    # Before it is written anywhere: an address may hold a password.
    endpoint_of(model)
    models = {**settings.language_models, name: model}
    return settings.model_copy(update={"language_models": models})


def ask(
    platform: Platform,
    table: Table,
    partitions: Sequence[Partition],
    session: Session,
    *,
    beginning: Beginning,
) -> list[str]:
    """Make an asset that asks models, a partition at a time, within one budget.

    Args:
        platform: Where.
        table: What the asset makes.
        partitions: Of the table, in the order in which they are asked.
        session: The budget that they share, and who watches.
        beginning: Called before each.

    Returns:
        What failed, and why. What the budget leaves no room for is no failure.
    """
    platform.add_partition_keys()
    failures: list[str] = []
    with shared_session(session):
        for number, partition in enumerate(partitions):
            beginning(" × ".join(partition.values()), number, len(partitions))
            task = Task(partition, [dg.AssetKey(list(table.key))])
            failures += platform.run(task)
    return failures


def outcomes(
    platform: Platform, table: Table, partitions: Sequence[Partition]
) -> pl.DataFrame:
    """What became of the calls, by partition and status.

    Returns:
        The partition's keys, ``status``, ``n_calls``, tokens and ``cost_usd``: sums
        over all the calls whose replies are stored, whichever run made them; null
        where nothing is known.
    """
    lake = platform.resources["lake"]
    stored = [
        lake.read(table, **partition)
        for partition in partitions
        if lake.stored(table, partition) is not None
    ]
    stored.append(table.empty())
    keys = [f"{dimension}_id" for dimension in table.dimensions]
    counted = ("n_prompt_tokens", "n_completion_tokens", "cost_usd")
    return (
        pl.concat(stored)
        .group_by(*keys, "status")
        .agg(
            pl.len().alias("n_calls"),
            *(
                pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum())
                for name in counted
            ),
        )
        .sort(*keys, "status")
    )
