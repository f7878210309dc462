"""Facts measured in the published files of MMLU-Pro and MMLU, in ../shared."""

from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

from skillmap.items.groups import item_groups
from skillmap.items.matching import BenchmarkSource, benchmark_order
from skillmap.items.releases import Releases, benchmark_releases
from skillmap.parsing.formats import parse
from tests.builders import (
    NO_ORDER,
    make_eval_runs,
    make_scores,
    make_warehouse,
    rows_of,
)

pytestmark = pytest.mark.real_data

OLD, NEW = "Mixtral-8x7B-Instruct-v0.1", "jamba-1.5-large"


@lru_cache(maxsize=4)
def pro_source(data: Path, model: str) -> BenchmarkSource:
    file = data / "mmlu_pro" / f"model_outputs_{model}_5shots.zip"
    return BenchmarkSource(source_id=model, parsed=parse(file), match="id")


@lru_cache(maxsize=1)
def generations(data: Path) -> Releases:
    sources = [pro_source(data, model) for model in (OLD, NEW)]
    return benchmark_releases("mmlu_pro", sources, NO_ORDER)


@lru_cache(maxsize=1)
def mmlu_items(data: Path) -> pl.DataFrame:
    sources: list[BenchmarkSource] = []
    n_records = 0
    for file in sorted((data / "mmlu_routellm").glob("*.csv")):
        parsed = parse(file)
        sources.append(
            BenchmarkSource(
                source_id=file.stem,
                parsed=parsed,
                match="position",
                order_offset=n_records,
            )
        )
        n_records += parsed.n_records
    order = benchmark_order(sources, n_items=None)
    return benchmark_releases("mmlu", sources, order).items


@pytest.fixture
def data(shared: Path) -> Path:
    return shared / "data"


def pro_items(data: Path, model: str) -> pl.DataFrame:
    return benchmark_releases("mmlu_pro", [pro_source(data, model)], NO_ORDER).items


@pytest.mark.parametrize("model", [OLD, NEW])
def test_mmlu_pro_has_159_exact_duplicate_groups(data: Path, model: str) -> None:
    """318 rows, of one category and answer text each, said to be removed (M-1)."""
    items = pro_items(data, model)

    exact = item_groups(items).filter(pl.col("kind") == "exact")

    assert exact["group_id"].n_unique() == 159
    assert exact.height == 318
    categories = exact.join(items.select("item_id", "category"), on="item_id")
    assert categories.group_by("group_id").n_unique()["category"].max() == 1


def test_the_same_question_with_other_options_is_no_exact_duplicate(
    data: Path,
) -> None:
    """750 items share a question; six, which statement is correct (M-2)."""
    ids = ["6261", "6262", "6621", "6709", "7436", "3323"]
    items = pro_items(data, NEW)

    exact = item_groups(items).filter(pl.col("kind") == "exact")

    sharing = items.filter(pl.len().over("question_hash") > 1)
    asked = items.filter(pl.col("native_id").is_in(ids))
    assert (sharing["question_hash"].n_unique(), sharing.height) == (358, 750)
    assert asked["question_hash"].n_unique() == 1
    of_asked = exact.join(asked, on="item_id", how="semi")
    assert of_asked["item_id"].to_list() == ["mmlu_pro:6261", "mmlu_pro:6262"]


def test_two_generations_of_mmlu_pro_differ_in_48_items(data: Path) -> None:
    """31 in the answer only, 9 in the options, 6 in the question, 2 in both (M-3)."""
    made = generations(data)

    assert made.benchmarks["n_drifted_items"].to_list() == [0, 48]
    assert made.benchmarks["n_items"].to_list() == [12_032, 12_032]
    old, new = pro_items(data, OLD), pro_items(data, NEW)
    both = old.join(new, on="item_id", suffix="_new")
    differs = both.select(
        "native_id",
        question=pl.col("question_hash") != pl.col("question_hash_new"),
        choices=pl.col("choices") != pl.col("choices_new"),
        answer=pl.col("answer") != pl.col("answer_new"),
    )
    only_answer = differs.filter("answer", ~pl.col("question"), ~pl.col("choices"))
    assert only_answer.height == 31
    assert "6392" in only_answer["native_id"]


@pytest.mark.parametrize(("model", "unlinked"), [(OLD, []), (NEW, ["3983"])])
def test_items_of_mmlu_pro_that_are_from_mmlu_are_linked_to_it(
    data: Path, model: str, unlinked: list[str]
) -> None:
    """All 6,810; in the newer generation one asks the opposite of what MMLU asks."""
    pro = pro_items(data, model)
    mmlu = mmlu_items(data)

    near = item_groups(pl.concat([pro, mmlu])).filter(pl.col("kind") == "near")

    from_mmlu = pro.filter(pl.col("origin").str.starts_with("ori_mmlu"))
    linked = near.filter(pl.col("benchmark_id").n_unique().over("group_id") == 2)
    assert mmlu.height == 14_042
    assert from_mmlu.height == 6_810
    missing = from_mmlu.join(linked, on="item_id", how="anti")
    assert missing["native_id"].to_list() == unlinked


@pytest.mark.parametrize(("model", "chance"), [(NEW, 0.1109), (OLD, 0.1112)])
def test_guessing_on_mmlu_pro_gets_11_percent_and_not_10(
    data: Path, model: str, chance: float
) -> None:
    """Items have 3 to 10 options, in the older generation down to one (M-4)."""
    items = pro_items(data, model)
    scores = make_scores(1, benchmark_id="mmlu_pro")

    with make_warehouse(
        items=items, scores=scores, eval_runs=make_eval_runs(scores)
    ) as connection:
        counts = rows_of(connection, "mart/cell_counts")

    assert counts["chance_accuracy"].item() == pytest.approx(chance, abs=5e-5)
    counted = dict(items["n_choices"].value_counts().rows())
    assert (counted.get(1, 0), counted.get(2, 0)) == (
        (0, 0) if model == NEW else (5, 2)
    )
