import polars as pl

from skillmap.contracts import raw
from skillmap.contracts.audit import violations
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, benchmark_order
from skillmap.items.rejects import rejects
from skillmap.results.eval_runs import matched_results
from tests.builders import NO_ORDER, make_results, make_source, make_stated_items


def told(
    *sources: BenchmarkSource, order: BenchmarkOrder = NO_ORDER
) -> list[tuple[object, ...]]:
    made = rejects("quiz", sources, order)
    conformed = raw.REJECTS.conform(made)
    assert violations(raw.REJECTS, conformed) == []
    return conformed.drop("benchmark_id", "source_id").rows()


def test_records_that_could_not_be_read_keep_their_reason_and_value() -> None:
    source = make_source(
        results=make_results(1),
        rejects=[(3, "is no object", "total"), (None, "file is cut", None)],
    )

    assert sorted(told(source), key=str) == [
        (0, "read", None, "file is cut", ""),
        (1, "read", 3, "is no object", "total"),
    ]


def test_results_without_an_item_are_told_with_model_and_prediction() -> None:
    source = make_source(
        results=make_results(native_id=["a", None], prediction=["A", "B"])
    )

    assert told(source) == [
        (0, "match", 1, "the record has no item id", "ada: B"),
    ]


def test_a_second_result_of_an_item_is_told() -> None:
    source = make_source(results=make_results(native_id=["a", "a"], prediction=None))

    assert told(source) == [
        (
            0,
            "match",
            1,
            "the source has another result for this item, model and epoch before it",
            "ada",
        )
    ]


def test_skills_and_rationales_without_an_item_are_told() -> None:
    source = make_source(
        skills={"position": [0, 0], "phrase": ["x" * 300, "y"]},
        rationales={"position": [1], "rationale": ["Since"]},
    )

    assert told(source) == [
        (0, "match", 0, "the record has no item id", "x" * 200),
        (1, "match", 0, "the record has no item id", "y"),
        (2, "match", 1, "the record has no item id", "Since"),
    ]


def test_a_question_that_is_no_item_of_the_benchmark_is_told() -> None:
    defining = make_source("f0", items=make_stated_items(2), order_offset=0)
    items = make_stated_items(question=["Is 1 even?", "Who?"], native_id=None)
    source = make_source(items=items, match="question")
    order = benchmark_order([defining], n_items=None)

    assert told(defining, source, order=order) == [
        (0, "match", 1, "no item of the benchmark asks this question", "Who?")
    ]


def test_a_record_is_told_once_however_much_it_states() -> None:
    items = make_stated_items(1, native_id=None)
    source = make_source(items=items, results=make_results(1, native_id=None))

    assert [row[4] for row in told(source)] == ["ada: A"]


def test_rejects_are_numbered_by_source() -> None:
    bad = make_results(native_id=[None, None])

    made = rejects(
        "quiz", [make_source("b", results=bad), make_source("a", results=bad)], NO_ORDER
    )

    assert made.select("source_id", "reject_index").rows() == [
        ("b", 0),
        ("b", 1),
        ("a", 0),
        ("a", 1),
    ]


def test_good_sources_and_no_sources_have_no_rejects() -> None:
    assert told(make_source(items=make_stated_items(), results=make_results())) == []
    assert told() == []


def test_every_record_is_either_matched_or_told() -> None:
    source = make_source(results=make_results(native_id=["a", None, "a", "b", None]))

    matched = matched_results(source, NO_ORDER, benchmark_id="quiz")
    positions = [row[2] for row in told(source)]

    kept = matched.filter(pl.col("item_id").is_not_null())["position"].to_list()
    assert kept == [0, 3]
    assert sorted([*kept, *positions]) == [0, 1, 2, 3, 4]
