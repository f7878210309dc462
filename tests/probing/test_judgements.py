import numpy as np
import polars as pl
import pytest

from skillmap.calls import Reply
from skillmap.errors import InvalidInputError
from skillmap.probing.answers import (
    ANSWERS_SCHEMA,
    ASKED_QUESTIONS,
    answer_calls,
    read_answers,
)
from skillmap.probing.judgements import (
    JUDGEMENTS_SCHEMA,
    RATES_SCHEMA,
    inconsistency_rates,
    judge_calls,
    read_judgements,
)
from skillmap.probing.probes import read_probes, sampled_spans
from tests.probing.planted import ASKED, items_of, made, reply, spans_of

SPANS = sampled_spans(spans_of())
IDS = SPANS["probe_id"].to_list()
# The last probe could not be made.
PROBES = read_probes(SPANS, [(one, made()) for one in IDS[:-1]])


def answered(*, without: tuple[str, ...] = ()) -> pl.DataFrame:
    replies = [
        (call.about, reply("ten"))
        for call in answer_calls(PROBES, items_of(), ASKED)
        if call.about not in without
    ]
    return read_answers(PROBES, replies, model="tested")


def test_each_probe_is_five_distinct_calls_about_its_item() -> None:
    calls = list(answer_calls(PROBES, items_of(), ASKED))

    assert len(calls) == 5 * (len(IDS) - 1)
    assert len({call.about for call in calls}) == len(calls)
    first = calls[:5]
    assert len({call.key for call in first}) == 5
    assert [(c.about.split("|")[1], c.epoch) for c in first] == list(ASKED_QUESTIONS)
    for call in first:
        told = call.messages[-1].content
        assert "Background 0?\nA. one\nB. two" in told
        assert "REFERENCE" not in told
        assert "step of item" not in told
    assert first[1].messages[-1].content.endswith("Is it nine?")


def test_answers_are_found_again_in_any_order() -> None:
    calls = list(answer_calls(PROBES, items_of(), ASKED))
    replies = [(call.about, reply(f"said of {call.about}")) for call in calls]

    answers = read_answers(PROBES, reversed(replies), model="tested")

    assert answers.schema == ANSWERS_SCHEMA
    assert answers.height == len(calls)
    for row in answers.iter_rows(named=True):
        about = f"{row['probe_id']}|{row['question']}|{row['epoch']}"
        assert row["answer"] == f"said of {about}"
        assert row["reason"] is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (reply("I'm sorry, but I can't help with that."), "refused"),
        (reply("<think>ten"), "truncated"),
        (reply("ten, or", "truncated"), "truncated"),
        (reply(None, "error"), "error"),
        (reply(" "), "empty"),
    ],
)
def test_what_is_no_answer_has_a_reason(said: Reply, reason: str) -> None:
    answers = read_answers(PROBES, [(f"{IDS[0]}|q1|0", said)], model="tested")

    assert answers.row(0, named=True)["answer"] is None
    assert answers["reason"].to_list()[:2] == [reason, "not_attempted"]


def test_the_judge_sees_all_five_answers_and_neither_claim_nor_reference() -> None:
    calls = list(judge_calls(PROBES, answered(), items_of(), ASKED))

    assert [call.about for call in calls] == IDS[:-1]
    told = calls[0].messages[-1].content
    assert told.count("How much is it?\nAnswer ") == 3
    assert "Question 5: " in told
    assert "It is ten." not in told
    assert "REFERENCE" not in told


def test_a_probe_with_a_missing_answer_is_not_judged() -> None:
    answers = answered(without=(f"{IDS[1]}|q3|2",))

    calls = list(judge_calls(PROBES, answers, items_of(), ASKED))

    assert [call.about for call in calls] == [IDS[0], *IDS[2:-1]]


