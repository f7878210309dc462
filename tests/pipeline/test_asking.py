"""Language models are asked on a person's word, and their replies are results."""

import json
import re
from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl
import pytest

from skillmap.calls.budget import Budget
from skillmap.contracts import annotation, core, probing, raw
from skillmap.contracts.table import Table
from skillmap.errors import InvalidInputError
from skillmap_dagster.asking import ask, outcomes, with_language_model
from skillmap_dagster.planning import Task
from skillmap_dagster.resources.language_models.configuration import (
    AnnotatorModel,
    LanguageModel,
    OfflineAnnotator,
    Probing,
    Responder,
)
from skillmap_dagster.resources.language_models.session import Session
from skillmap_dagster.resources.settings import AnalysisSettings
from skillmap_dagster.runs import Platform
from tests.dagster.language_models.misbehaving_server import (
    Answer,
    Asked,
    Server,
    completion,
    failure,
    serving,
)
from tests.pipeline.places import Made
from tests.pipeline.sources import N_ITEMS, bring_in, contents, write_results

PROBE = {"claim": "It is so.", "q1": "So?", "q2": "Other?", "q3": "What?"}
RESPONDER = Responder(language_model="loop")
CELL = {"benchmark": "sums", "model": "eve"}
SUMS = {"benchmark": "sums"}
RATIONALE = {
    "steps": [
        {
            "title": "Add",
            "skill": ["Reasoning", "arithmetic", "carrying digits"],
            "evidence": "the sum",
            "conclusion": "it is done",
        }
    ],
    "answer": "1",
}


def number_in(asked: Asked) -> int:
    found = re.search(r"Question (\d+) of", asked.question)
    assert found
    return int(found.group(1))


def answered(asked: Asked) -> Answer:
    """What each kind of call wants; an item gets its kind of answer by its number."""
    schema = asked.body.get("response_format", {}).get("json_schema", {})
    if schema:
        return completion(structured(schema, asked))
    if any(question in asked.question for question in PROBE.values()):
        return completion("Yes.")
    number = number_in(asked)
    kinds = {
        0: completion("ANSWER: 0"),
        1: completion("ANSWER: 99"),
        2: completion(""),
        3: completion("I'm sorry, but I can't help with that."),
        4: completion(None, finish_reason="length"),
        5: completion(None, message={"refusal": "No."}),
        6: failure(400, "this one is not for me"),
    }
    return kinds.get(number, completion(f"ANSWER: {number}"))


def structured(schema: dict[str, Any], asked: Asked) -> str:
    """An answer that follows a schema, but for one item that is judged in words."""
    if schema["name"] == "judgement" and number_in(asked) == 1:
        return "well"
    ids = schema["schema"]["properties"]
    told = {
        "rationale": RATIONALE,
        "verdicts": dict.fromkeys(ids, True),
        "probe": PROBE,
        "judgement": {"consistent": False},
    }
    return json.dumps(told[schema["name"]])


OUTCOMES = {
    0: "correct",
    1: "wrong",
    2: "empty",
    3: "refusal",
    4: "truncated",
    5: "refusal",
    6: "error",
    **dict.fromkeys(range(7, N_ITEMS), "correct"),
}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answered) as found:
        yield found


def configured(made: Made, server: Server, **model: object) -> Platform:
    """The home with a language model behind it for every job there is."""
    settings = made.platform.resources["settings"]
    told = {"base_url": server.url, "max_tokens": 32, **model}
    settings.write(
        settings.read().model_copy(
            update={
                "language_models": {"loop": LanguageModel.model_validate(told)},
                "responders": {"eve": RESPONDER},
                "annotators": {"wise": AnnotatorModel(language_model="loop")},
                "verifiers": ("loop",),
            }
        )
    )
    return made.platform


def asked_for(
    platform: Platform,
    table: Table,
    partition: dict[str, str],
    budget: Budget | None = None,
) -> Session:
    session = Session(budget or Budget())
    failures = ask(platform, table, [partition], session, beginning=lambda *_: None)
    assert failures == []
    return session


