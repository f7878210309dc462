import polars as pl

from skillmap.comparisons.halves import confirmation_half


def by_letters(name: str, seed: int) -> int:
    """The hash in whole numbers, one letter after the other."""
    hashed = 0xCBF29CE484222325
    for letter in name:
        hashed = (hashed ^ ord(letter)) * 0x100000001B3 % 2**64
    hashed = (hashed + 2 * seed + 1) % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashed = (hashed ^ hashed >> shift) * factor % 2**64
    return hashed >> 63


def test_agrees_with_the_hash_in_whole_numbers() -> None:
    names = ["", "a", "near:mmlu:12", "Größe", "question 🙂", "a" * 70]

    for seed in (0, 1, 2**70 + 5):
        found = confirmation_half(pl.Series(names), seed=seed)

        assert found.tolist() == [by_letters(name, seed) for name in names]


def test_the_half_does_not_depend_on_the_company() -> None:
    names = [f"quiz:{i}" for i in range(200)]

    together = confirmation_half(pl.Series(names), seed=3)
    with_longer = confirmation_half(pl.Series([*names, "x" * 300]), seed=3)

    assert together.tolist() == with_longer[:-1].tolist()
    assert 60 < together.sum() < 140


def test_nothing_has_no_halves() -> None:
    assert confirmation_half(pl.Series([], dtype=pl.String), seed=0).size == 0
