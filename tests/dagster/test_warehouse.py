"""The published DuckDB file: whole, read-only, and never in anybody's way."""

import os
from pathlib import Path

import duckdb
import polars as pl
import pytest

from skillmap.contracts import TABLES, core
from skillmap.contracts.views import VIEWS
from skillmap.errors import ContractError, InvalidInputError
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.warehouse import Warehouse
from tests.pipeline.places import Made

CELL = {"benchmark": "sums", "model": "ada"}
RIGHT = (
    "select sum(score) from core.scores where benchmark_id = 'sums' "
    "and model_id = 'ada' and extractor = 'source'"
)


def resources(made: Made) -> tuple[Lake, Warehouse]:
    return made.platform.resources["lake"], made.platform.resources["warehouse"]


def replace_scores(lake: Lake, *, score: float) -> None:
    """Make every answer of a cell right or wrong, without an asset."""
    outcome = "correct" if score else "wrong"
    scores = lake.read(core.SCORES, **CELL)
    changed = scores.with_columns(
        score=pl.lit(score, pl.Float64), outcome=pl.lit(outcome)
    )
    lake.write(core.SCORES, CELL, changed, inputs="")


def test_it_holds_every_table_and_view(made: Made) -> None:
    lake, warehouse = resources(made)

    for table in TABLES.values():
        published = warehouse.query(f"from {table}")
        assert published.columns == table.polars_schema.names()
        assert published.height == lake.read(table).height
    for view in VIEWS:
        assert warehouse.query(f"from mart.{view.name}").width > 0


def test_the_file_is_read_only(made: Made) -> None:
    _, warehouse = resources(made)

    assert Path(warehouse.file).stat().st_mode & 0o777 == 0o444
    with (
        warehouse.connection() as connection,
        pytest.raises(duckdb.InvalidInputException, match="read-only"),
    ):
        connection.sql("create table mine as select 1")


def test_an_open_connection_keeps_its_rows_and_a_new_one_sees_the_new(
    made: Made, tmp_path: Path
) -> None:
    lake, warehouse = resources(made)
    # Another process has files of its own; here a link stands for one.
    link = tmp_path / "as-another-process.duckdb"
    os.link(warehouse.file, link)
    with duckdb.connect(str(link), read_only=True) as held:
        before = held.sql(RIGHT).fetchall()
        replace_scores(lake, score=1.0)
        warehouse.publish(lake)

        assert held.sql(RIGHT).fetchall() == before == [(4.0,)]
        assert warehouse.query(RIGHT).item() == 12.0


def test_responses_can_be_read_after_their_partition_was_replaced(made: Made) -> None:
    lake, warehouse = resources(made)
    query = "select response from core.responses where model_id = 'ada' order by all"
    before = warehouse.query(query)
    assert before.height == 24

    rows = lake.read(core.RESPONSES, **CELL)
    changed = rows.with_columns(response=pl.lit("something else"))
    lake.write(core.RESPONSES, CELL, changed, inputs="")
    lake.remove(core.RESPONSES, {"benchmark": "charts", "model": "ada"})

    assert warehouse.query(query).equals(before)


def test_replaced_pins_are_kept_for_a_week_and_others_while_the_lake_has_them(
    made: Made,
) -> None:
    lake, warehouse = resources(made)
    warehouse.publish(lake)
    folder = made.platform.home / "pinned"
    pins = sorted(folder.iterdir())
    replaced = folder / "replaced.parquet"
    replaced.write_bytes(b"")

    warehouse.publish(lake)
    assert sorted(folder.iterdir()) == sorted([*pins, replaced])

    Warehouse(file=warehouse.file, replaced_kept_seconds=0).publish(lake)
    assert sorted(folder.iterdir()) == pins


def test_tables_and_columns_say_what_they_are(made: Made) -> None:
    _, warehouse = resources(made)

    tables = warehouse.query(
        "select schema_name || '.' || table_name, comment from duckdb_tables() union "
        "select schema_name || '.' || view_name, comment from duckdb_views()"
    )
    columns = warehouse.query(
        "select schema_name || '.' || table_name || '.' || column_name, comment "
        "from duckdb_columns() where schema_name in ('raw', 'core', 'mart')"
    )

    told, told_of = dict(tables.rows()), dict(columns.rows())
    for table in TABLES.values():
        assert told[str(table)].startswith(table.description)
        assert table.grain in told[str(table)]
        for column in table.columns:
            assert told_of[f"{table}.{column.name}"] == column.description
    for view in VIEWS:
        assert told[f"mart.{view.name}"] == view.description


