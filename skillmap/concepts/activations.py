"""Item by latent activations of one encoder on one benchmark, as sparse arrays.

Held by latent, with the items of each in order, and items ordered by cluster: so the
items of one cluster stand beside each other in every latent, and sums over clusters
are sums of runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import (  # pyright: ignore[reportMissingTypeStubs]
    csc_array,
    csr_array,
)

from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

Pooling = Literal["mean", "max"]
Ints = NDArray[np.int32]

# The status of an item whose activations are known, if only that there are none.
ENCODED = "encoded"
_KEYS = ("encoder_id", "benchmark_id")


@dataclass(frozen=True)
class Activations:
    """Active cells of one encoder on the encoded items of one benchmark.

    Attributes:
        encoder_id: The encoder.
        benchmark_id: The benchmark.
        items: Ids of the encoded items, active or not, ordered by cluster and id.
        clusters: Cluster of each item, codes from 0 that never fall.
        cluster_ids: Names of the clusters, sorted.
        n_tokens: Kept tokens of each item.
        starts: Where the cells of each latent start, shape ``(n_latents + 1,)``.
        item: Item of each cell, rising within each latent.
        mean: Mean activation over the item's kept tokens, above 0.
        maximum: Largest activation over the item's tokens.
        n_active_tokens: Kept tokens on which the latent is active.
        position_of_max: Position of the largest activation among the kept tokens.
    """

    encoder_id: str
    benchmark_id: str
    items: pl.Series
    clusters: Integers
    cluster_ids: pl.Series
    n_tokens: Integers
    starts: Ints
    item: Ints
    mean: Floats
    maximum: Floats
    n_active_tokens: Ints
    position_of_max: Ints

    @property
    def n_items(self) -> int:
        """Encoded items."""
        return self.items.len()

    @property
    def n_latents(self) -> int:
        """Latents of the encoder, active or not."""
        return self.starts.size - 1

    @property
    def n_clusters(self) -> int:
        """Clusters of encoded items."""
        return self.cluster_ids.len()

    @cached_property
    def n_active_items(self) -> Integers:
        """Items on which each latent is active, shape ``(n_latents,)``."""
        return np.diff(self.starts).astype(np.int64)

    @cached_property
    def latent(self) -> Ints:
        """Latent of each cell."""
        return np.repeat(np.arange(self.n_latents, dtype=np.int32), self.n_active_items)

    def weights(self, pooling: Pooling = "mean") -> Floats:
        """Saliency of each cell: its mean or its largest activation."""
        return self.mean if pooling == "mean" else self.maximum

    def matrix(self, values: Floats) -> csr_array:
        """One value a cell as a sparse array, shape ``(n_latents, n_items)``."""
        shape = (self.n_latents, self.n_items)
        return csr_array((values, self.item, self.starts), shape=shape)

    def sums(self, columns: Floats, *, values: Floats | None = None) -> Floats:
        """Saliency-weighted sums over the items, by latent.

        Args:
            columns: One value an item, shape ``(n_items, n_columns)``.
            values: Of the cells, instead of their mean activation.

        Returns:
            Shape ``(n_latents, n_columns)``; 0 for a latent that is never active.
        """
        matrix = self.matrix(self.mean if values is None else values)
        return cast("Floats", matrix @ columns)

    def totals(self, values: Floats) -> Floats:
        """Sum of one value a cell, by latent."""
        totals = np.bincount(self.latent, weights=values, minlength=self.n_latents)
        return totals.astype(np.float64, copy=False)

    def item_totals(self, is_counted: NDArray[np.bool_] | None = None) -> Floats:
        """Sum of the mean activations of each item, over the latents that count."""
        counted = self.mean
        if is_counted is not None:
            counted = np.where(is_counted[self.latent], counted, 0.0)
        totals = np.bincount(self.item, weights=counted, minlength=self.n_items)
        return totals.astype(np.float64, copy=False)

    def part(self, latents: Integers) -> "Activations":
        """Some of the latents, renumbered in the order given."""
        sizes = self.n_active_items[latents]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        offset = self.starts[latents] - starts[:-1]
        cells = np.arange(int(starts[-1])) + np.repeat(offset, sizes)
        return self._of_cells(cells, starts)

    def of_items(self, items: Integers) -> "Activations":
        """Some of the items, in rising order; their clusters keep their codes."""
        place = np.full(self.n_items, -1)
        place[items] = np.arange(items.size)
        cells = np.flatnonzero(place[self.item] >= 0)
        counts = np.bincount(self.latent[cells], minlength=self.n_latents)
        inside = self._of_cells(cells, np.concatenate([[0], np.cumsum(counts)]))
        return replace(
            inside,
            items=self.items.gather(items),
            clusters=self.clusters[items],
            n_tokens=self.n_tokens[items],
            item=place[inside.item].astype(np.int32),
        )

    def _of_cells(self, cells: Integers, starts: Integers) -> "Activations":
        return replace(
            self,
            starts=starts.astype(np.int32),
            item=self.item[cells],
            mean=self.mean[cells],
            maximum=self.maximum[cells],
            n_active_tokens=self.n_active_tokens[cells],
            position_of_max=self.position_of_max[cells],
        )


@dataclass(frozen=True)
class Scores:
    """What the models got on the encoded items.

    Attributes:
        models: Model ids, sorted: those with a score on one of the items.
        values: In [0, 1], NaN where unknown, shape ``(n_items, n_models)``.
    """

    models: pl.Series
    values: Floats

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the model has a score on the item."""
        return ~np.isnan(self.values)

    @cached_property
    def filled(self) -> Floats:
        """The scores, 0 where unknown."""
        return np.nan_to_num(self.values, nan=0.0)


