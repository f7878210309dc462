import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skillmap.embedding.phrases import distinct_phrases

any_text = st.text(st.characters(exclude_categories=[]))


@given(st.lists(any_text))
def test_every_phrase_is_found_again_once_and_can_be_encoded(
    phrases: list[str],
) -> None:
    distinct = distinct_phrases(phrases)

    for phrase, position in zip(phrases, distinct.positions, strict=True):
        found = distinct.phrases[position]
        assert len(found) == len(phrase)
        assert all(b in (a, "\ufffd") for a, b in zip(phrase, found, strict=True))
        assert found.encode("utf-8").decode("utf-8") == found
    assert len(set(distinct.phrases)) == len(distinct.phrases)


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    distinct = distinct_phrases(["\ud83d cut", "\ufffd cut"])

    assert distinct.phrases == ["\ufffd cut"]
    assert distinct.positions.tolist() == [0, 0]


def test_no_phrases_give_no_positions() -> None:
    distinct = distinct_phrases([])

    assert distinct.phrases == []
    assert distinct.positions.dtype == np.intp
