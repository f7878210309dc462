"""Whether what a model says about one step of a solution hangs together."""

import dataclasses
from collections.abc import Iterator

import polars as pl

from skillmap.calls import Call, Reply
from skillmap.contracts import core, mart, probing
from skillmap.errors import InvalidInputError
from skillmap.probing.answers import answer_calls, made_probes, read_answers
from skillmap.probing.judgements import (
    inconsistency_rates,
    judge_calls,
    read_judgements,
)
from skillmap.probing.probes import (
    probe_calls,
    probed_skills,
    read_probes,
    sampled_spans,
)
from skillmap.prompting.item_calls import Asked
from skillmap_dagster import pictures
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.language_models.configuration import Probing
from skillmap_dagster.resources.language_models.models import LanguageModels
from skillmap_dagster.resources.settings import AnalysisSettings, Settings

_CALLS_A_PROBE = 5


@table_asset(
    probing.SKILL_PROBES,
    group="asked",
    reads=[
        core.ITEMS,
        core.RATIONALES,
        core.SKILL_MENTIONS,
        core.SKILL_NAMES,
        mart.SLICE_ACCURACY,
    ],
    settings=["probing", "language_models"],
    asks_models=True,
    picture=pictures.counts_of("level"),
)
def skill_probes(
    lake: Lake, settings: Settings, language_models: LanguageModels
) -> pl.DataFrame:
    """Small questions about steps of rationales, answered by configured models."""
    chosen = settings.read()
    plan = chosen.probing
    if plan is None:
        raise InvalidInputError(
            "settings: nothing under `probing`, so nobody can be asked. `skillmap "
            "probe` adds it"
        )
    levels = probed_skills(
        _accuracies(lake), n_each=plan.n_skills, fewest_items=plan.fewest_items
    )
    spans = sampled_spans(
        _spans(lake).join(levels, on="skill_id", how="semi"),
        per_skill=plan.n_steps,
        seed=plan.seed,
    )
    stage = _Stage(chosen, language_models)
    replies = stage.replies(
        plan.maker, probe_calls(spans, stage.asked(plan.maker)), spans.height
    )
    probes = read_probes(spans, replies)
    made = [
        _judged(name, probes, lake.read(core.ITEMS), stage, plan)
        for name in sorted(plan.language_models)
    ]
    together = pl.concat(made).rename({"model": "language_model"})
    return (
        together.drop("skill_id", "item_id", "call_key")
        .join(probes.drop("reason", "call_key"), on="probe_id")
        .join(levels, on="skill_id")
        .select(probing.SKILL_PROBES.polars_schema.names())
        .sort("probe_id", "language_model")
    )


@table_asset(
    probing.PROBE_INCONSISTENCY,
    group="marts",
    reads=[probing.SKILL_PROBES],
    picture=pictures.values_of("inconsistency", label="level"),
)
def probe_inconsistency(lake: Lake) -> pl.DataFrame:
    """How often answers about one step contradict each other, by level."""
    probes = lake.read(probing.SKILL_PROBES).with_columns(
        model="language_model", call_key=pl.lit(None, pl.String)
    )
    rates = inconsistency_rates(probes, by=["level"])
    return rates.rename({"model": "language_model"}).select(
        probing.PROBE_INCONSISTENCY.polars_schema.names()
    )


@dataclasses.dataclass(frozen=True)
class _Stage:
    """One round of calls to one language model."""

    settings: AnalysisSettings
    language_models: LanguageModels

    def asked(self, name: str, *, temperature: float | None = None) -> Asked:
        model = self.settings.language_model(name)
        asked = self.language_models.asked(name, model)
        if temperature is None:
            return asked
        warm = dataclasses.replace(asked.parameters, temperature=temperature)
        return dataclasses.replace(asked, parameters=warm)

    def replies(
        self, name: str, calls: Iterator[Call], n_calls: int
    ) -> Iterator[tuple[str, Reply]]:
        answers = self.language_models.answers(
            name, self.settings.language_model(name), calls, n_calls=n_calls
        )
        for row in answers.iter_rows(named=True):
            yield row["about"], Reply(row["call_key"], row["status"], text=row["text"])


def _judged(
    name: str, probes: pl.DataFrame, items: pl.DataFrame, stage: _Stage, plan: Probing
) -> pl.DataFrame:
    """What one model says about the probes, and what the judge says of that."""
    n_made = made_probes(probes).height
    calls = answer_calls(probes, items, stage.asked(name, temperature=plan.temperature))
    replies = stage.replies(name, calls, n_made * _CALLS_A_PROBE)
    answers = read_answers(probes, replies, model=name)
    judging = judge_calls(probes, answers, items, stage.asked(plan.judge))
    verdicts = stage.replies(plan.judge, judging, n_made)
    return read_judgements(probes, answers, verdicts, judge=plan.judge)


def _accuracies(lake: Lake) -> pl.DataFrame:
    """Accuracy of each skill, the mean over models."""
    return (
        lake.read(mart.SLICE_ACCURACY)
        .group_by(skill_id="slice_id")
        .agg(pl.col("n_items").max(), pl.col("accuracy").mean())
        .sort("skill_id")
    )


def _spans(lake: Lake) -> pl.DataFrame:
    """The step of a rationale that each skill is named in."""
    texts = lake.read(core.RATIONALES).select("rationale_id", "rationale")
    names = lake.read(core.SKILL_NAMES).select(
        "skill_id", "skill_name", normalised_phrase="phrase"
    )
    step = pl.col("rationale").str.slice(
        pl.col("span_start"), pl.col("span_end") - pl.col("span_start")
    )
    return (
        lake.read(core.SKILL_MENTIONS)
        .drop_nulls(["rationale_id", "span_start", "normalised_phrase"])
        .join(texts, on="rationale_id", maintain_order="left")
        .join(names, on="normalised_phrase", maintain_order="left")
        .select("skill_id", "skill_name", "item_id", span=step)
        .unique(maintain_order=True)
    )
