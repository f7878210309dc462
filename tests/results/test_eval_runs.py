from collections.abc import Mapping

import polars as pl
import pytest

from skillmap.contracts import core
from skillmap.contracts.audit import violations
from skillmap.extraction import EXTRACTOR_VERSION
from skillmap.items.matching import BenchmarkSource
from skillmap.items.releases import benchmark_releases
from skillmap.results.eval_runs import (
    SOURCE_EXTRACTOR,
    Cell,
    ModelSource,
    cell,
    matched_results,
)
from tests.builders import (
    NO_ORDER,
    make_items,
    make_results,
    make_source,
    make_stated_items,
    make_warehouse,
    rows_of,
)


def by_source(made: Cell) -> pl.DataFrame:
    """The scores as the source gave them."""
    return made.scores.filter(pl.col("extractor") == SOURCE_EXTRACTOR)


def cell_of(
    *sources: BenchmarkSource,
    items: pl.DataFrame | None = None,
    names: tuple[str | None, ...] = ("ada",),
    release_of_source: Mapping[str, str] | None = None,
) -> Cell:
    made = cell(
        "quiz",
        "ada",
        [ModelSource(source, names) for source in sources],
        order=NO_ORDER,
        items=make_items(9) if items is None else items,
        release_of_source=release_of_source or {},
    )
    tables = (core.EVAL_RUNS, core.RESPONSES, core.SCORES)
    for table, frame in zip(tables, made, strict=True):
        assert violations(table, table.conform(frame)) == []
    return made


def runs_of(made: Cell) -> list[tuple[object, ...]]:
    return made.eval_runs.select(
        "eval_run_id", "source_ids", "is_primary", "n_items", "n_responses"
    ).rows()


def test_the_results_of_a_source_are_an_eval_run() -> None:
    made = cell_of(make_source("f1", results=make_results(3)))

    assert runs_of(made) == [("quiz:ada:f1", ["f1"], True, 3, 3)]
    assert made.responses.select("item_id", "record_position", "response").rows() == [
        (f"quiz:{n}", n, "The answer is A.") for n in range(3)
    ]
    assert by_source(made).select(
        "item_id", "outcome", "score", "extractor"
    ).rows() == [(f"quiz:{n}", "correct", 1.0, "source") for n in range(3)]


def test_only_results_of_the_model_are_its_own() -> None:
    results = make_results(3, model=["ada", "bob", None])

    named = cell_of(make_source(results=results))
    nameless = cell_of(make_source(results=results), names=(None,))

    assert by_source(named)["item_id"].to_list() == ["quiz:0"]
    assert named.eval_runs["source_model_names"].to_list() == [["ada"]]
    assert by_source(nameless)["item_id"].to_list() == ["quiz:2"]
    assert nameless.eval_runs["source_model_names"].to_list() == [["ada"]]


def test_names_of_the_model_in_its_sources_are_kept() -> None:
    results = make_results(2, model=["Ada-7B", "org/ada-7b"])

    made = cell_of(make_source(results=results), names=("org/ada-7b", "Ada-7B"))

    assert made.eval_runs["source_model_names"].to_list() == [["Ada-7B", "org/ada-7b"]]


def test_a_missing_score_is_not_zero() -> None:
    """NaN must not come back as 0 or vanish (I-13)."""
    results = make_results(3, score=[1.0, float("nan"), None])

    made = cell_of(make_source(results=results))

    assert by_source(made).select("outcome", "score").rows() == [
        ("correct", 1.0),
        ("unscored", None),
        ("unscored", None),
    ]


def test_records_that_could_not_be_read_are_no_results() -> None:
    """DeepSeek-Coder-V2's MMLU-Pro file has 43 bare strings in its array (M-6)."""
    strings = [(position, "record is no object", "total") for position in (1, 3)]
    source = make_source(
        results=make_results(position=[0, 2, 4]), rejects=strings, n_records=5
    )

    made = cell_of(source)

    assert runs_of(made)[0][3:] == (3, 3)
    assert made.responses["record_position"].to_list() == [0, 2, 4]


def test_a_second_result_of_an_item_is_left_out_with_a_reason() -> None:
    results = make_results(native_id=["0", "0", "1"], score=[1.0, 0.0, 1.0])
    source = make_source(results=results)

    matched = matched_results(source, NO_ORDER, benchmark_id="quiz")

    assert matched["item_id"].to_list() == ["quiz:0", None, "quiz:1"]
    assert matched["reason"].to_list()[1].startswith("the source has another result")
    assert by_source(cell_of(source))["score"].to_list() == [1.0, 1.0]


