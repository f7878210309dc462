"""What is made anew after a change, and that nothing else is."""

import os
from pathlib import Path

import pytest

from skillmap.contracts import TABLES, core
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.planning import Selection
from skillmap_dagster.runs import Platform
from tests.pipeline.places import Made
from tests.pipeline.sources import (
    bring_in,
    contents,
    stamps,
    write_records,
    write_results,
)

# Without those that ask models: nothing makes them but a person.
UNASKED = [asset.table for asset in TABLE_ASSETS.values() if not asset.asks_models]
BENCHMARK_TABLES = {str(table) for table in UNASKED if table.partitions == "benchmark"}
CELL_TABLES = {str(t) for t in UNASKED if t.partitions == "benchmark_model"}

Written = set[tuple[str, tuple[str, ...]]]


def cells(benchmark: str, model: str) -> Written:
    return {(table, (benchmark, model)) for table in CELL_TABLES}


def about_benchmark(benchmark: str) -> Written:
    return {(table, (benchmark,)) for table in BENCHMARK_TABLES}


def made_from(name: str) -> Written:
    """Tables over all partitions that are made from one, directly or through others."""
    met = {name}
    for _ in TABLES:
        met |= {
            str(asset.table)
            for asset in TABLE_ASSETS.values()
            if not (asset.table.partitions or asset.asks_models)
            and any(str(r) in met for r in asset.reads)
        }
    return {(table, ()) for table in met - {name}}


def of_partitions(parts: Written) -> Written:
    return {part for part in parts if part[1]}


def rewritten(before: dict, platform: Platform) -> Written:
    """Partitions whose file is another than before."""
    after = stamps(platform.resources["lake"])
    return {part for part in after if after[part] != before.get(part)}


def test_a_second_time_nothing_is_made(made: Made) -> None:
    lake = made.platform.resources["lake"]
    before = stamps(lake)
    published = Path(made.platform.resources["warehouse"].file)
    published_before = published.stat().st_mtime_ns

    outcome = made.platform.bring_up_to_date()

    assert (outcome.n_runs, outcome.failures) == (0, [])
    assert stamps(lake) == before
    assert published.stat().st_mtime_ns == published_before


def test_the_same_files_again_change_nothing(made: Made) -> None:
    before = stamps(made.platform.resources["lake"])
    registry = made.platform.resources["registry"]
    registered_before = registry.sources()

    registered = register(paths_request([made.sources]), registry)
    outcome = made.platform.bring_up_to_date()

    assert (registered.new, registered.changed) == ([], [])
    assert len(registered.unchanged) == 4
    assert outcome.n_runs == 0
    assert stamps(made.platform.resources["lake"]) == before
    assert registry.sources() == registered_before


def test_a_touched_file_with_the_same_bytes_changes_nothing(made: Made) -> None:
    os.utime(made.sources / "sums-ada.jsonl", ns=(1, 1))

    outcome = bring_in(made.platform, made.sources)

    assert outcome.n_runs == 0


def test_a_changed_file_remakes_its_cell_and_what_is_made_from_it(made: Made) -> None:
    lake = made.platform.resources["lake"]
    before, before_on_disk = contents(lake), stamps(lake)
    write_results(made.sources, "sums", "ada", n_right=9)

    outcome = bring_in(made.platform, made.sources)

    assert outcome.failures == []
    # The benchmark's own tables are read from the file too, and come out the same.
    assert rewritten(before_on_disk, made.platform) == (
        about_benchmark("sums") | cells("sums", "ada") | made_from("core.scores")
    )
    after = contents(lake)
    changed = {part for part in after if after[part] != before[part]}
    assert of_partitions(changed) == {
        ("raw.sources", ("sums",)),
        ("core.scores", ("sums", "ada")),
    }
    assert ("mart.model_accuracy", ()) in changed
    accuracy = made.platform.resources["warehouse"].query(
        "select accuracy from mart.model_accuracy "
        "where (benchmark_id, model_id) = ('sums', 'ada')"
    )
    assert accuracy.item() == 9 / 12


def test_a_changed_file_is_noticed_without_being_imported_again(made: Made) -> None:
    before = stamps(made.platform.resources["lake"])
    write_results(made.sources, "sums", "ada", n_right=9)

    outcome = made.platform.bring_up_to_date()

    assert outcome.failures == []
    assert rewritten(before, made.platform) == (
        about_benchmark("sums") | cells("sums", "ada") | made_from("core.scores")
    )


def test_a_file_that_broke_fails_with_its_name_and_the_rest_goes_on(
    made: Made,
) -> None:
    before = contents(made.platform.resources["lake"])
    file = made.sources / "sums-ada.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    write_results(made.sources, "charts", "bob", n_right=9)

    outcome = made.platform.bring_up_to_date()

    after = contents(made.platform.resources["lake"])
    assert outcome.failures
    assert all("sums-ada.jsonl" in failure for failure in outcome.failures)
    changed = {part for part in after if after[part] != before[part]}
    assert ("core.scores", ("charts", "bob")) in changed
    assert not changed & (cells("sums", "ada") | about_benchmark("sums"))


