"""Worlds with planted abilities, skills, difficulties and duplicates."""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
import polars as pl
from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers, Membership
from skillmap.metrics.intervals import Floats


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """What a world is like.

    Attributes:
        abilities: Accuracy of each model where no skill matters, each in (0, 1).
        slice_sizes: Items of each slice.
        effects: Added to a model's accuracy on the items of a slice, by (slice,
            model), as places.
        n_other_items: Items in no slice.
        cluster_size: Items that are the same question; 1 for no duplicates.
        likeness: Share of the luck that items of a cluster have in common, in
            [0, 1]; at 1 each model answers all of them alike.
        shared_difficulty: Share of the luck that models have in common, in [0, 1).
        overlap: Share of each slice's items that are drawn anew from all slices'
            items, so that they are in several, in [0, 1).
        n_benchmarks: Benchmarks that the items are dealt to, in turn.
    """

    abilities: tuple[float, ...]
    slice_sizes: tuple[int, ...]
    effects: dict[tuple[int, int], float] = field(
        default_factory=dict[tuple[int, int], float]
    )
    n_other_items: int = 0
    cluster_size: int = 1
    likeness: float = 1.0
    shared_difficulty: float = 0.4
    overlap: float = 0.0
    n_benchmarks: int = 1

    def __post_init__(self) -> None:
        """Refuse what is out of range.

        Raises:
            InvalidInputError: If an attribute is outside its range.
        """
        shares = (self.likeness, self.shared_difficulty, self.overlap)
        if not all(0 < ability < 1 for ability in self.abilities):
            raise InvalidInputError(
                f"abilities must be between 0 and 1, got {self.abilities}"
            )
        if not all(0 <= share <= 1 for share in shares):
            raise InvalidInputError(
                "likeness, shared_difficulty and overlap must be in [0, 1], got "
                f"{shares}"
            )
        counts = (*self.slice_sizes, self.cluster_size, self.n_benchmarks)
        if min(counts) < 1 or self.n_other_items < 0:
            raise InvalidInputError(
                "slice_sizes, cluster_size and n_benchmarks must be at least 1 and "
                f"n_other_items 0, got {counts} and {self.n_other_items}"
            )


@dataclass(frozen=True, slots=True)
class World:
    """Results as the analysis takes them, and the truth behind them.

    Attributes:
        item_scores: As for `slice_contrasts`.
        slice_items: Items of the slices.
        slices: The slices.
        clusters: ``item_id`` and ``cluster_id`` of duplicates.
        accuracy: True accuracies, shape ``(n_slices, n_models)``: expected over the
            answers, given the items.
    """

    item_scores: pl.DataFrame
    slice_items: pl.DataFrame
    slices: pl.DataFrame
    clusters: pl.DataFrame
    accuracy: Floats


def simulated_world(plan: WorldPlan, *, seed: int) -> World:
    """One draw of the world.

    A model is right where a normal draw is below the quantile of its accuracy on the
    item, so accuracies are as planned exactly, whatever is shared between models and
    duplicates.

    Args:
        plan: What the world is like.
        seed: Equal seeds give equal worlds.

    Returns:
        Frames and truth. Slices and models are named in the order of the plan.
    """
    random = np.random.default_rng(seed)
    membership = _membership(plan, random)
    chance = _chances(plan, membership)
    luck = _luck(plan, membership.n_items, random)
    scores = (luck < cast("Floats", ndtri(chance))).astype(np.float64)
    sizes = np.bincount(membership.group, minlength=membership.n_groups)
    return _frames(plan, membership, scores, membership.sums(chance) / sizes[:, None])


def planted_scores(
    slice_items: pl.DataFrame,
    weak_slices: list[str],
    *,
    accuracy: float,
    drop: float,
    seed: int,
) -> pl.DataFrame:
    """Results of one model that is weak on some slices, on items that exist.

    Args:
        slice_items: ``slice_id`` and ``item_id``; every item gets a result.
        weak_slices: Slices to plant the weakness in.
        accuracy: Elsewhere, in [0, 1].
        drop: Off the accuracy on an item of any weak slice.
        seed: Equal seeds give equal results.

    Returns:
        As ``mart.item_scores``, of the model "planted", sorted by item.
    """
    is_weak = pl.col("slice_id").is_in(weak_slices).any()
    items = slice_items.group_by("item_id").agg(is_weak=is_weak).sort("item_id")
    chance = np.where(items["is_weak"].to_numpy(), accuracy - drop, accuracy)
    drawn = np.random.default_rng(seed).random(items.height)
    return items.select(
        pl.lit("planted").alias("model_id"),
        "item_id",
        pl.lit("simulated").alias("benchmark_id"),
        pl.Series("score", (drawn < chance).astype(np.float64)),
        pl.lit(value=False).alias("is_drifted"),
    )


