"""Effects of labels and text on each model's advantage, pooled by how far they agree.

A mixed model: every label and every direction of the text has an effect on a model's
advantage, drawn from a normal distribution whose spread is learned for each kind of
evidence. Little evidence leaves an effect near 0, much lets it be what the data say,
and a kind of label that says nothing is turned off as a whole.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import RoutingItems
from skillmap.routing.membership import Integers, dense, rows_of
from skillmap.routing.relative import RelativeScores, relative_scores

_N_ROUNDS: Final = 12
# Penalty at the start, and for a model without results: items' variance over effects'
# variance, about that of effects of 3 points on scores of 0 and 1.
_START: Final = 150.0
_PENALTY_RANGE: Final = (5.0, 1e5)
# One spread for all of a kind takes every item for equally noisy, which makes it too
# bold; the error of leaving out each item says by how much.
_CAUTION: Final = (1.0, 2.0, 4.0)
_ROWS_AT_ONCE: Final = 4_096
# With fewer, the variance of a score is taken for that of a fair coin.
_FEW_ROWS: Final = 10
_COIN_VARIANCE: Final = 0.25
# The kind of evidence that the vectors are.
TEXT: Final = "text"


@dataclass(frozen=True, eq=False)
class Design:
    """Evidence as columns.

    Attributes:
        kinds: Of the evidence: labels, ``text`` for the vectors, and blocks.
        names: Of each column.
        kind_of: Place in ``kinds`` of each column, shape ``(n_columns,)``.
    """

    kinds: tuple[str, ...]
    names: tuple[str, ...]
    kind_of: Integers

    def rows(self, items: RoutingItems, rows: Integers) -> Floats:
        """Values of the columns, shape ``(n_rows, n_columns)``."""
        parts = [_values(items, kind, rows) for kind in self.kinds]
        return np.hstack([np.zeros((len(rows), 0)), *parts])


@dataclass(frozen=True, eq=False)
class PooledFit:
    """What `fit_pooled` learned.

    Attributes:
        design: Columns of the evidence.
        centres: Mean of the columns over the items learned from, by model: shape
            ``(n_columns, n_models)``.
        relative: The scores learned from, split.
        effects: Of each column on each model's advantage, ``(n_columns, n_models)``.
        penalties: By kind: large where a kind of evidence says little.
        covariances: Of the effects, one a distinct set of items scored.
        covariance_of: Which of them is a model's, shape ``(n_models,)``.
        noise: Variance of a model's score about its expectation, by model.
    """

    design: Design
    centres: Floats
    relative: RelativeScores
    effects: Floats
    penalties: Floats
    covariances: tuple[Floats, ...]
    covariance_of: Integers
    noise: Floats

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """Advantage of each model on each item, shape ``(n_rows, n_models)``."""
        base = self.relative.advantages - (self.centres * self.effects).sum(axis=0)
        parts = [
            self.design.rows(items, some) @ self.effects + base for some in blocks(rows)
        ]
        return np.concatenate([np.zeros((0, self.effects.shape[1])), *parts])

    def standard_errors(self, items: RoutingItems, rows: Integers) -> Floats:
        """Posterior standard deviation of each advantage, of the same shape."""
        errors = np.empty((len(rows), len(self.noise)))
        values = self.design.rows(items, rows)
        for place, covariance in enumerate(self.covariances):
            own = self.covariance_of == place
            away = values - self.centres[:, own][:, 0]
            spread = ((away @ covariance) * away).sum(axis=1, keepdims=True)
            errors[:, own] = spread * self.noise[own]
        return np.sqrt(errors + self.relative.advantage_errors**2)


def fit_pooled(
    items: RoutingItems, rows: Integers, *, kinds: tuple[str, ...]
) -> PooledFit:
    """Effects of the evidence on each model's advantage, in the rows given.

    Args:
        items: With the labels and blocks of ``kinds`` and, if ``text`` is one, with
            vectors.
        rows: To learn from.
        kinds: Of evidence, any number.

    Returns:
        The fit. A model without a comparable result has no effects, and the prior's
        uncertainty about them.

    Source:
        MacKay (1992), Bayesian Interpolation, Neural Computation 4, 415-447, for the
        spreads by their effective number of parameters; one a kind is ours, and the
        factor chosen by leave-one-out error.
    """
    design = _design(items, kinds)
    relative = relative_scores(items.scores[rows])
    masks, covariance_of = np.unique(relative.is_observed, axis=1, return_inverse=True)
    covariance_of = covariance_of.astype(np.int64)
    own_residuals = [
        relative.residuals[mask][:, covariance_of == place]
        for place, mask in enumerate(masks.T)
    ]
    groups = [
        _sums(design, items, rows[mask], residuals)
        for mask, residuals in zip(masks.T, own_residuals, strict=True)
    ]
    # The spread of a kind is shared: a few results could not tell what it is.
    largest = max(groups, key=lambda sums: sums.residuals.size)
    penalties = _learned_penalties(largest, design)
    penalties *= _caution(largest, penalties, design, items)
    n_columns, n_models = len(design.names), len(items.model_ids)
    effects, centres = np.zeros((2, n_columns, n_models))
    noise = np.zeros(n_models)
    covariances: list[Floats] = []
    for place, sums in enumerate(groups):
        own = covariance_of == place
        inverse = _inverse(sums.gram, penalties[design.kind_of])
        effects[:, own] = inverse @ sums.products
        centres[:, own] = sums.centre[:, np.newaxis]
        noise[own] = _noise(sums, inverse, penalties[design.kind_of])
        covariances.append(inverse)
    return PooledFit(
        design,
        centres,
        relative,
        effects,
        penalties,
        tuple(covariances),
        covariance_of,
        noise,
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the effects of some models hang on, and the rows it is from."""

    rows: Integers
    residuals: Floats
    centre: Floats
    gram: Floats
    products: Floats
    n_free: float


