"""The gate: what an asset's rows pass before they replace the old ones."""

import dagster as dg
import polars as pl
import pytest
from dagster import AssetCheckKey, AssetKey
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecordStatus as Status,
)

from skillmap.contracts import TABLES, core, mart
from skillmap_dagster import partitions
from skillmap_dagster.assets.table_asset import TABLE_ASSETS, TableAsset
from skillmap_dagster.planning import Task
from skillmap_dagster.quality.audit import check_names
from skillmap_dagster.runs import Platform
from tests.pipeline.places import Made
from tests.pipeline.sources import contents, n_right, stamps, write_results

CELL = {"benchmark": "sums", "model": "ada"}
CELL_KEY = dg.MultiPartitionKey(CELL)
CELL_TABLES = [core.EVAL_RUNS, core.RESPONSES, core.SCORES]
CELL_TASK = Task(CELL, [AssetKey(list(table.key)) for table in CELL_TABLES])
ACCURACY_TASK = Task({}, [AssetKey(list(mart.MODEL_ACCURACY.key))])


def check_status(platform: Platform, table: str, check: str) -> dict[str, Status]:
    """Last outcome of a check by partition, as the UI shows it."""
    storage = platform.instance.event_log_storage
    key = AssetCheckKey(AssetKey(table.split(".")), check)
    return {
        str(info.partition_key): info.latest_execution_status
        for info in storage.get_asset_check_partition_info([key])
    }


def check_metadata(platform: Platform, table: str, check: str) -> dict[str, object]:
    storage = platform.instance.event_log_storage
    key = AssetCheckKey(AssetKey(table.split(".")), check)
    records = storage.get_asset_check_execution_history(key, limit=1)
    evaluation = records[0].event.asset_check_evaluation
    return {name: value.value for name, value in evaluation.metadata.items()}


def materialized(platform: Platform, table: str) -> set[str]:
    key = AssetKey(table.split("."))
    return set(platform.instance.get_materialized_partitions(key))


def accuracies(platform: Platform) -> dict[tuple[str, str], float]:
    rows = platform.resources["lake"].read(mart.MODEL_ACCURACY)
    names = rows.select("benchmark_id", "model_id").rows()
    return dict(zip(names, rows["accuracy"], strict=True))


def cut(made: Made) -> None:
    """Break the cell's file in the middle of a record, as a full disk would."""
    file = made.sources / "sums-ada.jsonl"
    file.write_bytes(file.read_bytes()[:-40])


def test_good_rows_replace_the_old_and_their_checks_are_of_their_partition(
    made: Made,
) -> None:
    write_results(made.sources, "sums", "ada", n_right=9)

    failures = made.platform.run(CELL_TASK)

    assert failures == []
    assert n_right(made.platform.resources["lake"], "sums", "ada") == 9
    assert materialized(made.platform, "core.scores") == {CELL_KEY}
    for check in check_names(core.SCORES):
        told = check_status(made.platform, "core.scores", check)
        assert told == {CELL_KEY: Status.SUCCEEDED}


def test_rows_that_a_rule_stops_are_not_published(made: Made) -> None:
    lake = made.platform.resources["lake"]
    before, before_on_disk = contents(lake), stamps(lake)
    write_results(made.sources, "sums", "ada", empty=True)

    failures = made.platform.run(CELL_TASK)

    assert any("rejected by ['responses_are_not_all_empty']" in f for f in failures)
    # A cell's eval runs and responses stand with its scores.
    assert len(failures) == 3
    assert contents(lake) == before
    assert stamps(lake) == before_on_disk
    assert materialized(made.platform, "core.scores") == set()


def test_a_failed_check_is_recorded_for_its_partition_with_the_offenders(
    made: Made,
) -> None:
    write_results(made.sources, "sums", "ada", empty=True)

    made.platform.run(CELL_TASK)

    check = "responses_are_not_all_empty"
    told = check_status(made.platform, "core.scores", check)
    assert told == {CELL_KEY: Status.FAILED}
    about = check_metadata(made.platform, "core.scores", check)
    assert about["offending_rows"] == 1
    assert about["first"][0]["n_empty"] == 12
    assert check_status(made.platform, "core.scores", "contract") == {
        CELL_KEY: Status.SUCCEEDED
    }


def test_rejected_rows_are_in_quarantine(made: Made) -> None:
    write_results(made.sources, "sums", "ada", empty=True)

    made.platform.run(CELL_TASK)

    home = made.platform.home
    files = sorted((home / "quarantine").rglob("*.parquet"))
    assert [str(f.relative_to(home / "quarantine")) for f in files] == [
        "core/scores/benchmark=sums/model=ada/part.parquet"
    ]
    assert set(pl.read_parquet(files[0])["outcome"]) == {"empty"}


def test_a_source_that_cannot_be_read_is_a_failed_contract_with_the_reason(
    made: Made,
) -> None:
    lake = made.platform.resources["lake"]
    before = contents(lake)
    cut(made)

    failures = made.platform.run(CELL_TASK)

    assert len(failures) == 3
    assert failures[0].startswith(
        "core.eval_runs {'benchmark': 'sums', 'model': 'ada'}"
    )
    assert "sums-ada.jsonl: the last line, record 11, is cut off" in failures[0]
    assert contents(lake) == before
    told = check_status(made.platform, "core.eval_runs", "contract")
    assert told == {CELL_KEY: Status.FAILED}
    reason = check_metadata(made.platform, "core.eval_runs", "contract")["reason"]
    assert "sums-ada.jsonl" in str(reason)