def test_epochs_are_results_of_their_own_and_no_further_items() -> None:
    results = make_results(native_id=["0", "0", "1"], epoch=[0, 1, 0])

    made = cell_of(make_source(results=results))

    assert runs_of(made)[0][3:] == (2, 3)
    assert by_source(made)["epoch"].to_list() == [0, 1, 0]


def test_the_same_item_of_two_models_in_one_file_is_no_repetition() -> None:
    results = make_results(native_id=["0", "0"], model=["ada", "bob"])

    matched = matched_results(
        make_source(results=results), NO_ORDER, benchmark_id="quiz"
    )

    assert matched["reason"].null_count() == 2


def test_sources_that_overlap_are_eval_runs_of_their_own_the_larger_primary() -> None:
    small = make_source("a", results=make_results(2))
    large = make_source("b", results=make_results(5))

    made = cell_of(small, large)

    assert runs_of(made) == [
        ("quiz:ada:a", ["a"], False, 2, 2),
        ("quiz:ada:b", ["b"], True, 5, 5),
    ]
    primary = by_source(made).filter("is_primary")
    assert primary["eval_run_id"].unique().to_list() == ["quiz:ada:b"]


def test_of_two_runs_as_large_the_first_by_name_is_primary() -> None:
    sources = [make_source(name, results=make_results(2)) for name in ("b", "a")]

    made = cell_of(*sources)

    assert [(run[0], run[2]) for run in runs_of(made)] == [
        ("quiz:ada:a", True),
        ("quiz:ada:b", False),
    ]


def test_files_of_one_format_that_share_no_item_are_parts_of_one_run() -> None:
    """MMLU comes as 57 files, one a subject."""
    parts = [
        make_source(name, results=make_results(native_id=[f"{n}", f"{n + 1}"]))
        for n, name in ((4, "b"), (0, "a"), (2, "c"))
    ]

    made = cell_of(*parts)

    assert runs_of(made) == [("quiz:ada:a", ["a", "b", "c"], True, 6, 6)]
    assert made.responses["source_id"].to_list() == ["a", "a", "c", "c", "b", "b"]


def test_files_of_different_formats_are_different_runs() -> None:
    first = make_source("a", results=make_results(native_id=["0"]))
    second = make_source(
        "b", results=make_results(native_id=["1"]), format_name="other"
    )

    assert len(runs_of(cell_of(first, second))) == 2


def test_the_order_of_the_sources_does_not_matter() -> None:
    sources = [
        make_source("a", results=make_results(2)),
        make_source("b", results=make_results(3)),
        make_source("c", results=make_results(native_id=["5"])),
    ]

    made, turned = cell_of(*sources), cell_of(*reversed(sources))

    assert all(a.equals(b) for a, b in zip(made, turned, strict=True))


@pytest.mark.parametrize(
    "other",
    [
        {"question": ["Is 0 odd?"]},
        {"choices": [["yes", "no", "maybe"]]},
        {"answer": ["B"]},
    ],
)
def test_a_result_for_another_question_options_or_answer_has_drifted(
    other: dict[str, object],
) -> None:
    """Two generations of MMLU-Pro differ in each of the three (M-3)."""
    stated = make_stated_items(1, **other)

    made = cell_of(make_source(items=stated, results=make_results(1)))

    assert made.responses["is_drifted"].to_list() == [True]
    assert by_source(made)["is_drifted"].to_list() == [True]
    assert made.eval_runs["n_drifted"].to_list() == [1]


@pytest.mark.parametrize(
    ("stated", "is_drifted"),
    [
        ({}, False),
        ({"question": ["IS 0  EVEN?"]}, False),
        ({"choices": [[]]}, False),
        ({"answer": [None]}, False),
        ({"question": [None]}, None),
    ],
)
def test_what_a_source_does_not_state_has_not_drifted(
    stated: dict[str, object], *, is_drifted: bool | None
) -> None:
    items = make_stated_items(1, **stated)

    made = cell_of(make_source(items=items, results=make_results(1)))

    assert made.responses["is_drifted"].to_list() == [is_drifted]


def test_results_without_items_say_nothing_of_drift() -> None:
    made = cell_of(make_source(results=make_results(2)))

    assert made.responses["is_drifted"].to_list() == [None, None]
    assert made.eval_runs["n_drifted"].to_list() == [0]


def test_an_item_drifts_against_the_current_release() -> None:
    """Of 9 MMLU-Pro files some state answer D for an item, others B (M-3)."""
    old = make_source("a", items=make_stated_items(2), results=make_results(2))
    new = [
        make_source(
            name,
            items=make_stated_items(2, answer=["A", "D"]),
            results=make_results(2),
        )
        for name in ("b", "c")
    ]
    releases = benchmark_releases("quiz", [old, *new], NO_ORDER)

    made = cell_of(
        old,
        new[0],
        items=releases.items,
        release_of_source=dict(releases.release_of_source.rows()),
    )

    assert made.eval_runs.select("source_ids", "n_drifted").rows() == [
        (["a"], 1),
        (["b"], 0),
    ]
    assert made.eval_runs["release_id"].n_unique() == 2


