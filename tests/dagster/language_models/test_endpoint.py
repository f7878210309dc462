import pytest
from pydantic import ValidationError

from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.endpoint import Endpoint

SECRET = "pass-0123456789"  # noqa: S105  of no one


@pytest.mark.parametrize(
    "address",
    [
        f"https://user:{SECRET}@host/v1",
        f"https://{SECRET}@host/v1",
        f"https://host/v1?key={SECRET}",
        f"https://host/v1#{SECRET}",
        f"file:///{SECRET}",
        SECRET,
        f"https://host:{SECRET}/v1",
        f"http://[{SECRET}/v1",
        "http://",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValidationError) as error:
        Endpoint(base_url=address)

    messages = [told["msg"] for told in error.value.errors()]
    assert SECRET not in " ".join(messages)
    assert SECRET not in str(error.value)


def test_openai_is_asked_with_its_own_key() -> None:
    assert Endpoint().api_key_variable == "OPENAI_API_KEY"
    assert Endpoint(api_key_variable="MINE").api_key_variable == "MINE"
    assert Endpoint(base_url="http://localhost:8000/v1/").api_key_variable is None


def test_the_key_comes_from_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(base_url="http://localhost/v1", api_key_variable="MINE")
    monkeypatch.setenv("MINE", " secret-key \n")

    assert endpoint.key() == "secret-key"
    assert "secret-key" not in repr(endpoint)
    assert Endpoint(base_url="http://localhost/v1").key() == "EMPTY"


@pytest.mark.parametrize("value", [None, "", "  ", "schlüssel", "a\nb"])
def test_a_key_that_is_none_is_told_by_its_variable(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MINE", raising=False)
    if value is not None:
        monkeypatch.setenv("MINE", value)

    with pytest.raises(InvalidInputError, match="MINE"):
        Endpoint(base_url="http://localhost/v1", api_key_variable="MINE").key()
