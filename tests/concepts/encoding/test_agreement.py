import polars as pl
import pytest

from skillmap.concepts.encoding.agreement import agreement
from skillmap.errors import InvalidInputError


def cells(*rows: tuple[str, int, float]) -> pl.DataFrame:
    columns = ["item_id", "latent_index", "mean_activation"]
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        benchmark_id=pl.lit("toy"), encoder_id=pl.lit("toy-1")
    )


RECORDED = cells(("a", 0, 2.0), ("a", 3, 1.0), ("b", 0, 1.0))


def test_the_same_cells_agree_whatever_the_encoder_is_called() -> None:
    fresh = RECORDED.with_columns(encoder_id=pl.lit("toy-2"))

    told = agreement(RECORDED, fresh)

    assert told.agrees
    assert told.support == 1
    assert told.mass_difference == 0
    assert str(told).startswith("activations agree: 3 of 3 recorded")


def test_differences_are_shares_of_the_recorded_mass() -> None:
    fresh = cells(("a", 0, 2.5), ("b", 0, 1.0), ("b", 7, 0.25))

    told = agreement(RECORDED, fresh)

    # 0.5 of a cell in both, 1 that is gone and 0.25 that is new, of 4.
    assert told.mass_difference == pytest.approx(1.75 / 4)
    assert told.largest_difference == pytest.approx(0.25)
    assert told.n_common == 2
    assert told.support == pytest.approx(2 / 4)
    assert not told.agrees


def test_a_last_latent_may_be_another_one_by_a_hair() -> None:
    fresh = cells(("a", 0, 2.0), ("a", 3, 1.0), ("b", 0, 1.0), ("b", 5, 1e-4))

    assert agreement(RECORDED, fresh).agrees


def test_none_and_doubled_cells_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="there are none"):
        agreement(RECORDED.clear(), RECORDED)
    with pytest.raises(
        InvalidInputError, match="fresh activations: a cell stands twice"
    ):
        agreement(RECORDED, pl.concat([RECORDED, RECORDED]))
