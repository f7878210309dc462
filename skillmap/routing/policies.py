"""Policies to compare: each learns from some items which model to ask on others."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import Labels, RoutingItems
from skillmap.routing.membership import Integers, products, rows_of, transposed
from skillmap.routing.published import Weighting, slice_mean_scores, slice_sums
from skillmap.routing.relative import relative_scores

# Test items compared at once with all the items learned from.
_ROWS_AT_ONCE: Final = 1_024


class FittedPolicy(Protocol):
    """What a policy learned."""

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """Shape ``(n_rows, n_models)``; only differences in a row have a meaning."""
        ...


class RoutingPolicy(Protocol):
    """A way to choose a model for an item, before the item is answered."""

    @property
    def name(self) -> str:
        """Name of the policy in tables."""
        ...

    def fit(self, items: RoutingItems, rows: Integers) -> FittedPolicy:
        """Learn from these rows of ``items`` and from no others."""
        ...


@dataclass(frozen=True, eq=False)
class ConstantFit:
    """The same expectation for every item."""

    values: Floats

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """The values, once a row."""
        del items
        return np.tile(self.values, (len(rows), 1))


@dataclass(frozen=True)
class SingleModelPolicy:
    """Always the same model."""

    model_id: str

    @property
    def name(self) -> str:
        """``model:<model_id>``."""
        return f"model:{self.model_id}"

    def fit(self, items: RoutingItems, rows: Integers) -> ConstantFit:
        """Nothing to learn."""
        del rows
        return ConstantFit(np.array(items.model_ids) == self.model_id)


@dataclass(frozen=True)
class BestSinglePolicy:
    """Always the model that was best on the items learned from."""

    name: str = "best_single"

    def fit(self, items: RoutingItems, rows: Integers) -> ConstantFit:
        """Each model's advantage over the others on the same items."""
        return ConstantFit(relative_scores(items.scores[rows]).advantages)


@dataclass(frozen=True, eq=False)
class LabelFit:
    """Each model's advantage on items of each label, the mean over an item's labels."""

    kind: str
    by_label: Floats
    overall: Floats

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """The overall advantage, for an item without a label."""
        member = rows_of(_labels(items, self.kind).membership, rows)
        n_labels = products(member, np.ones((self.by_label.shape[0], 1)))
        known = products(member, self.by_label) / np.maximum(n_labels, 1)
        return np.where(n_labels > 0, known, self.overall)


@dataclass(frozen=True)
class LabelPolicy:
    """The model that was best on items with the same label: no pooling at all."""

    kind: str = "category"

    @property
    def name(self) -> str:
        """The kind of label."""
        return self.kind

    def fit(self, items: RoutingItems, rows: Integers) -> LabelFit:
        """Mean advantage by label; overall where a model has no result there."""
        relative = relative_scores(items.scores[rows])
        member = transposed(rows_of(_labels(items, self.kind).membership, rows))
        n_items = products(member, relative.is_observed.astype(np.float64))
        sums = products(member, relative.residuals)
        by_label = relative.advantages + sums / np.maximum(n_items, 1)
        return LabelFit(self.kind, by_label, relative.advantages)


@dataclass(frozen=True, eq=False)
class NeighbourFit:
    """Advantages on the questions nearest in meaning."""

    vectors: Floats
    residuals: Floats
    is_observed: Floats
    advantages: Floats
    n_neighbours: int

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """Mean over the nearest; all of those that tie for the last place count."""
        expected = np.tile(self.advantages, (len(rows), 1))
        k = min(self.n_neighbours, len(self.vectors))
        for start in range(0, len(rows) if k else 0, _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            near = nearest(_vectors(items)[rows[some]], self.vectors, k)
            n_scored = np.maximum(near @ self.is_observed, 1)
            expected[some] += near @ self.residuals / n_scored
        return expected


@dataclass(frozen=True)
class NeighbourPolicy:
    """The model that was best on the nearest questions, by their text's vectors."""

    n_neighbours: int = 100
    name: str = "knn"

    def fit(self, items: RoutingItems, rows: Integers) -> NeighbourFit:
        """Remember the questions and each model's advantage on them."""
        relative = relative_scores(items.scores[rows])
        return NeighbourFit(
            _vectors(items)[rows],
            relative.residuals,
            relative.is_observed.astype(np.float64),
            relative.advantages,
            self.n_neighbours,
        )


@dataclass(frozen=True, eq=False)
class PublishedFit:
    """Accuracies on slices as learned, for items that were not among them."""

    kind: str
    expected_of: "_SliceMeans"
    fallback: Floats

    def expected_scores(self, items: RoutingItems, rows: Integers) -> Floats:
        """The best single model's order, for an item in no slice that counts."""
        expected = self.expected_of(rows_of(_labels(items, self.kind).membership, rows))
        return np.where(np.isnan(expected), self.fallback, expected)


@dataclass(frozen=True)
class PublishedPolicy:
    """The paper's rule, learned from some items and used on others.

    The released code leaves out the one item it routes and learns from its
    duplicates; learned from other folds there is nothing to leave out. Its fixed
    default model, chosen by hindsight, is here the best single one learned.
    """

    weighting: Weighting = Weighting.INVERSE_SIZE
    minimum_items: int = 100
    kind: str = "skill"

    @property
    def name(self) -> str:
        """``paper``, or ``paper_uniform`` if all slices weigh the same."""
        is_published = self.weighting is Weighting.INVERSE_SIZE
        return "paper" if is_published else f"paper_{self.weighting}"

    def fit(self, items: RoutingItems, rows: Integers) -> PublishedFit:
        """Sums by slice over those of the rows on which all models have a score."""
        complete = rows[items.is_common[rows]]
        sums = slice_sums(
            rows_of(_labels(items, self.kind).membership, complete),
            items.scores[complete],
            weighting=self.weighting,
            minimum_items=self.minimum_items,
        )
        return PublishedFit(
            self.kind,
            lambda membership: slice_mean_scores(membership, sums),
            relative_scores(items.scores[rows]).advantages,
        )


class _SliceMeans(Protocol):
    def __call__(self, membership: csr_array) -> Floats: ...


def nearest(vectors: Floats, others: Floats, k: int) -> Floats:
    """Ones where a row of ``others`` is among the ``k`` nearest, ties included."""
    # Rounded, or the last bit of a product would decide between equal texts.
    similarity = np.round(vectors @ others.T, 9)
    last = np.partition(similarity, len(others) - k, axis=1)[:, [len(others) - k]]
    return (similarity >= last).astype(np.float64)


def _labels(items: RoutingItems, kind: str) -> Labels:
    if kind not in items.labels:
        raise InvalidInputError(
            f"items: have no labels of the kind {kind!r}, only {sorted(items.labels)}"
        )
    return items.labels[kind]


def _vectors(items: RoutingItems) -> Floats:
    if items.vectors is None:
        raise InvalidInputError(
            "items: have no text vectors. Embed the questions in the order of item_ids"
        )
    return items.vectors
