"""What an import brought, for a person: the same before and after importing."""

import tempfile
from pathlib import Path

import polars as pl

from skillmap import sql
from skillmap.contracts import TABLES, core, mart
from skillmap.parsing import suspicion
from skillmap.results.eval_runs import SOURCE_EXTRACTOR
from skillmap_dagster.importing import Registered, Request, register
from skillmap_dagster.quality.audit import tables_read
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.runs import Platform, Progress

# In the order they are shown.
REPORTS = ("sources", "results", "duplicates", "releases", "rejects")
_AUDITED = frozenset(
    str(table)
    for table in TABLES.values()
    if table.partitions or table.key in {core.ITEM_GROUPS.key, mart.MODEL_ACCURACY.key}
) - {str(core.RATIONALES), str(core.SKILL_MENTIONS), str(core.MODELS)}


def audit(
    request: Request, *, progress: Progress
) -> tuple[Registered, dict[str, pl.DataFrame]]:
    """The import's report without importing: everything is made in a folder that goes.

    Returns:
        What would be registered, and the reports by name.
    """
    with tempfile.TemporaryDirectory(prefix="skillmap-audit-") as folder:
        platform = Platform.at(Path(folder))
        registered = register(
            request, platform.resources["registry"], progress=progress
        )
        platform.make_directly(_AUDITED, progress=progress)
        return registered, reports(platform.resources["lake"])


def reports(lake: Lake) -> dict[str, pl.DataFrame]:
    """Every report that has rows, by name, and the suspicious findings."""
    queries = {name: sql.load(f"reports/{name}") for name in REPORTS}
    with lake.session(tables_read(list(queries.values()))) as connection:
        made = {name: connection.sql(query).pl() for name, query in queries.items()}
    made["suspicious"] = suspicious(lake)
    return {name: rows for name, rows in made.items() if rows.height}


def suspicious(lake: Lake) -> pl.DataFrame:
    """What looks like a fault of a source, over all results, the gravest first."""
    found = [
        _suspicious(lake, partition["benchmark"])
        for partition in lake.partitions(core.ITEMS)
    ]
    if not found:
        return pl.DataFrame(schema=suspicion.FINDINGS_SCHEMA)
    gravity = pl.col("severity").replace_strict({"error": 0, "warning": 1, "info": 2})
    return pl.concat(found).sort(gravity, "code", "benchmark", "model")


def _suspicious(lake: Lake, benchmark_id: str) -> pl.DataFrame:
    names = {"benchmark_id": "benchmark", "model_id": "model", "item_id": "native_id"}
    response = ["eval_run_id", "item_id", "epoch"]
    scores = lake.scan(core.SCORES, benchmark=benchmark_id).filter(
        pl.col("extractor") == SOURCE_EXTRACTOR
    )
    results = (
        lake.scan(core.RESPONSES, benchmark=benchmark_id)
        .join(scores.select(*response, "outcome", "score"), on=response)
        .with_columns(
            expects_prediction=pl.col("prediction")
            .is_not_null()
            .any()
            .over("eval_run_id"),
        )
        .rename({**names, "record_position": "position"})
    )
    items = lake.scan(core.ITEMS, benchmark=benchmark_id).select(
        benchmark="benchmark_id",
        native_id="item_id",
        position="item_position",
        choices="choices",
    )
    return suspicion.findings(results.collect(), items=items.collect())
