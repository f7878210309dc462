import json
from pathlib import Path

import polars as pl
import pytest

from scripts.item_source import read_skills
from skillmap.annotation.vocabulary import (
    bundled_vocabulary,
    vocabulary_of_skills,
    vocabulary_of_text,
)
from skillmap.errors import InvalidInputError, ParseError
from skillmap.parsing.rationales import Chain, parse_rationales
from skillmap.starter import folder

SKILLS = Path(__file__).parents[2] / "scripts" / "starter_items" / "skills.txt"


def test_the_bundled_skills_are_those_of_the_starter_suite() -> None:
    files = sorted((folder() / "items").glob("*.jsonl"))
    items = [json.loads(line) for f in files for line in f.read_text().splitlines()]
    named = parse_rationales(
        pl.DataFrame(items).select("item_id", "annotator", "rationale")
    ).mentions
    chains = {
        tuple(names)
        for names in named.group_by("item_id", "step_index").agg("phrase")["phrase"]
    }
    # A key that ends in 2 says the same skill in other words.
    skills = read_skills(SKILLS)
    first = {chain: skills[key.removesuffix("2")] for key, chain in skills.items()}

    bundled = [": ".join((c.names[0], ", ".join(c.names[1:]))) for c in chains_of()]

    said = {": ".join((names[0], ", ".join(names[1:]))) for names in chains}
    assert set(bundled) == {first[chain] for chain in said}
    assert len(set(bundled)) == len(bundled)


def chains_of() -> tuple[Chain, ...]:
    return bundled_vocabulary().chains


def test_a_chain_is_compared_without_its_family() -> None:
    vocabulary = vocabulary_of_text(
        "# mine\n\nReasoning: logic, negation\nlaw, contracts\n", name="own"
    )

    assert vocabulary.phrases == ("logic, negation", "law, contracts")
    assert [chain.family for chain in vocabulary.chains] == ["reasoning", None]


def test_known_skills_stand_under_their_broad_skill() -> None:
    skills = pl.DataFrame(
        {"skill_name": ["ratios", "logic"], "broad_skill_name": ["numbers", "logic"]}
    )

    vocabulary = vocabulary_of_skills(skills)

    assert [chain.names for chain in vocabulary.chains] == [
        ("logic",),
        ("numbers", "ratios"),
    ]
    assert vocabulary.phrases == ("logic", "ratios")


def test_another_form_is_refused() -> None:
    with pytest.raises(ParseError, match="own: line 2 is not one skill"):
        vocabulary_of_text("logic\na; b\n", name="own")
    with pytest.raises(ParseError, match="own: holds no skill"):
        vocabulary_of_text("# none\n", name="own")
    with pytest.raises(InvalidInputError, match="broad_skill_name"):
        vocabulary_of_skills(pl.DataFrame({"skill_name": ["a"]}))
