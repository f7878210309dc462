"""Lists of concepts summed up as themes, with every member named."""

from collections.abc import Iterable
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.concepts.terms import common_terms, reduced, term_vectors
from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats
from skillmap.slicing.clusters import average_linkage_clusters
from skillmap.slicing.neighbours import threshold_neighbours

# Average cosines within a theme that are tried.
_CUTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def gap_themes(
    gaps: pl.DataFrame,
    *,
    vectors: NDArray[np.float32] | None = None,
    by: tuple[str, ...] = ("encoder_id", "benchmark_id"),
    min_supported: float = 10,
) -> pl.DataFrame:
    """Themes of each list of gaps: concepts whose labels are alike.

    Args:
        gaps: Of `benchmark_gaps` or `model_gaps`, with ``latent_index`` and ``label``.
        vectors: One a row of ``gaps``, such as embeddings of the labels; without it
            their terms, reduced.
        by: Columns that make a list.
        min_supported: Effective clusters from which a member counts as supported.

    Returns:
        One row per list and theme, columns of ``mart.gap_themes``, largest first:
        ``theme`` is the terms that most labels share, ``latent_indexes`` names all
        members. Concepts without a label are in no theme.

    Raises:
        InvalidInputError: If ``vectors`` has not one row a gap.

    Source:
        Average linkage, cut where the mean silhouette is largest: Rousseeuw (1987),
        J. Computational and Applied Mathematics 20, 53-65.
    """
    if vectors is not None and len(vectors) != gaps.height:
        raise InvalidInputError(
            f"vectors: one row a gap, got {len(vectors)} for {gaps.height}"
        )
    numbered = gaps.with_row_index("row").filter(pl.col("label").is_not_null())
    parts = [pl.DataFrame(schema=_schema(gaps, by))]
    for rows in numbered.partition_by(by, maintain_order=True):
        given = None if vectors is None else vectors[rows["row"].to_numpy()]
        labels = themes(_unit(given, rows["label"]))
        parts.append(_summaries(rows, labels, by, min_supported))
    return pl.concat(parts).sort(
        *by, "n_concepts", "theme_index", descending=[*[False] * len(by), True, False]
    )


def themes(vectors: NDArray[np.float32]) -> Integers:
    """Theme of each unit vector, at the cut with the largest silhouette.

    Returns:
        Numbered from 0 by first member; rows of 0 are themes of their own.
    """
    has_terms = np.abs(vectors).max(axis=1, initial=0) > 0
    known = vectors[has_terms]
    best, best_value = np.arange(len(known)), -np.inf
    for cut in _CUTS if len(known) else ():
        neighbours = threshold_neighbours(known, threshold=cut)
        labels = average_linkage_clusters(neighbours, known, threshold=cut)
        value = silhouette(known.astype(np.float64), labels)
        # Products on several threads differ by roundings, which must not decide.
        if value > best_value + 1e-9:
            best, best_value = labels, value
    found = np.empty(len(vectors), np.int64)
    found[has_terms] = best
    found[~has_terms] = best.size + np.arange(int((~has_terms).sum()))
    _, first, place = np.unique(found, return_index=True, return_inverse=True)
    return cast("Integers", np.argsort(np.argsort(first)))[place]


def silhouette(vectors: Floats, labels: Integers) -> float:
    """Mean silhouette of unit vectors by cosine distance.

    Returns:
        In [-1, 1]; 0 for members of a cluster of one, and if there is one cluster.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    if n_clusters < 2:  # noqa: PLR2004 - nothing to be apart from
        return 0.0
    sums = np.zeros((n_clusters, vectors.shape[1]))
    np.add.at(sums, labels, vectors)
    sizes = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    rows = np.arange(len(vectors))
    dots = vectors @ sums.T
    own_size = sizes[labels]
    squared = np.einsum("ij,ij->i", vectors, vectors)
    own = 1 - (dots[rows, labels] - squared) / np.maximum(own_size - 1, 1)
    apart = 1 - dots / sizes
    apart[rows, labels] = np.inf
    other = apart.min(axis=1)
    widest = np.maximum(np.maximum(own, other), 1e-12)
    value = np.where(own_size > 1, (other - own) / widest, 0.0)
    return float(value.mean())


def checked_members(members: Iterable[int], allowed: Iterable[int]) -> list[int]:
    """Members of a theme that somebody named, sorted, each once.

    Raises:
        InvalidInputError: If one was not in the list that was to be summed up: a
            writer of summaries can make up what it cites.
    """
    told, known = set(members), set(allowed)
    unknown = sorted(told - known)
    if unknown:
        raise InvalidInputError(
            f"members: {len(unknown)} of {len(told)} are not among the concepts given, "
            f"first {unknown[0]}"
        )
    return sorted(told)


_NUMBERS = {
    "total_coverage": "coverage",
    "mean_coverage": "coverage",
    "mean_performance": "performance",
}


def _schema(gaps: pl.DataFrame, by: tuple[str, ...]) -> pl.Schema:
    means = {mean: pl.Float64() for mean, c in _NUMBERS.items() if c in gaps.columns}
    return pl.Schema(
        {
            **{name: pl.String() for name in by},
            "theme_index": pl.Int64(),
            "theme": pl.String(),
            "n_concepts": pl.Int64(),
            "n_supported": pl.Int64(),
            **means,
            "latent_indexes": pl.List(pl.String()),
            "labels": pl.List(pl.String()),
        }
    )


def _summaries(
    rows: pl.DataFrame, labels: Integers, by: tuple[str, ...], min_supported: float
) -> pl.DataFrame:
    schema = _schema(rows, by)
    numbers = {
        name: pl.col(column).sum() if name[:5] == "total" else pl.col(column).mean()
        for name, column in _NUMBERS.items()
        if column in rows.columns
    }
    # A tie of floats in the gate: as in concept_performance.
    supported = pl.col("n_effective_clusters").fill_null(0) >= min_supported - 1e-9
    grouped = (
        rows.with_columns(pl.Series("theme_index", labels))
        .group_by(*by, "theme_index")
        .agg(
            n_concepts=pl.len().cast(pl.Int64),
            n_supported=supported.sum().cast(pl.Int64),
            **numbers,
            latent_indexes=pl.col("latent_index").sort().cast(pl.String),
            labels=pl.col("label").sort_by("latent_index"),
        )
        .sort("theme_index")
    )
    names = [common_terms(members) for members in grouped["labels"]]
    first = grouped["labels"].list.first()
    named = pl.Series("theme", names, pl.String).replace("", None).fill_null(first)
    return grouped.with_columns(named).select(schema.names()).cast(schema)


def _unit(given: NDArray[np.float32] | None, labels: pl.Series) -> NDArray[np.float32]:
    if given is None:
        return reduced(term_vectors(labels)).astype(np.float32)
    length = np.sqrt((given.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    return (given / np.where(length > 0, length, 1.0)).astype(np.float32)
