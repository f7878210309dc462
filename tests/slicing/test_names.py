import re
import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.slicing.names import normalised_phrase, slug

# Characters that the rules look at, so that they meet each other often.
written = st.one_of(
    st.text(st.sampled_from("aB1 \t*_\"'`.,;:-#()[]{}?\u2019\u2022\u200b\ufeff+!")),
    st.lists(
        st.sampled_from(["and", "And ", "ocr", " ", "**", "(", ")", ".", ","])
    ).map("".join),
    st.text(),
)


def normalised(*phrases: str | None) -> list[str | None]:
    frame = pl.DataFrame({"phrase": phrases}, schema={"phrase": pl.String})
    return frame.select(normalised_phrase(pl.col("phrase")))["phrase"].to_list()


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Molar mass", "molar mass"),
        ("  molar \n\t mass ", "molar mass"),
        ("**Molar mass**", "molar mass"),
        ("`molar mass`", "molar mass"),
        ("\u201cmolar mass\u201d", "molar mass"),
        ("'molar mass'.", "molar mass"),
        ("(molar mass)", "molar mass"),
        ("- molar mass;", "molar mass"),
        ("\u2022 molar mass,", "molar mass"),
        ("## Molar mass:", "molar mass"),
        ("and molar mass", "molar mass"),
        ("And, molar mass", "molar mass"),
        ("\ufeffmolar\u200b mass", "molar mass"),
        ("\uff4d\uff4fl\uff41r mass", "molar mass"),  # full-width letters
        ("STRASSE", "strasse"),
        ("Stra\u00dfe", "strasse"),
        (
            "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2",
            "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3",
        ),
    ],
)
def test_accidents_of_writing_are_evened_out(phrase: str, expected: str) -> None:
    assert normalised(phrase) == [expected]


@pytest.mark.parametrize(
    "phrase",
    [
        "comparing 1,000 and 2,000",
        "ocr",
        "c++",
        "c#",
        ".net",
        "n!",
        "50%",
        "-1",
        "evaluating f(x)",
        "(a) or (b)",
        "c*-algebras",
        "android development",
        "and",
        "null",
        "nan",
        "none",
        "n/a",
    ],
)
def test_what_belongs_to_a_phrase_stays(phrase: str) -> None:
    assert normalised(phrase) == [phrase]


def test_nothing_left_is_null() -> None:
    assert normalised(None, "", "  ", "***", '""', "...", "\u200b") == [None] * 7


@given(written)
def test_normalising_twice_changes_nothing_more(phrase: str) -> None:
    once = normalised(phrase)

    assert normalised(*once) == once


@given(written)
def test_a_normalised_phrase_has_no_blank_edges_and_no_upper_case(phrase: str) -> None:
    (result,) = normalised(phrase)

    if result is not None:
        assert result == result.strip() != ""
        assert "  " not in result
        assert result == result.lower().replace("\u03c2", "\u03c3")


@given(written)
def test_upper_case_makes_no_difference_to_latin_text(phrase: str) -> None:
    latin = "".join(c for c in phrase if unicodedata.name(c, "").startswith("LATIN"))

    assert normalised(latin.upper()) == normalised(latin.upper().lower())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Molar mass", "molar-mass"),
        ("comparing 1,000 and 2,000", "comparing-1-000-and-2-000"),
        ("na\u00efve Bayes", "naive-bayes"),
        ("c++", "c"),
        ("a" * 70, "a" * 60),
        ("word " * 12 + "word", "-".join(["word"] * 12)),
        ("x" * 58 + " y" + " zzz", "x" * 58 + "-y"),
    ],
)
def test_a_slug_is_ascii_words_joined_by_hyphens(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_a_name_without_ascii_letters_has_the_hash_of_itself_as_slug() -> None:
    # printf '\xe5\x8c\x96\xe5\xad\xa6' | sha256sum
    assert slug("\u5316\u5b66") == "0316d311b860"
    assert slug("\u6570\u5b66") != slug("\u5316\u5b66")


@given(st.text(st.characters(exclude_categories=[])))
def test_any_name_has_a_slug_that_fits_an_id(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(name))
    assert len(slug(name)) <= 60
