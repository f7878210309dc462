import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.contracts.columns import OUTCOMES
from skillmap.errors import InvalidInputError
from skillmap.extraction import EXTRACTOR_VERSION
from skillmap.extraction.outcomes import EXTRACTION_SCHEMA, extract
from tests.extraction.said import make_responses, read

REPEATED = [
    *("answer ", "answer is ", "the answer is (", "(A) ", "A. x\n", "A:", "B\n"),
    *("\\boxed{", "{", "}", "#### ", "1", "1 ", "111 ", "1,", "1/", "-", "**1"),
    *("<think>", "</think>", "<<", "\n", " ", "option A is ", "closest ", "is "),
    *("(B) and ", "\nQuestion:", "选项A ", "½", "I'm sorry ", "\x1e", "(", "1:"),
]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The answer is (B).", ("B", "correct", "announced")),
        ("The answer is (C).", ("C", "wrong", "announced")),
        ("I'm sorry, but I can't assist with that.", (None, "refusal", None)),
        ("I\u2019m very sorry, but I\u2019m unable to help.", (None, "refusal", None)),
        ("As an AI language model, I cannot answer.", (None, "refusal", None)),
        ("I can't help with that", (None, "refusal", None)),
        ("抱歉,我无法回答这个问题。", (None, "refusal", None)),
        ("Sorry, I was wrong. The answer is (B).", ("B", "correct", "announced")),
        ("I can't say more than that.", (None, "unparsed", None)),
        ("The table is absent. So I cannot answer.", (None, "unparsed", None)),
        ("", (None, "empty", None)),
        (" \n", (None, "empty", None)),
        ("Hm.", (None, "unparsed", None)),
        (None, (None, "unscored", None)),
    ],
)
def test_outcomes_without_an_answer_are_told_apart(
    said: str | None, expected: tuple[str | None, str, str | None]
) -> None:
    """Known to be one and the same score elsewhere (I-24)."""
    assert read(said) == expected


def test_an_apology_is_no_letter() -> None:
    """ "I'm sorry" was scored as the option I, and right where I was gold (M-11)."""
    said = "I'm sorry, but I can't assist with that request."

    assert read(said, answer="I") == (None, "refusal", None)


@pytest.mark.parametrize(
    ("said", "finish_reason", "expected"),
    [
        ("<think> Perhaps the answer is (B)", None, (None, "truncated")),
        (
            "<think> The answer is (C).</think> The answer is (B).",
            None,
            ("B", "correct"),
        ),
        ("The answer is (C).</think>\nThe answer is (B).", "stop", ("B", "correct")),
        ("<think> The answer is (B).</think>", "stop", (None, "empty")),
        ("Let us compute", "length", (None, "truncated")),
        ("The answer is (B). This is", "length", ("B", "correct")),
        ("The answer is (B)", "max_tokens", ("B", "correct")),
        ("The answer is B", "LENGTH", (None, "truncated")),
        (None, "length", (None, "truncated")),
        ("", "length", (None, "truncated")),
        (None, "stop", (None, "empty")),
        (None, "content_filter", (None, "refusal")),
        ("The answer is (B).", "content_filter", ("B", "correct")),
    ],
)
def test_a_cut_off_response_is_no_wrong_answer(
    said: str | None, finish_reason: str | None, expected: tuple[str | None, str]
) -> None:
    assert read(said, finish_reason=finish_reason)[:2] == expected


def test_a_number_at_the_cut_may_go_on() -> None:
    columns = {"choices": [], "answer": "125"}

    assert read("It is 12", finish_reason="length", **columns)[1] == "truncated"
    assert read("It is 12", finish_reason="stop", **columns)[1] == "wrong"


@pytest.mark.parametrize("gold", ["B", "b", "(B)", "B.", "option number two"])
def test_the_gold_option_is_known_by_letter_or_text(gold: str) -> None:
    assert read("The answer is (B).", answer=gold)[1] == "correct"


def test_without_a_gold_answer_nothing_is_right_or_wrong() -> None:
    assert read("The answer is (B).", answer=None) == ("B", "unscored", "announced")
    assert read("Hm.", answer=None)[1] == "unparsed"


def test_items_with_and_without_options_keep_their_order() -> None:
    said = pl.concat(
        [
            make_responses("The answer is 7.", choices=[], answer="7"),
            make_responses("The answer is (A)."),
            make_responses("The answer is 8.", choices=None, answer="7"),
        ]
    )

    read = extract(said)

    assert read["prediction"].to_list() == ["7", "A", "8"]
    assert read["outcome"].to_list() == ["correct", "wrong", "wrong"]


def test_no_responses_have_no_outcomes() -> None:
    assert extract(make_responses()).equals(EXTRACTION_SCHEMA.to_frame())


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InvalidInputError, match="first 'finish_reason'"):
        extract(make_responses("B").drop("finish_reason"))


@given(
    st.lists(
        st.text() | st.text("answer is(ABIKthoxed{}\\#:.1 \n", max_size=60),
        max_size=30,
    ),
    st.sampled_from(["B", "12", "yes", None]),
    st.booleans(),
    st.sampled_from([None, "stop", "length"]),
)
@settings(max_examples=50)
def test_any_text_has_one_outcome(
    said: list[str],
    answer: str | None,
    has_options: bool,  # noqa: FBT001 - Hypothesis passes arguments by position
    finish_reason: str | None,
) -> None:
    columns = {"answer": answer, "finish_reason": finish_reason}
    options = {} if has_options else {"choices": []}

    read = extract(make_responses(*said, **columns, **options))

    assert read.schema == EXTRACTION_SCHEMA
    assert read.height == len(said)
    assert read["outcome"].is_in(OUTCOMES).all()
    assert (read["prediction"].is_null() == read["method"].is_null()).all()
    answered = read["outcome"].is_in(["correct", "wrong"])
    assert (answered <= read["prediction"].is_not_null()).all()


@given(st.permutations(range(6)))
@settings(max_examples=10)
def test_each_response_is_read_by_itself(order: list[int]) -> None:
    said = ["The answer is (B).", "B", "", "Hm.", "The answer is (Z).", "(C) is right."]
    alone = extract(make_responses(*said)).rows()

    together = extract(make_responses(*[said[place] for place in order])).rows()

    assert together == [alone[place] for place in order]
    assert extract(make_responses(said[order[0]])).row(0) == together[0]


@pytest.mark.parametrize("unit", REPEATED)
def test_long_responses_take_little_time(unit: str) -> None:
    """A quadratic expression took ten seconds for a tenth of this text (M-12)."""
    said = unit * (200_000 // len(unit))
    start = time.process_time()

    read(said)
    read(said, choices=[], answer="12")

    assert time.process_time() - start < 1


def test_the_version_is_a_name_for_scores() -> None:
    assert EXTRACTOR_VERSION.startswith("skillmap-")
    assert EXTRACTOR_VERSION != "source"