def _sums(
    design: Design, items: RoutingItems, rows: Integers, residuals: Floats
) -> _Sums:
    centre = _mean(design, items, rows)
    gram = np.zeros((len(design.names), len(design.names)))
    products = np.zeros((len(design.names), residuals.shape[1]))
    start = 0
    for some in blocks(rows):
        away = design.rows(items, some) - centre
        gram += away.T @ away
        products += away.T @ residuals[start : start + len(some)]
        start += len(some)
    # Residuals of an item sum to 0 over the models, so one of them says nothing new.
    n_models = len(items.model_ids)
    n_free = residuals.shape[1] * (n_models - 1) / n_models
    return _Sums(rows, residuals, centre, gram, products, n_free)


def _learned_penalties(sums: _Sums, design: Design) -> Floats:
    penalties = np.full(len(design.kinds), _START)
    n_kinds = len(penalties)
    sizes = np.bincount(design.kind_of, minlength=n_kinds)
    for _ in range(_N_ROUNDS if len(sums.rows) else 0):
        by_column = penalties[design.kind_of]
        inverse = _inverse(sums.gram, by_column)
        effects = inverse @ sums.products
        left = np.bincount(design.kind_of, np.diag(inverse), minlength=n_kinds)
        n_effective = np.maximum(sizes - penalties * left, 1e-9)
        power = np.bincount(
            design.kind_of, np.square(effects).sum(axis=1), minlength=n_kinds
        )
        noise = _noise(sums, inverse, by_column)
        learned = sums.n_free * n_effective * noise / np.maximum(power, 1e-12)
        penalties = np.clip(learned, *_PENALTY_RANGE)
    return penalties


def _caution(
    sums: _Sums, penalties: Floats, design: Design, items: RoutingItems
) -> float:
    """The factor on the penalties with the least error on items left out."""
    if not len(sums.rows):
        return 1.0
    # In this basis the fit of every factor is a division: one pass serves for all.
    scale = 1 / np.sqrt(penalties[design.kind_of])
    values, vectors = np.linalg.eigh(scale[:, np.newaxis] * sums.gram * scale)
    basis = scale[:, np.newaxis] * vectors
    turned = basis.T @ sums.products
    shares = [1 / (np.maximum(values, 0.0) + factor) for factor in _CAUTION]
    errors = np.zeros(len(_CAUTION))
    start = 0
    for some in blocks(sums.rows):
        away = (design.rows(items, some) - sums.centre) @ basis
        squares = np.square(away)
        residuals = sums.residuals[start : start + len(some)]
        for place, share in enumerate(shares):
            missed = residuals - away @ (share[:, np.newaxis] * turned)
            left_out = missed / (1 - squares @ share)[:, np.newaxis]
            errors[place] += np.square(left_out).sum()
        start += len(some)
    return _CAUTION[int(errors.argmin())]


def _noise(sums: _Sums, inverse: Floats, penalties: Floats) -> float:
    n_rows = len(sums.rows)
    if n_rows < _FEW_ROWS:
        return _COIN_VARIANCE
    effects = inverse @ sums.products
    explained = 2 * float((effects * sums.products).sum())
    explained -= float((effects * (sums.gram @ effects)).sum())
    n_effective = len(penalties) - float((penalties * np.diag(inverse)).sum())
    n_free = sums.n_free * max(n_rows - n_effective, 1.0)
    # A variance of 0 from a few items would claim to know everything.
    return max((float(np.square(sums.residuals).sum()) - explained) / n_free, 1e-3)


def _inverse(gram: Floats, penalties: Floats) -> Floats:
    return np.linalg.inv(gram + np.diag(penalties)).astype(np.float64, copy=False)


def _design(items: RoutingItems, kinds: tuple[str, ...]) -> Design:
    names: list[tuple[str, ...]] = []
    for kind in kinds:
        if kind == TEXT:
            width = 0 if items.vectors is None else items.vectors.shape[1]
            names.append(("",) * width)
        elif kind in items.blocks:
            names.append(items.blocks[kind].names)
        else:
            names.append(items.labels[kind].names)
    return Design(
        kinds,
        tuple(name for some in names for name in some),
        np.repeat(np.arange(len(kinds)), [len(some) for some in names]),
    )


def _values(items: RoutingItems, kind: str, rows: Integers) -> Floats:
    if kind == TEXT and items.vectors is not None:
        return items.vectors[rows]
    if kind in items.blocks:
        return items.blocks[kind].values[rows]
    return dense(rows_of(items.labels[kind].membership, rows))


def _mean(design: Design, items: RoutingItems, rows: Integers) -> Floats:
    total = np.zeros(len(design.names))
    for some in blocks(rows):
        total += design.rows(items, some).sum(axis=0)
    return total / max(len(rows), 1)


def blocks(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows in pieces whose columns fit into memory."""
    return [
        rows[start : start + _ROWS_AT_ONCE]
        for start in range(0, len(rows), _ROWS_AT_ONCE)
    ]
