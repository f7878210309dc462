import pytest

from skillmap.errors import ParseError
from skillmap.items.matching import (
    KEYS_SCHEMA,
    BenchmarkOrder,
    BenchmarkSource,
    benchmark_order,
    record_keys,
)
from tests.builders import NO_ORDER, make_results, make_source, make_stated_items


def keys_of(
    source: BenchmarkSource, order: BenchmarkOrder = NO_ORDER
) -> list[tuple[object, ...]]:
    keys = record_keys(source, order, benchmark_id="quiz")
    assert keys.schema == KEYS_SCHEMA
    return keys.rows()


def order_of(*questions: str | None) -> BenchmarkOrder:
    items = make_stated_items(question=list(questions), native_id=None)
    return benchmark_order([make_source(items=items, order_offset=0)], n_items=None)


def test_records_that_name_their_item_have_its_id_and_type() -> None:
    source = make_source(
        results=make_results(
            native_id=["7", "x"], native_id_type=["integer", "text"], position=[3, 1]
        )
    )

    assert keys_of(source) == [
        (1, "x", "text", None, None),
        (3, "7", "integer", None, None),
    ]


def test_a_prefix_is_put_before_the_id_of_the_source() -> None:
    source = make_source(results=make_results(1), prefix="physics")

    assert keys_of(source) == [(0, "physics/0", "text", None, None)]


def test_a_record_without_an_id_says_so() -> None:
    source = make_source(
        results=make_results(native_id=["a", None], native_id_type=None)
    )

    assert keys_of(source) == [
        (0, "a", "text", None, None),
        (1, None, "text", None, "the record has no item id"),
    ]


def test_records_of_every_frame_have_a_key_once() -> None:
    source = make_source(
        items=make_stated_items(2),
        results=make_results(1),
        skills={
            "position": [1, 1, 2],
            "native_id": ["1", "1", "2"],
            "phrase": "adding",
        },
        rationales={"position": [3], "native_id": ["3"], "rationale": "Since"},
    )

    keys = record_keys(source, NO_ORDER, benchmark_id="quiz")

    assert keys.select("position", "native_id").rows() == [
        (0, "0"),
        (1, "1"),
        (2, "2"),
        (3, "3"),
    ]


def test_records_by_position_are_the_items_in_the_declared_order() -> None:
    source = make_source(results=make_results(2, native_id=None), match="position")
    order = BenchmarkOrder(n_items=2, questions=NO_ORDER.questions)

    assert keys_of(source, order) == [
        (0, "0", "position", 0, None),
        (1, "1", "position", 1, None),
    ]


def test_another_number_of_records_than_items_is_refused_with_both() -> None:
    source = make_source(results=make_results(3, native_id=None), match="position")
    order = BenchmarkOrder(n_items=14_042, questions=NO_ORDER.questions)

    with pytest.raises(
        ParseError, match=r"source f1: .*'quiz'.* it has 3, the benchmark 14042\. Check"
    ):
        record_keys(source, order, benchmark_id="quiz")


def test_positions_without_a_declared_order_are_refused_with_what_to_do() -> None:
    source = make_source(results=make_results(3), match="position")

    with pytest.raises(ParseError, match="Declare `order` or `n_items`"):
        record_keys(source, NO_ORDER, benchmark_id="quiz")


def test_rejected_records_count_where_items_go_by_position() -> None:
    results = make_results(position=[0, 2], native_id=None)
    source = make_source(results=results, match="position", n_records=3)
    order = BenchmarkOrder(n_items=3, questions=NO_ORDER.questions)

    assert [key[1] for key in keys_of(source, order)] == ["0", "2"]


def test_sources_that_define_the_order_follow_each_other() -> None:
    first = make_source("a", items=make_stated_items(2), order_offset=0)
    second = make_source("b", items=make_stated_items(3), order_offset=2)
    other = make_source("c", items=make_stated_items(9))

    order = benchmark_order([second, other, first], n_items=None)

    assert order.n_items == 5
    assert order.questions["item_position"].to_list() == [0, 1, 2, 3, 4]
    assert [key[1] for key in keys_of(second, order)] == ["2", "3", "4"]


def test_an_unreadable_record_keeps_its_place_in_the_order() -> None:
    items = make_stated_items(position=[0, 2], native_id=None)
    defining = make_source(items=items, order_offset=0, n_records=4)

    order = benchmark_order([defining], n_items=None)

    assert order.n_items == 4
    assert order.questions["item_position"].to_list() == [0, 2]


def test_a_declared_number_of_items_is_an_order_without_questions() -> None:
    order = benchmark_order([make_source()], n_items=5000)

    assert order.n_items == 5000
    assert order.questions.is_empty()


def test_records_by_question_find_the_item_that_asks_it() -> None:
    order = order_of("Who?", "Why?", "When?")
    items = make_stated_items(question=["WHEN? ", "who?"], native_id=None)
    source = make_source(
        items=items, results=make_results(2, native_id=None), match="question"
    )

    assert keys_of(source, order) == [
        (0, "2", "position", 2, None),
        (1, "0", "position", 0, None),
    ]


def test_a_question_of_no_item_is_told() -> None:
    items = make_stated_items(question=["Where?"])
    source = make_source(items=items, match="question")

    assert keys_of(source, order_of("Who?")) == [
        (0, None, "position", None, "no item of the benchmark asks this question")
    ]


def test_a_question_of_several_items_is_told_apart_by_its_place() -> None:
    order = order_of("Why?", "Who?", "Why?")
    items = make_stated_items(question=["Why?", "Why?", "Why?"], native_id=None)
    source = make_source(items=items, match="question")

    keys = keys_of(source, order)

    assert [key[1] for key in keys] == ["0", None, "2"]
    assert keys[1][4] == "no item of the benchmark asks this question"


def test_records_without_a_question_match_none_that_lacks_one_too() -> None:
    items = make_stated_items(question=[None, "Who?"], native_id=None)
    source = make_source(items=items, match="question")

    assert [key[1] for key in keys_of(source, order_of(None, "Who?"))] == [None, "1"]


def test_records_of_their_own_are_named_for_the_file_and_their_place() -> None:
    results = make_results(position=[4], native_id=None)

    own = make_source(results=results, match="own", prefix="date_understanding")
    nameless = make_source(results=results, match="own")

    assert keys_of(own) == [(4, "date_understanding/4", "position", None, None)]
    assert keys_of(nameless) == [(4, "f1/4", "position", None, None)]


def test_a_source_without_records_has_no_keys() -> None:
    assert keys_of(make_source()) == []
