import duckdb
import polars as pl
import pytest

from skillmap.contracts import TABLES, core
from skillmap.contracts.table import POLARS_TYPES, Column, ColumnType, Table
from skillmap.errors import ContractError
from tests.builders import make_items, make_scores


def small_table(*columns: Column, **rules: str) -> Table:
    return Table(
        schema="core",
        name="things",
        grain="thing",
        description="Things; it's said.",
        columns=columns,
        primary_key=(columns[0].name,),
        checks=rules,
    )


def column(name: str, kind: ColumnType = "bigint", **rest: object) -> Column:
    described = {"description": f"The {name}; it's one.", **rest}
    return Column(name=name, type=kind, **described)  # type: ignore[arg-type]


def test_columns_are_put_in_the_order_and_types_of_the_contract() -> None:
    shuffled = make_scores().select(sorted(core.SCORES.polars_schema))
    narrow = shuffled.with_columns(pl.col("epoch").cast(pl.Int8))

    conformed = core.SCORES.conform(narrow)

    assert conformed.equals(make_scores())
    assert conformed.schema == core.SCORES.polars_schema


def test_missing_and_unexpected_columns_are_named() -> None:
    frame = make_scores().rename({"score": "points", "epoch": "pass"})

    with pytest.raises(
        ContractError,
        match=r"^core\.scores: .*missing \['epoch', 'score'\], "
        r"unexpected \['pass', 'points'\]$",
    ):
        core.SCORES.conform(frame)


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_an_empty_frame_conforms(table: Table) -> None:
    empty = table.empty()

    assert empty.height == 0
    assert table.conform(empty).schema == table.polars_schema


def test_a_column_of_nulls_takes_any_type() -> None:
    frame = make_items().with_columns(choices=None, n_choices=None, answer=None)

    assert core.ITEMS.conform(frame).schema == core.ITEMS.polars_schema


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("epoch", ["first"]),
        ("epoch", [2**63]),
        ("epoch", [float("nan")]),
        ("score", ["N/A"]),
        ("is_primary", ["yes"]),
        ("epoch", [[1]]),
    ],
)
def test_a_value_that_does_not_fit_names_the_table_and_the_column(
    name: str, values: list[object]
) -> None:
    frame = make_scores(1).with_columns(pl.Series(name, values, strict=False))

    with pytest.raises(ContractError, match=rf"(?s)^core\.scores: .*{name}"):
        core.SCORES.conform(frame)


def test_a_fraction_is_not_cut_to_a_whole_number() -> None:
    frame = make_scores(3).with_columns(epoch=pl.Series([0.0, 1.5, 2.5]))

    with pytest.raises(ContractError, match=r"epoch holds 2 fractions, first 1\.5"):
        core.SCORES.conform(frame)


def test_whole_numbers_kept_as_floats_conform() -> None:
    frame = make_scores(2).with_columns(epoch=pl.Series([0.0, 1.0]))

    assert core.SCORES.conform(frame)["epoch"].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("bounded", "sql"),
    [
        (column("n"), None),
        (column("n", minimum=0), "n >= 0"),
        (column("n", maximum=9), "n <= 9"),
        (column("n", minimum=-1.000001, maximum=1), "n between -1.000001 and 1"),
        (column("n", "varchar", allowed=("a", "b")), "n in ('a', 'b')"),
    ],
)
def test_bounds_are_told_in_sql(bounded: Column, sql: str | None) -> None:
    assert bounded.bounds == sql


def test_row_rules_are_the_bounds_and_then_the_checks() -> None:
    table = small_table(column("a", minimum=1), column("b"), a_is_less="a < b")

    assert dict(table.row_rules()) == {"a_in_range": "a >= 1", "a_is_less": "a < b"}


def test_duckdb_enforces_what_the_contract_says() -> None:
    table = small_table(
        column("a", minimum=1), column("b", nullable=True), a_is_less="a < b"
    )
    with duckdb.connect() as connection:
        connection.execute("create schema core")
        connection.execute(table.ddl())
        connection.execute("insert into core.things values (1, 2), (2, null)")

        for row in ([1, 3], [None, 3], [0, 3], [3, 3]):
            with pytest.raises(duckdb.ConstraintException):
                connection.execute("insert into core.things values ($1, $2)", row)


def test_comments_say_what_a_row_and_a_column_are() -> None:
    table = small_table(column("a"))
    with duckdb.connect() as connection:
        connection.execute("create schema core")
        connection.execute(table.ddl())
        for statement in table.comments():
            connection.execute(statement)

        told = connection.sql("select comment from duckdb_tables()").fetchall()
        columns = connection.sql("select comment from duckdb_columns()").fetchall()

    assert told == [("Things; it's said. One row per thing.",)]
    assert ("The a; it's one.",) in columns


def test_every_type_has_one_in_polars() -> None:
    with duckdb.connect() as connection:
        for kind, polars_type in POLARS_TYPES.items():
            relation = connection.sql(f"select null::{kind} as x")

            assert relation.pl().schema["x"] == polars_type
