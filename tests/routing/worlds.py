"""Items with a known truth: which model is better where, and by how much."""

from dataclasses import replace

import numpy as np
import polars as pl

from skillmap.routing.evidence import Labels, RoutingItems
from skillmap.routing.membership import Integers, membership, pairs
from skillmap.routing.responses import ModelResponses


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


def planted_responses(
    n_items: int, *, gap: float = 0.0, seed: int = 0
) -> tuple[RoutingItems, ModelResponses]:
    """Items whose only evidence is the first model's response, and that response.

    Its second word names the label on which a model is ``gap`` better.
    """
    items = planted_items(n_items, gap=gap, seed=seed)
    label = pairs(items.labels["category"].membership)[1]
    random = np.random.default_rng(seed)
    skills = ("algebra", "botany", "criminal", "drama", "economy", "fluid")
    fillers = np.array(["so", "thus", "the", "this", "we", "see", "value", "rule"])
    words = fillers[random.integers(0, len(fillers), (n_items, 6))]
    texts = [
        f"by {skills[code]} {' '.join(some)} {number}"
        for code, some, number in zip(
            label, words, random.integers(1, 99, n_items), strict=True
        )
    ]
    letters = [*"ABCD", None]
    answers = [letters[place] for place in random.integers(0, 5, n_items)]
    read = ModelResponses(pl.Series(texts), pl.Series(answers))
    return replace(items, labels={}, vectors=None, responses={"a": read}), read
