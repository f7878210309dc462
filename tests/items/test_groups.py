from itertools import combinations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.contracts import core
from skillmap.items.groups import item_groups
from tests.builders import make_items

small_items = st.lists(
    st.tuples(
        st.sampled_from(["quiz", "exam"]),
        st.sampled_from(["Which?", "which? ", "Why?", None]),
        st.lists(st.sampled_from(["x", "X ", "y", "z", "u"]), max_size=3),
    ),
    max_size=9,
)


def made(stated: list[tuple[str, str | None, list[str]]]) -> pl.DataFrame:
    return make_items(
        benchmark_id=[benchmark for benchmark, _, _ in stated],
        question=[question for _, question, _ in stated],
        choices=[choices for _, _, choices in stated],
        answer=[None] * len(stated),
    )


def members(groups: pl.DataFrame, kind: str) -> set[frozenset[str]]:
    grouped = groups.filter(pl.col("kind") == kind).group_by("group_id").agg("item_id")
    return {frozenset(ids) for ids in grouped["item_id"]}


def plain(text: str) -> str:
    return text.lower().strip()


def twins(items: pl.DataFrame, kind: str) -> set[frozenset[str]]:
    """Groups found by comparing each item with each other, and joining."""
    rows = items.drop_nulls("question").rows(named=True)
    groups = [{row["item_id"]} for row in rows]
    for a, b in combinations(rows, 2):
        if plain(a["question"]) != plain(b["question"]):
            continue
        left = sorted(map(plain, a["choices"]))
        right = sorted(map(plain, b["choices"]))
        shares = not left or not right or set(left) & set(right)
        if left == right if kind == "exact" else shares:
            joined = [g for g in groups if a["item_id"] in g or b["item_id"] in g]
            groups = [g for g in groups if g not in joined]
            groups.append(set().union(*joined))
    return {frozenset(group) for group in groups if len(group) > 1}


@settings(deadline=None)
@given(small_items)
def test_groups_are_those_of_comparing_every_pair(
    stated: list[tuple[str, str | None, list[str]]],
) -> None:
    items = made(stated)

    groups = item_groups(items)

    assert members(groups, "exact") == twins(items, "exact")
    assert members(groups, "near") == twins(items, "near")


@settings(deadline=None)
@given(small_items, st.randoms(use_true_random=False))
def test_the_order_of_the_items_does_not_matter(
    stated: list[tuple[str, str | None, list[str]]], random: st.DataObject
) -> None:
    items = made(stated)
    order = list(range(items.height))
    random.shuffle(order)  # type: ignore[attr-defined]

    assert item_groups(items[order]).equals(item_groups(items))


@settings(deadline=None)
@given(small_items)
def test_every_exact_group_is_within_a_near_one(
    stated: list[tuple[str, str | None, list[str]]],
) -> None:
    groups = item_groups(made(stated))

    near = members(groups, "near")
    assert all(
        any(exact <= group for group in near) for exact in members(groups, "exact")
    )


def test_a_group_is_named_for_its_first_item_and_counts_all_benchmarks() -> None:
    items = made([("quiz", "Which?", ["x"]), ("exam", "which?", ["X"])])

    groups = item_groups(items)

    assert groups.columns == core.ITEM_GROUPS.polars_schema.names()
    assert groups.rows() == [
        ("exam:1", "exam", "exact", "exact:exam:1", 2),
        ("quiz:0", "quiz", "exact", "exact:exam:1", 2),
        ("exam:1", "exam", "near", "near:exam:1", 2),
        ("quiz:0", "quiz", "near", "near:exam:1", 2),
    ]


def test_options_in_another_order_are_the_same_set() -> None:
    """In MMLU-Pro 159 pairs have one question and one set of options (M-1)."""
    items = made([("quiz", "Which?", ["x", "y"]), ("quiz", "Which?", ["y", "x"])])

    assert members(item_groups(items), "exact") == {frozenset({"quiz:0", "quiz:1"})}


def test_the_same_words_with_other_options_are_another_question() -> None:
    """Six MMLU-Pro items ask "Which of the following statements is correct?" (M-2)."""
    question = "Which of the following statements is correct?"
    items = made([("quiz", question, [a, b]) for a, b in ("xy", "uv", "rs")])

    assert item_groups(items).is_empty()


def test_an_item_remade_with_more_options_is_a_near_twin() -> None:
    items = made(
        [("mmlu", "Why?", ["x", "y"]), ("mmlu_pro", "Why?", ["u", "v", "w", "y"])]
    )

    groups = item_groups(items)

    assert members(groups, "exact") == set()
    assert members(groups, "near") == {frozenset({"mmlu:0", "mmlu_pro:1"})}


def test_near_twins_are_linked_through_others() -> None:
    items = made(
        [
            ("quiz", "Why?", ["a", "b"]),
            ("quiz", "Why?", ["b", "c"]),
            ("quiz", "Why?", ["c", "d"]),
            ("quiz", "Why?", ["e"]),
        ]
    )

    assert members(item_groups(items), "near") == {
        frozenset({"quiz:0", "quiz:1", "quiz:2"})
    }


def test_a_free_form_item_is_a_near_twin_of_all_that_ask_the_same() -> None:
    items = made(
        [("quiz", "Why?", []), ("exam", "Why?", ["a"]), ("exam", "Why?", ["b"])]
    )

    assert members(item_groups(items), "near") == {
        frozenset({"quiz:0", "exam:1", "exam:2"})
    }


def test_free_form_items_that_ask_the_same_are_exact_twins() -> None:
    items = made([("quiz", "Why?", []), ("exam", "Why?", [])])

    assert members(item_groups(items), "exact") == {frozenset({"quiz:0", "exam:1"})}


def test_options_that_differ_by_white_space_alone_are_the_same() -> None:
    items = made([("quiz", "Why?", ["a  b"]), ("quiz", "Why?", ["a b"])])

    groups = item_groups(items)

    assert members(groups, "exact") == members(groups, "near") != set()


def test_items_without_a_question_have_no_twin() -> None:
    assert item_groups(made([("quiz", None, ["x"])] * 2)).is_empty()


def test_no_items_have_no_groups() -> None:
    groups = item_groups(core.ITEMS.empty())

    assert core.ITEM_GROUPS.conform(groups).is_empty()
