"""Why a model was chosen for an item, in words and numbers that add up."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.membership import (
    Integers,
    pairs,
    products,
    rows_of,
    transposed,
)
from skillmap.routing.policies import nearest
from skillmap.routing.pooling import TEXT, PooledFit
from skillmap.routing.published import first_best
from skillmap.routing.response_columns import ResponseColumns, strongest_terms

_N_NEIGHBOURS: Final = 20
# Words, or marks of form, that are named of those a response has.
_N_TERMS: Final = 3
_SCHEMA: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(
        ("item_id", "model_id", "against_model_id", "evidence", "name"), pl.String()
    ),
    **dict.fromkeys(("difference", "difference_low", "difference_high"), pl.Float64()),
    "n_items": pl.Int64(),
    "words": pl.String(),
}


def explanations(
    fit: PooledFit,
    items: RoutingItems,
    learned: Integers,
    rows: Integers,
    *,
    confidence_level: float = 0.95,
    columns: ResponseColumns | None = None,
) -> pl.DataFrame:
    """What speaks for the chosen model against the next best, piece by piece.

    Args:
        fit: Learned from the rows ``learned`` of ``items``.
        items: Those learned from and those to explain.
        learned: Rows learned from.
        rows: Rows to explain.
        confidence_level: Of the interval, two-sided, in (0, 1).
        columns: How a response was read, if the fit has evidence of one.

    Returns:
        One row per item and piece of evidence: ``item_id``, ``model_id``,
        ``against_model_id``, ``evidence`` (``overall``, a kind of label, ``text``, a
        kind of what a response says, or ``total``), ``name`` of the label or of what
        counted most in the response, ``difference`` in expected score, of which
        the pieces add up to the total, ``difference_low`` and ``difference_high`` (of
        the total only), ``n_items`` learned from that bear on it, and ``words``.
        Rows are in the order given. No rows if there is but one candidate.

    Raises:
        InvalidInputError: If the level is outside (0, 1).
    """
    if not 0 < confidence_level < 1:
        raise InvalidInputError(
            f"confidence_level must be between 0 and 1, got {confidence_level}"
        )
    if len(items.model_ids) == 1 or not len(rows):
        return pl.DataFrame(schema=_SCHEMA)
    expected = fit.expected_scores(items, rows)
    chosen = first_best(expected)
    rest = expected.copy()
    rest[np.arange(len(rows)), chosen] = -np.inf
    pieces = _Pieces(fit, items, learned, rows, chosen, rest.argmax(axis=1))
    kinds = [kind for kind in fit.design.kinds if kind in items.labels]
    read = [kind for kind in fit.design.kinds if kind in items.blocks]
    found = [
        pieces.overall(),
        *(pieces.labels(kind) for kind in kinds),
        *([pieces.text()] if TEXT in fit.design.kinds else []),
        *(pieces.response(kind, columns) for kind in read if columns),
        pieces.total(expected, confidence_level),
    ]
    return (
        pl.concat(found, how="diagonal")
        .sort("row", maintain_order=True)
        .select(_SCHEMA.keys())
        .cast(dict(_SCHEMA))  # pyright: ignore[reportArgumentType]
    )


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of evidence on some rows, one frame a kind."""

    fit: PooledFit
    items: RoutingItems
    learned: Integers
    rows: Integers
    chosen: Integers
    against: Integers

    def overall(self) -> pl.DataFrame:
        """What is expected of an item with average text and no label."""
        fit = self.fit
        kinds = [kind in self.items.labels for kind in fit.design.kinds]
        is_label = np.array([*kinds, False])[fit.design.kind_of]
        offset = (fit.centres[is_label] * fit.effects[is_label]).sum(axis=0)
        base = fit.relative.advantages - offset
        gap = base[self.chosen] - base[self.against]
        return self._frame(
            np.arange(len(self.rows)),
            gap,
            evidence="overall",
            n_items=len(self.learned),
        ).with_columns(
            words=pl.format(
                "before anything is known of the item: {} (from {} items)",
                _points(),
                "n_items",
            )
        )

    def labels(self, kind: str) -> pl.DataFrame:
        """Every label of the kind that an item has."""
        labels = self.items.labels[kind]
        effects = self.fit.effects[self._own(kind)]
        at, label = pairs(rows_of(labels.membership, self.rows))
        gap = effects[label, self.chosen[at]] - effects[label, self.against[at]]
        sizes = products(
            transposed(rows_of(labels.membership, self.learned)),
            np.ones(len(self.learned)),
        )
        return (
            self._frame(at, gap, evidence=kind)
            .with_columns(
                name=pl.Series(labels.names, dtype=pl.String)[label],
                n_items=pl.Series(sizes[label]).cast(pl.Int64),
            )
            .with_columns(
                words=pl.format(
                    "{} {}: {} (from {} items)",
                    "evidence",
                    "name",
                    _points(),
                    "n_items",
                )
            )
        )

    def text(self) -> pl.DataFrame:
        """What the wording adds, beside the record on the questions most like it."""
        vectors = self.items.vectors
        if vectors is None:
            raise InvalidInputError("items: have no text vectors, but the fit has")
        at = np.arange(len(self.rows))
        gap = self._gap(TEXT, vectors[self.rows])
        k = min(_N_NEIGHBOURS, len(self.learned))
        near = nearest(vectors[self.rows], vectors[self.learned], k)
        record = near @ np.nan_to_num(self.items.scores[self.learned])
        return (
            self._frame(at, gap, evidence=TEXT)
            .with_columns(
                n_items=pl.Series(near.sum(axis=1)).cast(pl.Int64),
                right=pl.Series(record[at, self.chosen].round(1)),
                right_against=pl.Series(record[at, self.against].round(1)),
            )
            .with_columns(
                words=pl.format(
                    "wording: {} (of the {} nearest questions {} got {} right, {} {})",
                    _points(),
                    "n_items",
                    "model_id",
                    "right",
                    "against_model_id",
                    "right_against",
                )
            )
        )

    def response(self, kind: str, columns: ResponseColumns) -> pl.DataFrame:
        """What one side of the response adds, and what in it counts most."""
        read = self.items.responses[columns.model_id]
        effects = self.fit.effects[self._own(kind)]
        told = strongest_terms(
            columns.terms(read, self.rows)[kind],
            effects[:, self.chosen] - effects[:, self.against],
            n_terms=_N_TERMS,
        )
        is_read = read.is_known[self.rows]
        what = f"{kind.removeprefix('response_')} of {columns.model_id}'s response"
        frame = self._frame(
            np.arange(len(self.rows)),
            self._gap(kind, self.items.blocks[kind].values[self.rows]),
            evidence=kind,
            n_items=int(read.is_known[self.learned].sum()),
        )
        return (
            frame.with_columns(name=told, is_read=pl.Series(is_read))
            .filter("is_read")
            .with_columns(
                words=pl.format(
                    "{}: {} (from {} responses; most by {})",
                    pl.lit(what),
                    _points(),
                    "n_items",
                    pl.when(pl.col("name") == "")
                    .then(pl.lit("what it lacks"))
                    .otherwise("name"),
                )
            )
        )

    def total(self, expected: Floats, confidence_level: float) -> pl.DataFrame:
        """The expected difference, with its interval."""
        at = np.arange(len(self.rows))
        gap = expected[at, self.chosen] - expected[at, self.against]
        errors = self.fit.standard_errors(self.items, self.rows)
        spread = np.hypot(errors[at, self.chosen], errors[at, self.against])
        half = float(ndtri(0.5 + confidence_level / 2)) * spread
        return (
            self._frame(at, gap, evidence="total", n_items=len(self.learned))
            .with_columns(
                difference_low=pl.Series(gap - half),
                difference_high=pl.Series(gap + half),
            )
            .with_columns(
                words=pl.format(
                    "{} before {}: {}, between {} and {}",
                    "model_id",
                    "against_model_id",
                    _points(),
                    _points("difference_low", unit=""),
                    _points("difference_high", unit=""),
                )
            )
        )

    def _own(self, kind: str) -> NDArray[np.bool_]:
        """Which columns are of the kind."""
        design = self.fit.design
        return np.asarray(design.kind_of == design.kinds.index(kind))

    def _gap(self, kind: str, values: Floats) -> Floats:
        """What the columns of a kind add beyond their mean, chosen less the other."""
        own = self._own(kind)
        effects = self.fit.effects[own]
        gaps = values @ effects - (self.fit.centres[own] * effects).sum(axis=0)
        at = np.arange(len(self.rows))
        return gaps[at, self.chosen] - gaps[at, self.against]

    def _frame(
        self, at: Integers, gap: Floats, *, evidence: str, n_items: int = 0
    ) -> pl.DataFrame:
        models = pl.Series(self.items.model_ids, dtype=pl.String)
        return pl.DataFrame(
            {
                "row": at,
                "item_id": self.items.item_ids[self.rows[at]],
                "model_id": models[self.chosen[at]],
                "against_model_id": models[self.against[at]],
                "difference": gap,
            }
        ).with_columns(
            evidence=pl.lit(evidence),
            name=pl.lit(""),
            n_items=pl.lit(n_items, dtype=pl.Int64),
        )


def _points(column: str = "difference", *, unit: str = " points") -> pl.Expr:
    # Adding 0 turns a rounded -0.0 into 0.0.
    rounded = (pl.col(column) * 100).round(1) + 0.0
    sign = pl.when(rounded > 0).then(pl.lit("+")).otherwise(pl.lit(""))
    return pl.format("{}{}{}", sign, rounded, pl.lit(unit))
