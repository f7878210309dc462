"""Skills: from rationales and phrases to canonical skills and slices."""

from pathlib import Path

import polars as pl

from skillmap.annotation.asked import asked_rationales
from skillmap.annotation.offline import item_texts
from skillmap.annotation.offline import offline_mentions as mentions_by_similarity
from skillmap.annotation.vocabulary import (
    Vocabulary,
    bundled_vocabulary,
    vocabulary_of_text,
)
from skillmap.contracts import annotation, core, raw
from skillmap.items import annotations
from skillmap.items.inheritance import item_skills as own_and_inherited
from skillmap.slicing.levels import slice_members, with_broad_skills
from skillmap.slicing.skills import canonical_skills, skill_slices
from skillmap_dagster import pictures
from skillmap_dagster.assets.benchmarks import items_order
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.registry import Registry
from skillmap_dagster.resources.settings import Settings


@table_asset(
    core.RATIONALES,
    group="skills",
    reads=[core.ITEMS, raw.ANNOTATOR_REPLIES],
    sources="benchmark",
    picture=pictures.counts_of("parse_status"),
)
def rationales(partition: Partition, lake: Lake, registry: Registry) -> pl.DataFrame:
    """Step by step solutions of the benchmark's items, read."""
    benchmark_id = partition["benchmark"]
    items = lake.read(core.ITEMS, benchmark=benchmark_id)
    imported = annotations.rationales(
        benchmark_id,
        registry.benchmark_sources(benchmark_id),
        items_order(items, registry, benchmark_id),
    )
    asked = asked_rationales(lake.read(raw.ANNOTATOR_REPLIES, benchmark=benchmark_id))
    # An annotator that was imported and asked is believed in what was imported.
    new = asked.join(imported, on="rationale_id", how="anti")
    return pl.concat([imported, new]).sort("item_id", "annotator")


@table_asset(
    annotation.OFFLINE_MENTIONS,
    group="skills",
    reads=[core.ITEMS, core.RATIONALES],
    settings=["offline_annotator", "embedder"],
    picture=pictures.counts_of("phrase"),
)
def offline_mentions(
    partition: Partition, lake: Lake, settings: Settings, embedding: Embedding
) -> pl.DataFrame:
    """Skills that the texts of the benchmark's items are close to."""
    benchmark_id = partition["benchmark"]
    chosen = settings.read()
    offline = chosen.offline_annotator
    if offline is None:
        return annotation.OFFLINE_MENTIONS.empty()
    found = mentions_by_similarity(
        item_texts(
            lake.read(core.ITEMS, benchmark=benchmark_id),
            lake.read(core.RATIONALES, benchmark=benchmark_id),
        ),
        _vocabulary(offline.vocabulary),
        lambda texts: embedding.vectors(chosen.embedder, texts),
        annotator=f"offline:{chosen.embedder}",
        threshold=offline.threshold,
        most=offline.most_per_sentence,
    )
    named = found.rename({"order": "mention_index"})
    return named.with_columns(benchmark_id=pl.lit(benchmark_id)).select(
        annotation.OFFLINE_MENTIONS.polars_schema.names()
    )


@table_asset(
    core.SKILL_MENTIONS,
    group="skills",
    reads=[core.ITEMS, core.RATIONALES, annotation.OFFLINE_MENTIONS],
    sources="benchmark",
    settings=["offline_annotator"],
    picture=pictures.counts_of("normalised_phrase"),
)
def skill_mentions(
    partition: Partition, lake: Lake, registry: Registry, settings: Settings
) -> pl.DataFrame:
    """Skills named for the benchmark's items, as annotators wrote them."""
    benchmark_id = partition["benchmark"]
    offline = settings.read().offline_annotator
    items = lake.read(core.ITEMS, benchmark=benchmark_id)
    return annotations.skill_mentions(
        benchmark_id,
        registry.benchmark_sources(benchmark_id),
        items_order(items, registry, benchmark_id),
        lake.read(core.RATIONALES, benchmark=benchmark_id),
        offline_mentions=lake.read(annotation.OFFLINE_MENTIONS, benchmark=benchmark_id),
        annotates_all=offline is not None and offline.annotates_all,
    )


def _vocabulary(file: str | None) -> Vocabulary:
    if file is None:
        return bundled_vocabulary()
    return vocabulary_of_text(Path(file).read_text("utf-8"), name=file)


