"""The DuckDB file that analysts open."""

from collections.abc import Iterator

import dagster as dg

from skillmap.contracts import TABLES
from skillmap.errors import SkillmapError
from skillmap_dagster.automation.conditions import WHEN_INPUTS_CHANGE
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.warehouse import Warehouse

WAREHOUSE_KEY = dg.AssetKey("warehouse")
_CHECK = "rules_hold_over_all_tables"


@dg.asset(
    key=WAREHOUSE_KEY,
    deps=[list(key) for key in TABLES],
    group_name="marts",
    kinds={"duckdb"},
    code_version="1",
    automation_condition=WHEN_INPUTS_CHANGE,
    check_specs=[dg.AssetCheckSpec(_CHECK, asset=WAREHOUSE_KEY, blocking=True)],
)
def published_warehouse(lake: Lake, warehouse: Warehouse) -> Iterator[object]:
    """The DuckDB file: every table, with keys and comments, and the views.

    Built beside the old file, checked as a whole, and renamed over it.
    """
    try:
        published = warehouse.publish(lake)
    except SkillmapError as error:
        yield dg.AssetCheckResult(
            asset_key=WAREHOUSE_KEY,
            check_name=_CHECK,
            passed=False,
            metadata={"reason": str(error)},
        )
        raise dg.Failure(str(error), allow_retries=False) from error
    counts = "\n".join(
        f"| {name} | {n:,} | {published.n_partitions[name]:,} |"
        for name, n in published.n_rows.items()
    )
    yield dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(published.n_rows.values()),
            "dagster/uri": warehouse.file,
            "tables": dg.MetadataValue.md(
                f"| table | rows | partitions |\n|---|--:|--:|\n{counts}"
            ),
        }
    )
    yield dg.AssetCheckResult(
        asset_key=WAREHOUSE_KEY,
        check_name=_CHECK,
        passed=True,
        metadata={"rules": len(published.findings)},
    )
