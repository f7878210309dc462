import numpy as np
import polars as pl
import pytest

from skillmap.errors import InvalidInputError
from skillmap.verification.sampling import CHECKS_SCHEMA, SamplePlan, sample_checks
from tests.verification.planted import corpus, item_skills

PHRASES, VECTORS = corpus()


def test_each_item_has_listed_skills_and_negatives_of_both_kinds() -> None:
    skills = item_skills(150, benchmarks=2)

    sample = sample_checks(skills, PHRASES, VECTORS)

    assert sample.checks.schema == CHECKS_SCHEMA
    assert sample.shortfalls.is_empty()
    per_benchmark = sample.checks.group_by("benchmark_id").agg(
        pl.col("item_id").n_unique()
    )
    assert per_benchmark["item_id"].to_list() == [100, 100]
    per_item = sample.checks.group_by("item_id").agg(
        *((pl.col("role") == role).sum().alias(role) for role in ("listed",)),
        easy=(pl.col("role") == "easy_negative").sum(),
        hard=(pl.col("role") == "hard_negative").sum(),
        ids=pl.col("prompt_skill_id").sort(),
        phrases=pl.col("phrase").n_unique(),
    )
    assert set(per_item["listed"]) == {4}
    assert set(per_item["easy"]) == set(per_item["hard"]) == {2}
    assert set(per_item["phrases"]) == {8}
    assert {tuple(ids) for ids in per_item["ids"]} == {
        ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")
    }


def test_negatives_are_within_their_bounds_to_every_listed_skill() -> None:
    skills = item_skills(50)
    place = {phrase: k for k, phrase in enumerate(PHRASES["phrase"])}
    listed = dict(skills.group_by("item_id").agg("phrase").rows())

    checks = sample_checks(skills, PHRASES, VECTORS).checks

    for row in checks.iter_rows(named=True):
        own = VECTORS[[place[p] for p in listed[row["item_id"]]]]
        largest = float((own @ VECTORS[place[row["phrase"]]]).max())
        if row["role"] == "listed":
            assert row["phrase"] in listed[row["item_id"]]
            assert row["similarity"] is None
        else:
            assert row["phrase"] not in listed[row["item_id"]]
            assert row["similarity"] == pytest.approx(largest, abs=1e-4)
        if row["role"] == "easy_negative":
            assert largest < 0.3
        if row["role"] == "hard_negative":
            assert 0.5 <= largest < 0.75


def test_the_id_of_a_skill_tells_nothing_of_its_role() -> None:
    checks = sample_checks(
        item_skills(400), PHRASES, VECTORS, plan=SamplePlan(n_items=400)
    ).checks

    share = checks.group_by("prompt_skill_id").agg((pl.col("role") == "listed").mean())

    # Half of the skills are listed; four standard errors of 400 draws.
    assert share["role"].to_list() == pytest.approx([0.5] * 8, abs=4 * 0.025)


def test_another_item_or_another_order_changes_no_draw() -> None:
    skills = item_skills(60)
    one = skills.filter(item_id="b0:7")
    plan = SamplePlan(n_items=1_000)

    alone = sample_checks(one, PHRASES, VECTORS, plan=plan).checks
    among = sample_checks(
        skills.sample(fraction=1, shuffle=True, seed=1), PHRASES, VECTORS, plan=plan
    ).checks

    assert among.filter(item_id="b0:7").equals(alone)
    assert not alone.equals(
        sample_checks(one, PHRASES, VECTORS, plan=SamplePlan(seed=1)).checks
    )


def test_a_larger_sample_holds_the_smaller_one() -> None:
    skills = item_skills(100)

    small = sample_checks(skills, PHRASES, VECTORS, plan=SamplePlan(n_items=10)).checks
    large = sample_checks(skills, PHRASES, VECTORS, plan=SamplePlan(n_items=30)).checks

    assert set(small["item_id"]) < set(large["item_id"])


def test_negatives_that_cannot_be_drawn_are_counted() -> None:
    near = PHRASES.filter(pl.col("phrase").str.contains("field [0-4] "))
    rows = np.flatnonzero(PHRASES["phrase"].is_in(near["phrase"].to_list()).to_numpy())
    skills = pl.DataFrame(
        {
            "benchmark_id": ["b"] * 5,
            "item_id": ["b:1"] * 5,
            "phrase": [f"field {f} skill 0" for f in range(5)],
        }
    )

    sample = sample_checks(skills, near, VECTORS[rows])

    assert sample.shortfalls.rows() == [("b", "easy_negative", 2)]
    assert "easy_negative" not in sample.checks["role"]


def test_what_does_not_fit_together_is_refused() -> None:
    skills = item_skills(3)

    with pytest.raises(InvalidInputError, match="are not in the corpus, first 'field"):
        sample_checks(skills, PHRASES.head(1), VECTORS[:1])
    with pytest.raises(InvalidInputError, match="got 180 and 179"):
        sample_checks(skills, PHRASES, VECTORS[1:])
    with pytest.raises(InvalidInputError, match="each phrase must stand once"):
        sample_checks(skills, pl.concat([PHRASES.head(1)] * 2), VECTORS[:2])
    with pytest.raises(InvalidInputError, match="missing"):
        sample_checks(skills.drop("phrase"), PHRASES, VECTORS)
    with pytest.raises(InvalidInputError, match="easy_below <= hard_from < hard_below"):
        SamplePlan(easy_below=0.8)
    with pytest.raises(InvalidInputError, match="must not be negative"):
        SamplePlan(n_easy=-1)
