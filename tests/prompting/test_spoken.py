import pytest

from skillmap.calls import Reply
from skillmap.calls.reply import ReplyStatus
from skillmap.prompting.spoken import refusals_in_words, spoken, status_of


@pytest.mark.parametrize(
    ("text", "said", "is_in_thought"),
    [
        ("B", "B", False),
        ("<think>A?</think>B", "B", False),
        ("A?</think>B", "B", False),
        ("<Thinking>A?</Thinking>B<think>or C", "B", True),
        ("<think>A? the answer is A", "", True),
        (None, "", False),
    ],
)
def test_thought_is_left_aside(
    text: str | None, said: str, *, is_in_thought: bool
) -> None:
    assert spoken(text) == (said, is_in_thought)


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        ("answered", "B", "answered"),
        ("answered", "<think>B", "truncated"),
        ("answered", "<think>B</think> ", "empty"),
        ("answered", None, "empty"),
        ("truncated", None, "truncated"),
        ("truncated", "<think>B", "truncated"),
        ("refused", "No.", "refused"),
        ("error", None, "error"),
    ],
)
def test_a_thought_alone_is_no_answer(
    status: ReplyStatus, text: str | None, expected: str
) -> None:
    """lm-eval #3382, #3244: truncated thinking was graded as an answer."""
    assert status_of(Reply("key", status, text)) == expected


def test_a_refusal_an_empty_text_and_an_answer_are_told_apart() -> None:
    """inspect_ai #5376: the three had one and the same score."""
    assert refusals_in_words(["", "I can't help with that", "5"]) == [
        False,
        True,
        False,
    ]