def test_keys_are_primary_keys(made: Made) -> None:
    _, warehouse = resources(made)

    keys = warehouse.query(
        "select schema_name || '.' || table_name, constraint_column_names "
        "from duckdb_constraints() where constraint_type = 'PRIMARY KEY'"
    )

    assert {name: tuple(columns) for name, columns in keys.rows()} == {
        str(table): table.primary_key
        for table in TABLES.values()
        if table.keyed_in_duckdb
    }


def test_a_broken_rule_stops_the_publication_and_the_old_file_stays(
    made: Made,
) -> None:
    lake, warehouse = resources(made)
    before = Path(warehouse.file).read_bytes()
    lake.remove(core.ITEMS, {"benchmark": "sums"})

    with pytest.raises(ContractError, match="not published") as stopped:
        warehouse.publish(lake)

    assert "'every_response_has_an_item': 24" in str(stopped.value)
    assert Path(warehouse.file).read_bytes() == before
    assert list(made.platform.home.glob(".*.duckdb*")) == []


def test_a_doubled_key_stops_the_publication_with_the_table_s_name(
    made: Made,
) -> None:
    lake, warehouse = resources(made)
    models = lake.read(core.MODELS, model="ada")
    lake.write(core.MODELS, {"model": "bob"}, models, inputs="")
    before = Path(warehouse.file).read_bytes()

    with pytest.raises(ContractError, match=r"core\.models: not published"):
        warehouse.publish(lake)

    assert Path(warehouse.file).read_bytes() == before
    assert list(made.platform.home.glob(".*.duckdb*")) == []


def test_it_is_current_until_the_lake_changes(made: Made) -> None:
    lake, warehouse = resources(made)
    assert warehouse.is_current(lake)

    replace_scores(lake, score=1.0)
    assert not warehouse.is_current(lake)

    warehouse.publish(lake)
    assert warehouse.is_current(lake)


def test_the_same_rows_written_again_leave_it_current(made: Made) -> None:
    lake, warehouse = resources(made)

    lake.write(core.SCORES, CELL, lake.read(core.SCORES, **CELL), inputs="others")

    assert warehouse.is_current(lake)


def test_a_removed_partition_makes_it_outdated(made: Made) -> None:
    lake, warehouse = resources(made)

    lake.remove(core.MODELS, {"model": "bob"})

    assert not warehouse.is_current(lake)


@pytest.mark.parametrize(
    "wrong",
    ["selec 1", "from core.nothing", "", "begin", "drop table core.items"],
)
def test_a_wrong_query_is_an_input_error(made: Made, wrong: str) -> None:
    _, warehouse = resources(made)

    with pytest.raises(InvalidInputError):
        warehouse.query(wrong)


def test_a_query_before_anything_is_published_says_what_to_do(tmp_path: Path) -> None:
    warehouse = Warehouse(file=str(tmp_path / "skillmap.duckdb"))

    assert not warehouse.is_current(Lake(root=str(tmp_path / "lake")))
    with pytest.raises(InvalidInputError, match="nothing is published yet"):
        warehouse.query("select 1")


def test_an_empty_lake_is_published_with_all_tables(tmp_path: Path) -> None:
    warehouse = Warehouse(file=str(tmp_path / "skillmap.duckdb"))

    published = warehouse.publish(Lake(root=str(tmp_path / "lake")))

    assert set(published.n_rows.values()) == {0}
    assert warehouse.query("select count(*) from core.responses").item() == 0


def test_a_quote_in_the_path_does_no_harm(made: Made, tmp_path: Path) -> None:
    lake, _ = resources(made)
    warehouse = Warehouse(file=str(tmp_path / "it's here" / "skillmap.duckdb"))

    warehouse.publish(lake)

    assert warehouse.query("select count(*) from core.responses").item() == 48
