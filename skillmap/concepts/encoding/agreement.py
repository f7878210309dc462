"""Compares activations made now with those that were recorded."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from skillmap.errors import InvalidInputError

_KEY: Final = ("benchmark_id", "item_id", "latent_index")


@dataclass(frozen=True)
class Agreement:
    """How far two sets of active cells agree.

    Attributes:
        n_recorded: Cells that were recorded.
        n_fresh: Cells that were made now.
        n_common: Cells in both.
        largest_difference: Largest relative difference of a mean activation among the
            cells in both.
        mass_difference: Sum of the absolute differences of mean activations, with a
            cell that is in one only counted in full, over the recorded sum.
        tolerance: Of both, for cells to agree.
    """

    n_recorded: int
    n_fresh: int
    n_common: int
    largest_difference: float
    mass_difference: float
    tolerance: float

    @property
    def support(self) -> float:
        """Cells in both over cells in either, 1 where there are none at all."""
        n_either = self.n_recorded + self.n_fresh - self.n_common
        return self.n_common / n_either if n_either else 1.0

    @property
    def agrees(self) -> bool:
        """Whether the two differ by rounding only.

        Cells may be in one alone: a latent that is the last of the k largest by a
        hair in one is the first of the others in the other. Their mass counts.
        """
        return self.mass_difference <= self.tolerance

    def __str__(self) -> str:
        """One line for a log."""
        word = "agree" if self.agrees else "differ"
        return (
            f"activations {word}: {self.n_common:,} of {self.n_recorded:,} recorded "
            f"and {self.n_fresh:,} fresh cells in common, mass differs by "
            f"{self.mass_difference:.1e} (at most {self.tolerance:.0e}), one mean by "
            f"{self.largest_difference:.1e}"
        )


def agreement(
    recorded: pl.DataFrame, fresh: pl.DataFrame, *, tolerance: float = 1e-3
) -> Agreement:
    """Compare the active cells of the same items.

    Args:
        recorded: Active cells, as ``frames.ITEM_CONCEPTS`` has them.
        fresh: Active cells of the same items. The encoder's id may differ: it holds
            the versions of libraries.
        tolerance: Share of the recorded mass that may differ.

    Raises:
        InvalidInputError: If nothing was recorded, or a cell stands twice.
    """
    if recorded.is_empty():
        raise InvalidInputError("recorded activations: there are none")
    for name, cells in (("recorded", recorded), ("fresh", fresh)):
        if cells.select(_KEY).is_duplicated().any():
            raise InvalidInputError(f"{name} activations: a cell stands twice")
    mean = pl.col("mean_activation").cast(pl.Float64)
    both = recorded.select(*_KEY, was=mean).join(
        fresh.select(*_KEY, now=mean), on=_KEY, how="full", coalesce=True
    )
    was, now = pl.col("was"), pl.col("now")
    told = both.select(
        n_common=(was.is_not_null() & now.is_not_null()).sum(),
        largest=((was - now).abs() / was).max(),
        mass=(was.fill_null(0) - now.fill_null(0)).abs().sum() / was.sum(),
    ).row(0, named=True)
    return Agreement(
        n_recorded=recorded.height,
        n_fresh=fresh.height,
        n_common=told["n_common"],
        largest_difference=told["largest"] or 0.0,
        mass_difference=told["mass"],
        tolerance=tolerance,
    )
