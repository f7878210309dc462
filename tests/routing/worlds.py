"""Items with a known truth: which model is better where, and by how much."""

import numpy as np
import polars as pl

from skillmap.routing.evidence import Labels, RoutingItems
from skillmap.routing.membership import Integers, membership


def labels_of(codes: Integers, prefix: str = "label") -> Labels:
    """One label an item."""
    n_labels = int(codes.max()) + 1
    rows = np.arange(len(codes))
    return Labels(
        tuple(f"{prefix}:{code}" for code in range(n_labels)),
        membership(rows, codes, (len(codes), n_labels)),
    )


def planted_items(
    n_items: int = 1_500,
    *,
    gap: float = 0.0,
    n_models: int = 3,
    n_labels: int = 6,
    group_size: int = 1,
    seed: int = 0,
) -> RoutingItems:
    """Models are equal, but each is ``gap`` better on its own share of the labels.

    Difficulty is shared by the models; items of a group have the same outcomes.
    """
    random = np.random.default_rng(seed)
    n_groups = n_items // group_size
    label = random.integers(0, n_labels, n_groups)
    difficulty = random.uniform(-0.25, 0.25, (n_groups, 1))
    is_own = label[:, np.newaxis] % n_models == np.arange(n_models)
    chance = 0.6 + difficulty + gap * (is_own - 1 / n_models)
    outcome = (random.uniform(size=(n_groups, n_models)) < chance).astype(np.float64)
    vectors = random.standard_normal((n_labels, 8))[label]
    vectors += 0.5 * random.standard_normal((n_groups, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    group = np.repeat(np.arange(n_groups), group_size)
    return RoutingItems(
        item_ids=pl.Series([f"b:{row:05}" for row in range(len(group))]),
        model_ids=tuple("abcdefgh"[:n_models]),
        scores=outcome[group],
        groups=pl.Series([f"group:{code}" for code in group]),
        labels={"category": labels_of(label[group])},
        vectors=vectors[group],
    )
