"""A policy that reads one model's response before it decides to ask another."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.explanations import explanations
from skillmap.routing.membership import Integers
from skillmap.routing.pooling import TEXT, PooledFit, fit_pooled
from skillmap.routing.relative import relative_scores
from skillmap.routing.relatives import with_relatives
from skillmap.routing.response_columns import ResponseColumns, response_columns

# A model is worth reading if it has a response to this share of the items.
_LEAST_KNOWN: Final = 0.5


@dataclass(frozen=True)
class RationalePolicy:
    """The `SkillPolicy`, after one model has been asked and its response was read.

    What is read are the words, the form and the answer, never whether it is right, and
    never a response of another model. The one asked first is the best single model on
    the items learned from: where nothing speaks against its answer, that is kept.

    Attributes:
        reads: Model to ask first; if not given, the best one learned of those with
            responses to read.
        kinds: Of evidence on the item itself; all that the items have if not given.
        name: In tables.
    """

    reads: str | None = None
    kinds: tuple[str, ...] | None = None
    name: str = "skill_with_rationale"

    def fit(self, items: RoutingItems, rows: Integers) -> "RationaleFit":
        """Effects of the evidence, the response's included, on each advantage.

        Raises:
            InvalidInputError: If the model to read has no responses, or is none of
                the candidates.
        """
        if self.reads is not None and self.reads not in items.responses:
            raise InvalidInputError(
                f"reads: no responses of {self.reads!r}, only of "
                f"{sorted(items.responses)}"
            )
        reads = self.reads or _best_known(items, rows)
        columns = (
            response_columns(reads, items.responses[reads], rows) if reads else None
        )
        seen = columns.applied(items) if columns else items
        text = () if items.vectors is None else (TEXT,)
        own = (*items.labels, *text) if self.kinds is None else self.kinds
        fit = fit_pooled(seen, rows, kinds=(*own, *seen.blocks))
        return RationaleFit(with_relatives(fit, seen, rows), rows, columns, items, seen)


def _best_known(items: RoutingItems, rows: Integers) -> str | None:
    advantages = relative_scores(items.scores[rows]).advantages
    for place in np.argsort(-advantages, kind="stable").tolist():
        model = items.model_ids[int(place)]
        if model in items.responses:
            known = items.responses[model].is_known[rows]
            if known.size and known.mean() >= _LEAST_KNOWN:
                return model
    return None


@dataclass(frozen=True, eq=False)
class RationaleFit:
    """Pooled effects, and how a response is read.

    Attributes:
        pooled: Effects of the evidence.
        rows: Learned from.
        columns: How the response is read; None where there was none to learn from.
        items: Learned from.
        seen: The same with what their responses say.
    """

    pooled: PooledFit
    rows: Integers
    columns: ResponseColumns | None
    items: RoutingItems
    seen: RoutingItems

    @property
    def reads(self) -> str | None:
        """Whose response is read."""
        return self.columns.model_id if self.columns else None

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """Advantage of each model; without a response, by what else is known."""
        return self.pooled.expected_scores(self._read(items), rows)

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
            self.pooled,
            self._read(items),
            self.rows,
            rows,
            confidence_level=confidence_level,
            columns=self.columns,
        )

    def _read(self, items: RoutingItems) -> RoutingItems:
        if self.columns is None or items is self.items:
            return self.seen if items is self.items else items
        return self.columns.applied(items)