def rows(platform: Platform, table: Table, partition: dict[str, str]) -> pl.DataFrame:
    return platform.resources["lake"].read(table, **partition)


def test_replies_become_scores_and_every_way_to_fail_an_outcome(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)

    asked_for(platform, raw.MODEL_REPLIES, CELL)
    platform.bring_up_to_date()

    scores = rows(platform, core.SCORES, CELL).filter(extractor="source")
    found = {
        int(item.rpartition("-")[2]): outcome
        for item, outcome in scores.select("item_id", "outcome").rows()
    }
    assert found == OUTCOMES
    responses = rows(platform, core.RESPONSES, CELL)
    assert responses["n_prompt_tokens"].drop_nulls().unique().to_list() == [10]
    accuracy = platform.resources["warehouse"].query(
        "select n_items, accuracy from mart.model_accuracy where model_id = 'eve'"
    )
    # The error is left out; the others that say nothing count as wrong.
    assert accuracy.row(0) == (N_ITEMS - 1, pytest.approx(6 / (N_ITEMS - 1)))


def test_what_was_answered_is_never_asked_again(made: Made, server: Server) -> None:
    platform = configured(made, server)
    asked_for(platform, raw.MODEL_REPLIES, CELL)
    n_before = len(server.asked)

    again = asked_for(platform, raw.MODEL_REPLIES, CELL)

    # Only the one that failed.
    assert [number_in(a) for a in server.asked[n_before:]] == [6]
    assert again.summaries[0].n_logged == N_ITEMS - 1


def test_another_temperature_is_another_question(made: Made, server: Server) -> None:
    platform = configured(made, server)
    asked_for(platform, raw.MODEL_REPLIES, CELL)
    n_before = len(server.asked)

    asked_for(configured(made, server, temperature=0.7), raw.MODEL_REPLIES, CELL)

    assert len(server.asked) - n_before == N_ITEMS
    assert {a.body["temperature"] for a in server.asked[n_before:]} == {0.7}


def test_a_used_up_budget_keeps_what_is_done_and_says_so(
    made: Made, server: Server
) -> None:
    prices = {
        "usd_per_million_prompt_tokens": 100,
        "usd_per_million_completion_tokens": 1000,
        "max_concurrency": 1,
    }
    platform = configured(made, server, **prices)
    # A call costs 10 * 100 + 5 * 1000 millionths of a USD.
    budget = Budget(usd=0.05)

    session = asked_for(platform, raw.MODEL_REPLIES, CELL, budget)

    told = session.summaries[0]
    assert told.is_budget_stopped
    assert 0 < told.cost_usd <= 0.05
    stored = outcomes(platform, raw.MODEL_REPLIES, [CELL])
    left_out = stored.filter(status="not_attempted")["n_calls"].item()
    assert left_out == told.n_not_attempted == N_ITEMS - told.n_made
    assert session.left.usd == pytest.approx(0.05 - told.cost_usd)
    asked_for(platform, raw.MODEL_REPLIES, CELL)
    assert "not_attempted" not in rows(platform, raw.MODEL_REPLIES, CELL)["status"]


def test_a_trial_asks_the_first_items_and_the_rest_later(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)

    asked_for(platform.with_language_models(n_items=3), raw.MODEL_REPLIES, CELL)

    assert len(server.asked) == 3
    assert len(rows(platform, raw.MODEL_REPLIES, CELL)) == 3
    asked_for(platform, raw.MODEL_REPLIES, CELL)
    assert len({number_in(asked) for asked in server.asked}) == N_ITEMS
    # A trial after that takes nothing away.
    asked_for(platform.with_language_models(n_items=3), raw.MODEL_REPLIES, CELL)
    assert len(rows(platform, raw.MODEL_REPLIES, CELL)) == N_ITEMS