def benchmark_activations(
    item_concepts: pl.DataFrame,
    item_encodings: pl.DataFrame,
    clusters: pl.DataFrame | None = None,
    *,
    n_latents: int,
) -> Iterator[Activations]:
    """Activations of each encoder and benchmark, sorted by their ids.

    Args:
        item_concepts: Active cells: ``encoder_id``, ``benchmark_id``, ``item_id``,
            ``latent_index``, ``mean_activation``, ``max_activation``,
            ``n_active_tokens`` and ``position_of_max``.
        item_encodings: ``encoder_id``, ``benchmark_id``, ``item_id``, ``status`` and
            ``n_kept_tokens``. Items whose status is not "encoded" are left out.
        clusters: ``item_id`` and ``cluster_id`` of items that share a cluster with
            others, such as duplicates; an item not named is its own.
        n_latents: Of the encoder's dictionary.

    Yields:
        One a pair of encoder and benchmark that has an encoded item.

    Raises:
        InvalidInputError: If a cell is of an item that was not encoded, stands twice,
            is not above 0, or names a latent outside the dictionary; or an item is in
            several clusters.
    """
    encoded = item_encodings.filter(pl.col("status") == ENCODED)
    cells = item_concepts.partition_by(_KEYS, as_dict=True)
    for key, items in sorted(encoded.partition_by(_KEYS, as_dict=True).items()):
        yield _activations(
            cells.pop(key, item_concepts.clear()), items, clusters, n_latents=n_latents
        )
    if cells:
        raise InvalidInputError(
            "item_concepts: no item was encoded of "
            + " and ".join(repr(name) for name in min(cells))
        )


def scores_on(activations: Activations, item_scores: pl.DataFrame) -> Scores:
    """Scores of all models on the encoded items.

    Args:
        activations: Whose items count.
        item_scores: ``model_id``, ``item_id`` and ``score`` in [0, 1] or null, one
            row a model and item. Other items are left out.

    Raises:
        InvalidInputError: If a score is outside [0, 1] or a model has two on an item.
    """
    known = item_scores.filter(pl.col("score").is_not_null())
    place = codes(known["item_id"], activations.items)
    scored = known.filter(place >= 0)
    place = place[place >= 0]
    models = scored["model_id"].unique().sort()
    values = np.full((activations.n_items, models.len()), np.nan)
    values[place, codes(scored["model_id"], models)] = scored["score"].to_numpy()
    if np.count_nonzero(~np.isnan(values)) < scored.height:
        raise InvalidInputError(
            f"item_scores: a model has several scores on one item of "
            f"{activations.benchmark_id!r}. Average epochs before"
        )
    bad = values[(values < 0) | (values > 1)]
    if bad.size:
        raise InvalidInputError(
            f"item_scores: {bad.size} scores are outside [0, 1], first {bad[0]} of "
            f"{activations.benchmark_id!r}"
        )
    return Scores(models, values)


def codes(values: pl.Series, categories: pl.Series) -> Integers:
    """Place of each value in the categories; -1 where it is not among them."""
    places = values.cast(pl.Enum(categories), strict=False).to_physical()
    return places.cast(pl.Int64).fill_null(-1).to_numpy()


