"""The one way an asset is tied to the table it makes, and to its audit."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dagster as dg
import polars as pl

from skillmap.contracts.table import Table
from skillmap.errors import SkillmapError
from skillmap_dagster import metadata, partitions
from skillmap_dagster.assets.input_parts import (
    SettingsRead,
    content_parts,
    settings_parts,
    source_parts,
)
from skillmap_dagster.automation import conditions
from skillmap_dagster.quality import audit
from skillmap_dagster.resources.lake import Beside, Lake, Partition, inputs_of
from skillmap_dagster.resources.registry import RegisteredSource, Registry
from skillmap_dagster.resources.settings import Settings
from skillmap_dagster.resources.snapshot import RegistrySnapshot

# Which registered sources an asset reads: those about its benchmark, or of those the
# ones with results of its model.
SourcesRead = Literal["benchmark", "cell"]
# What of a table makes a difference to a partition, as texts, from the resources.
Narrowing = Callable[[Partition, Mapping[str, Any]], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class TableAsset:
    """An asset and all that its rows depend on.

    Attributes:
        table: What it makes.
        reads: Tables it is made from, other than its own partition keys.
        narrowed: Of some of them, by key, the part that makes a difference.
        sources: Which registered sources it reads, if any.
        settings: Names of the settings it uses, or the part of them that makes a
            difference to a partition.
        asks_models: Whether making it calls language models, which may cost money:
            it is made when a person asks for it, and never by itself.
        code_version: Changed by hand whenever the same inputs give other rows.
        stands_with: Tables made from the same input: rows of one are published
            only if those of all would be.
        make: Makes the rows of a partition, from resources.
        definition: The Dagster asset.
    """

    table: Table
    reads: tuple[Table, ...]
    narrowed: Mapping[tuple[str, str], Narrowing]
    sources: SourcesRead | None
    settings: tuple[str, ...] | SettingsRead
    asks_models: bool
    code_version: str
    stands_with: tuple[Table, ...]
    make: Callable[..., pl.DataFrame]
    definition: dg.AssetsDefinition

    def rows(self, partition: Partition, resources: Mapping[str, Any]) -> pl.DataFrame:
        """The partition's rows, made now; nothing is audited or written.

        Raises:
            SkillmapError: If the inputs do not allow it.
        """
        available = {"partition": partition, **resources}
        asked = inspect.signature(self.make).parameters
        made = self.make(**{name: available[name] for name in asked})
        return self.table.conform(made)

    def inputs(self, partition: Partition, resources: Mapping[str, Any]) -> str:
        """Hash of all that the partition is made from, as it is now.

        Equal to the hash stored with the partition's rows exactly when making it
        again would give the same rows.
        """
        sources = self.sources_of(partition, resources["registry"])
        return inputs_of(
            [
                str(self.table),
                self.code_version,
                *settings_parts(self.settings, partition, resources),
                *source_parts(sources, partition, resources),
                *self._table_parts(partition, resources),
            ]
        )

    def _table_parts(
        self, partition: Partition, resources: Mapping[str, Any]
    ) -> list[str]:
        parts: list[str] = []
        for table in self.reads:
            narrow = self.narrowed.get(table.key)
            if narrow:
                parts += [str(table), *narrow(partition, resources)]
            else:
                parts += content_parts(table, partition, resources["lake"])
        return parts

    def sources_of(
        self, partition: Partition, registry: Registry | RegistrySnapshot
    ) -> list[RegisteredSource]:
        """The registered sources that the partition is made from."""
        if self.sources is None:
            return []
        benchmark_id = partition["benchmark"]
        return [
            source
            for source in registry.sources(benchmark_id)
            if self.sources == "benchmark"
            or partition["model"] in source.models.get(benchmark_id, {})
        ]


# Every table asset by its table's key, filled as the asset modules are imported.
TABLE_ASSETS: dict[tuple[str, str], TableAsset] = {}

_Make = Callable[..., pl.DataFrame]


def table_asset(
    table: Table,
    *,
    group: str,
    reads: Sequence[Table] = (),
    narrowed: Mapping[tuple[str, str], Narrowing] | None = None,
    sources: SourcesRead | None = None,
    settings: Sequence[str] | SettingsRead = (),
    asks_models: bool = False,
    stands_with: Sequence[Table] = (),
    code_version: str = "1",
    picture: metadata.Picture | None = None,
) -> Callable[[_Make], dg.AssetsDefinition]:
    """Declare the asset that makes ``table``.

    The decorated function takes ``partition`` (key by dimension) and any resources,
    and returns the rows; it has no other effect. Key, columns, description and checks
    come from the contract. The rows replace the old ones only if no check stops
    them; otherwise the old rows stay, the new ones go to quarantine, and the run
    fails.

    Args:
        table: The contract; its name is also the function's.
        group: Asset group in the UI.
        reads: Tables the rows are made from.
        narrowed: Of some of them, by key, the part that makes a difference: when
            only the rest changes, the rows are not made anew.
        sources: Which registered sources they are made from.
        settings: Names of the settings that the function uses, or the part of them
            that makes a difference to a partition.
        asks_models: Whether it calls language models; then it is made only when a
            person asks for it.
        stands_with: Tables made from the same input: rows of one are published only
            if those of all would be.
        code_version: To be changed whenever the same inputs give other rows.
        picture: Draws the rows for the UI.
    """

    def declare(make: _Make) -> dg.AssetsDefinition:
        definition = _definition(
            table,
            make,
            group=group,
            reads=reads,
            asks_models=asks_models,
            code_version=code_version,
            picture=picture,
        )
        TABLE_ASSETS[table.key] = TableAsset(
            table=table,
            reads=tuple(reads),
            narrowed=narrowed or {},
            sources=sources,
            settings=settings if callable(settings) else tuple(settings),
            asks_models=asks_models,
            code_version=code_version,
            stands_with=tuple(stands_with),
            make=make,
            definition=definition,
        )
        return definition

    return declare


def _definition(
    table: Table,
    make: _Make,
    *,
    group: str,
    reads: Sequence[Table],
    asks_models: bool,
    code_version: str,
    picture: metadata.Picture | None,
) -> dg.AssetsDefinition:
    partitions_def = partitions.DEFINITIONS[table.partitions]

    def run(context: dg.AssetExecutionContext, **resources: Any) -> Iterator[Any]:
        yield from _audited(table, context, resources, picture)

    functools.update_wrapper(run, make)
    run.__signature__ = _signature(make)  # type: ignore[attr-defined]
    run.__annotations__ = {
        name: parameter.annotation
        for name, parameter in _signature(make).parameters.items()
    }
    return dg.asset(
        key=list(table.key),
        deps=[list(upstream.key) for upstream in reads],
        partitions_def=partitions_def,
        check_specs=_check_specs(table),
        group_name=group,
        kinds={"parquet", "polars"},
        code_version=code_version,
        # Partitions are requested by the sensor that watches their sources.
        automation_condition=(
            None if partitions_def or asks_models else conditions.WHEN_INPUTS_CHANGE
        ),
        description=f"{make.__doc__}\n\n{table.description} One row per {table.grain}.",
        metadata={
            "dagster/column_schema": metadata.column_schema(table),
            "dagster/table_name": str(table),
        },
    )(run)


def _check_specs(table: Table) -> list[dg.AssetCheckSpec]:
    with warnings.catch_warnings():
        # Checks of partitions are a preview of Dagster's; its version is pinned.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return [
            dg.AssetCheckSpec(
                name,
                asset=list(table.key),
                blocking=name not in table.cautions,
                partitions_def=partitions.DEFINITIONS[table.partitions],
            )
            for name in audit.check_names(table)
        ]


def _signature(make: _Make) -> inspect.Signature:
    """The context, the resources of ``make``, and those every asset needs."""
    kind = inspect.Parameter.KEYWORD_ONLY
    needed: Mapping[str, Any] = {
        "lake": Lake,
        "registry": Registry,
        "settings": Settings,
        **{
            name: parameter.annotation
            for name, parameter in inspect.signature(make).parameters.items()
            if name != "partition"
        },
    }
    context = inspect.Parameter(
        "context",
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        annotation=dg.AssetExecutionContext,
    )
    resources = [
        inspect.Parameter(name, kind, annotation=annotation)
        for name, annotation in needed.items()
    ]
    return inspect.Signature([context, *resources])


def _audited(
    table: Table,
    context: dg.AssetExecutionContext,
    resources: Mapping[str, Any],
    picture: metadata.Picture | None,
) -> Iterator[Any]:
    partition = partitions.partition_of(table, context)
    lake: Lake = resources["lake"]
    asset = TABLE_ASSETS[table.key]
    try:
        _refresh(asset, partition, resources["registry"])
        # Before the rows are made: what changes meanwhile must count as a change.
        inputs = asset.inputs(partition, resources)
        rows = asset.rows(partition, resources)
        beside = [
            (other, TABLE_ASSETS[other.key].rows(partition, resources))
            for other in asset.stands_with
        ]
    except SkillmapError as error:
        yield _check_result(
            table,
            audit.failed("contract", str(error)),
        )
        raise dg.Failure(
            f"{table} {dict(partition) or ''}: {error}", allow_retries=False
        ) from error
    findings = audit.audit(table, partition, rows, lake, beside=beside)
    stopped = [finding.check for finding in findings if finding.stops]
    if stopped:
        yield from (_check_result(table, finding) for finding in findings)
        place = lake.quarantine(table, partition, rows)
        raise dg.Failure(
            f"{table} {dict(partition) or ''}: rejected by {stopped}; the previous "
            "rows stay. The rejected ones are in quarantine",
            metadata={"quarantine": dg.MetadataValue.path(place), "rows": rows.height},
            allow_retries=False,
        )
    rejected = _rejected_beside(table, partition, rows, lake, beside)
    if rejected:
        reason = f"stands with {rejected}, so the previous rows stay"
        yield _check_result(table, audit.failed("contract", reason))
        raise dg.Failure(
            f"{table} {dict(partition) or ''}: {reason}", allow_retries=False
        )
    stored = lake.write(table, partition, rows, inputs=inputs)
    # The materialization comes first: a check older than it does not count as passed.
    yield dg.MaterializeResult(
        metadata=metadata.of_rows(table, partition, rows, lake, picture),
        data_version=dg.DataVersion(stored.content),
    )
    yield from (_check_result(table, finding) for finding in findings)


def _rejected_beside(
    table: Table,
    partition: Partition,
    rows: pl.DataFrame,
    lake: Lake,
    beside: Sequence[Beside],
) -> str:
    """Tables beside this one whose rows would be rejected, and by what; or nothing."""
    together = [(table, rows), *beside]
    told = [
        f"{other}, rejected by {stopped}"
        for other, other_rows in beside
        if (
            stopped := audit.stopping_checks(
                other, partition, other_rows, lake, beside=together
            )
        )
    ]
    return "; ".join(told)


def _refresh(asset: TableAsset, partition: Partition, registry: Registry) -> None:
    """Note which of the asset's files have changed.

    What is made from all files of a benchmark keeps the version of a broken one that
    was last read: the cells of that file fail, and the others are not held up.
    """
    for source in asset.sources_of(partition, registry):
        try:
            registry.refreshed(source)
        except SkillmapError as error:
            if asset.sources != "benchmark":
                raise
            log = dg.get_dagster_logger()
            log.warning("kept as last read: %s", error)


def _check_result(table: Table, finding: audit.Finding) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=list(table.key),
        check_name=finding.check,
        passed=finding.passed,
        severity=(
            dg.AssetCheckSeverity.WARN
            if finding.is_warning
            else dg.AssetCheckSeverity.ERROR
        ),
        metadata=finding.metadata,
    )
