import time

from hypothesis import given
from hypothesis import strategies as st

from skillmap.annotation.sentences import sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_a_sentence_ends_at_its_mark_or_at_the_line() -> None:
    text = "A car costs $3.50, i.e. little. How much are two?\nred\nblue"

    assert texts(text) == [
        "A car costs $3.50, i.e. little.",
        "How much are two?",
        "red",
        "blue",
    ]


def test_list_numbers_and_markup_are_no_sentences() -> None:
    assert texts("1. Add them.\n\n- **Done**\n---\n2.") == ["1. Add them.", "Done"]


def test_a_name_with_a_full_stop_goes_on() -> None:
    assert texts("Dr. J. Smith left. He said (see Fig. 2) so.") == [
        "Dr. J. Smith left.",
        "He said (see Fig. 2) so.",
    ]


def test_a_quotation_mark_closes_with_its_sentence() -> None:
    assert texts('He said "Stop." Then he left.') == [
        'He said "Stop."',
        "Then he left.",
    ]


@given(st.text(alphabet="ab1 .!?\n*e.g") | st.text())
def test_each_sentence_stands_at_its_place_in_order(text: str) -> None:
    found = sentences(text)

    assert all(text[start:end] == said for said, start, end in found)
    starts = [place for _, *span in found for place in span]
    assert starts == sorted(starts)


def test_the_time_grows_with_the_length_alone() -> None:
    for pattern in (".", "a. ", " ", "\n", "e.g. ", '."'):
        start = time.process_time()
        sentences(pattern * 200_000)
        assert time.process_time() - start < 5
