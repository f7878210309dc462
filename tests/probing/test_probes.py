import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.calls import Reply
from skillmap.errors import InvalidInputError
from skillmap.probing.probes import (
    PROBES_SCHEMA,
    SPANS_SCHEMA,
    probe_calls,
    probed_skills,
    read_probes,
    sampled_spans,
)
from tests.probing.planted import ASKED, QUESTIONS, made, reply, spans_of


def accuracies_of(n: int, n_items: int = 25) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "skill_id": [f"skill:{k:03}" for k in range(n)],
            "n_items": [n_items] * n,
            "accuracy": [k / n for k in range(n)],
        }
    )


def test_skills_are_taken_at_both_ends_and_in_the_middle() -> None:
    skills = probed_skills(accuracies_of(101), n_each=20)

    by_level = {
        level: [int(s.removeprefix("skill:")) for s in rows["skill_id"]]
        for (level,), rows in skills.group_by("level")
    }
    assert by_level["lowest"] == list(range(20))
    assert by_level["middle"] == list(range(40, 60))
    assert by_level["highest"] == list(range(81, 101))


@given(st.integers(0, 70), st.integers(1, 20))
def test_a_skill_has_one_level_however_few_there_are(n: int, n_each: int) -> None:
    skills = probed_skills(accuracies_of(n), n_each=n_each)

    assert skills["skill_id"].is_unique().all()
    counts = skills["level"].value_counts()["count"].to_list()
    assert counts == [min(n_each, n // 3)] * len(counts)


def test_a_skill_of_few_items_is_not_probed() -> None:
    assert probed_skills(accuracies_of(9, n_items=24)).is_empty()


def test_steps_are_drawn_at_random_and_not_from_the_top() -> None:
    spans = spans_of(n_skills=1, n_items=400)

    drawn = sampled_spans(spans, per_skill=20)

    assert drawn.schema == SPANS_SCHEMA
    assert drawn.height == drawn["item_id"].n_unique() == 20
    places = drawn["item_id"].str.slice(2).cast(pl.Int64)
    # The mean of 20 of 400 places is 199.5 with a standard error of 25.
    assert 100 < float(places.to_numpy().mean()) < 300
    assert drawn.equals(sampled_spans(spans.reverse(), per_skill=20))
    assert not drawn.equals(sampled_spans(spans, per_skill=20, seed=1))


def test_one_step_is_drawn_of_an_item_that_has_several() -> None:
    spans = pl.concat(
        [spans_of(1, 1), spans_of(1, 1).with_columns(span=pl.lit("other"))]
    )

    drawn = sampled_spans(spans)

    assert drawn["probe_id"].to_list() == ["skill:0#b:0"]
    assert drawn["span"].to_list()[0] in {"step of item 0", "other"}


def test_another_skill_changes_no_draw() -> None:
    one = sampled_spans(spans_of(1, 50), per_skill=5)

    both = sampled_spans(spans_of(2, 50), per_skill=5)

    assert both.filter(skill_id="skill:0").equals(one)


def test_steps_without_text_are_left_out() -> None:
    spans = spans_of(1, 3).with_columns(span=pl.Series(["x", None, " "]))

    assert sampled_spans(spans)["item_id"].to_list() == ["b:0"]
    assert sampled_spans(spans.clear()).is_empty()


def test_a_probe_is_asked_for_with_its_skill_and_its_step() -> None:
    spans = sampled_spans(spans_of())

    calls = list(probe_calls(spans, ASKED))

    assert [call.about for call in calls] == spans["probe_id"].to_list()
    assert "Skill: skill 0" in calls[0].messages[-1].content
    assert "step of item 0" in calls[0].messages[-1].content
    assert calls[0].structure is not None
    assert json.loads(calls[0].structure.schema)["required"] == list(QUESTIONS)


def test_a_probe_is_read_or_has_the_reason_why_not() -> None:
    spans = sampled_spans(spans_of(2, 5))
    ids = spans["probe_id"].to_list()
    replies = [
        made(),
        reply(
            "Here: {'claim': 'It is ten.', 'q1': 'Is it ten?', 'Q2': 'Is it nine?', "
            "'q3': 'How much is it?',}"
        ),
        reply('{"claim": "a", "q1": "b", "q2": "c", "q3": "cut o', "truncated"),
        made(q2="Is it ten?"),
        made(q3=" "),
        reply("I'm sorry, but I can't help with that."),
        reply(None, "error"),
        reply("[1, 2]"),
        reply(""),
    ]

    probes = read_probes(spans, zip(ids, replies, strict=False))

    assert probes.schema == PROBES_SCHEMA
    assert probes["reason"].to_list() == [
        None,
        None,
        "truncated",
        "unreadable",
        "unreadable",
        "refused",
        "error",
        "unreadable",
        "empty",
        "not_attempted",
    ]
    for row in probes.head(2).iter_rows(named=True):
        assert {name: row[name] for name in QUESTIONS} == QUESTIONS
    assert probes["q1"].null_count() == 8


@given(st.text() | st.text('{}[]":,claimq123 '))
def test_no_reply_makes_it_fail(text: str) -> None:
    spans = sampled_spans(spans_of(1, 1))

    probes = read_probes(spans, [("skill:0#b:0", Reply("key", "answered", text))])

    assert probes.height == 1
    assert probes["reason"].to_list() != [None]


def test_what_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="per_skill must be at least 1"):
        sampled_spans(spans_of(), per_skill=0)
    with pytest.raises(InvalidInputError, match=r"spans: columns are missing: \['span"):
        sampled_spans(spans_of().drop("span"))
