from hypothesis import given
from hypothesis import strategies as st

from skillmap.calls.scrubbing import Scrubber

KEY = "sk-abc/def+0123456789"


@given(st.text(), st.text())
def test_a_key_is_found_wherever_it_stands(before: str, after: str) -> None:
    scrub = Scrubber([KEY])
    text = f"{before}{KEY}{after}"

    assert scrub.finds(text)
    assert KEY not in scrub.text(text)
    assert KEY not in scrub.error(text)
    assert len(scrub.error(text)) <= 500


def test_forms_of_a_key_are_found_too() -> None:
    scrub = Scrubber([KEY])

    assert "abc" not in scrub.error("at https://host/?key=sk-abc%2Fdef%2B0123456789")
    assert scrub.error("wrong key sk-abc***789.") == "wrong key [key]"
    assert KEY not in repr(scrub)


def test_a_word_that_stands_for_no_key_is_left() -> None:
    assert Scrubber(["EMPTY"]).text("EMPTY set") == "EMPTY set"
