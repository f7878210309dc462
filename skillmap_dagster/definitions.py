"""The code location that ``workspace.yaml`` points at."""

import dagster as dg

from skillmap_dagster.assets import benchmarks, marts, publication, results, skills
from skillmap_dagster.resources.home import home_folder, home_resources

ASSETS = dg.load_assets_from_modules(
    [benchmarks, results, skills, marts, publication]
)

defs = dg.Definitions(
    assets=ASSETS,
    resources=home_resources(home_folder()),
    # Runs fan out, one partition each; steps of a run are milliseconds.
    executor=dg.in_process_executor,
)
