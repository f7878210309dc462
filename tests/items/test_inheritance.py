import polars as pl

from skillmap.contracts import core
from skillmap.items.inheritance import item_skills

NAMES = pl.DataFrame(
    {
        "phrase": ["adding", "sums", "algebra"],
        "skill_id": ["skill:adding", "skill:adding", "skill:algebra"],
    }
)


def mentions(*pairs: tuple[str, str | None]) -> pl.DataFrame:
    return pl.DataFrame(
        [(item.split(":")[0], item, phrase) for item, phrase in pairs],
        schema={
            "benchmark_id": pl.String(),
            "item_id": pl.String(),
            "normalised_phrase": pl.String(),
        },
        orient="row",
    )


def groups(**groups_of_items: list[str]) -> pl.DataFrame:
    """Groups by name; the name begins with the kind."""
    rows = [
        (item, item.split(":")[0], name.split("_")[0], name, len(items))
        for name, items in groups_of_items.items()
        for item in items
    ]
    return pl.DataFrame(rows, schema=core.ITEM_GROUPS.polars_schema, orient="row")


def found(
    mentioned: pl.DataFrame, grouped: pl.DataFrame
) -> list[tuple[str, str, str, int]]:
    skills = item_skills(mentioned, NAMES, grouped)
    assert core.ITEM_SKILLS.conform(skills).equals(skills)
    return skills.select("item_id", "skill_id", "origin", "n_mentions").rows()


def test_phrases_of_one_skill_are_mentions_of_it() -> None:
    mentioned = mentions(
        ("quiz:0", "adding"), ("quiz:0", "sums"), ("quiz:0", "algebra")
    )

    assert found(mentioned, groups()) == [
        ("quiz:0", "skill:adding", "mention", 2),
        ("quiz:0", "skill:algebra", "mention", 1),
    ]


def test_an_item_nobody_annotated_has_the_skills_of_its_twins() -> None:
    mentioned = mentions(
        ("mmlu:0", "adding"), ("mmlu:1", "sums"), ("mmlu:1", "algebra")
    )
    grouped = groups(near_a=["mmlu:0", "mmlu:1", "pro:0"])

    assert found(mentioned, grouped)[-2:] == [
        ("pro:0", "skill:adding", "near_duplicate", 2),
        ("pro:0", "skill:algebra", "near_duplicate", 1),
    ]


def test_the_own_skills_come_before_those_of_an_exact_twin() -> None:
    mentioned = mentions(("quiz:0", "adding"), ("quiz:1", "algebra"))

    assert found(mentioned, groups(exact_a=["quiz:0", "quiz:1"])) == [
        ("quiz:0", "skill:adding", "mention", 1),
        ("quiz:1", "skill:algebra", "mention", 1),
    ]


def test_exact_twins_come_before_near_ones() -> None:
    mentioned = mentions(("quiz:0", "adding"), ("quiz:1", "algebra"))
    grouped = groups(
        exact_a=["quiz:0", "quiz:2"], near_a=["quiz:0", "quiz:1", "quiz:2"]
    )

    assert found(mentioned, grouped)[-1:] == [
        ("quiz:2", "skill:adding", "exact_duplicate", 1)
    ]


def test_inherited_skills_are_not_passed_on() -> None:
    mentioned = mentions(("quiz:0", "adding"))
    grouped = groups(exact_a=["quiz:0", "quiz:1"], near_b=["quiz:1", "quiz:2"])

    assert [row[0] for row in found(mentioned, grouped)] == ["quiz:0", "quiz:1"]


def test_a_phrase_without_a_skill_is_no_skill_of_its_own() -> None:
    mentioned = mentions(("quiz:0", None), ("quiz:0", "unheard of"), ("quiz:1", "sums"))

    assert found(mentioned, groups(exact_a=["quiz:0", "quiz:1"])) == [
        ("quiz:0", "skill:adding", "exact_duplicate", 1),
        ("quiz:1", "skill:adding", "mention", 1),
    ]


def test_nothing_mentioned_gives_no_skills() -> None:
    assert found(mentions(), groups(exact_a=["quiz:0", "quiz:1"])) == []
