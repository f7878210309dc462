"""How far verifiers agree beyond chance: kappa of two, alpha of several."""

import itertools
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.metrics.clustered import (
    Membership,
    cluster_sums,
    clustered_standard_error,
    t_quantile,
)
from skillmap.metrics.intervals import Floats

Codes = NDArray[np.int64]

AGREEMENT_SCHEMA: Final = pl.Schema(
    {
        "measure": pl.String(),
        "verifiers": pl.List(pl.String()),
        "n_checks": pl.Int64(),
        "n_items": pl.Int64(),
        "agreement": pl.Float64(),
        "value": pl.Float64(),
        "value_low": pl.Float64(),
        "value_high": pl.Float64(),
    }
)
"""One row per pair of verifiers (measure "cohen_kappa") and, if there are more than
two, one of all ("krippendorff_alpha"). ``n_checks`` have a verdict from both, or from
two at least; ``agreement`` is the share of equal verdicts. NULL where all verdicts
are alike, which leaves nothing to agree on beyond chance."""

_CHECK: Final = ("item_id", "phrase")
_N_PAIR: Final = 2


class Agreement(NamedTuple):
    """Agreement of raters with its interval.

    Attributes:
        observed: Share of pairs of ratings that are equal, in [0, 1].
        value: Agreement beyond chance: 1 if complete, 0 at chance, below it under 0.
        low: Lower bound, at least -1.
        high: Upper bound, at most 1.
    """

    observed: float
    value: float
    low: float
    high: float


def verifier_agreement(
    verdicts: pl.DataFrame, *, confidence_level: float = 0.95
) -> pl.DataFrame:
    """Agreement of every pair of verifiers, and of all together.

    Args:
        verdicts: ``verifier``, ``item_id``, ``phrase`` and ``is_relevant`` (NULL for
            none, which is left out).
        confidence_level: Two-sided, in (0, 1).

    Returns:
        `AGREEMENT_SCHEMA`, pairs by name and then all. Items are the clusters.

    Raises:
        InvalidInputError: If a column is missing, or a verifier judges a skill of
            an item twice.
    """
    needed = ("verifier", *_CHECK, "is_relevant")
    missing = [name for name in needed if name not in verdicts.columns]
    if missing:
        raise InvalidInputError(f"verdicts: columns are missing: {missing}")
    known = verdicts.select(needed).drop_nulls()
    if known.select("verifier", *_CHECK).is_duplicated().any():
        raise InvalidInputError(
            "verdicts: a verifier must judge each skill of an item once"
        )
    verifiers = sorted(known["verifier"].unique())
    table = known.with_columns(pl.col("is_relevant").cast(pl.Int64)).pivot(
        "verifier", index=list(_CHECK), values="is_relevant", sort_columns=True
    )
    rows = [
        _row(table, pair, "cohen_kappa", confidence_level)
        for pair in itertools.combinations(verifiers, _N_PAIR)
    ]
    if len(verifiers) > _N_PAIR:
        rows.append(
            _row(table, tuple(verifiers), "krippendorff_alpha", confidence_level)
        )
    return pl.DataFrame(rows, schema=AGREEMENT_SCHEMA, orient="row").with_columns(
        pl.col("agreement", "value", "value_low", "value_high").fill_nan(None)
    )


def _row(
    table: pl.DataFrame, names: tuple[str, ...], measure: str, level: float
) -> tuple[Any, ...]:
    rated = table.filter(
        pl.sum_horizontal(pl.col(name).is_not_null() for name in names) >= _N_PAIR
    )
    clusters = rated["item_id"].rank("dense").cast(pl.Int64).to_numpy() - 1
    ratings = rated.select(pl.col(names).fill_null(-1)).to_numpy()
    if measure == "cohen_kappa":
        found = cohen_kappa(
            ratings[:, 0], ratings[:, 1], clusters=clusters, confidence_level=level
        )
    else:
        found = krippendorff_alpha(ratings, clusters=clusters, confidence_level=level)
    n_items = rated["item_id"].n_unique()
    return (measure, list(names), rated.height, n_items, *found)