def _membership(plan: WorldPlan, random: np.random.Generator) -> Membership:
    """Each slice has its own run of items, some of them exchanged for others'."""
    sizes = np.array(plan.slice_sizes, dtype=np.int64)
    n_in_slices = int(sizes.sum())
    group = np.repeat(np.arange(sizes.size), sizes)
    item = np.arange(n_in_slices)
    is_shared = random.random(n_in_slices) < plan.overlap
    item = np.where(is_shared, random.integers(0, n_in_slices, n_in_slices), item)
    n_items = n_in_slices + plan.n_other_items
    group, item = np.divmod(np.unique(group * n_items + item), n_items)
    return Membership(group, item, sizes.size, n_items)


def _chances(plan: WorldPlan, membership: Membership) -> Floats:
    effects = np.zeros((membership.n_groups, len(plan.abilities)))
    for (slice_index, model), effect in sorted(plan.effects.items()):
        effects[slice_index, model] = effect
    of_item = Membership(
        membership.item, membership.group, membership.n_items, membership.n_groups
    )
    return np.clip(np.array(plan.abilities) + of_item.sums(effects), 0.0, 1.0)


def _luck(plan: WorldPlan, n_items: int, random: np.random.Generator) -> Floats:
    """Standard normal, shared between models, and between items of a cluster."""
    n_clusters = -(-n_items // plan.cluster_size)
    cluster = np.arange(n_items) // plan.cluster_size
    n_models = len(plan.abilities)

    def drawn(n_columns: int) -> Floats:
        of_cluster = random.standard_normal((n_clusters, n_columns))[cluster]
        own = random.standard_normal((n_items, n_columns))
        like = plan.likeness if plan.cluster_size > 1 else 0.0
        return np.sqrt(like) * of_cluster + np.sqrt(1 - like) * own

    shared = plan.shared_difficulty
    return np.sqrt(shared) * drawn(1) + np.sqrt(1 - shared) * drawn(n_models)


def _frames(
    plan: WorldPlan, membership: Membership, scores: Floats, accuracy: Floats
) -> World:
    n_items, n_models = membership.n_items, len(plan.abilities)
    benchmark = (
        np.arange(n_items, dtype=np.int64) // plan.cluster_size % plan.n_benchmarks
    )
    item_ids = _named("b", benchmark) + ":" + _named("i", np.arange(n_items))
    models, names = (
        _named("m", np.arange(n_models)),
        _named("s", np.arange(len(accuracy))),
    )
    item_scores = pl.DataFrame(
        {
            "model_id": models.gather(np.tile(np.arange(n_models), n_items)),
            "item_id": item_ids.gather(np.repeat(np.arange(n_items), n_models)),
            "benchmark_id": _named("b", np.repeat(benchmark, n_models)),
            "score": scores.ravel(),
        }
    ).with_columns(is_drifted=pl.lit(value=False))
    return World(
        item_scores=item_scores,
        slice_items=pl.DataFrame(
            {
                "slice_id": names.gather(membership.group),
                "item_id": item_ids.gather(membership.item),
            }
        ),
        slices=pl.DataFrame({"slice_id": names, "slice_name": names}),
        clusters=pl.DataFrame(
            {
                "item_id": item_ids,
                "cluster_id": _named("c", np.arange(n_items) // plan.cluster_size),
            }
        ),
        accuracy=accuracy,
    )


def _named(letter: str, numbers: Integers) -> pl.Series:
    """Names that sort as their numbers do."""
    digits = pl.Series(numbers).cast(pl.String).str.zfill(6)
    return pl.Series([letter]).new_from_index(0, numbers.size) + digits
