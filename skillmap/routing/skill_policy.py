"""skillmap's own policy: partial pooling of all that is known of an item."""

from dataclasses import dataclass

import polars as pl

from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.explanations import explanations
from skillmap.routing.membership import Integers
from skillmap.routing.pooling import TEXT, PooledFit, fit_pooled
from skillmap.routing.relatives import with_relatives


@dataclass(frozen=True)
class SkillPolicy:
    """The model whose expected score is best by category, source, skills and text.

    Attributes:
        kinds: Of evidence to use; all that the items have if not given. ``text`` is
            the vectors.
        name: In tables.
    """

    kinds: tuple[str, ...] | None = None
    name: str = "skill"

    def fit(self, items: RoutingItems, rows: Integers) -> "SkillFit":
        """Effects of each kind of evidence on each model's advantage."""
        text = () if items.vectors is None else (TEXT,)
        kinds = (*items.labels, *text) if self.kinds is None else self.kinds
        fit = fit_pooled(items, rows, kinds=kinds)
        return SkillFit(with_relatives(fit, items, rows), rows)


@dataclass(frozen=True, eq=False)
class SkillFit:
    """Pooled effects, and the rows they were learned from."""

    pooled: PooledFit
    rows: Integers

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """Advantage of each model over the mean of the candidates."""
        return self.pooled.expected_scores(items, rows)

    def explanations(
        self, items: RoutingItems, rows: Integers, *, confidence_level: float = 0.95
    ) -> pl.DataFrame:
        """What speaks for the chosen model against the next best, piece by piece.

        Args:
            items: Those learned from and those to explain.
            rows: To explain.
            confidence_level: Of the interval, two-sided, in (0, 1).

        Returns:
            One row per item and piece of evidence: see `explanations`.
        """
        return explanations(
            self.pooled, items, self.rows, rows, confidence_level=confidence_level
        )
