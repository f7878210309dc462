"""Broad skills: canonical skills that are akin, grouped once more.

Where annotators write one long phrase an item, hardly any two mean quite the same, and
skills alone are too small to compare models on. A coarser level over them gives slices
that are large enough, and says which skills are in each.
"""

import numpy as np
import polars as pl

from skillmap.errors import InvalidInputError
from skillmap.slicing.neighbours import Vectors
from skillmap.slicing.skills import Method, canonical_skills, weighted_sums

_SKILL, _BROAD_SKILL = "skill:", "skills:"


def with_broad_skills(
    skill_names: pl.DataFrame, vectors: Vectors, *, threshold: float, method: Method
) -> pl.DataFrame:
    """``skill_names`` with the broad skill of each phrase.

    Skills are grouped by their mean directions, so a skill is never divided between
    broad skills.

    Args:
        skill_names: ``phrase``, ``skill_id``, ``skill_name``, ``n_items``.
        vectors: Unit vector of each phrase, shape ``(n_phrases, d)``, in the order of
            ``skill_names``.
        threshold: Cosine that counts as akin, in (0, 1]; below that of the skills.
        method: As for the skills.

    Returns:
        The same rows with ``broad_skill_id``, "skills:" and a slug, and
        ``broad_skill_name``, the name of its most central skill.

    Raises:
        InvalidInputError: If vectors do not fit the phrases.
    """
    if len(vectors) != skill_names.height:
        raise InvalidInputError(
            "vectors must have one row per phrase, got shape "
            f"{vectors.shape} for {skill_names.height} phrases"
        )
    skills = (
        skill_names.group_by("skill_id", phrase="skill_name")
        .agg(pl.col("n_items").sum())
        .sort("phrase")
    )
    broad = canonical_skills(
        skills.select("phrase", "n_items"),
        _mean_directions(skill_names, vectors, skills["skill_id"]),
        threshold=threshold,
        method=method,
    ).skill_names.select(
        pl.col("phrase").alias("skill_name"),
        pl.col("skill_id")
        .str.replace(_SKILL, _BROAD_SKILL, literal=True)
        .alias("broad_skill_id"),
        pl.col("skill_name").alias("broad_skill_name"),
    )
    return skill_names.join(broad, on="skill_name", how="left", maintain_order="left")


def slice_members(item_skills: pl.DataFrame, skill_names: pl.DataFrame) -> pl.DataFrame:
    """Items of every skill and of every broad skill that holds more than one.

    Args:
        item_skills: ``item_id``, ``benchmark_id``, ``skill_id``, ``origin``.
        skill_names: ``skill_id``, ``skill_name``, ``broad_skill_id``,
            ``broad_skill_name``; rows may repeat.

    Returns:
        ``item_id``, ``benchmark_id``, ``origin``, ``level`` ("skill" or "broad"),
        ``skill_id`` and ``skill_name``, those of the broad skill at that level. A
        broad skill that has no more items than one of its skills is left out: it
        would be that skill again.
    """
    named = item_skills.join(skill_names.unique("skill_id"), on="skill_id")
    kept = ("item_id", "benchmark_id", "origin")
    by_skill = named.select(*kept, "skill_id", "skill_name", level=pl.lit("skill"))
    n_of_skill = pl.col("item_id").n_unique().over("skill_id").max()
    by_broad = named.filter(
        pl.col("item_id").n_unique().over("broad_skill_id")
        > n_of_skill.over("broad_skill_id")
    ).select(
        *kept,
        skill_id="broad_skill_id",
        skill_name=pl.col("broad_skill_name") + " (broad)",
        level=pl.lit("broad"),
    )
    return pl.concat([by_skill, by_broad.select(by_skill.columns)])


def _mean_directions(
    skill_names: pl.DataFrame, vectors: Vectors, skill_ids: pl.Series
) -> Vectors:
    place = pl.DataFrame({"skill_id": skill_ids}).with_row_index("place")
    codes = skill_names.join(place, on="skill_id", maintain_order="left")["place"]
    if codes.is_empty():
        return vectors
    weights = skill_names["n_items"].cast(pl.Float64).to_numpy()
    sums = weighted_sums(vectors, codes.to_numpy().astype(np.int64), weights)
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    return (sums / lengths[:, np.newaxis]).astype(np.float32)
