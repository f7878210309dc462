from itertools import permutations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.contracts import core
from skillmap.contracts.audit import violations
from skillmap.errors import InvalidInputError, ParseError
from skillmap.items.content import with_content_hashes
from skillmap.items.matching import BenchmarkSource, benchmark_order
from skillmap.items.releases import Releases, benchmark_releases, releases
from tests.builders import make_results, make_source, make_stated_items


def stated(n: int = 3, **columns: object) -> pl.DataFrame:
    """Items as a source states them, after they were matched."""
    return make_stated_items(n, **columns).with_columns(
        item_position=pl.lit(None, pl.Int64)
    )


def checked(made: Releases) -> Releases:
    for table, frame in ((core.ITEMS, made.items), (core.BENCHMARKS, made.benchmarks)):
        assert violations(table, table.conform(frame)) == []
    return made


def found(defining: frozenset[str] = frozenset(), **sources: pl.DataFrame) -> Releases:
    return checked(releases("quiz", sources, defining=defining))


def from_sources(*sources: BenchmarkSource, n_items: int | None = None) -> Releases:
    order = benchmark_order(sources, n_items=n_items)
    return checked(benchmark_releases("quiz", sources, order))


def sizes(made: Releases) -> list[tuple[object, ...]]:
    return made.benchmarks.select(
        "is_current", "n_items", "n_drifted_items", "n_sources"
    ).rows()


def test_sources_that_agree_are_of_one_release() -> None:
    made = found(a=stated(3), b=stated(2))

    assert sizes(made) == [(True, 3, 0, 2)]
    assert made.benchmarks["source_ids"].to_list() == [["a", "b"]]
    assert made.release_of_source["release_id"].n_unique() == 1
    assert made.items["item_id"].to_list() == ["quiz:0", "quiz:1", "quiz:2"]


def test_two_generations_are_told_apart_and_most_sources_have_the_current_one() -> None:
    """MMLU-Pro has two under the same ids: 48 items differ, 31 in the answer (M-3)."""
    old = stated(4, answer=["A", "B", "A", "D"])
    new = stated(4, answer=["A", "B", "A", "B"])

    made = found(a=old, b=new, c=new)

    assert sizes(made) == [(True, 4, 0, 2), (False, 4, 1, 1)]
    assert made.items["answer"].to_list() == ["A", "B", "A", "B"]
    ids = dict(made.release_of_source.rows())
    assert ids["b"] == ids["c"] != ids["a"]


@pytest.mark.parametrize(
    "other",
    [
        {"question": ["Is 0 odd?"]},
        {"choices": [["yes", "no", "maybe"]]},
        {"choices": [["no", "yes"]]},
        {"answer": ["B"]},
    ],
)
def test_another_question_other_options_or_another_answer_contradict(
    other: dict[str, object],
) -> None:
    made = found(a=stated(1), b=stated(1, **other))

    assert [row[2] for row in sizes(made)] == [0, 1]


@pytest.mark.parametrize(
    "same",
    [
        {"question": ["  is 0\nEVEN? "]},
        {"choices": [["yes ", " no"]]},
        {"choices": [[]]},
        {"answer": [" a"]},
        {"answer": [None]},
        {"question": [None]},
    ],
)
def test_another_spelling_or_less_is_no_contradiction(same: dict[str, object]) -> None:
    made = found(a=stated(1), b=stated(1, **same))

    assert sizes(made) == [(True, 1, 0, 2)]


def test_the_defining_sources_have_the_current_release_whatever_the_others_say() -> (
    None
):
    made = found(
        frozenset({"a"}),
        a=stated(1, answer=["A"]),
        b=stated(1, answer=["B"]),
        c=stated(1, answer=["B"]),
    )

    assert sizes(made) == [(True, 1, 0, 1), (False, 1, 1, 2)]
    assert made.items["answer"].to_list() == ["A"]


