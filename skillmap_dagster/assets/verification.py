"""Whether the skills of items hold before somebody who did not name them."""

import polars as pl

from skillmap.calls import Reply
from skillmap.contracts import annotation, core
from skillmap.errors import InvalidInputError
from skillmap.verification.agreement import verifier_agreement as agreement_of
from skillmap.verification.calls import verification_calls
from skillmap.verification.rates import verification_rates as rates_of
from skillmap.verification.replies import read_verdicts
from skillmap.verification.sampling import SamplePlan, sample_checks
from skillmap_dagster import pictures
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.language_models.models import LanguageModels
from skillmap_dagster.resources.settings import Settings

_COEFFICIENT = {
    "value": "coefficient",
    "value_low": "coefficient_low",
    "value_high": "coefficient_high",
}


@table_asset(
    annotation.SKILL_VERDICTS,
    group="asked",
    reads=[core.ITEMS, core.ITEM_SKILLS, core.SKILLS],
    settings=["verifiers", "verification", "language_models", "embedder"],
    asks_models=True,
    picture=pictures.counts_of("role"),
)
def skill_verdicts(
    partition: Partition,
    lake: Lake,
    settings: Settings,
    embedding: Embedding,
    language_models: LanguageModels,
) -> pl.DataFrame:
    """What configured verifiers say of the benchmark's items and their skills."""
    benchmark_id = partition["benchmark"]
    chosen = settings.read()
    if not chosen.verifiers:
        raise InvalidInputError(
            "settings: no verifier under `verifiers`, so nobody can be asked. "
            "`skillmap verify` adds one"
        )
    items = language_models.first_items(lake.read(core.ITEMS, benchmark=benchmark_id))
    skills = lake.read(core.SKILLS).select("skill_id", phrase="skill_name")
    corpus = skills.select("phrase").unique().sort("phrase")
    listed = (
        lake.read(core.ITEM_SKILLS)
        .join(items, on="item_id", how="semi")
        .join(skills, on="skill_id")
    )
    plan = SamplePlan(**chosen.verification.model_dump())
    checks = sample_checks(
        listed.select("benchmark_id", "item_id", "phrase").unique(),
        corpus,
        embedding.vectors(chosen.embedder, corpus["phrase"].to_list()),
        plan=plan,
    ).checks
    made = [annotation.SKILL_VERDICTS.empty()]
    for name in sorted(chosen.verifiers):
        model = chosen.language_model(name)
        asked = language_models.asked(name, model)
        answers = language_models.answers(
            name,
            model,
            verification_calls(checks, items, asked, seed=plan.seed),
            n_calls=checks["item_id"].n_unique(),
            is_asked=language_models.asks(name),
        )
        replies = (
            (row["about"], Reply(row["call_key"], row["status"], text=row["text"]))
            for row in answers.iter_rows(named=True)
        )
        made.append(
            read_verdicts(checks, replies, verifier=name).select(made[0].columns)
        )
    return pl.concat(made)


@table_asset(
    annotation.VERIFICATION_RATES,
    group="marts",
    reads=[annotation.SKILL_VERDICTS],
    picture=pictures.values_of("rate", label="role"),
)
def verification_rates(lake: Lake) -> pl.DataFrame:
    """How often verifiers confirm skills, by benchmark and over all."""
    verdicts = lake.read(annotation.SKILL_VERDICTS)
    by_benchmark = rates_of(verdicts, by=["benchmark_id"])
    return pl.concat(
        [
            rates_of(verdicts).with_columns(scope=pl.lit("all")),
            by_benchmark.rename({"benchmark_id": "scope"}),
        ],
        how="diagonal",
    ).select(annotation.VERIFICATION_RATES.polars_schema.names())


@table_asset(
    annotation.VERIFIER_AGREEMENT, group="marts", reads=[annotation.SKILL_VERDICTS]
)
def verifier_agreement(lake: Lake) -> pl.DataFrame:
    """How far verifiers agree beyond chance, by benchmark and over all."""
    verdicts = lake.read(annotation.SKILL_VERDICTS)
    by_scope = {
        "all": verdicts,
        **{str(key): rows for (key,), rows in _by_benchmark(verdicts)},
    }
    return (
        pl.concat(
            [
                agreement_of(rows).with_columns(scope=pl.lit(scope))
                for scope, rows in by_scope.items()
            ]
        )
        .rename(_COEFFICIENT)
        .select(annotation.VERIFIER_AGREEMENT.polars_schema.names())
    )


def _by_benchmark(
    verdicts: pl.DataFrame,
) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    return list(
        verdicts.sort("benchmark_id", maintain_order=True).group_by(
            "benchmark_id", maintain_order=True
        )
    )
