"""What a home holds, and what is wrong with it."""

import polars as pl
from dagster import AssetCheckKey, AssetKey
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecordStatus,
)

from skillmap.contracts import TABLES
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.planning import STAGES
from skillmap_dagster.quality.audit import check_names
from skillmap_dagster.runs import Platform

_TABLES_SCHEMA = {"table": pl.String, "partitions": pl.Int64, "rows": pl.Int64}


def status(platform: Platform) -> dict[str, pl.DataFrame]:
    """Tables to show a person, by title; the ones without rows are left out."""
    if not platform.resources["registry"].sources():
        hint = "skillmap import PATH, or skillmap demo"
        return {"nothing here yet": pl.DataFrame({"next": [hint]})}
    told = {
        "benchmarks": _benchmarks(platform),
        "tables": _tables(platform),
        "language models": platform.resources["language_models"].log.totals(),
        "out of date": _stale(platform),
        "failed checks": failed_checks(platform),
    }
    return {title: rows for title, rows in told.items() if rows.height}


def failed_checks(platform: Platform) -> pl.DataFrame:
    """Checks whose last result is a failure, by table, partition and check."""
    storage = platform.instance.event_log_storage
    keys = [
        AssetCheckKey(AssetKey(list(key)), name)
        for key in TABLE_ASSETS
        for name in check_names(TABLES[key])
    ]
    rows = [
        {
            "table": ".".join(info.check_key.asset_key.path),
            "partition": info.partition_key,
            "check": info.check_key.name,
            "stops": info.check_key.name not in _cautions(info.check_key),
        }
        for info in storage.get_asset_check_partition_info(keys)
        if info.latest_execution_status is AssetCheckExecutionRecordStatus.FAILED
    ]
    schema = {
        "table": pl.String,
        "partition": pl.String,
        "check": pl.String,
        "stops": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema).sort(
        "stops", "table", "partition", "check", descending=[True, False, False, False]
    )


def _cautions(key: AssetCheckKey) -> tuple[str, ...]:
    schema, name = key.asset_key.path
    return TABLES[schema, name].cautions


def _benchmarks(platform: Platform) -> pl.DataFrame:
    registry = platform.resources["registry"]
    models: dict[str, list[str]] = {b: [] for b in registry.benchmarks()}
    for benchmark, model in registry.cells():
        models[benchmark].append(model)
    return pl.DataFrame(
        [
            {
                "benchmark": benchmark,
                "files": len(registry.sources(benchmark)),
                "models": ", ".join(names),
            }
            for benchmark, names in models.items()
        ],
        schema={"benchmark": pl.String, "files": pl.Int64, "models": pl.String},
    )


def _tables(platform: Platform) -> pl.DataFrame:
    lake = platform.resources["lake"]
    rows = []
    for table in TABLES.values():
        stored = [lake.stored(table, partition) for partition in lake.partitions(table)]
        known = [s.n_rows for s in stored if s is not None]
        if known:
            rows.append((str(table), len(known), sum(known)))
    return pl.DataFrame(rows, schema=_TABLES_SCHEMA, orient="row")


def _stale(platform: Platform) -> pl.DataFrame:
    tasks = [str(task) for stage in STAGES for task in platform.planner.plan(stage)]
    return pl.DataFrame({"next run": tasks}, schema={"next run": pl.String})