def test_of_as_many_sources_that_with_more_items_is_current() -> None:
    made = found(a=stated(1, answer=["B"]), b=stated(2))

    assert sizes(made) == [(True, 2, 0, 1), (False, 1, 1, 1)]
    assert made.items["answer"].to_list() == ["A", "B"]


def test_an_item_that_only_another_release_has_is_kept_under_it() -> None:
    old = stated(native_id=["0", "9"], question=["Is 0 odd?", "Is 9 even?"])

    made = found(a=old, b=stated(3), c=stated(3))

    ids = dict(made.release_of_source.rows())
    by_item = dict(made.items.select("native_id", "release_id").rows())
    assert by_item["9"] == ids["a"]
    assert {by_item[i] for i in "012"} == {ids["b"]}


def test_a_source_that_fits_several_releases_joins_the_largest() -> None:
    small = stated(native_id=["2"], question=["Is 2 even?"], answer=[None])

    made = found(a=stated(3, answer=["B", "B", "A"]), b=stated(3), c=stated(3), d=small)

    assert sizes(made) == [(True, 3, 0, 3), (False, 3, 1, 1)]


def test_large_sources_are_grouped_before_small_ones() -> None:
    """Else a part of the benchmark could join a file of one odd item."""
    odd = stated(native_id=["2"], question=["Is 2 odd?"])

    made = found(a=odd, b=stated(2), c=stated(4))

    assert made.benchmarks["source_ids"].to_list() == [["b", "c"], ["a"]]


def test_what_one_source_leaves_out_another_of_the_release_states() -> None:
    a = stated(1, choices=[[]], answer=[None], category="numbers")
    b = stated(1, question=["IS 0 EVEN?"])

    made = found(a=a, b=b)

    row = made.items.row(0, named=True)
    assert row["question"] == "Is 0 even?"
    assert row["choices"] == ["yes", "no"]
    assert (row["n_choices"], row["answer"], row["category"]) == (2, "A", "numbers")


def test_hashes_are_of_the_whole_item_though_sources_state_parts_of_it() -> None:
    no_answer = stated(2, answer=[None, None])
    no_choices = stated(2, choices=[[], []])

    made = found(a=no_answer, b=no_choices)

    whole = with_content_hashes(made.items.drop("content_hash", "question_hash"))
    assert made.items["content_hash"].equals(whole["content_hash"])
    assert made.items["content_hash"].to_list() == stated(2)["content_hash"].to_list()


def test_the_first_statement_of_an_item_within_a_source_counts() -> None:
    twice = stated(native_id=["0", "0"], question=["Is 0 even?", "Is 1 even?"])

    made = found(a=twice)

    assert made.items["question"].to_list() == ["Is 0 even?"]


def test_releases_have_the_same_id_only_if_they_state_the_same() -> None:
    """Parts run together must not look alike: "x" and "ya" against "xy" and "a"."""
    one = stated(1, choices=[["x"]], answer=["ya"])
    other = stated(1, choices=[["xy"]], answer=["a"])

    made = found(a=one, b=other)

    assert made.benchmarks["release_id"].n_unique() == 2


def test_the_id_of_a_release_is_that_of_its_content() -> None:
    shuffled = stated(5)[[3, 1, 4, 0, 2]]

    (first,) = found(a=stated(5)).benchmarks["release_id"]
    (second,) = found(z=shuffled).benchmarks["release_id"]

    assert first == second


