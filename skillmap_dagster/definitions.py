"""The code location that ``workspace.yaml`` points at."""

import dagster as dg

from skillmap_dagster.assets import (
    asked,
    benchmarks,
    marts,
    probing,
    publication,
    results,
    routing,
    skills,
    verification,
)
from skillmap_dagster.automation.jobs import JOBS, recheck_daily
from skillmap_dagster.automation.sensors import watch_sources
from skillmap_dagster.resources.home import home_folder, home_resources

ASSETS = dg.load_assets_from_modules(
    [
        benchmarks,
        asked,
        results,
        skills,
        marts,
        routing,
        verification,
        probing,
        publication,
    ]
)

# Declared, since Dagster's own is off until a person turns it on. It carries changes
# to the tables over all partitions, which cost seconds and no money.
automation = dg.AutomationConditionSensorDefinition(
    "automation",
    target=dg.AssetSelection.all(),
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=30,
)

defs = dg.Definitions(
    assets=ASSETS,
    jobs=JOBS,
    schedules=[recheck_daily],
    sensors=[watch_sources, automation],
    resources=home_resources(home_folder()),
    # Runs fan out, one partition each; steps of a run are milliseconds.
    executor=dg.in_process_executor,
)
