"""What holds the two packages together, and what keeps them apart."""

import json
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import polars as pl
import pytest

from skillmap import sql
from skillmap.contracts import TABLES
from skillmap.contracts.table import Table
from skillmap.contracts.views import VIEWS
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.definitions import defs
from tests.builders import make_warehouse
from tests.contracts.random_rows import random_rows

ROOT = Path(__file__).parents[1]
PACKAGES = ("skillmap", "skillmap_dagster")
MODULES = sorted(f for name in PACKAGES for f in (ROOT / name).rglob("*.py"))
HEAVY = (
    "torch",
    "transformers",
    "sae_lens",
    "great_expectations",
    "vllm",
    "openai",
)
NOT_DOMAIN = ("dagster", "matplotlib", "onnxruntime", "skillmap_dagster", *HEAVY)
QUERIES = [
    f"{folder}/{name}"
    for folder in ("checks", "cautions", "mart", "reports", "views")
    for name in sql.names(folder)
]
REPORT_QUERIES = sorted(
    (f.name, f.read_text("utf-8"))
    for f in resources.files("skillmap.report").joinpath("queries").iterdir()
    if f.name.endswith(".sql")
)


def loaded_by(statement: str) -> tuple[set[str], float]:
    """Top-level modules that a fresh interpreter loads, and its seconds of CPU."""
    told = f"""
import json, sys, time
{statement}
json.dump([sorted(m.split(".")[0] for m in sys.modules), time.process_time()],
          sys.stderr)
"""
    command = [sys.executable, "-c", told]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    names, seconds = json.loads(done.stderr.splitlines()[-1])
    return set(names), seconds


