from typing import get_args

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.contracts import TABLES, core
from skillmap.contracts.audit import Violation, violations
from skillmap.contracts.table import Column, ColumnType, Table
from tests.builders import make_items, make_scores
from tests.contracts.random_rows import broken_rules, lawful_rows, random_rows


def test_rows_that_keep_the_contract_break_no_rule() -> None:
    assert violations(core.ITEMS, make_items()) == []
    assert violations(core.SCORES, make_scores()) == []


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_an_empty_table_breaks_no_rule(table: Table) -> None:
    assert violations(table, table.empty()) == []


@settings(deadline=None)
@given(table=st.sampled_from(list(TABLES.values())), seed=st.integers(0, 10**6))
def test_counts_are_those_of_a_loop_over_the_rows(table: Table, seed: int) -> None:
    frame = random_rows(table, seed, strange=0.1)

    found = violations(table, frame)

    assert {v.rule: v.n_rows for v in found} == broken_rules(table, frame)


@pytest.mark.parametrize("table", TABLES.values(), ids=str)
def test_lawful_rows_exist_and_break_no_rule(table: Table) -> None:
    rows = lawful_rows(table, 1)

    assert rows.height > 1
    assert violations(table, rows) == []


def test_a_violation_names_its_rule_its_rows_and_the_first_by_its_key() -> None:
    scores = make_scores(score=[1.0, 7.0, 8.0], outcome="correct")

    in_range, scores_one = violations(core.SCORES, scores)

    assert (in_range.rule, in_range.n_rows) == ("score_in_range", 2)
    assert scores_one.rule == "a_correct_answer_scores_1"
    assert list(in_range.first)[:4] == list(core.SCORES.primary_key)
    assert in_range.first["item_id"] == "quiz:1"


def test_a_missing_key_and_a_repeated_key_are_told() -> None:
    items = make_items(4).with_columns(
        item_id=pl.Series(["quiz:0", "quiz:0", None, "quiz:3"])
    )

    found = violations(core.ITEMS, items)

    assert {v.rule: v.n_rows for v in found} == {
        "item_id_is_known": 1,
        "primary_key_is_unique": 2,
    }


def test_rules_are_told_in_the_order_missing_then_key_then_row_rules() -> None:
    items = make_items(3).with_columns(
        item_id=pl.lit("exam:0"), release_id=pl.lit(None, pl.String)
    )

    rules = [v.rule for v in violations(core.ITEMS, items)]

    assert rules == [
        "release_id_is_known",
        "primary_key_is_unique",
        "item_id_names_its_benchmark",
    ]


def test_a_rule_about_a_missing_value_holds() -> None:
    scores = make_scores(outcome="partial", score=None)

    assert violations(core.SCORES, scores) == []


def test_nan_is_no_score() -> None:
    scores = make_scores(outcome="partial", score=[0.5, float("nan")])

    rules = {v.rule: v.n_rows for v in violations(core.SCORES, scores)}

    assert rules == {"score_in_range": 1, "a_partial_answer_scores_between": 1}


def test_long_values_are_cut_where_a_violation_is_told() -> None:
    told = str(Violation("rule", 3, {"question": "why " * 100}))

    assert told.startswith("rule: 3 rows, first {'question': 'why why")
    assert len(told) < 150
    assert told.endswith("…'}")


@pytest.mark.parametrize("kind", get_args(ColumnType))
def test_every_type_can_be_missing_and_told(kind: ColumnType) -> None:
    column = Column(name="value", type=kind, description="A value.")
    key = Column(name="key", type="bigint", description="The key.")
    table = Table(
        schema="core",
        name="things",
        grain="thing",
        description="Things.",
        columns=(key, column),
        primary_key=("key",),
    )
    frame = pl.DataFrame({"key": [1, 2], "value": None}, schema=table.polars_schema)

    (violation,) = violations(table, frame)

    assert violation == Violation("value_is_known", 2, {"key": 1, "value": None})
