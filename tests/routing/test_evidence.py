import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from skillmap.errors import InvalidInputError
from skillmap.routing.evidence import routing_items
from skillmap.routing.membership import dense

ITEMS = pl.DataFrame(
    {
        "item_id": ["i1", "i2", "i3", "i4"],
        "category": ["law", None, "art", "law"],
        "origin": ["x", "y", "y", "x"],
    }
)


def item_scores(*rows: tuple[str, str, float | None]) -> pl.DataFrame:
    schema = {"model_id": pl.String, "item_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        is_drifted=pl.lit(value=False)
    )


SCORES = item_scores(
    *(("a", "i1", 1.0), ("a", "i2", 0.5), ("a", "i3", 0.0), ("a", "i4", None)),
    *(("b", "i3", 1.0), ("b", "i1", 0.0), ("b", "i4", 1.0), ("c", "i1", 1.0)),
)


def test_items_are_those_that_all_candidates_have_a_score_on() -> None:
    found = routing_items(SCORES, ITEMS, model_ids=["b", "a"])

    assert found.item_ids.to_list() == ["i1", "i3"]
    assert found.scores.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_items_that_a_candidate_lacks_can_be_kept_as_evidence() -> None:
    found = routing_items(SCORES, ITEMS, model_ids=["a", "b"], common_only=False)

    assert found.item_ids.to_list() == ["i1", "i2", "i3", "i4"]
    assert_array_equal(found.scores[1], [0.5, np.nan])
    assert found.is_common.tolist() == [True, False, True, False]


def test_a_drifted_item_counts_only_on_request() -> None:
    is_drifted = (pl.col("item_id") == "i3") & (pl.col("model_id") == "a")
    scores = SCORES.with_columns(is_drifted=is_drifted)

    without = routing_items(scores, ITEMS, model_ids=["a", "b"])
    with_it = routing_items(scores, ITEMS, model_ids=["a", "b"], include_drifted=True)

    assert without.item_ids.to_list() == ["i1"]
    assert with_it.item_ids.to_list() == ["i1", "i3"]


def test_an_item_without_a_category_has_no_label() -> None:
    found = routing_items(SCORES, ITEMS, model_ids=["a"], common_only=False)

    category = found.labels["category"]
    assert found.item_ids.to_list() == ["i1", "i2", "i3"]
    assert category.names == ("art", "law")
    assert dense(category.membership).tolist() == [[0, 1], [0, 0], [1, 0]]


def test_an_item_may_be_in_several_slices_each_counted_once() -> None:
    pairs = [("s2", "i1"), ("s1", "i1"), ("s1", "i1"), ("s1", "elsewhere")]
    slice_items = pl.DataFrame(pairs, schema=["slice_id", "item_id"], orient="row")

    found = routing_items(
        SCORES, ITEMS, model_ids=["a", "b"], slice_items=slice_items
    ).labels["skill"]

    assert found.names == ("s1", "s2")
    assert dense(found.membership).tolist() == [[1, 1], [0, 0]]


def test_near_duplicates_are_one_group() -> None:
    rows = [("i1", "exact", "exact:i1"), ("i1", "near", "near:i1")]
    rows += [("i3", "near", "near:i1")]
    groups = pl.DataFrame(rows, schema=["item_id", "kind", "group_id"], orient="row")

    found = routing_items(
        SCORES, ITEMS, model_ids=["a"], item_groups=groups, common_only=False
    )

    assert found.groups.to_list() == ["near:i1", "i2", "near:i1"]


def test_relatives_take_no_part_in_which_items_are_kept() -> None:
    found = routing_items(
        SCORES, ITEMS, model_ids=["a", "b"], related_model_ids=["c", "unknown"]
    )

    assert found.item_ids.to_list() == ["i1", "i3"]
    assert found.related_scores is not None
    assert_array_equal(found.related_scores, [[1.0, np.nan], [np.nan, np.nan]])


def test_the_order_of_rows_makes_no_difference() -> None:
    found = routing_items(SCORES, ITEMS, model_ids=["a", "b"])
    other = routing_items(SCORES.reverse(), ITEMS.reverse(), model_ids=["a", "b"])

    assert found.item_ids.equals(other.item_ids)
    assert_array_equal(found.scores, other.scores)
    assert found.labels["origin"].names == other.labels["origin"].names


@pytest.mark.parametrize("model_ids", [[], ["a", "a"]])
def test_candidates_are_named_once_each(model_ids: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="at least one model, each once"):
        routing_items(SCORES, ITEMS, model_ids=model_ids)