def test_a_failure_of_any_stage_is_told_apart_from_inconsistency() -> None:
    answers = answered(without=(f"{IDS[1]}|q3|2",))
    replies = [
        (IDS[0], reply('{"consistent": true}')),
        (IDS[1], reply('{"consistent": false}')),
        (IDS[2], reply('```json\n{"consistent": "false",}\n```')),
        (IDS[3], reply("The answers are TRUE")),
    ]

    judgements = read_judgements(PROBES, answers, replies, judge="judge")

    assert judgements.schema == JUDGEMENTS_SCHEMA
    columns = ("probe_id", "is_consistent", "failed_stage", "reason")
    assert judgements.select(columns).rows() == [
        (IDS[0], True, None, None),
        (IDS[1], None, "answer", "not_attempted"),
        (IDS[2], False, None, None),
        (IDS[3], None, "judgement", "unreadable"),
        (IDS[4], None, "judgement", "not_attempted"),
        (IDS[5], None, "probe", "not_attempted"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("True", True),
        ("**False.**", False),
        ("UNTRUE", None),
        ('{"consistent": true, "consistent": false}', None),
        ('{"consistent": 1}', None),
        ("<think>false</think>true", True),
    ],
)
def test_a_verdict_is_read_whole_or_not_at_all(
    text: str, *, expected: bool | None
) -> None:
    """The published reader took "UNTRUE" for consistent."""
    judgements = read_judgements(
        PROBES, answered(), [(IDS[0], reply(text))], judge="judge"
    )

    assert judgements["is_consistent"].to_list()[0] is expected


def test_failures_never_count_as_inconsistent() -> None:
    rows = [
        ("skill:0", "b:1", True, None),
        ("skill:0", "b:2", False, None),
        ("skill:0", "b:3", None, "probe"),
        ("skill:0", "b:4", None, "answer"),
        ("skill:1", "b:1", None, "judgement"),
    ]
    judgements = pl.DataFrame(
        rows,
        schema=["skill_id", "item_id", "is_consistent", "failed_stage"],
        orient="row",
    ).with_columns(
        probe_id=pl.format("{}#{}", "skill_id", "item_id"),
        model=pl.lit("tested"),
        judge=pl.lit("judge"),
        reason=pl.lit(None, pl.String),
        call_key=pl.lit(None, pl.String),
        level=pl.lit("lowest"),
    )

    by_skill = inconsistency_rates(judgements, by=["skill_id"])
    by_level = inconsistency_rates(judgements, by=["level"])

    columns = ("skill_id", "n_probes", "n_failed", "n_items", "inconsistency")
    assert by_skill.select(columns).rows() == [
        ("skill:0", 2, 2, 2, 0.5),
        ("skill:1", 0, 1, 0, None),
    ]
    assert by_level.columns == ["level", *RATES_SCHEMA]
    assert by_level.select("n_probes", "n_failed").row(0) == (2, 3)


def test_the_planted_rate_is_held_as_often_as_the_interval_says() -> None:
    rng = np.random.default_rng(8)
    n_worlds, n_items, n_each, rate = 300, 60, 3, 0.2
    frames = [
        pl.DataFrame(
            {
                "model": [f"{world:03}"] * (n_items * n_each),
                "item_id": [f"b:{k // n_each}" for k in range(n_items * n_each)],
                "is_consistent": rng.random(n_items * n_each) >= rate,
            }
        )
        for world in range(n_worlds)
    ]
    nothing = pl.lit(None, pl.String)
    others = set(JUDGEMENTS_SCHEMA) - {"model", "item_id", "is_consistent"}
    judgements = pl.concat(frames).with_columns(
        nothing.alias(n) for n in sorted(others)
    )

    rates = inconsistency_rates(judgements)

    is_inside = (pl.col("inconsistency_low") <= rate) & (
        pl.col("inconsistency_high") >= rate
    )
    # 95 % of 300 worlds, and three standard errors of 1.3 points.
    assert rates.filter(is_inside).height / n_worlds >= 0.912


def test_answers_of_two_models_are_not_mixed() -> None:
    both = pl.concat([answered(), answered().with_columns(model=pl.lit("other"))])

    with pytest.raises(InvalidInputError, match="answers must be of one model, got 2"):
        judge_calls(PROBES, both, items_of(), ASKED)
    with pytest.raises(InvalidInputError, match="columns are missing"):
        answer_calls(PROBES.drop("q1"), items_of(), ASKED)
    with pytest.raises(InvalidInputError, match="judgements: columns are missing"):
        inconsistency_rates(PROBES)