def test_a_broken_file_of_one_model_does_not_hold_up_another(made: Made) -> None:
    cut(made)
    write_results(made.sources, "sums", "bob", n_right=11)
    cell = {"benchmark": "sums", "model": "bob"}

    failures = made.platform.run(Task(cell, CELL_TASK.keys))

    assert failures == []
    assert n_right(made.platform.resources["lake"], "sums", "bob") == 11


def test_a_later_run_of_a_mart_uses_the_last_good_cell(made: Made) -> None:
    before = accuracies(made.platform)
    cut(made)
    made.platform.run(CELL_TASK)

    failures = made.platform.run(ACCURACY_TASK)

    assert failures == []
    assert accuracies(made.platform) == before
    assert before["sums", "ada"] == 4 / 12


def test_an_error_nobody_expected_fails_the_run_and_publishes_nothing(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(made.platform.resources["lake"])

    def rows(*_: object) -> pl.DataFrame:
        raise ZeroDivisionError("one over nothing")

    monkeypatch.setattr(TableAsset, "rows", rows)
    failures = made.platform.run(ACCURACY_TASK)

    assert failures == ["ZeroDivisionError: one over nothing"]
    assert contents(made.platform.resources["lake"]) == before
    told = check_status(made.platform, "mart.model_accuracy", "contract")
    assert told == {"None": Status.PLANNED}


def test_rows_without_a_column_of_the_contract_are_stopped_with_its_name(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset = TABLE_ASSETS[mart.MODEL_ACCURACY.key]

    def rows(self: TableAsset, *_: object) -> pl.DataFrame:
        return self.table.conform(pl.DataFrame({"model_id": ["ada"]}))

    monkeypatch.setattr(TableAsset, "rows", rows)
    failures = made.platform.run(ACCURACY_TASK)

    assert asset.table.name in failures[0]
    reason = check_metadata(made.platform, "mart.model_accuracy", "contract")["reason"]
    assert "missing ['accuracy'" in str(reason)


def test_rows_out_of_range_fail_contract_and_expectations(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = made.platform.resources["lake"].read(mart.MODEL_ACCURACY)
    bad = good.with_columns(coverage=pl.lit(1.5))
    before = stamps(made.platform.resources["lake"])

    monkeypatch.setattr(TableAsset, "rows", lambda *_: bad)
    made.platform.run(ACCURACY_TASK)

    for check in ("contract", "expectations"):
        told = check_status(made.platform, "mart.model_accuracy", check)
        assert told == {"None": Status.FAILED}
    assert stamps(made.platform.resources["lake"]) == before


def test_a_caution_is_recorded_and_stops_nothing(made: Made) -> None:
    records = (made.sources / "sums-ada.jsonl").read_text("utf-8")
    drifted = records.replace("Question 3 of sums?", "Question 3 of sums, revised?")
    (made.sources / "sums-ada.jsonl").write_text(drifted, "utf-8")

    failures = made.platform.run(CELL_TASK)

    caution = "results_are_of_the_current_release"
    assert failures == []
    assert check_status(made.platform, "core.scores", caution) == {
        CELL_KEY: Status.FAILED
    }
    responses = made.platform.resources["lake"].read(core.RESPONSES, **CELL)
    assert responses["is_drifted"].sum() == 1


def test_a_run_over_a_range_of_partitions_is_refused(made: Made) -> None:
    before = contents(made.platform.resources["lake"])
    job = made.platform.definitions.resolve_implicit_global_asset_job_def()

    result = job.execute_in_process(
        asset_selection=[AssetKey(["core", "items"])],
        instance=made.platform.instance,
        tags={
            "dagster/asset_partition_range_start": "charts",
            "dagster/asset_partition_range_end": "sums",
        },
        raise_on_error=False,
    )

    assert not result.success
    failed = [event for event in result.all_events if event.is_step_failure]
    assert "covers 2 partitions" in str(failed[0].step_failure_data)
    assert contents(made.platform.resources["lake"]) == before


def test_a_partition_shows_its_rows_and_where_they_are(made: Made) -> None:
    made.platform.run(CELL_TASK)

    event = made.platform.instance.get_latest_materialization_event(
        AssetKey(["core", "responses"])
    )
    assert event is not None
    shown = event.asset_materialization.metadata
    assert shown["dagster/partition_row_count"].value == 12
    assert "model=ada" in str(shown["dagster/uri"].value)
    assert str(shown["preview"].value).startswith("| eval_run_id |")


def test_a_table_with_a_picture_shows_it(made: Made) -> None:
    made.platform.run(CELL_TASK)

    event = made.platform.instance.get_latest_materialization_event(
        AssetKey(["core", "scores"])
    )
    assert event is not None
    picture = str(event.asset_materialization.metadata["picture"].value)
    assert picture.startswith("![picture](data:image/png;base64,")


def test_every_table_has_an_asset_of_its_name_and_partitions() -> None:
    assert set(TABLE_ASSETS) == set(TABLES)
    for key, asset in TABLE_ASSETS.items():
        definition = asset.definition
        assert definition.key == AssetKey(list(key))
        assert (
            definition.partitions_def == partitions.DEFINITIONS[TABLES[key].partitions]
        )
        assert asset.make.__name__ == TABLES[key].name
        checks = {spec.name for spec in definition.check_specs}
        assert checks == set(check_names(TABLES[key]))
        blocking = {spec.name for spec in definition.check_specs if spec.blocking}
        assert blocking == checks - set(TABLES[key].cautions)


def test_an_asset_depends_on_the_tables_it_declares() -> None:
    for asset in TABLE_ASSETS.values():
        declared = {AssetKey(list(table.key)) for table in asset.reads}
        assert asset.definition.asset_deps[asset.definition.key] == declared
