import hashlib
import unicodedata

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.items.content import (
    normalised_choices,
    normalised_options,
    normalised_text,
    with_content_hashes,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))


def normalised(*values: str | None) -> list[str | None]:
    frame = pl.DataFrame({"text": list(values)}, schema={"text": pl.String()})
    return frame.select(normalised_text(pl.col("text"))).to_series().to_list()


def content_hash(
    question: str | None, choices: list[str | None] | None, answer: str | None
) -> str | None:
    frame = pl.DataFrame(
        {"question": [question], "choices": [choices], "answer": [answer]},
        schema={
            "question": pl.String(),
            "choices": pl.List(pl.String()),
            "answer": pl.String(),
        },
    )
    return with_content_hashes(frame)["content_hash"].item()


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("What is IT?", "what is it?"),
        ("two  words", "two words"),
        ("two\r\nwords", "two\nwords"),
        ("two\u00a0words", "two words"),
        ("\ttwo words\n", "two words"),
        ("ﬁve", "five"),
        ("Ｗhat", "what"),
        ("cafe\u0301", "caf\u00e9"),
        ("x²", "x2"),
        ("㎅", "kb"),
        # A J with a caron exists composed in lower case only.
        ("J\u030c", "\u01f0"),
        ("two\x1fwords\x1ehere", "two words here"),
    ],
)
def test_texts_that_ask_the_same_are_normalised_alike(text: str, alike: str) -> None:
    first, second = normalised(text, alike)

    assert first == second


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("is it 1.5?", "is it 15?"),
        ("a, b", "a b"),
        ("dog bites man", "man bites dog"),
        ("-1", "1"),
        ("naive", "naïve"),
        ("two words", "twowords"),
    ],
)
def test_texts_that_ask_another_thing_stay_apart(text: str, other: str) -> None:
    first, second = normalised(text, other)

    assert first != second


@settings(deadline=None)
@given(st.lists(texts, min_size=1))
def test_normalising_twice_changes_nothing(values: list[str]) -> None:
    once = normalised(*values)

    assert normalised(*once) == once


@settings(deadline=None)
@given(texts)
def test_a_normalised_text_has_single_inner_spaces_and_no_separators(text: str) -> None:
    (found,) = normalised(text)

    assert found is not None
    assert found == " ".join(found.split(" "))
    assert "  " not in found
    assert found.strip(" ") == found
    assert not set(found) & set("\x1e\x1f\n\t\r")


@settings(deadline=None)
@given(texts)
def test_case_and_unicode_form_do_not_matter(text: str) -> None:
    alike = [text.lower(), *(unicodedata.normalize(f, text) for f in ("NFC", "NFD"))]

    first, *others = normalised(text, *alike)

    assert all(other == first for other in others)


def test_a_missing_text_stays_missing() -> None:
    assert normalised(None, "A") == [None, "a"]


def test_the_content_hash_is_of_question_options_and_answer() -> None:
    told = b"q?\x1fone\x1etwo\x1fa"

    assert (
        content_hash("Q?", ["One", "two"], "A")
        == (hashlib.sha256(told).hexdigest()[:32])
    )


def test_an_item_without_a_question_has_no_hash() -> None:
    items = pl.DataFrame(
        {"question": [None, "q"], "choices": [["x"], []], "answer": ["A", None]},
        schema_overrides={"choices": pl.List(pl.String)},
    )

    hashed = with_content_hashes(items)

    assert hashed.select("content_hash", "question_hash").row(0) == (None, None)
    assert None not in hashed.select("content_hash", "question_hash").row(1)


def test_other_columns_and_the_order_are_kept() -> None:
    items = pl.DataFrame(
        {
            "name": ["b", "a"],
            "question": ["q", "p"],
            "choices": [["x"], ["y"]],
            "answer": [None, "A"],
        }
    )

    hashed = with_content_hashes(items)

    assert hashed.drop("content_hash", "question_hash").equals(items)


@pytest.mark.parametrize(
    ("question", "choices", "answer"),
    [
        ("other?", ["x", "y"], "A"),
        ("q?", ["y", "x"], "A"),
        ("q?", ["x"], "A"),
        ("q?", ["x", "y", ""], "A"),
        ("q?", ["x", "y"], "B"),
        ("q?", ["x", "y"], None),
        ("q?", ["x y"], "A"),
        ("q?", [], "x y A"),
        ("q? x", ["y"], "A"),
        ("q?", ["x\x1ey"], "A"),
        ("q?\x1fx\x1ey\x1fA", [], None),
        ("q?", ["x"], "y\x1fA"),
    ],
)
def test_no_other_item_has_the_content_hash(
    question: str, choices: list[str | None], answer: str | None
) -> None:
    assert content_hash(question, choices, answer) != content_hash(
        "q?", ["x", "y"], "A"
    )


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=2, max_size=3), texts)))
def test_equal_hashes_mean_equal_parts(
    stated: list[tuple[str, list[str], str]],
) -> None:
    parts: dict[str | None, set[tuple[object, ...]]] = {}
    for question, choices, answer in stated:
        told = (*normalised(question, *choices, answer), len(choices))
        parts.setdefault(content_hash(question, list(choices), answer), set()).add(told)

    assert all(len(told) == 1 for told in parts.values())


def test_options_are_joined_in_their_order_or_sorted() -> None:
    frame = pl.DataFrame({"choices": [["B", "a"], [], None, [None, "C"]]})

    joined = frame.select(
        stated=normalised_choices(pl.col("choices")),
        ordered=normalised_choices(pl.col("choices"), sort=True),
    )

    assert joined.rows() == [
        ("b\x1ea", "a\x1eb"),
        ("", ""),
        ("", ""),
        ("\x1ec", "\x1ec"),
    ]


def test_options_stay_a_list_where_they_are_compared_one_by_one() -> None:
    frame = pl.DataFrame({"choices": [["B ", None], []]})

    listed = frame.select(normalised_options(pl.col("choices"))).to_series()

    assert listed.to_list() == [["b", ""], []]