def test_only_the_named_annotator_is_asked(made: Made, server: Server) -> None:
    platform = configured(made, server)
    settings = platform.resources["settings"]
    chosen = settings.read()
    both = {
        "wise": chosen.annotators["wise"],
        "bare": AnnotatorModel(language_model="loop", prompt="direct"),
    }
    settings.write(chosen.model_copy(update={"annotators": both}))

    asked_for(
        platform.with_language_models(names=["bare"]), raw.ANNOTATOR_REPLIES, SUMS
    )

    assert len(server.asked) == N_ITEMS
    replies = rows(platform, raw.ANNOTATOR_REPLIES, SUMS)
    is_left_out = pl.col("status") == "not_attempted"
    told = replies.group_by("annotator").agg(is_left_out.sum()).sort("annotator")
    assert told.rows() == [("bare", 0), ("wise", N_ITEMS)]


def test_nothing_that_asks_models_is_made_by_itself(made: Made, server: Server) -> None:
    platform = configured(made, server)

    platform.bring_up_to_date()
    platform.backfill(["ada", "eve"])

    assert server.asked == []
    assert platform.resources["lake"].partitions(raw.MODEL_REPLIES) == []


def test_a_configured_model_is_a_partition_that_the_ui_can_ask_for(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)
    platform.add_partition_keys()

    assert "eve" in platform.instance.get_dynamic_partitions("model")
    failures = platform.run(Task(CELL, [dg.AssetKey(["raw", "model_replies"])]))
    assert failures == []
    assert len(rows(platform, raw.MODEL_REPLIES, CELL)) == N_ITEMS


def test_a_model_that_nobody_configured_is_not_asked(made: Made) -> None:
    failures = made.platform.run(
        Task({**CELL, "model": "ada"}, [dg.AssetKey(["raw", "model_replies"])])
    )

    assert len(failures) == 1
    assert "no responder 'ada' under `responders`" in failures[0]


def test_an_asked_annotator_names_skills_beside_the_imported_ones(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)
    before = rows(platform, core.SKILL_MENTIONS, SUMS)

    asked_for(platform, raw.ANNOTATOR_REPLIES, SUMS)
    platform.bring_up_to_date()

    mentions = rows(platform, core.SKILL_MENTIONS, SUMS)
    new = mentions.filter(annotator="wise")
    assert new["item_id"].n_unique() == N_ITEMS
    assert set(new["normalised_phrase"]) == {
        "reasoning",
        "arithmetic",
        "carrying digits",
    }
    assert mentions.filter(pl.col("annotator") != "wise").equals(before)


def test_the_reference_answer_is_not_shown_to_the_annotator(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)

    asked_for(platform, raw.ANNOTATOR_REPLIES, SUMS)

    items = rows(platform, core.ITEMS, SUMS)
    shown = {number_in(a): a.question for a in server.asked}
    for question, answer in items.select("question", "answer").rows():
        told = shown[int(answer)]
        assert question in told
        # The number stands in the question itself, and nowhere after it.
        assert answer not in told.rpartition(question)[2]


def test_the_offline_annotator_needs_no_model(made: Made) -> None:
    settings = made.platform.resources["settings"]
    offline = OfflineAnnotator(threshold=0.0, annotates_all=True)
    settings.write(settings.read().model_copy(update={"offline_annotator": offline}))

    made.platform.bring_up_to_date()

    found = rows(made.platform, annotation.OFFLINE_MENTIONS, SUMS)
    assert found["item_id"].n_unique() == N_ITEMS
    mentions = rows(made.platform, core.SKILL_MENTIONS, SUMS)
    offline_ones = mentions.filter(annotator="offline:minilm")
    assert offline_ones.height == found.height


def test_the_offline_annotator_leaves_items_with_skills_alone(made: Made) -> None:
    before = contents(made.platform.resources["lake"])[
        ("core.skill_mentions", ("sums",))
    ]
    settings = made.platform.resources["settings"]
    offline = OfflineAnnotator(threshold=0.0)
    settings.write(settings.read().model_copy(update={"offline_annotator": offline}))

    made.platform.bring_up_to_date()

    assert (
        contents(made.platform.resources["lake"])[("core.skill_mentions", ("sums",))]
        == before
    )