generations = st.lists(
    st.lists(st.sampled_from(["A", "B", None]), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@settings(deadline=None, max_examples=15)
@given(generations)
def test_the_order_of_the_sources_does_not_matter(
    answers: list[list[str | None]],
) -> None:
    frames = {
        f"source{number}": stated(answer=list(of_source))
        for number, of_source in enumerate(answers)
    }

    made = [
        checked(releases("quiz", {name: frames[name] for name in names}))
        for names in permutations(frames)
    ]

    for other in made[1:]:
        assert all(a.equals(b) for a, b in zip(made[0], other, strict=True))


@settings(deadline=None, max_examples=40)
@given(generations)
def test_sources_of_a_release_contradict_each_other_nowhere(
    answers: list[list[str | None]],
) -> None:
    made = found(
        **{f"source{n}": stated(answer=list(told)) for n, told in enumerate(answers)}
    )

    for sources in made.benchmarks["source_ids"]:
        told = [answers[int(source.removeprefix("source"))] for source in sources]
        for place in range(4):
            at_place = {t[place] for t in told if len(t) > place} - {None}
            assert len(at_place) <= 1


def test_items_stand_in_their_declared_order_and_else_by_id() -> None:
    ordered = stated(native_id=["10", "9", "2"]).with_columns(
        item_position=pl.Series([0, 1, 2])
    )
    unordered = stated(native_id=["10", "9", "2"])

    assert found(a=ordered).items["native_id"].to_list() == ["10", "9", "2"]
    assert found(a=unordered).items["native_id"].to_list() == ["10", "2", "9"]


def test_a_benchmark_that_no_source_states_is_refused_with_what_to_do() -> None:
    with pytest.raises(InvalidInputError, match="'quiz': no source states any item"):
        releases("quiz", {"a": stated(0)})


def test_items_may_be_known_by_their_position_alone() -> None:
    results = make_source(results=make_results(3, native_id=None), match="position")

    made = from_sources(results, n_items=3)

    assert sizes(made) == [(True, 3, 0, 0)]
    assert made.items.select("item_id", "native_id_type", "question").rows() == [
        ("quiz:0", "position", None),
        ("quiz:1", "position", None),
        ("quiz:2", "position", None),
    ]
    assert made.release_of_source.is_empty()


def test_questions_stated_by_position_fill_the_declared_items() -> None:
    items = make_stated_items(2, native_id=None)
    source = make_source(items=items, match="position")

    made = from_sources(source, n_items=2)

    assert sizes(made) == [(True, 2, 0, 1)]
    assert made.items["question"].to_list() == ["Is 0 even?", "Is 1 even?"]
    assert made.items["content_hash"].equals(items["content_hash"])


def test_a_wrong_number_of_records_is_refused_though_the_source_has_no_items() -> None:
    source = make_source(results=make_results(3, native_id=None), match="position")

    with pytest.raises(ParseError, match="it has 3, the benchmark 5"):
        from_sources(source, n_items=5)


def test_sources_that_define_the_order_number_the_items() -> None:
    first = make_source("b", items=make_stated_items(2, native_id=None), order_offset=0)
    items = make_stated_items(question=["Why?"], native_id=None)
    second = make_source("a", items=items, order_offset=2)

    made = from_sources(second, first)

    assert made.items.select("item_id", "item_position", "question").rows() == [
        ("quiz:0", 0, "Is 0 even?"),
        ("quiz:1", 1, "Is 1 even?"),
        ("quiz:2", 2, "Why?"),
    ]
    assert sizes(made) == [(True, 3, 0, 2)]


def test_a_record_of_the_order_that_could_not_be_read_is_an_item_all_the_same() -> None:
    """Else one bad line of a test set would refuse every result by position."""
    items = make_stated_items(position=[0, 2], native_id=None)
    defining = make_source(
        "a",
        items=items,
        order_offset=0,
        n_records=3,
        rejects=[(1, "line is not JSON", "{")],
    )
    results = make_source(
        "b", results=make_results(3, native_id=None), match="position"
    )

    made = from_sources(defining, results)

    assert sizes(made) == [(True, 3, 0, 1)]
    assert made.items["item_position"].to_list() == [0, 1, 2]
    assert made.items["question"].to_list() == ["Is 0 even?", None, "Is 1 even?"]
    assert made.items["content_hash"].null_count() == 1


def test_records_that_match_no_item_state_nothing() -> None:
    items = make_stated_items(native_id=["0", None])

    made = from_sources(make_source(items=items))

    assert made.items["native_id"].to_list() == ["0"]
