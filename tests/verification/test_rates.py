import json

import numpy as np
import polars as pl
import pytest

from skillmap.calls import Parameters, Reply
from skillmap.errors import InvalidInputError
from skillmap.metrics.intervals import wilson_interval
from skillmap.prompting.item_calls import Asked
from skillmap.verification.calls import verification_calls
from skillmap.verification.rates import RATES_SCHEMA, verification_rates
from skillmap.verification.replies import read_verdicts
from skillmap.verification.sampling import sample_checks
from tests.verification.planted import corpus, item_skills, items_of

MISSES, FALSE_ALARMS = 0.07, 0.12


def verdicts_of(
    *rows: tuple[str, str, bool | None], verifier: str = "v"
) -> pl.DataFrame:
    columns = {"item_id": pl.String, "role": pl.String, "is_relevant": pl.Boolean}
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        verifier=pl.lit(verifier)
    )


def test_listed_skills_give_relevancy_and_negatives_specificity() -> None:
    verdicts = verdicts_of(
        ("b:1", "listed", True),
        ("b:2", "listed", True),
        ("b:3", "listed", False),
        ("b:4", "listed", None),
        ("b:1", "easy_negative", False),
        ("b:2", "hard_negative", True),
    )

    rates = verification_rates(verdicts)

    assert rates.schema == RATES_SCHEMA
    columns = ("measure", "role", "n_checks", "n_unreadable", "n_items", "rate")
    assert rates.select(columns).rows() == [
        ("specificity", "easy_negative", 1, 0, 1, 1.0),
        ("specificity", "hard_negative", 1, 0, 1, 0.0),
        ("relevancy", "listed", 3, 1, 3, pytest.approx(2 / 3)),
    ]
    low, high = wilson_interval(np.array([2.0]), np.array([3.0]))
    assert rates.select("rate_low", "rate_high").row(2) == pytest.approx(
        (low[0], high[0])
    )


def test_unreadable_verdicts_count_nowhere_and_alone_give_no_rate() -> None:
    rates = verification_rates(verdicts_of(("b:1", "listed", None)))

    row = rates.row(0, named=True)
    assert (row["n_checks"], row["n_unreadable"]) == (0, 1)
    assert row["rate"] is row["rate_low"] is row["rate_high"] is None


def test_checks_of_one_item_that_go_together_widen_the_interval() -> None:
    # Ten copies of one verdict an item tell no more than one.
    one = [(f"b:{k}", "listed", k % 5 != 0) for k in range(50)]

    single = verification_rates(verdicts_of(*one)).row(0, named=True)
    tenfold = verification_rates(verdicts_of(*one * 10)).row(0, named=True)

    assert tenfold["rate"] == pytest.approx(single["rate"])
    width = single["rate_high"] - single["rate_low"]
    assert tenfold["rate_high"] - tenfold["rate_low"] == pytest.approx(width, rel=0.05)
    assert tenfold["n_effective"] == pytest.approx(50, rel=0.05)


def test_rates_are_split_by_whether_the_annotator_was_right() -> None:
    verdicts = verdicts_of(
        ("b:1", "listed", True), ("b:2", "listed", False), ("b:3", "listed", True)
    ).with_columns(annotator_is_right=pl.Series([True, False, None]))

    rates = verification_rates(verdicts, by=["annotator_is_right"])

    assert rates.select("annotator_is_right", "rate").rows() == [
        (False, 0.0),
        (True, 1.0),
        (None, 1.0),
    ]


def test_a_planted_verifier_is_recovered_through_the_whole_way() -> None:
    skills = item_skills(100, benchmarks=4)
    checks = sample_checks(skills, *corpus()).checks
    asked = Asked("judge", "judge", Parameters(max_tokens=100))
    rng = np.random.default_rng(3)
    truth = {
        (item, one): role == "listed"
        for item, one, role in checks.select(
            "item_id", "prompt_skill_id", "role"
        ).rows()
    }

    replies: list[tuple[str, Reply]] = []
    for call in verification_calls(checks, items_of(skills), asked):
        lines = call.messages[-1].content.split("Skills:\n")[1].split("\n")
        said: dict[str, bool] = {}
        for one in rng.permutation([line.split(":")[0] for line in lines]):
            is_listed = truth[call.about, one]
            errs = rng.random() < (MISSES if is_listed else FALSE_ALARMS)
            said[str(one)] = is_listed ^ errs
        replies.append((call.about, Reply(call.key, "answered", json.dumps(said))))
    verdicts = read_verdicts(checks, replies, verifier="judge")
    # One world: its interval must not miss by chance.
    rates = verification_rates(verdicts, confidence_level=0.999)

    expected = {"relevancy": 1 - MISSES, "specificity": 1 - FALSE_ALARMS}
    for row in rates.iter_rows(named=True):
        assert row["rate_low"] < expected[row["measure"]] < row["rate_high"]
        assert row["rate_high"] - row["rate_low"] < 0.1
    assert rates["n_checks"].sum() == 4 * 100 * 8
    assert rates["n_unreadable"].sum() == 0


@pytest.mark.parametrize("spread", [0.0, 1.5], ids=["independent", "by item"])
def test_the_interval_holds_the_planted_rate_as_often_as_it_says(spread: float) -> None:
    # Errors that go with the item: its log odds have a standard deviation.
    n_items, n_each, n_worlds = 100, 4, 400
    rng = np.random.default_rng(11)
    odds = np.log(MISSES / (1 - MISSES))
    shifts = spread * rng.standard_normal(200_000)
    planted = 1 - float((1 / (1 + np.exp(-(odds + shifts)))).mean())
    frames: list[pl.DataFrame] = []
    for world in range(n_worlds):
        shift = spread * rng.standard_normal((n_items, 1))
        misses = rng.random((n_items, n_each)) < 1 / (1 + np.exp(-(odds + shift)))
        frames.append(
            pl.DataFrame(
                {
                    "verifier": [f"{world:04}"] * misses.size,
                    "item_id": [f"b:{k // n_each}" for k in range(misses.size)],
                    "role": ["listed"] * misses.size,
                    "is_relevant": ~misses.ravel(),
                }
            )
        )

    rates = verification_rates(pl.concat(frames))

    inside = rates.select(
        (pl.col("rate_low") <= planted) & (pl.col("rate_high") >= planted)
    )
    coverage = float(np.mean(inside.to_series().to_numpy()))
    # 95 % of 400 worlds, and three standard errors of 1.1 points.
    assert 0.917 <= coverage <= 0.983


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"role must be one of .*got 'other'"):
        verification_rates(verdicts_of(("b:1", "other", True)))
    with pytest.raises(InvalidInputError, match=r"missing: \['split'\]"):
        verification_rates(verdicts_of(("b:1", "listed", True)), by=["split"])
