"""The published files of ../shared, against the tables that state their facts."""

from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

from skillmap.parsing.formats import parse
from skillmap.parsing.manifest import (
    SourceSpec,
    canonical_model_name,
    expand,
    list_local_files,
    load_manifest,
    ordered_sources,
)
from skillmap.parsing.source import ParsedSource
from skillmap.parsing.suspicion import findings

pytestmark = pytest.mark.real_data

_MANIFEST = Path(__file__).parents[1] / "real_data" / "shared-data.yaml"
manifest = load_manifest(_MANIFEST.read_text(encoding="utf-8"), source_name="manifest")


@lru_cache(maxsize=1)
def _parsed(data: Path) -> list[tuple[SourceSpec, ParsedSource]]:
    specs = expand(manifest, data, list_local_files)
    return [
        (spec, parse(spec.path, format_name=spec.format, options=spec.options()))
        for spec in specs
    ]


@pytest.fixture
def parsed(shared: Path) -> list[tuple[SourceSpec, ParsedSource]]:
    return _parsed(shared / "data")


def _named_results(
    parsed: list[tuple[SourceSpec, ParsedSource]],
) -> pl.DataFrame:
    """Results under the item ids and model names of the reference tables."""
    frames: list[pl.DataFrame] = []
    offset: dict[str, int] = {}
    running = 0
    specs = [spec for spec, _ in parsed]
    height = {spec.name: source.n_records for spec, source in parsed}
    for spec in ordered_sources(manifest, "mmlu", specs):
        offset[spec.name] = running
        running += height[spec.name]
    for spec, source in parsed:
        place = (pl.col("position") + offset.get(spec.name, 0)).cast(pl.String)
        canonical = {
            name: canonical_model_name(name, manifest.models)
            for name in source.results["model"].unique()
        }
        frames.append(
            source.results.select(
                "benchmark",
                pl.coalesce("native_id", place).alias("item_id"),
                pl.col("model").replace(canonical),
                "prediction",
                "score",
                "outcome",
                "expects_prediction",
            )
        )
    return pl.concat(frames)


def test_every_file_of_the_shared_data_parses(
    parsed: list[tuple[SourceSpec, ParsedSource]],
) -> None:
    n_items = (
        pl.concat([s.items.select("benchmark") for _, s in parsed])
        .group_by("benchmark")
        .len()
        .sort("benchmark")
    )

    # GSM8K three times: by its test set and by two files of results.
    assert n_items.rows() == [
        ("bbh", 6511),
        ("gsm8k", 3 * 1319),
        ("mmlu", 14042),
        ("mmlu_pro", 106575),
    ]
    assert sum(s.skills.height for _, s in parsed) == 19042


def test_accuracy_of_every_model_is_the_reference(
    shared: Path, parsed: list[tuple[SourceSpec, ParsedSource]]
) -> None:
    reference = pl.read_csv(shared / "reference" / "accuracy.csv")
    results = _named_results(parsed)

    accuracy = results.group_by("benchmark", "model").agg(
        items=pl.len(),
        accuracy=pl.col("score").fill_null(0).mean(),
        no_prediction=pl.col("prediction").is_null().sum(),
    )

    assert accuracy.height == 9 + 6 + 5 + 3
    joined = accuracy.join(reference, on=["benchmark", "model"], how="left")
    assert (joined["items"] == joined["items_right"]).all()
    assert (joined["no_prediction"] == joined["no_prediction_right"]).all()
    assert (joined["accuracy"] - joined["accuracy_right"]).abs().max() < 1e-6
    assert results.filter(pl.col("score").is_null())["outcome"].unique().to_list() == [
        "unparsed"
    ]


def test_every_score_and_prediction_is_the_reference(
    shared: Path, parsed: list[tuple[SourceSpec, ParsedSource]]
) -> None:
    results = _named_results(parsed)
    reference = pl.read_parquet(shared / "reference" / "results.parquet").join(
        results.select("benchmark", "model").unique(),
        on=["benchmark", "model"],
        how="semi",
    )

    both = results.join(reference, on=["benchmark", "item_id", "model"], how="full")

    assert both.height == results.height == reference.height
    assert both["prediction"].equals(
        both["prediction_right"].alias("prediction"), null_equal=True
    )
    assert (both["score"].fill_null(0) == both["score_right"].fill_null(0)).all()


def test_skill_phrases_are_the_reference(
    shared: Path, parsed: list[tuple[SourceSpec, ParsedSource]]
) -> None:
    reference = pl.read_parquet(shared / "reference" / "skills.parquet")
    skills = pl.concat([source.skills for _, source in parsed])

    both = skills.select(
        "benchmark",
        pl.col("position").cast(pl.String).alias("item_id"),
        "annotator",
        pl.col("phrase").alias("skill"),
    ).join(reference, on=reference.columns, how="anti")

    assert skills.height == reference.height
    assert both.is_empty()


def test_stray_strings_of_one_file_are_its_only_rejects(
    parsed: list[tuple[SourceSpec, ParsedSource]],
) -> None:
    """M-6: category names stand between the records of DeepSeek-Coder-V2."""
    rejected = {s.results["model"][0]: s.rejects for _, s in parsed if s.rejects.height}

    assert list(rejected) == ["DeepSeek-Coder-V2"]
    assert rejected["DeepSeek-Coder-V2"].height == 43
    assert rejected["DeepSeek-Coder-V2"]["reason"].unique().to_list() == [
        "record is not an object"
    ]


def test_every_mmlu_prompt_splits_into_stem_and_four_options(
    shared: Path, parsed: list[tuple[SourceSpec, ParsedSource]]
) -> None:
    items = pl.concat([s.items for s_, s in parsed if s_.benchmark == "mmlu"])
    reference = pl.read_parquet(shared / "reference" / "items.parquet").filter(
        pl.col("benchmark") == "mmlu"
    )

    letters = [f"\n{letter}. " for letter in "ABCD"]
    joined = items.select(
        pl.concat_str(
            "question",
            *[
                pl.concat_str(pl.lit(letter), pl.col("choices").list.get(index))
                for index, letter in enumerate(letters)
            ],
            pl.lit("\nAnswer:"),
        )
    ).to_series()

    assert (items["choices"].list.len() == 4).all()
    # Without splitting badly anywhere, putting together gives the prompt again.
    assert sorted(joined) == sorted(reference["question"])
    assert items["category"].n_unique() == 57


def test_bbh_options_are_parsed_where_they_have_letters(
    parsed: list[tuple[SourceSpec, ParsedSource]],
) -> None:
    items = pl.concat([s.items for s_, s in parsed if s_.benchmark == "bbh"])

    with_options = items.filter(pl.col("choices").list.len() > 0)

    assert items["category"].n_unique() == 27
    assert with_options["category"].n_unique() == 17
    # Three targets of two tasks are texts instead of letters, as published.
    assert (with_options["answer"].str.len_chars() > 1).sum() == 3


def test_unsupported_predictions_of_llama_are_the_extractor_default(
    parsed: list[tuple[SourceSpec, ParsedSource]],
) -> None:
    """M-9: 694 predictions "G" whose letter occurs nowhere in the response.

    Two more predictions, of items 840 and 6414, are a letter of "A1" and "Elizabeth".
    """
    source = next(s for s_, s in parsed if s_.model == "Meta-Llama-3_1-8B-Instruct")

    found = {row["code"]: row for row in findings(source.results).to_dicts()}

    assert found["constant_prediction"]["count"] == 694
    assert "'G'" in found["constant_prediction"]["message"]
    assert found["prediction_not_in_response"]["count"] == 696
