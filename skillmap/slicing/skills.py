"""Phrases to canonical skills, and skills to slices of items."""

from typing import Final, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.errors import InvalidInputError
from skillmap.slicing.clusters import (
    Labels,
    average_linkage_clusters,
    leader_clusters,
)
from skillmap.slicing.names import short_hash, slug
from skillmap.slicing.neighbours import Vectors, threshold_neighbours

Method = Literal["average", "leader"]

# Two phrases of a cluster of two are equally central; rounding must not choose.
_CENTRALITY_DECIMALS: Final = 9
# Few enough for their doubles to stay in the cache of one core.
_ROWS_AT_ONCE: Final = 256


class SkillAssignment(NamedTuple):
    """Which skill each phrase is a name of.

    Attributes:
        skill_names: One row per phrase, by phrase: ``phrase``, ``skill_id``,
            ``skill_name``, and ``similarity``, the cosine of the phrase to the mean
            direction of its skill, phrases weighted by their items.
        skills: One row per skill, by ``skill_id``: ``skill_id``, ``skill_name``,
            ``n_phrases``.
    """

    skill_names: pl.DataFrame
    skills: pl.DataFrame


class SkillSlices(NamedTuple):
    """Skills that enough items share.

    Attributes:
        slices: One row per slice, by ``slice_id``: ``slice_id``, ``slice_name``,
            ``n_items``.
        slice_items: One row per slice and item, by both: ``slice_id``, ``item_id``.
    """

    slices: pl.DataFrame
    slice_items: pl.DataFrame


def canonical_skills(
    phrases: pl.DataFrame,
    vectors: Vectors,
    *,
    threshold: float = 0.80,
    method: Method = "average",
) -> SkillAssignment:
    """Phrases that mean the same, under the name of the most central one.

    The order of the phrases given makes no difference: they are sorted first.

    Args:
        phrases: ``phrase`` (text, each once) and ``n_items`` (how many items have it,
            at least 1).
        vectors: Unit vector of each phrase, shape ``(n_phrases, d)``, in the order of
            ``phrases``.
        threshold: Cosine that counts as the same, in (0, 1]. It goes with the
            embedder, and has to be chosen on all phrases, not on a sample: a fuller
            space merges more.
        method: "average" for average linkage; "leader" for the paper's communities.

    Returns:
        Every phrase with its skill, and the skills. A skill is named by the phrase
        nearest to the mean direction, the shorter of two equally near ones, then the
        earlier in the alphabet. Its id is ``skill:`` and the name's slug; names that
        share a slug get a hash of the name behind it.

    Raises:
        InvalidInputError: If a phrase is null, empty or given twice, a count is null
            or below 1, or vectors do not fit the phrases.

    Source:
        The naming rule is what arXiv 2410.13826 describes; its published code takes
        the first member.
    """
    _check_phrases(phrases, vectors)
    order = phrases["phrase"].arg_sort().to_numpy()
    ordered, sorted_vectors = phrases[order], vectors[order]
    labels = _labels(sorted_vectors, threshold, method)
    weights = ordered["n_items"].cast(pl.Float64).to_numpy()
    similarity = _cosine_to_mean(sorted_vectors, labels, weights)

    members = pl.DataFrame(
        {"phrase": ordered["phrase"], "label": labels, "similarity": similarity},
        schema_overrides={"label": pl.Int64, "similarity": pl.Float64},
    )
    skills = _with_ids(_named(members))
    return SkillAssignment(
        members.join(skills, on="label", how="left", maintain_order="left").select(
            "phrase", "skill_id", "skill_name", "similarity"
        ),
        skills.select("skill_id", "skill_name", "n_phrases").sort("skill_id"),
    )


def skill_slices(item_skills: pl.DataFrame, *, minimum_items: int = 100) -> SkillSlices:
    """Skills as slices, where at least ``minimum_items`` items share one.

    Args:
        item_skills: ``item_id``, ``skill_id``, ``skill_name``; an item may name the
            same skill more than once, by different phrases, and counts once.
        minimum_items: Items of the smallest slice kept; exactly so many is enough.

    Returns:
        Slices under the id and name of their skill, and their items. Both are empty
        where no skill is shared by enough items.

    Raises:
        InvalidInputError: If a value is null, a skill has two names, or
            ``minimum_items`` is below 1.

    Examples:
        >>> item_skills = pl.DataFrame(
        ...     {
        ...         "item_id": ["a", "a", "b"],
        ...         "skill_id": ["skill:ocr", "skill:ocr", "skill:algebra"],
        ...         "skill_name": ["ocr", "ocr", "algebra"],
        ...     }
        ... )
        >>> skill_slices(item_skills, minimum_items=1).slices.rows()
        [('skill:algebra', 'algebra', 1), ('skill:ocr', 'ocr', 1)]
    """
    if minimum_items < 1:
        raise InvalidInputError(
            f"minimum_items must be at least 1, got {minimum_items}"
        )
    _check_item_skills(item_skills)
    distinct = item_skills.select(
        pl.col("skill_id").alias("slice_id"),
        pl.col("skill_name").alias("slice_name"),
        "item_id",
    ).unique()
    slices = (
        distinct.group_by("slice_id", "slice_name")
        .agg(pl.len().cast(pl.Int64).alias("n_items"))
        .filter(pl.col("n_items") >= minimum_items)
        .sort("slice_id")
    )
    slice_items = (
        distinct.join(slices, on="slice_id", how="semi")
        .select("slice_id", "item_id")
        .sort("slice_id", "item_id")
    )
    return SkillSlices(slices, slice_items)


