import hashlib

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.slicing.skills import (
    Method,
    SkillAssignment,
    canonical_skills,
    skill_slices,
)
from tests.slicing.planted import planted_vectors, unit_rows


def phrase_counts(**n_items: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"phrase": list(n_items), "n_items": list(n_items.values())},
        schema={"phrase": pl.String, "n_items": pl.Int64},
    )


def at_degrees(*degrees: float) -> NDArray[np.float32]:
    angles = np.deg2rad(degrees)
    return unit_rows(np.column_stack([np.cos(angles), np.sin(angles)]))


def mentions(**skill_of_items: list[str]) -> pl.DataFrame:
    """``mentions(algebra=["a", "b"])``: items a and b have the skill algebra."""
    rows = [
        (item, f"skill:{skill}", skill)
        for skill, items in skill_of_items.items()
        for item in items
    ]
    columns = ["item_id", "skill_id", "skill_name"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def bytes_of(assignment: SkillAssignment) -> list[list[tuple[object, ...]]]:
    return [frame.rows() for frame in assignment]


def test_similar_phrases_are_one_skill_named_by_the_most_central() -> None:
    phrases = phrase_counts(left=1, middle=1, right=1, other=1)

    skill_names, skills = canonical_skills(phrases, at_degrees(-10, 0, 10, 90))

    assert skills.rows() == [
        ("skill:middle", "middle", 3),
        ("skill:other", "other", 1),
    ]
    assert skill_names["phrase"].to_list() == ["left", "middle", "other", "right"]
    assert skill_names["skill_name"].to_list() == [
        "middle",
        "middle",
        "other",
        "middle",
    ]
    tilted = np.cos(np.deg2rad(10))
    expected = [tilted, 1, 1, tilted]
    assert skill_names["similarity"].to_list() == pytest.approx(expected, abs=1e-6)


def test_a_phrase_that_many_items_have_pulls_the_name() -> None:
    phrases = phrase_counts(left=100, middle=1, right=1)

    skill_names, skills = canonical_skills(phrases, at_degrees(-10, 0, 10))

    assert skills.rows() == [("skill:left", "left", 3)]
    # The mean direction of weights 100, 1 and 1 at -10, 0 and 10 degrees.
    angle = np.deg2rad([-10, 0, 10])
    mean = np.array([100, 1, 1]) @ np.column_stack([np.cos(angle), np.sin(angle)])
    off = np.arctan2(mean[1], mean[0]) - angle
    assert skill_names["similarity"].to_list() == pytest.approx(np.cos(off), abs=1e-6)


@pytest.mark.parametrize(
    ("phrases", "name"),
    [({"molar masses": 3, "molar mass": 3}, "molar mass"), ({"b": 2, "a": 2}, "a")],
)
def test_of_two_equally_central_phrases_the_shorter_then_earlier_is_the_name(
    phrases: dict[str, int], name: str
) -> None:
    for angles in [(0.1, 7.3), (7.3, 0.1), (12.0, 31.7)]:
        skills = canonical_skills(phrase_counts(**phrases), at_degrees(*angles)).skills

        assert skills["skill_name"].to_list() == [name]


def test_names_that_share_a_slug_get_the_hash_of_the_name() -> None:
    phrases = phrase_counts(**{"c": 1, "c++": 1, "d": 1})

    skills = canonical_skills(phrases, at_degrees(0, 90, 180)).skills

    hashes = {
        name: hashlib.sha256(name.encode()).hexdigest()[:12] for name in ["c", "c++"]
    }
    assert sorted(skills.rows()) == sorted(
        [
            (f"skill:c-{hashes['c']}", "c", 1),
            (f"skill:c-{hashes['c++']}", "c++", 1),
            ("skill:d", "d", 1),
        ]
    )


@pytest.mark.parametrize("method", ["average", "leader"])
@given(order=st.permutations(range(40)))
def test_the_order_of_phrases_makes_no_difference(
    method: Method, order: list[int]
) -> None:
    vectors = planted_vectors(40, seed=8)
    phrases = pl.DataFrame(
        {"phrase": [f"phrase {n % 7} {n}" for n in range(40)], "n_items": range(1, 41)}
    )
    expected = canonical_skills(phrases, vectors, method=method)

    shuffled = canonical_skills(phrases[order], vectors[order], method=method)

    assert bytes_of(shuffled) == bytes_of(expected)


def test_every_phrase_has_one_skill_and_every_skill_its_phrases() -> None:
    vectors = planted_vectors(300, seed=9)
    phrases = pl.DataFrame(
        {"phrase": [f"phrase {n}" for n in range(300)], "n_items": [1] * 300}
    )

    skill_names, skills = canonical_skills(phrases, vectors, threshold=0.6)

    assert sorted(skill_names["phrase"]) == sorted(phrases["phrase"])
    assert skills["n_phrases"].sum() == 300
    assert skills["skill_id"].is_unique().all()
    counted = skill_names.group_by("skill_id", "skill_name").agg(n_phrases=pl.len())
    assert sorted(counted.rows()) == sorted(skills.rows())
    assert set(skills["skill_name"]) <= set(phrases["phrase"])


def test_leaders_merge_what_average_linkage_keeps_apart() -> None:
    phrases = phrase_counts(a=1, b=1, c=1)
    vectors = at_degrees(0, 36, 70)  # cos 36 = .81, cos 34 = .83, cos 70 = .34

    average = canonical_skills(phrases, vectors, method="average").skills
    leader = canonical_skills(phrases, vectors, method="leader").skills

    assert average["n_phrases"].to_list() == [1, 2]
    assert leader["n_phrases"].to_list() == [3]


def test_no_phrases_are_no_skills() -> None:
    vectors = np.empty((0, 384), np.float32)

    skill_names, skills = canonical_skills(phrase_counts(), vectors)

    assert skill_names.schema == {
        "phrase": pl.String,
        "skill_id": pl.String,
        "skill_name": pl.String,
        "similarity": pl.Float64,
    }
    assert skills.schema == {
        "skill_id": pl.String,
        "skill_name": pl.String,
        "n_phrases": pl.Int64,
    }
    assert len(skill_names) == len(skills) == 0


@pytest.mark.parametrize(
    ("phrases", "n_items", "message"),
    [
        (["a", None], [1, 1], r"1 of 2 phrases are null or empty, first at index 1"),
        (["", "b"], [1, 1], r"1 of 2 phrases are null or empty, first at index 0"),
        (["a", "a"], [1, 1], r"2 of 2 phrases are given more than once"),
        (["a", "b"], [1, 0], r"n_items below 1, first at index 1: .*'b'"),
        (["a", "b"], [1, None], r"n_items below 1, first at index 1"),
        (["a"], [1], r"2 rows for 1 phrases"),
    ],
)
def test_unusable_phrases_are_named(
    phrases: list[str | None], n_items: list[int | None], message: str
) -> None:
    frame = pl.DataFrame({"phrase": phrases, "n_items": n_items})

    with pytest.raises(InvalidInputError, match=message):
        canonical_skills(frame, at_degrees(0, 90))


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    unknown: Method = "single"  # pyright: ignore[reportAssignmentType]

    with pytest.raises(InvalidInputError, match="one of average, leader, got 'single'"):
        canonical_skills(phrase_counts(a=1), at_degrees(0), method=unknown)


def test_a_slice_of_exactly_the_minimum_stays() -> None:
    hundred = [f"item {n:03}" for n in range(100)]
    item_skills = mentions(algebra=hundred, geometry=hundred[:99])

    slices, slice_items = skill_slices(item_skills, minimum_items=100)

    assert slices.rows() == [("skill:algebra", "algebra", 100)]
    assert slice_items.rows() == [("skill:algebra", item) for item in hundred]


def test_an_item_counts_once_however_often_it_names_a_skill() -> None:
    item_skills = mentions(algebra=["a", "a", "b"])

    slices, slice_items = skill_slices(item_skills, minimum_items=2)

    assert slices.rows() == [("skill:algebra", "algebra", 2)]
    assert slice_items.rows() == [("skill:algebra", "a"), ("skill:algebra", "b")]


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.sampled_from(["p", "q", "r"])),
        max_size=40,
    ),
    st.integers(1, 5),
)
def test_slices_are_the_sets_of_items_with_the_skill(
    pairs: list[tuple[str, str]], minimum_items: int
) -> None:
    sets: dict[str, set[str]] = {}
    for item, skill in pairs:
        sets.setdefault(skill, set()).add(item)
    large = {
        skill: items for skill, items in sets.items() if len(items) >= minimum_items
    }

    slices, slice_items = skill_slices(
        mentions(**{s: [i for i, of in pairs if of == s] for s in sets}),
        minimum_items=minimum_items,
    )

    assert slices.rows() == [
        (f"skill:{skill}", skill, len(large[skill])) for skill in sorted(large)
    ]
    assert slice_items.rows() == [
        (f"skill:{skill}", item)
        for skill in sorted(large)
        for item in sorted(large[skill])
    ]


def test_a_skill_under_two_names_is_refused() -> None:
    item_skills = mentions(algebra=["a", "b"]).with_columns(
        skill_name=pl.Series(["algebra", "Algebra"])
    )

    with pytest.raises(InvalidInputError, match=r"2 of 2 skill names .*'algebra'"):
        skill_slices(item_skills)


def test_a_null_is_refused_where_it_stands() -> None:
    item_skills = mentions(algebra=["a", "b"]).with_columns(
        skill_id=pl.Series(["skill:algebra", None])
    )

    with pytest.raises(InvalidInputError, match=r"have a null, first at index 1"):
        skill_slices(item_skills)


def test_a_minimum_of_no_items_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 1, got 0"):
        skill_slices(mentions(algebra=["a"]), minimum_items=0)