def cohen_kappa(
    first: Codes,
    second: Codes,
    *,
    clusters: Codes | None = None,
    confidence_level: float = 0.95,
) -> Agreement:
    """Agreement of two raters beyond what their own rates would give by chance.

    Args:
        first: Category of each thing by one rater, codes from 0, shape ``(n,)``.
        second: The same by the other.
        clusters: Things that are not independent, codes from 0; each its own if
            left out.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Kappa with an interval of Student's t about it, by the delta method. All NaN
        without things, or if both raters put everything in one category. Without a
        second cluster, or where agreement is complete, the interval says nothing or
        has no width.

    Source:
        Cohen (1960), Educational and Psychological Measurement 20, 37-46. The error
        is the linearised one of Fleiss, Cohen and Everitt (1969), Psychological
        Bulletin 72, 323-327, taken over clusters.

    Examples:
        >>> yes = np.repeat([0, 0, 1, 1], [20, 5, 10, 15])
        >>> no = np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
        >>> round(cohen_kappa(yes, no).value, 3)
        0.4
    """
    n_categories = int(max(first.max(initial=0), second.max(initial=0))) + 1
    n = first.size
    if n == 0:
        return Agreement(*([float("nan")] * 4))
    p = np.bincount(first, minlength=n_categories) / n
    q = np.bincount(second, minlength=n_categories) / n
    equal = (first == second).astype(float)
    observed, chance = float(equal.mean()), float(p @ q)
    if chance >= 1:
        return Agreement(observed, *([float("nan")] * 3))
    kappa = (observed - chance) / (1 - chance)
    slope = (1 - observed) / (1 - chance) ** 2
    influence = (equal - observed) / (1 - chance) - slope * (
        q[first] + p[second] - 2 * chance
    )
    return _with_interval(observed, kappa, influence, clusters, confidence_level)


def krippendorff_alpha(
    ratings: Codes,
    *,
    clusters: Codes | None = None,
    confidence_level: float = 0.95,
) -> Agreement:
    """Agreement of any number of raters beyond chance, some ratings missing.

    Args:
        ratings: Shape ``(n_things, n_raters)``, codes from 0; -1 for none. Things
            with fewer than two ratings count nowhere.
        clusters: Things that are not independent, codes from 0; each its own if
            left out.
        confidence_level: Two-sided, in (0, 1).

    Returns:
        Alpha for categories, with an interval of Student's t about it, by the
        delta method. All NaN if every rating is alike, or no thing has two.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. The
        linearised error over clusters is ours.
    """
    kept = (ratings >= 0).sum(axis=1) >= _N_PAIR
    ratings = ratings[kept]
    clusters = clusters[kept] if clusters is not None else None
    if not ratings.size:
        return Agreement(*([float("nan")] * 4))
    n_categories = int(ratings.max()) + 1
    counts = np.stack([(ratings == c).sum(axis=1) for c in range(n_categories)], axis=1)
    sizes = counts.sum(axis=1)
    total = float(sizes.sum())
    totals = counts.sum(axis=0)
    # Unequal pairs of ratings: within a thing, and among all ratings there are.
    within = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    unequal = float(within.sum()) / total
    expected = float(total**2 - (totals**2).sum()) / (total * (total - 1))
    observed = 1 - unequal
    if expected == 0:
        return Agreement(observed, *([float("nan")] * 3))
    # Derivatives of both shares by the weight of a thing, times the things there are.
    n = sizes.size
    gap = within - unequal * sizes
    spread = 2 * (total * sizes - counts @ totals) / (total * (total - 1))
    spread -= expected * sizes * (2 * total - 1) / (total * (total - 1))
    influence = -n * (gap / total / expected - unequal * spread / expected**2)
    value = 1 - unequal / expected
    return _with_interval(observed, value, influence, clusters, confidence_level)


def _with_interval(
    observed: float,
    value: float,
    influence: Floats,
    clusters: Codes | None,
    confidence_level: float,
) -> Agreement:
    n = influence.size
    codes = np.arange(n) if clusters is None else clusters
    everything = Membership(np.zeros(n, np.int64), np.arange(n), 1, n)
    sums = cluster_sums(everything, influence.reshape(-1, 1), codes)
    t = t_quantile(sums.n_clusters, confidence_level=confidence_level)
    with np.errstate(invalid="ignore"):
        half = float((t * clustered_standard_error(sums))[0, 0])
    if not np.isfinite(half):
        return Agreement(observed, value, -1.0, 1.0)
    return Agreement(observed, value, max(value - half, -1.0), min(value + half, 1.0))