def test_a_new_model_leaves_items_skills_and_other_models_alone(made: Made) -> None:
    lake = made.platform.resources["lake"]
    before, before_on_disk = contents(lake), stamps(lake)
    file = write_results(
        made.sources / "new", "sums", "eve", n_right=3, names_skills=False
    )

    outcome = bring_in(made.platform, file)

    assert outcome.failures == []
    assert rewritten(before_on_disk, made.platform) == (
        about_benchmark("sums")
        | cells("sums", "eve")
        | {("core.models", ("eve",))}
        | made_from("core.scores")
    )
    after = contents(lake)
    changed = {part for part in before if after[part] != before[part]}
    assert of_partitions(changed) == {
        ("raw.sources", ("sums",)),
        # It counts the sources that state the release; cells do not depend on that.
        ("core.benchmarks", ("sums",)),
    }


def test_another_slice_size_remakes_slices_and_not_skills(made: Made) -> None:
    before = stamps(made.platform.resources["lake"])
    settings = made.platform.resources["settings"]
    settings.write(settings.read().model_copy(update={"minimum_slice_items": 9}))

    outcome = made.platform.bring_up_to_date()

    assert outcome.n_runs == 1
    remade = rewritten(before, made.platform)
    assert remade == {("core.slices", ()), *made_from("core.slices")}
    assert ("mart.slice_accuracy", ()) in remade
    assert ("core.skills", ()) not in remade
    slices = made.platform.resources["lake"].read(core.SLICES)
    assert slices.filter(level="skill").is_empty()


@pytest.mark.slow
def test_skills_that_duplicates_inherit_follow_the_duplicates(made: Made) -> None:
    # No annotator tells of the new items: they have skills only as duplicates, so
    # skills are to be made anew although no phrase has changed.
    def write(question: str) -> Path:
        return write_records(
            made.sources / "new" / "copies.jsonl",
            [
                {
                    "benchmark": "copies",
                    "item_id": number,
                    "question": question.format(number),
                    "answer": str(number),
                    "model": "ada",
                    "score": 1,
                }
                for number in range(12)
            ],
        )

    def n_items() -> set[int]:
        skills = made.platform.resources["lake"].read(core.SKILLS)
        return set(skills["n_items"])

    bring_in(made.platform, write("Question {} of sums?"))
    assert n_items() == {12}
    bring_in(made.platform, write("Question {} of nothing else?"))
    assert n_items() == {8}

    again = made.platform.bring_up_to_date()

    assert again.n_runs == 0


def test_a_model_that_a_file_has_no_more_is_forgotten(made: Made) -> None:
    lake = made.platform.resources["lake"]
    file = made.sources / "sums-bob.jsonl"
    text = file.read_text("utf-8")
    file.write_text(text.replace('"model": "bob"', '"model": "eve"'), "utf-8")

    outcome = bring_in(made.platform, made.sources)

    assert outcome.failures == []
    parts = {tuple(partition.values()) for partition in lake.partitions(core.SCORES)}
    assert parts == {
        ("charts", "ada"),
        ("charts", "bob"),
        ("sums", "ada"),
        ("sums", "eve"),
    }
    seen = made.platform.resources["warehouse"].query(
        "select model_id from mart.model_accuracy where benchmark_id = 'sums'"
    )
    assert seen["model_id"].to_list() == ["ada", "eve"]


def test_a_file_that_is_gone_keeps_what_was_read_of_it(made: Made) -> None:
    before = contents(made.platform.resources["lake"])
    (made.sources / "sums-ada.jsonl").unlink()

    outcome = made.platform.bring_up_to_date()

    assert outcome.n_runs == 0
    assert contents(made.platform.resources["lake"]) == before


def test_only_what_is_selected_is_made(made: Made) -> None:
    before = stamps(made.platform.resources["lake"])
    for model in ("ada", "bob"):
        write_results(made.sources, "sums", model, n_right=9)
    register(paths_request([made.sources]), made.platform.resources["registry"])

    made.platform.bring_up_to_date(
        Selection(
            tables=frozenset({"core.scores"}),
            models=frozenset({"ada"}),
            stages=("benchmark_model",),
        )
    )

    assert rewritten(before, made.platform) == {("core.scores", ("sums", "ada"))}


@pytest.mark.slow
def test_a_backfill_remakes_all_of_a_model_and_nothing_of_another(made: Made) -> None:
    lake = made.platform.resources["lake"]
    before, before_on_disk = contents(lake), stamps(lake)

    outcome = made.platform.backfill({"ada"})

    assert outcome.failures == []
    assert contents(lake) == before
    assert rewritten(before_on_disk, made.platform) == (
        cells("sums", "ada") | cells("charts", "ada") | {("core.models", ("ada",))}
    )


def test_a_reader_of_another_version_reads_again(made: Made) -> None:
    registry = made.platform.resources["registry"]
    before = {s.source_id: s.fingerprint for s in registry.sources()}
    source = registry.sources()[0]

    registry.register(source.model_copy(update={"importer_version": "0"}))
    registered = register(paths_request([made.sources]), registry)

    assert len(registered.changed) == 1
    assert {s.source_id: s.fingerprint for s in registry.sources()} == before


def test_an_odd_benchmark_and_model_name_go_all_the_way(made: Made) -> None:
    record = {
        "benchmark": "org/Étude n° 1: 50%..",
        "item_id": "a/b",
        "question": "?",
        "answer": "1",
        "model": "gpt-4 (0613) + tools=on",
        "score": 1,
        "response": "1",
    }
    file = write_records(made.sources / "new" / "odd.jsonl", [record])

    outcome = bring_in(made.platform, file)

    assert outcome.failures == []
    rows = made.platform.resources["warehouse"].query(
        "select benchmark_id, model_id, response from core.responses "
        "where model_id not in ('ada', 'bob')"
    )
    assert rows.rows() == [(record["benchmark"], record["model"], "1")]
