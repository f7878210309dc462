"""Frames with fixed columns, whatever is known."""

import polars as pl
import pytest

from skillmap.parsing.source import (
    ITEMS_SCHEMA,
    RATIONALES_SCHEMA,
    REMARKS_SCHEMA,
    RESULTS_SCHEMA,
    SKILLS_SCHEMA,
    items_frame,
    remarks_frame,
    results_frame,
    typed_frame,
)


@pytest.mark.parametrize(
    "schema",
    [ITEMS_SCHEMA, RESULTS_SCHEMA, SKILLS_SCHEMA, RATIONALES_SCHEMA, REMARKS_SCHEMA],
)
def test_a_frame_of_nothing_has_all_columns(schema: pl.Schema) -> None:
    frame = typed_frame(schema, {})

    assert frame.schema == schema
    assert frame.is_empty()


def test_columns_left_out_are_null_and_constants_fill_all_rows() -> None:
    frame = typed_frame(RESULTS_SCHEMA, {"position": [0, 1], "model": "m"})

    assert frame.select("position", "model", "epoch", "score").rows() == [
        (0, "m", 0, None),
        (1, "m", 0, None),
    ]
    assert frame["expects_prediction"].to_list() == [False, False]


def test_a_column_may_be_a_series_of_another_type() -> None:
    frame = typed_frame(
        REMARKS_SCHEMA, {"position": pl.Series([1, 2], dtype=pl.UInt32)}
    )

    assert frame.schema == REMARKS_SCHEMA
    assert frame["position"].to_list() == [1, 2]


def test_items_without_choices_have_an_empty_list() -> None:
    items = items_frame({"position": [0, 1], "question": ["a", None]})

    assert items.schema == ITEMS_SCHEMA
    assert items["choices"].to_list() == [[], []]
    assert items["content_hash"].is_null().to_list() == [False, True]


def test_results_take_the_hashes_of_their_record() -> None:
    items = items_frame(
        {"position": [3, 4], "question": ["a", "b"], "answer": ["x", None]}
    )

    results = results_frame({"position": [4, 3, 3, 9]}, items=items)

    assert results.schema == RESULTS_SCHEMA
    hashes = items["content_hash"].to_list()
    # The record at 4 states no answer, so its hash would be of half an item.
    assert results["content_hash"].to_list() == [None, hashes[0], hashes[0], None]
    assert results["question_hash"].is_null().to_list() == [False, False, False, True]


def test_remarks_come_by_position() -> None:
    frame = remarks_frame([(2, "b", None), (None, "file", "x"), (2, "a", "y")])

    assert frame.rows() == [(None, "file", "x"), (2, "a", "y"), (2, "b", None)]