def _activations(
    cells: pl.DataFrame,
    encoded: pl.DataFrame,
    clusters: pl.DataFrame | None,
    *,
    n_latents: int,
) -> Activations:
    about = _with_cluster(encoded, clusters).sort("cluster_id", "item_id")
    items = about["item_id"]
    cluster_ids = about["cluster_id"].unique().sort()
    place = codes(cells["item_id"], items)
    latent = cells["latent_index"].to_numpy()
    _check_cells(cells, place, n_latents)
    order, starts = _by_latent(place, latent, n_items=items.len(), n_latents=n_latents)
    item = place[order].astype(np.int32)
    _check_grain(cells, item, starts, items)
    return Activations(
        encoder_id=str(encoded["encoder_id"][0]),
        benchmark_id=str(encoded["benchmark_id"][0]),
        items=items,
        clusters=codes(about["cluster_id"], cluster_ids),
        cluster_ids=cluster_ids,
        n_tokens=about["n_kept_tokens"].cast(pl.Int64).to_numpy(),
        starts=starts,
        item=item,
        mean=cells["mean_activation"].to_numpy()[order].astype(np.float64),
        maximum=cells["max_activation"].to_numpy()[order].astype(np.float64),
        n_active_tokens=cells["n_active_tokens"].to_numpy()[order].astype(np.int32),
        position_of_max=cells["position_of_max"].to_numpy()[order].astype(np.int32),
    )


def _with_cluster(encoded: pl.DataFrame, clusters: pl.DataFrame | None) -> pl.DataFrame:
    if clusters is None:
        return encoded.with_columns(cluster_id="item_id")
    if clusters["item_id"].n_unique() < clusters.height:
        twice = clusters.filter(pl.col("item_id").is_duplicated())["item_id"].sort()
        raise InvalidInputError(
            f"clusters: {twice.n_unique()} items are in several clusters, first "
            f"{twice[0]!r}. Give one kind of groups"
        )
    named = clusters.select("item_id", pl.col("cluster_id").cast(pl.String))
    return encoded.join(named, on="item_id", how="left").with_columns(
        cluster_id=pl.coalesce("cluster_id", "item_id")
    )


def _by_latent(
    place: Integers, latent: Integers, *, n_items: int, n_latents: int
) -> tuple[Integers, Ints]:
    """Order of the cells by latent and item, and where each latent starts."""
    # Cells come by item as a rule; a stable sort of what is sorted costs little.
    by_item = np.argsort(place, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=n_items))])
    entries = (by_item, latent[by_item].astype(np.int32), starts.astype(np.int32))
    turned = csr_array(entries, shape=(n_items, n_latents)).tocsc()
    return _arrays(turned)


def _arrays(turned: csc_array) -> tuple[Integers, Ints]:
    order = cast("Integers", turned.data)  # pyright: ignore[reportUnknownMemberType]
    starts = cast("Integers", turned.indptr)  # pyright: ignore[reportUnknownMemberType]
    return order, starts.astype(np.int32)


def _check_cells(cells: pl.DataFrame, place: Integers, n_latents: int) -> None:
    latent = pl.col("latent_index")
    rules = {
        "the item was encoded": pl.lit(pl.Series(place >= 0)),
        f"0 <= latent_index < {n_latents}": latent.is_between(
            0, n_latents, closed="left"
        ),
        "0 < mean_activation <= max_activation": (pl.col("mean_activation") > 0)
        # The two are rounded to 32 bits on their own.
        & (pl.col("mean_activation") <= pl.col("max_activation") * (1 + 1e-6))
        & pl.col("max_activation").is_finite(),
    }
    for rule, holds in rules.items():
        bad = cells.filter(~holds.fill_null(value=False))
        if not bad.is_empty():
            first = bad.row(0, named=True)
            raise InvalidInputError(
                f"item_concepts: {bad.height} of {cells.height} cells break {rule}, "
                f"first item {first['item_id']!r}, latent {first['latent_index']}: "
                f"mean {first['mean_activation']}, max {first['max_activation']}"
            )


def _check_grain(
    cells: pl.DataFrame, item: Ints, starts: Ints, items: pl.Series
) -> None:
    is_first = np.zeros(item.size, np.bool_)
    is_first[starts[:-1][np.diff(starts) > 0]] = True
    twice = np.flatnonzero((item[1:] == item[:-1]) & ~is_first[1:])
    if twice.size:
        raise InvalidInputError(
            f"item_concepts: {twice.size} of {cells.height} cells stand twice, first "
            f"of item {items[int(item[twice[0]])]!r}"
        )
