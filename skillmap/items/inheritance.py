"""Skills of items that nobody annotated, taken from their duplicates."""

import polars as pl


def item_skills(
    mentions: pl.DataFrame, skill_names: pl.DataFrame, item_groups: pl.DataFrame
) -> pl.DataFrame:
    """Which skills each item needs, own or inherited.

    An item with mentions of its own has those. An item without takes the skills of
    its exact duplicates, or else of its near ones: the same question needs the same
    skills, whatever the options.

    Args:
        mentions: ``benchmark_id``, ``item_id`` and ``normalised_phrase``.
        skill_names: ``phrase`` and ``skill_id``.
        item_groups: Columns of ``core.item_groups``.

    Returns:
        Columns of ``core.item_skills``, sorted by item and skill, each pair once
        however many phrases of the skill the item mentions.
    """
    own = (
        mentions.join(skill_names, left_on="normalised_phrase", right_on="phrase")
        .group_by("item_id", "benchmark_id", "skill_id")
        .agg(n_mentions=pl.len().cast(pl.Int64))
        .with_columns(origin=pl.lit("mention"))
    )
    found = own
    for kind in ("exact", "near"):
        members = item_groups.filter(pl.col("kind") == kind)
        found = pl.concat([found, _inherited(own, found, members, kind)])
    return found.select(
        "item_id", "benchmark_id", "skill_id", "origin", "n_mentions"
    ).sort("item_id", "skill_id")


def _inherited(
    own: pl.DataFrame, found: pl.DataFrame, members: pl.DataFrame, kind: str
) -> pl.DataFrame:
    skills_of_group = (
        own.join(members.select("item_id", "group_id"), on="item_id")
        .group_by("group_id", "skill_id")
        .agg(pl.col("n_mentions").sum())
    )
    return (
        members.join(found, on="item_id", how="anti")
        .select("item_id", "benchmark_id", "group_id")
        .join(skills_of_group, on="group_id")
        .select(
            "item_id",
            "benchmark_id",
            "skill_id",
            "n_mentions",
            origin=pl.lit(f"{kind}_duplicate"),
        )
        .select(own.columns)
    )
