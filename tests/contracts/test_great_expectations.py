"""The suite and the audit are made from one contract, so they must agree."""

import polars as pl
import pytest

from skillmap.contracts import TABLES, core
from skillmap.contracts.audit import violations
from skillmap.contracts.expectations import suite
from skillmap.contracts.table import Table
from skillmap_dagster.quality.great_expectations_suites import validate
from tests.builders import make_scores
from tests.contracts.random_rows import lawful_rows, random_rows

pytestmark = pytest.mark.slow


def broken(table: Table, seed: int) -> pl.DataFrame:
    """Few rows and fewer faults, so that mostly one rule alone is broken."""
    return random_rows(table, seed, n=2, strange=0.02)


def failures(table: Table, frame: pl.DataFrame) -> list[str]:
    return [r.name for r in validate(frame, suite(table)) if not r.success]


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_lawful_rows_pass_the_suite(table: Table) -> None:
    rows = lawful_rows(table, 2)

    assert violations(table, rows) == []
    assert failures(table, rows) == []


@pytest.mark.parametrize("table", [core.ITEMS, core.SCORES, core.SLICES], ids=str)
def test_an_empty_table_passes_the_suite(table: Table) -> None:
    assert failures(table, table.empty()) == []


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_rows_that_fail_the_audit_fail_the_suite(table: Table) -> None:
    seeds = (seed for seed in range(100) if violations(table, broken(table, seed)))
    rows = broken(table, next(seeds))

    assert failures(table, rows) != []


@pytest.mark.parametrize(
    ("column", "values", "named"),
    [
        ("score", [0.0, 2.0, 1.0], "score"),
        ("outcome", ["wrong", "odd", "wrong"], "outcome"),
        ("outcome", ["wrong", "correct", "wrong"], "a_correct_answer_scores_1"),
        ("epoch", [0, -1, 0], "epoch"),
        ("item_id", ["quiz:0", "quiz:0", "quiz:1"], "ExpectCompoundColumnsToBeUnique"),
    ],
)
def test_the_suite_names_what_is_wrong(
    column: str, values: list[object], named: str
) -> None:
    scores = make_scores(outcome="wrong").with_columns(
        pl.Series(column, values, strict=False)
    )

    failed = failures(core.SCORES, scores)

    assert any(named in name for name in failed)


def test_columns_in_another_order_fail_the_suite() -> None:
    scores = make_scores().select(pl.all().reverse())
    reordered = scores.select(sorted(scores.columns))

    (failed,) = failures(core.SCORES, reordered)

    assert failed == "ExpectTableColumnsToMatchOrderedList"
