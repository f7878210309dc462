"""Which concepts mark which skill slices, so that each can be read in the other."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]
from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

from skillmap.concepts.activations import Activations, codes
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats
from skillmap.metrics.multiplicity import benjamini_hochberg

# Slices whose sums are held at once.
_BLOCK = 64


def slice_concepts(
    benchmarks: Sequence[Activations],
    slice_items: pl.DataFrame,
    *,
    min_effective: float = 20,
    max_q: float = 0.05,
) -> pl.DataFrame:
    """Concepts that are more or less active on the items of a slice than elsewhere.

    Membership is dealt at random within each benchmark, so a concept of a benchmark
    does not mark every slice of that benchmark. Clusters stand for one item each: with
    their mean saliency, in the slice if one of their items is.

    Args:
        benchmarks: Activations of one encoder on each.
        slice_items: ``slice_id`` and ``item_id``, each pair once.
        min_effective: Effective clusters inside the slice from which a concept is
            tested. Saliencies are skewed, and so are their sums over few.
        max_q: Pairs with a larger ``q_value`` are left out.

    Returns:
        One row per slice and concept, columns of ``mart.slice_concepts``, sorted by
        slice and falling ``z``. ``enrichment`` is the mean saliency inside over that
        outside in the same benchmarks, null where it is nowhere active outside. A
        benchmark that is all in the slice, or not at all, does not count.

    Source:
        Closed-form permutation moments of a sum over a random part of a finite
        population; the q values are over all pairs that were tested.
    """
    if not benchmarks:
        return pl.DataFrame(schema=_SCHEMA)
    slices = slice_items["slice_id"].unique().sort()
    encoder_id = benchmarks[0].encoder_id
    strata = [_Stratum.of(a, slice_items, slices) for a in benchmarks]
    n_tested = 0
    parts = [pl.DataFrame(schema=_SCHEMA).drop("encoder_id", "q_value")]
    for start in range(0, slices.len(), _BLOCK):
        chosen = np.arange(start, min(start + _BLOCK, slices.len()))
        tested, frame = _marks(strata, chosen, slices, min_effective, max_q)
        n_tested += tested
        parts.append(frame)
    found = pl.concat(parts)
    # A q is at least its p, so tests that are left out are as good as p = 1.
    p = np.ones(max(n_tested, found.height))
    p[: found.height] = found["p_value"].to_numpy()
    q = benjamini_hochberg(p)[: found.height]
    return (
        found.with_columns(
            pl.Series("q_value", q), encoder_id=pl.lit(encoder_id, pl.String)
        )
        .filter(pl.col("q_value") <= max_q)
        .select(_SCHEMA.names())
        .sort("slice_id", "z", "latent_index", descending=[False, True, False])
    )


_SCHEMA = pl.Schema(
    {
        "encoder_id": pl.String(),
        "slice_id": pl.String(),
        "latent_index": pl.Int64(),
        "n_slice_clusters": pl.Int64(),
        "n_active_clusters": pl.Int64(),
        "n_effective_clusters": pl.Float64(),
        "mean_inside": pl.Float64(),
        "mean_outside": pl.Float64(),
        "enrichment": pl.Float64(),
        "z": pl.Float64(),
        "p_value": pl.Float64(),
        "q_value": pl.Float64(),
    }
)


class _Stratum(NamedTuple):
    """One benchmark: saliencies by latent and cluster, and clusters by slice."""

    saliency: csr_array
    squares: csr_array
    active: csr_array
    is_inside: csr_array
    n_clusters: int
    mean: Floats
    variance: Floats

    @classmethod
    def of(
        cls, activations: Activations, slice_items: pl.DataFrame, slices: pl.Series
    ) -> "_Stratum":
        n = activations.n_clusters
        size = np.bincount(activations.clusters, minlength=n)
        cluster = activations.clusters[activations.item]
        entries = (
            activations.mean / size[cluster],
            (activations.latent.astype(np.int64), cluster),
        )
        saliency = csr_array(entries, shape=(activations.n_latents, n))
        ones = np.ones(n)
        squares = cast("csr_array", saliency.power(2))  # pyright: ignore[reportUnknownMemberType]
        total = cast("Floats", saliency @ ones)
        moment = cast("Floats", squares @ ones)
        variance = np.maximum(moment - total**2 / n, 0) / max(n - 1, 1)
        return cls(
            saliency,
            squares,
            cast("csr_array", saliency.astype(np.bool_).astype(np.float64)),  # pyright: ignore[reportUnknownMemberType]
            _membership(activations, slice_items, slices),
            n,
            total / n,
            variance,
        )

    def inside(self, chosen: Integers) -> Floats:
        """1 where the cluster is in the slice, shape ``(n_clusters, n_chosen)``."""
        rows = cast("csr_array", self.is_inside[chosen])
        return cast("Floats", rows.toarray()).T  # pyright: ignore[reportUnknownMemberType]


def _membership(
    activations: Activations, slice_items: pl.DataFrame, slices: pl.Series
) -> csr_array:
    item = codes(slice_items["item_id"], activations.items)
    row = codes(slice_items["slice_id"], slices)[item >= 0]
    cluster = activations.clusters[item[item >= 0]]
    n = activations.n_clusters
    key = np.unique(row * n + cluster)
    entries = (np.ones(key.size), (key // n, key % n))
    return csr_array(entries, shape=(slices.len(), n))


def _marks(
    strata: Sequence[_Stratum],
    chosen: Integers,
    slices: pl.Series,
    min_effective: float,
    max_q: float,
) -> tuple[int, pl.DataFrame]:
    """How many pairs were tested, and those whose p may matter."""
    shape = (strata[0].mean.size, chosen.size)
    total, squares, active = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    expected, variance, outside = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    n_inside = np.zeros(chosen.size)
    for stratum in strata:
        inside = stratum.inside(chosen)
        n = stratum.n_clusters
        size = inside.sum(axis=0)
        inside *= size < n
        size = np.where(size < n, size, 0)
        here = cast("Floats", stratum.saliency @ inside)
        total += here
        squares += cast("Floats", stratum.squares @ inside)
        active += cast("Floats", stratum.active @ inside)
        expected += np.outer(stratum.mean, size)
        variance += np.outer(stratum.variance, size * (1 - size / n))
        rest = n * stratum.mean[:, np.newaxis] - here
        outside += np.maximum(rest, 0) * (size / np.maximum(n - size, 1))
        n_inside += size
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = total**2 / squares
        z = (total - expected) / np.sqrt(variance)
    p = 2 * cast("Floats", ndtr(-np.abs(z)))
    tested = (effective >= min_effective - 1e-9) & (variance > 0)
    latent, column = np.nonzero(tested & (p <= max_q))
    at = (latent, column)
    size = n_inside[column]
    # What is nowhere outside leaves rounding behind.
    is_outside = outside[at] > 1e-9 * total[at]
    mean_outside = np.where(is_outside, outside[at], 0.0) / size
    enrichment = np.full(latent.size, np.nan)
    enrichment[is_outside] = (total[at] / np.where(is_outside, outside[at], 1.0))[
        is_outside
    ]
    frame = pl.DataFrame(
        {
            "slice_id": slices.gather(chosen[column]),
            "latent_index": latent,
            "n_slice_clusters": size.astype(np.int64),
            "n_active_clusters": active[at].astype(np.int64),
            "n_effective_clusters": effective[at],
            "mean_inside": total[at] / size,
            "mean_outside": mean_outside,
            "enrichment": pl.Series(enrichment, nan_to_null=True),
            "z": z[at],
            "p_value": p[at],
        }
    )
    return int(tested.sum()), frame
