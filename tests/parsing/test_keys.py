"""Names that become partition keys."""

import pytest

from skillmap.errors import InvalidInputError
from skillmap.parsing.keys import validate_key


@pytest.mark.parametrize("name", ["gpt-4", "org/model v1.5", "模型", "x" * 200])
def test_an_ordinary_name_is_returned(name: str) -> None:
    assert validate_key(name) == name


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", "must not be empty"),
        ("  ", "must not be empty"),
        (" a", "must not begin or end with white space"),
        ("a|b", "must not contain '|'"),
        ("a\nb", "must not contain control characters, got 'a\\\\nb'"),
        ("a\ud835", "must not contain control characters"),
        ("x" * 201, "must have at most 200 characters, this has 201, got 'xxxx"),
    ],
)
def test_a_name_that_cannot_be_a_key_says_why(name: str, rule: str) -> None:
    with pytest.raises(InvalidInputError, match=rule.replace("|", r"\|")):
        validate_key(name)