@table_asset(
    core.SKILL_NAMES,
    group="skills",
    reads=[core.SKILL_MENTIONS],
    settings=[
        "embedder",
        "similarity_threshold",
        "broad_similarity_threshold",
        "clustering",
    ],
    code_version="2",
)
def skill_names(lake: Lake, settings: Settings, embedding: Embedding) -> pl.DataFrame:
    """The canonical skill of every phrase, phrases embedded once and grouped."""
    phrases = (
        lake.scan(core.SKILL_MENTIONS)
        .filter(pl.col("normalised_phrase").is_not_null())
        .group_by(phrase="normalised_phrase")
        .agg(
            n_mentions=pl.len().cast(pl.Int64),
            n_items=pl.col("item_id").n_unique().cast(pl.Int64),
        )
        .sort("phrase")
        .collect()
    )
    chosen = settings.read()
    vectors = embedding.vectors(chosen.embedder, phrases["phrase"].to_list())
    assigned = canonical_skills(
        phrases.select("phrase", "n_items"),
        vectors,
        threshold=chosen.similarity_threshold,
        method=chosen.clustering,
    )
    return with_broad_skills(
        assigned.skill_names.join(phrases, on="phrase", maintain_order="left"),
        vectors,
        threshold=chosen.broad_similarity_threshold,
        method=chosen.clustering,
    )


@table_asset(
    core.ITEM_SKILLS,
    group="skills",
    reads=[core.SKILL_MENTIONS, core.SKILL_NAMES, core.ITEM_GROUPS],
    picture=pictures.counts_of("origin"),
)
def item_skills(lake: Lake) -> pl.DataFrame:
    """Skills that each item needs, its own or those of its duplicates."""
    mentions = lake.scan(core.SKILL_MENTIONS).select(
        "benchmark_id", "item_id", "normalised_phrase"
    )
    return own_and_inherited(
        mentions.collect(),
        lake.scan(core.SKILL_NAMES).select("phrase", "skill_id").collect(),
        lake.read(core.ITEM_GROUPS),
    )


@table_asset(
    core.SKILLS,
    group="skills",
    reads=[core.SKILL_NAMES, core.ITEM_SKILLS],
    picture=pictures.values_of("n_items", label="skill_name"),
)
def skills(lake: Lake) -> pl.DataFrame:
    """Canonical skills, with how many phrases and items each has."""
    items = (
        lake.scan(core.ITEM_SKILLS)
        .group_by("skill_id")
        .agg(
            n_items=pl.len().cast(pl.Int64),
            n_benchmarks=pl.col("benchmark_id").n_unique().cast(pl.Int64),
        )
    )
    return (
        lake.scan(core.SKILL_NAMES)
        .group_by("skill_id", "skill_name", "broad_skill_id", "broad_skill_name")
        .agg(
            n_phrases=pl.len().cast(pl.Int64),
            n_mentions=pl.col("n_mentions").sum(),
        )
        .join(items, on="skill_id", how="left")
        .with_columns(pl.col("n_items", "n_benchmarks").fill_null(0))
        .sort("skill_id")
        .collect()
    )


@table_asset(
    core.SLICES,
    group="slices",
    reads=[core.ITEM_SKILLS, core.SKILL_NAMES],
    settings=["minimum_slice_items"],
    picture=pictures.values_of("n_items", label="slice_name"),
)
def slices(lake: Lake, settings: Settings) -> pl.DataFrame:
    """Skills that enough items share."""
    named = _members(lake)
    made = skill_slices(named, minimum_items=settings.read().minimum_slice_items)
    about = named.group_by(slice_id="skill_id").agg(
        n_inherited_items=pl.col("item_id")
        .filter(pl.col("origin") != "mention")
        .n_unique()
        .cast(pl.Int64),
        benchmark_ids=pl.col("benchmark_id").unique().sort(),
        level=pl.col("level").first(),
    )
    return made.slices.join(about, on="slice_id", maintain_order="left")


@table_asset(
    core.SLICE_ITEMS,
    group="slices",
    reads=[core.SLICES, core.ITEM_SKILLS, core.SKILL_NAMES],
)
def slice_items(lake: Lake) -> pl.DataFrame:
    """The items of each slice."""
    return (
        _members(lake)
        .select("item_id", "benchmark_id", slice_id="skill_id")
        .unique()
        .join(lake.read(core.SLICES).select("slice_id"), on="slice_id", how="semi")
        .select(core.SLICE_ITEMS.polars_schema.names())
        .sort("slice_id", "item_id")
    )


def _members(lake: Lake) -> pl.DataFrame:
    return slice_members(lake.read(core.ITEM_SKILLS), lake.read(core.SKILL_NAMES))
