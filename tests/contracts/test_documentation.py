"""The page about the tables says what the contracts say."""

import subprocess
import sys
from pathlib import Path

import pytest

from skillmap import sql
from skillmap.contracts import TABLES
from skillmap.contracts.documentation import tables_page
from skillmap.contracts.table import Table
from skillmap.contracts.views import VIEWS

DOCS = Path(__file__).parents[2] / "docs"


def section(title: str) -> str:
    sections = tables_page().split("\n## ")
    (found,) = [s for s in sections if s.splitlines()[0] == title]
    return found


def test_the_page_in_docs_is_fresh() -> None:
    page = (DOCS / "tables.md").read_text(encoding="utf-8")

    assert page == tables_page(), "run `make docs`"


def test_the_module_prints_the_page() -> None:
    command = [sys.executable, "-m", "skillmap.contracts.documentation"]

    printed = subprocess.run(command, check=True, capture_output=True).stdout

    assert printed.decode("utf-8") == tables_page()


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_a_table_is_told_whole(table: Table) -> None:
    told = section(str(table))

    assert f"{table.description} One row per {table.grain}." in told
    assert all(f"| `{c.name}` | {c.type} | " in told for c in table.columns)
    assert all(c.description in told for c in table.columns)
    assert all(f"`{rule}`" in told for rule in table.checks.values())
    assert all(f"`{name}`: " in told for name in (*table.cross_checks, *table.cautions))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_is_told_by_the_comment_of_its_query(view: object) -> None:
    (name,) = [v.name for v in VIEWS if v is view]

    assert sql.description(f"views/{name}") in section(f"mart.{name}")


def test_bars_in_a_cell_do_not_end_it() -> None:
    lines = [line for line in tables_page().splitlines() if line.startswith("|")]

    columns = {line.replace("\\|", "").count("|") - 1 for line in lines}

    assert columns == {2, 5}


def test_every_link_leads_to_a_section() -> None:
    page = tables_page()
    titles = [line[3:] for line in page.splitlines() if line.startswith("## ")]

    assert titles == [*map(str, TABLES.values()), *(f"mart.{v.name}" for v in VIEWS)]
    assert all(f"[{t}](#{t.replace('.', '')})" in page for t in titles)


def test_a_query_without_a_comment_has_an_empty_description(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sql, "load", lambda _: "select 1\n-- a remark\n")

    assert sql.description("anything") == ""


def test_the_glossary_is_in_the_order_of_the_alphabet() -> None:
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = [line.split("**")[1] for line in glossary.splitlines() if line[:2] == "**"]

    assert words == sorted(words)
    assert {"item", "slice", "skill mention", "eval_run", "release"} <= set(words)
