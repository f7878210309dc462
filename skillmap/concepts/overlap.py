"""How alike the concepts of two benchmarks are."""

import numpy as np
import polars as pl

from skillmap.concepts.activations import codes
from skillmap.metrics.intervals import Floats


def benchmark_overlap(coverage: pl.DataFrame) -> pl.DataFrame:
    """Overlap of each two benchmarks under one encoder.

    Jaccard mostly reflects the sizes of the two sets, so containment and the distance
    of the shares stand beside it.

    Args:
        coverage: Of `concept_coverage`.

    Returns:
        One row per encoder and ordered pair of benchmarks, itself included, columns
        of ``mart.benchmark_overlap``. Jaccard and containment are of the concepts that
        are not missing, null where there are none; the distance is Jensen-Shannon's
        by logarithms of base 2, in [0, 1], null where a benchmark has no mass.

    Source:
        Jaccard as in arXiv 2512.20638; containment is the common concepts over those
        of the smaller set. Lin (1991), IEEE Trans. Information Theory 37, 145-151.
    """
    parts = [
        _overlap(rows, str(key[0]))
        for key, rows in coverage.partition_by("encoder_id", as_dict=True).items()
    ]
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *parts]).sort(
        "encoder_id", "benchmark_id", "other_benchmark_id"
    )


_SCHEMA = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "other_benchmark_id": pl.String(),
        "n_concepts": pl.Int64(),
        "n_other_concepts": pl.Int64(),
        "n_common": pl.Int64(),
        "jaccard": pl.Float64(),
        "containment": pl.Float64(),
        "jensen_shannon": pl.Float64(),
    }
)


def _overlap(coverage: pl.DataFrame, encoder_id: str) -> pl.DataFrame:
    benchmarks = coverage["benchmark_id"].unique().sort()
    latents = coverage["latent_index"].unique().sort().to_numpy()
    n = benchmarks.len()
    place = codes(coverage["benchmark_id"], benchmarks)
    column = np.searchsorted(latents, coverage["latent_index"].to_numpy())
    present = ~coverage["is_missing"].to_numpy()
    is_in = np.zeros((n, latents.size))
    is_in[place[present], column[present]] = 1.0
    common = is_in @ is_in.T
    size = np.diag(common)
    either = size[:, np.newaxis] + size - common
    smaller = np.minimum(size[:, np.newaxis], size)
    shares = np.full((n, latents.size), np.nan)
    shares[place, column] = coverage["share"].to_numpy()
    first, second = np.divmod(np.arange(n * n), n)
    with np.errstate(invalid="ignore"):
        jaccard, containment = common / either, common / smaller
    return pl.DataFrame(
        {
            "encoder_id": pl.repeat(encoder_id, n * n, eager=True),
            "benchmark_id": benchmarks.gather(first),
            "other_benchmark_id": benchmarks.gather(second),
            "n_concepts": size[first],
            "n_other_concepts": size[second],
            "n_common": common.ravel(),
            "jaccard": jaccard.ravel(),
            "containment": containment.ravel(),
            "jensen_shannon": _jensen_shannon(shares).ravel(),
        },
        nan_to_null=True,
    ).cast(_SCHEMA)  # pyright: ignore[reportArgumentType]


def _jensen_shannon(shares: Floats) -> Floats:
    """Distance of each two rows; NaN where one has no mass."""
    entropy = _entropy(shares)
    distance = np.empty((len(shares), len(shares)))
    for row, share in enumerate(shares):
        mixed = _entropy((share + shares) / 2)
        divergence = mixed - (entropy[row] + entropy) / 2
        distance[row] = np.sqrt(np.clip(divergence, 0, 1))
    # Rounding of the entropies must not part a benchmark from itself.
    np.fill_diagonal(distance, np.where(np.isnan(entropy), np.nan, 0.0))
    return distance


def _entropy(shares: Floats) -> Floats:
    """In bits, of each row; NaN for a row of NaN."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=1)
