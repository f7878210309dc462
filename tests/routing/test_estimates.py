import numpy as np
import polars as pl
import pytest

from skillmap.routing.estimates import accuracy_columns, gain_columns, group_codes


def test_an_interval_of_singletons_is_the_plain_one() -> None:
    values = np.random.default_rng(0).uniform(size=(5_000, 2))

    found = gain_columns("gain", values, np.arange(5_000), confidence_level=0.95)

    error = values.std(axis=0, ddof=1) / np.sqrt(5_000)
    assert found["gain"] == pytest.approx(values.mean(axis=0))
    half = found["gain_high"] - found["gain"]
    assert half == pytest.approx(1.960 * error, rel=1e-3)


def test_a_group_is_one_draw() -> None:
    values = np.random.default_rng(0).integers(0, 2, (300, 1)).astype(np.float64)
    doubled = np.repeat(values, 2, axis=0)
    names = pl.Series([f"g{place // 2:03}" for place in range(600)])

    alone = accuracy_columns(values, np.arange(300), confidence_level=0.95)
    both = accuracy_columns(doubled, group_codes(names), confidence_level=0.95)

    for name, value in alone.items():
        assert both[name] == pytest.approx(value, abs=2e-3)


def test_one_group_tells_no_bounds_of_a_gain() -> None:
    found = gain_columns(
        "gain", np.ones((3, 1)), np.zeros(3, int), confidence_level=0.9
    )

    assert found["gain"] == 1
    assert np.isnan(found["gain_low"]).all()