def test_a_run_of_parts_of_two_releases_has_no_release() -> None:
    parts = [
        make_source(name, results=make_results(native_id=[native_id]))
        for name, native_id in (("a", "0"), ("b", "1"))
    ]

    one = cell_of(*parts, release_of_source={"a": "r1", "b": "r1"})
    two = cell_of(*parts, release_of_source={"a": "r1", "b": "r2"})
    half = cell_of(*parts, release_of_source={"a": "r1"})

    assert one.eval_runs["release_id"].to_list() == ["r1"]
    assert two.eval_runs["release_id"].to_list() == [None]
    assert half.eval_runs["release_id"].to_list() == [None]


def test_a_prediction_that_stands_nowhere_in_the_response_is_marked() -> None:
    """Five MMLU-Pro files have a constant guess where no answer was found (M-9)."""
    results = make_results(
        prediction=["G", "B", "C", None],
        response=["I am not sure.", "So it is (B).", None, "Well."],
    )

    made = cell_of(make_source(results=results))

    marks = by_source(made)["is_prediction_in_response"].to_list()
    assert marks == [False, True, None, None]


def test_a_model_none_of_whose_results_has_an_item_has_no_rows() -> None:
    results = make_results(native_id=[None, None])

    made = cell_of(make_source(results=results))

    assert all(frame.is_empty() for frame in made)


def test_a_source_without_matched_results_is_no_run() -> None:
    empty = make_source("a", results=make_results(native_id=[None]))
    good = make_source("b", results=make_results(1))

    assert [run[1] for run in runs_of(cell_of(empty, good))] == [["b"]]


@pytest.mark.parametrize(
    ("n_empty", "n", "is_refused"),
    [(10, 10, True), (9, 10, False), (99, 100, True), (98, 100, False), (9, 9, False)],
)
def test_a_run_of_empty_responses_is_refused(
    n_empty: int, n: int, *, is_refused: bool
) -> None:
    """A failed run must not pass for an accuracy of 0 (I-28)."""
    results = make_results(
        score=0.0,
        prediction=None,
        response=["" if number < n_empty else "Hm." for number in range(n)],
    )
    made = cell_of(make_source(results=results), items=make_items(n))

    with make_warehouse(scores=by_source(made)) as connection:
        offenders = rows_of(connection, "checks/responses_are_not_all_empty")

    assert offenders["eval_run_id"].to_list() == ["quiz:ada:f1"] * is_refused
    assert offenders["n_empty"].to_list() == [n_empty] * is_refused


def test_models_with_different_items_are_compared_on_those_of_both() -> None:
    """Two gemini files lack 20 and 12 of 12,032 items (M-7)."""
    ada = make_source(results=make_results(native_id=["0", "1", "2"], model="ada"))
    bob = make_source(results=make_results(native_id=["1", "2", "3"], model="bob"))
    items = make_items(4)
    cells = [
        cell(
            "quiz",
            model,
            [ModelSource(source, (model,))],
            order=NO_ORDER,
            items=items,
            release_of_source={},
        )
        for model, source in (("ada", ada), ("bob", bob))
    ]

    with make_warehouse(
        items=items,
        scores=pl.concat([c.scores for c in cells]),
        eval_runs=pl.concat([c.eval_runs for c in cells]),
    ) as connection:
        common = connection.sql(
            "select item_id from mart.common_scores where model_a = 'ada' order by all"
        ).fetchall()
        counts = rows_of(connection, "mart/cell_counts")

    assert common == [("quiz:1",), ("quiz:2",)]
    assert counts["coverage"].to_list() == [0.75, 0.75]


def test_kept_responses_are_read_again_by_our_extractor() -> None:
    source = make_source(
        items=make_stated_items(3, choices=[["x", "y"]] * 3, answer=["A", "B", "A"]),
        results=make_results(
            3,
            response=["The answer is (A).", "The answer is (A).", None],
            prediction=["A", None, "A"],
            score=[1.0, None, 1.0],
        ),
    )

    made = cell_of(source)

    ours = made.scores.filter(pl.col("extractor") == EXTRACTOR_VERSION)
    assert ours.select("item_id", "prediction", "outcome", "score").rows() == [
        ("quiz:0", "A", "correct", 1.0),
        ("quiz:1", "A", "wrong", 0.0),
    ]