def test_a_verifier_that_confirms_everything_has_no_specificity(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)
    settings = platform.resources["settings"]
    chosen = settings.read()
    near = chosen.verification.model_copy(
        update={"easy_below": 0.9, "hard_from": 0.9, "hard_below": 1.0}
    )
    settings.write(chosen.model_copy(update={"verification": near}))

    asked_for(platform, annotation.SKILL_VERDICTS, SUMS)
    platform.bring_up_to_date()

    rates = platform.resources["lake"].read(annotation.VERIFICATION_RATES)
    told = dict(rates.filter(scope="all").select("role", "rate").rows())
    assert told == {"listed": 1.0, "easy_negative": 0.0}


def test_a_probe_that_failed_counts_as_neither(made: Made, server: Server) -> None:
    platform = configured(made, server)
    asked_for(platform, raw.ANNOTATOR_REPLIES, SUMS)
    settings = platform.resources["settings"]
    plan = Probing(
        maker="loop",
        language_models=("loop",),
        judge="loop",
        n_skills=1,
        n_steps=N_ITEMS,
        fewest_items=1,
    )
    settings.write(settings.read().model_copy(update={"probing": plan}))
    platform.bring_up_to_date()

    asked_for(platform, probing.SKILL_PROBES, {})
    platform.bring_up_to_date()

    probes = platform.resources["lake"].read(probing.SKILL_PROBES)
    rates = platform.resources["lake"].read(probing.PROBE_INCONSISTENCY)
    assert rates["inconsistency"].unique().to_list() == [1.0]
    n_mute = probes.filter(pl.col("item_id").str.ends_with("-1")).height
    assert n_mute > 0
    assert rates["n_failed"].sum() == n_mute
    assert rates["n_probes"].sum() + n_mute == probes.height
    # The open question is asked three times, and not greedily.
    warm = [
        a for a in server.asked if "What?" in a.question and "Yes." not in a.question
    ]
    assert {a.body["temperature"] for a in warm} == {0.7}
    assert len(warm) == 3 * probes.height


def test_a_language_model_is_configured_by_what_is_told() -> None:
    settings = with_language_model(
        AnalysisSettings(),
        "loop",
        {"base_url": "http://127.0.0.1:1/v1", "folder": None},
    )

    changed = with_language_model(settings, "loop", {"max_tokens": 7})

    model = changed.language_model("loop")
    assert (model.base_url, model.max_tokens) == ("http://127.0.0.1:1/v1", 7)


def test_a_password_in_an_address_is_neither_written_nor_told(made: Made) -> None:
    settings = made.platform.resources["settings"]
    address = {"base_url": "http://ada:secret@127.0.0.1/v1"}

    with pytest.raises(InvalidInputError, match="no user and no password") as raised:
        with_language_model(settings.read(), "loop", address)

    assert "secret" not in str(raised.value)
    # Neither where it was written by hand.
    models = {"loop": LanguageModel.model_validate(address)}
    told = {"language_models": models, "responders": {"eve": RESPONDER}}
    settings.write(settings.read().model_copy(update=told))
    made.platform.add_partition_keys()
    failures = made.platform.run(Task(CELL, [dg.AssetKey(["raw", "model_replies"])]))
    assert "no user and no password" in failures[0]
    assert "secret" not in failures[0]


def test_a_benchmark_without_skills_has_nothing_to_verify(
    made: Made, server: Server
) -> None:
    platform = configured(made, server)
    folder = made.sources / "more"
    write_results(folder, "bare", "ada", names_skills=False)
    assert bring_in(platform, folder).failures == []

    asked_for(platform, annotation.SKILL_VERDICTS, {"benchmark": "bare"})

    assert server.asked == []
    assert rows(platform, annotation.SKILL_VERDICTS, {"benchmark": "bare"}).is_empty()
