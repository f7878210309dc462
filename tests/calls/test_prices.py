from pathlib import Path

import pytest

from skillmap.calls import Budget, Price, Prices
from skillmap.errors import InvalidInputError


def test_prices_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("small: {prompt: 0.5, completion: 2}\n")

    prices = Prices.read(file)

    assert prices == Prices({"small": Price(prompt=0.5, completion=2)})
    # 1,000 tokens at 0.5 and 500 at 2 USD a million.
    assert prices.cost("small", 1_000, 500) == pytest.approx(0.0015)
    assert prices.cost("small", None, 500) is None


@pytest.mark.parametrize(
    "text",
    [
        "small: {prompt: 0.5}",
        "small: {prompt: -1, completion: 2}",
        "small: {prompt: .nan, completion: 2}",
        "small: 3",
        "- small",
        "a: [",
        "",
    ],
)
def test_a_file_of_something_else_is_told(text: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)

    with pytest.raises(InvalidInputError, match=r"prices\.yaml"):
        Prices.read(file)


@pytest.mark.parametrize(
    ("usd", "tokens"), [(-1.0, None), (None, -1), (float("nan"), 0)]
)
def test_a_budget_below_zero_is_none(usd: float | None, tokens: int | None) -> None:
    with pytest.raises(InvalidInputError):
        Budget(usd, tokens)
