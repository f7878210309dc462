"""Named selections for people, and the schedule that looks at every file again."""

import dagster as dg

from skillmap.contracts import annotation, core, raw
from skillmap.contracts.table import Table
from skillmap.errors import SkillmapError
from skillmap_dagster.assets.publication import WAREHOUSE_KEY
from skillmap_dagster.planning import asset_keys
from skillmap_dagster.resources.registry import Registry


def _key(table: Table) -> dg.AssetKey:
    return dg.AssetKey(list(table.key))


import_benchmark = dg.define_asset_job(
    "import_benchmark",
    selection=asset_keys("benchmark"),
    description="Everything of a benchmark but the results: items, skills, rejects.",
)
import_results = dg.define_asset_job(
    "import_results",
    selection=asset_keys("benchmark_model"),
    description="Results of a model on a benchmark. Backfill one model: choose it in "
    "the one dimension, and all of the other.",
)
evaluate_model = dg.define_asset_job(
    "evaluate_model",
    selection=[_key(raw.MODEL_REPLIES), *asset_keys("benchmark_model")],
    description="Ask a configured model the items of a benchmark, and read its "
    "replies. Calls may cost money: `budget_usd` and `budget_tokens` of the resource "
    "`language_models` are hard bounds of each run.",
)
annotate_benchmark = dg.define_asset_job(
    "annotate_benchmark",
    selection=[
        _key(raw.ANNOTATOR_REPLIES),
        *map(_key, (core.RATIONALES, annotation.OFFLINE_MENTIONS)),
        _key(core.SKILL_MENTIONS),
    ],
    description="Ask the configured annotators about a benchmark's items, and read "
    "skills out of their replies. Calls may cost money.",
)
verify_skills = dg.define_asset_job(
    "verify_skills",
    selection=[_key(annotation.SKILL_VERDICTS)],
    description="Ask the configured verifiers whether a sample of a benchmark's items "
    "takes the skills that it has. Calls may cost money.",
)
publish = dg.define_asset_job(
    "publish",
    selection=[*asset_keys(None), WAREHOUSE_KEY],
    description="Skills, slices and marts over everything, and the DuckDB file.",
)


@dg.op
def recheck(context: dg.OpExecutionContext, registry: Registry) -> None:
    """Hash every imported file, also those that seem untouched, and note changes."""
    changed, broken = [], []
    for source in registry.sources():
        try:
            if registry.refreshed(source, trusts_stamp=False) != source:
                changed.append(source.uri)
        except SkillmapError as error:
            broken.append(str(error))
    context.add_output_metadata(
        {
            "changed": dg.MetadataValue.json(changed),
            "broken": dg.MetadataValue.json(broken),
        }
    )
    if broken:
        raise dg.Failure(f"{len(broken)} changed files cannot be read: {broken[0]}")


@dg.job
def recheck_sources() -> None:
    """Look at every imported file again; the sensor asks for the runs."""
    recheck()


recheck_daily = dg.ScheduleDefinition(
    job=recheck_sources,
    cron_schedule="0 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
JOBS = [
    import_benchmark,
    import_results,
    evaluate_model,
    annotate_benchmark,
    verify_skills,
    publish,
    recheck_sources,
]