def domain_modules() -> list[str]:
    """Modules of the pure package, but for what draws and what embeds."""
    files = (ROOT / "skillmap").rglob("*.py")
    names = sorted(".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files)
    apart = ("skillmap.report", "skillmap.embedding", "skillmap.starter")
    return [
        name.removesuffix(".__init__") for name in names if not name.startswith(apart)
    ]


def test_the_domain_is_imported_fast_and_without_the_orchestrator() -> None:
    loaded, seconds = loaded_by(f"import {', '.join(domain_modules())}")

    assert "polars" in loaded
    assert loaded.isdisjoint(NOT_DOMAIN)
    # Polars, SciPy and DuckDB; Dagster alone takes several.
    assert seconds < 1.5


def test_the_command_line_tells_its_help_without_the_orchestrator() -> None:
    loaded, _ = loaded_by(
        "from typer.testing import CliRunner\n"
        "from skillmap_dagster.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0"
    )

    assert "typer" in loaded
    assert loaded.isdisjoint({"dagster", "matplotlib", *HEAVY})


def test_definitions_load_without_what_an_op_imports_itself() -> None:
    loaded, _ = loaded_by("import skillmap_dagster.definitions")

    assert "dagster" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("file", MODULES, ids=lambda f: str(f.relative_to(ROOT)))
def test_a_module_is_short_and_named_for_what_it_does(file: Path) -> None:
    n_lines = len(file.read_text(encoding="utf-8").splitlines())

    assert n_lines <= 400
    assert file.stem not in {"utils", "util", "helpers", "common", "misc", "base"}


def test_every_table_of_a_schema_is_one_asset_of_that_name() -> None:
    assert TABLE_ASSETS.keys() == TABLES.keys()

    for key, asset in TABLE_ASSETS.items():
        assert asset.table is TABLES[key]
        assert asset.definition.key.path == list(key)
        assert asset.make.__name__ == key[1]


def test_the_code_location_holds_every_table_and_the_published_file() -> None:
    keys = {tuple(key.path) for key in defs.resolve_all_asset_keys()}

    assert keys == {*TABLES, ("warehouse",)}


def test_a_column_has_one_type_wherever_it_stands() -> None:
    types: dict[str, set[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            types.setdefault(column.name, set()).add(column.type)
    with make_warehouse() as connection:
        for view in VIEWS:
            relation = connection.sql(f"from mart.{view.name}")
            for name, kind in zip(relation.columns, relation.types, strict=True):
                types.setdefault(name, set()).add(str(kind).lower())

    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == {}


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_a_contract_names_each_thing_once_and_describes_it(table: Table) -> None:
    names = [column.name for column in table.columns]

    assert len(set(names)) == len(names)
    assert set(table.primary_key) <= set(names)
    assert not any(c.nullable for c in table.columns if c.name in table.primary_key)
    assert all(c.description.endswith(".") for c in table.columns)
    assert table.description.endswith(".")
    assert not table.grain.endswith(".")
    # A partition's key stands in its rows.
    assert {f"{dimension}_id" for dimension in table.dimensions} <= set(names)
    # Else rows of two partitions could have one key.
    if table.keyed_in_duckdb and table.name in {"sources", "rejects"}:
        assert "benchmark_id" in table.primary_key


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_duckdb_and_polars_agree_on_every_row_rule(table: Table) -> None:
    frame = random_rows(table, 7, n=200, strange=0.1)

    with make_warehouse() as connection:
        connection.register("frame", frame.to_arrow())
        for name, rule in table.row_rules().items():
            in_duckdb = connection.table("frame").project(f"{rule} as holds").pl()
            in_polars = frame.select(holds=pl.sql_expr(rule))

            assert in_polars.equals(in_duckdb), name


def test_tables_comments_and_views_are_made_in_their_order() -> None:
    with make_warehouse() as connection:
        for table in TABLES.values():
            if table.published_as == "table":
                for statement in table.comments():
                    connection.execute(statement)
        for view in VIEWS:
            connection.execute(view.ddl()[1])

        tables = connection.sql("select comment from duckdb_tables()").fetchall()
        views = connection.sql(
            "select comment from duckdb_views() where schema_name = 'mart'"
        ).fetchall()

    n_views = sum(table.published_as == "view" for table in TABLES.values())
    assert sum(comment is not None for (comment,) in tables) == len(TABLES) - n_views
    assert all(comment for (comment,) in views)
    assert len(views) == len(VIEWS)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_binds_to_the_tables_and_says_what_it_selects(name: str) -> None:
    with make_warehouse() as connection:
        rows = connection.sql(sql.load(name)).fetchall()

    assert rows == []
    assert sql.description(name).endswith(".")


@pytest.mark.parametrize(("name", "query"), REPORT_QUERIES)
def test_a_query_of_the_report_binds_to_the_tables(name: str, query: str) -> None:
    with make_warehouse() as connection:
        columns = connection.sql(query).columns

    assert columns, name
    assert query.startswith("-- ")


def test_every_check_and_caution_has_a_file_and_every_file_a_table() -> None:
    tables = TABLES.values()

    assert sql.names("checks") == sorted(n for t in tables for n in t.cross_checks)
    assert sql.names("cautions") == sorted(n for t in tables for n in t.cautions)
    assert sql.names("views") == sorted(view.name for view in VIEWS)


@pytest.mark.parametrize("folder", ["checks", "cautions", "mart", "reports", "views"])
def test_queries_are_read_by_name_from_every_folder(folder: str) -> None:
    assert sql.names(folder)


def tracked_texts() -> list[tuple[str, str]]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], check=False, capture_output=True, cwd=ROOT
    )
    names = [name for name in listed.stdout.decode("utf-8").split("\0") if name]
    if not names:
        pytest.skip("needs a git checkout, to tell what is part of the project")
    files = [name for name in names if (ROOT / name).is_file()]
    return [
        (name, (ROOT / name).read_bytes().decode("utf-8", "replace")) for name in files
    ]


def test_no_file_names_a_registry_or_a_place_of_one_machine() -> None:
    # Put together here, so that this file does not name them either.
    hosts = [
        "py" + "pi.org",
        "python" + "hosted.org",
        "hugging" + "face.co",
        "ana" + "conda.org",
        "registry.np" + "mjs.org",
        "crates" + ".io",
        "proxy.go" + "lang.org",
    ]
    places = ["(?<![\\w.])/" + place for place in ("work/", "root/", "home/\\w")]
    forbidden = re.compile("|".join([*map(re.escape, hosts), *places]))

    found = {
        name: match.group()
        for name, text in tracked_texts()
        if (match := forbidden.search(text))
    }

    assert found == {}