def _labels(vectors: Vectors, threshold: float, method: Method) -> Labels:
    if method not in get_args(Method):
        raise InvalidInputError(
            f"method must be one of {', '.join(get_args(Method))}, got {method!r}"
        )
    neighbours = threshold_neighbours(vectors, threshold=threshold)
    if method == "average":
        return average_linkage_clusters(neighbours, vectors, threshold=threshold)
    return leader_clusters(neighbours, len(vectors), threshold=threshold)


def _cosine_to_mean(
    vectors: Vectors, labels: Labels, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Cosine of each row to the weighted mean of the rows with its label."""
    if not len(labels):
        return np.ones(0)
    means = weighted_sums(vectors, labels, weights)
    means /= np.sqrt(np.einsum("ij,ij->i", means, means))[:, np.newaxis]
    along = np.empty(len(labels))
    for start in range(0, len(labels), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        rows = vectors[some].astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        along[some] = np.einsum("ij,ij->i", rows, means[labels[some]]) / lengths
    # A skill of one phrase is its mean; rounding must not say otherwise.
    is_alone = np.bincount(labels)[labels] == 1
    return np.where(is_alone, 1.0, np.minimum(along, 1.0))


def weighted_sums(
    vectors: NDArray[np.float32] | NDArray[np.float64],
    labels: Labels,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum of the weighted vectors of each label.

    Args:
        vectors: Shape ``(n, d)``.
        labels: Label of each vector, from 0, shape ``(n,)``.
        weights: Weight of each vector, shape ``(n,)``.

    Returns:
        Shape ``(n_labels, d)``. One sparse product: the order of the additions is
        that of the vectors, whatever the number of threads.
    """
    n = len(labels)
    member = csr_array((weights, (labels, np.arange(n))), shape=(labels.max() + 1, n))
    return np.asarray(member @ vectors.astype(np.float64), np.float64)


def _named(members: pl.DataFrame) -> pl.DataFrame:
    """One row per label: ``skill_name`` and ``n_phrases``."""
    by_rank = members.sort(
        "label",
        -pl.col("similarity").round(_CENTRALITY_DECIMALS),
        pl.col("phrase").str.len_chars(),
        "phrase",
    )
    return by_rank.group_by("label", maintain_order=True).agg(
        pl.col("phrase").first().alias("skill_name"),
        pl.len().cast(pl.Int64).alias("n_phrases"),
    )


def _with_ids(skills: pl.DataFrame) -> pl.DataFrame:
    names = skills["skill_name"]
    slugs = pl.Series("slug", [slug(name) for name in names], dtype=pl.String)
    hashes = pl.Series("hash", [short_hash(name) for name in names], dtype=pl.String)
    # All names of a slug get the hash, so an id does not depend on who came first.
    own = pl.format("skill:{}", "slug")
    shared = pl.format("skill:{}-{}", "slug", "hash")
    return skills.with_columns(slugs, hashes).with_columns(
        pl.when(pl.col("slug").is_duplicated())
        .then(shared)
        .otherwise(own)
        .alias("skill_id")
    )


def _check_phrases(phrases: pl.DataFrame, vectors: Vectors) -> None:
    if len(vectors) != len(phrases):
        raise InvalidInputError(
            f"vectors must have one row per phrase, got {len(vectors)} rows for "
            f"{len(phrases)} phrases"
        )
    phrase, n_items = pl.col("phrase"), pl.col("n_items")
    _raise_on(phrases, phrase.is_null() | (phrase == ""), "phrases are null or empty")
    _raise_on(phrases, phrase.is_duplicated(), "phrases are given more than once")
    _raise_on(
        phrases, n_items.is_null() | (n_items < 1), "phrases have n_items below 1"
    )


def _check_item_skills(item_skills: pl.DataFrame) -> None:
    columns = ["item_id", "skill_id", "skill_name"]
    _raise_on(
        item_skills.select(columns),
        pl.any_horizontal(pl.all().is_null()),
        "item_skills have a null",
    )
    _raise_on(
        item_skills.select("skill_id", "skill_name").unique(maintain_order=True),
        pl.col("skill_id").is_duplicated(),
        "skill names are not the only one of their skill",
    )


def _raise_on(frame: pl.DataFrame, broken: pl.Expr, rule: str) -> None:
    offenders = frame.with_row_index("index").filter(broken)
    if len(offenders):
        first = offenders.row(0, named=True)
        raise InvalidInputError(
            f"{len(offenders)} of {len(frame)} {rule}, first at index "
            f"{first.pop('index')}: {first}"
        )
