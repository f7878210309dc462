"""Replies that skillmap asked for become results like any imported ones."""

import polars as pl
import pytest

from skillmap.contracts import core, raw
from skillmap.errors import InvalidInputError
from skillmap.items.content import with_content_hashes
from skillmap.results import eval_runs
from skillmap.results.eval_runs import Cell, ModelSource, cell
from skillmap.results.replies import model_replies, replies_source
from tests.builders import (
    NO_ORDER,
    make_items,
    make_results,
    make_source,
    make_stated_items,
)

SAID = {
    "right": ("answered", "The answer is (B).", "stop"),
    "wrong": ("answered", "The answer is (A).", "stop"),
    "in words": ("answered", "I'm sorry, but I cannot help with that.", "stop"),
    "by the server": ("refused", None, None),
    "filtered": ("filtered", None, "content_filter"),
    "nothing": ("empty", "", "stop"),
    "null": ("empty", None, "stop"),
    "thinking": ("truncated", "<think>Is it (B)? The answer is (B", "length"),
    "failed": ("error", None, None),
    "too dear": ("not_attempted", None, None),
}
OUTCOMES = {
    "right": "correct",
    "wrong": "wrong",
    "in words": "refusal",
    "by the server": "refusal",
    "filtered": "refusal",
    "nothing": "empty",
    "null": "empty",
    "thinking": "truncated",
    "failed": "error",
    "too dear": "not_attempted",
}


def asked_items() -> pl.DataFrame:
    """One item for each way that a call can end."""
    return make_items(len(SAID), native_id=list(SAID), answer="B", item_position=None)


def make_replies(items: pl.DataFrame) -> pl.DataFrame:
    statuses, texts, reasons = zip(*SAID.values(), strict=True)
    replies = pl.DataFrame(
        {
            "item_id": items["item_id"],
            "epoch": 0,
            "begun": "",
            "call_key": [f"key {n}" for n in range(items.height)],
            "status": statuses,
            "text": texts,
            "finish_reason": reasons,
            "n_prompt_tokens": 7,
        },
        schema_overrides={"text": pl.String, "finish_reason": pl.String},
    )
    return replies.with_columns(
        pl.lit(None, dtype).alias(name)
        for name, dtype in raw.MODEL_REPLIES.polars_schema.items()
        if name not in (*replies.columns, *items.columns, "model_id", "prompt_id")
    )


def cell_of(replies: pl.DataFrame, items: pl.DataFrame) -> Cell:
    return cell(
        "quiz",
        "ada",
        [ModelSource(replies_source(replies), ("ada",))],
        order=NO_ORDER,
        items=items,
        release_of_source={},
    )


def asked(items: pl.DataFrame) -> pl.DataFrame:
    return model_replies(
        items,
        make_replies(items),
        benchmark_id="quiz",
        model_id="ada",
        prompt_id="direct@0",
    )


def test_each_way_to_fail_is_an_outcome_of_its_own() -> None:
    items = asked_items()

    scores = cell_of(raw.MODEL_REPLIES.conform(asked(items)), items).scores

    counted = scores.filter(extractor="source")
    found = dict(counted.select("item_id", "outcome").rows())
    assert found == {f"quiz:{name}": outcome for name, outcome in OUTCOMES.items()}
    assert counted.filter(pl.col("outcome") == "correct")["score"].to_list() == [1.0]
    assert counted.filter(pl.col("outcome") == "wrong")["score"].to_list() == [0.0]


def test_our_own_reader_agrees_with_itself_as_second_extractor() -> None:
    items = asked_items()

    scores = cell_of(asked(items), items).scores

    both = scores.filter(extractor="source").join(
        scores.filter(extractor="skillmap-1"), on="item_id", suffix="_again"
    )
    assert both.height == sum(text is not None for _, text, _ in SAID.values())
    assert both["outcome"].equals(both["outcome_again"].alias("outcome"))


def test_a_call_is_known_beside_its_response() -> None:
    items = asked_items()

    responses = cell_of(asked(items), items).responses

    assert core.RESPONSES.conform(responses)["n_prompt_tokens"].to_list() == [7] * 10
    cut = responses.filter(pl.col("finish_reason") == "length")
    assert cut["item_id"].to_list() == ["quiz:thinking"]


def test_the_words_that_the_prompt_began_belong_to_the_response() -> None:
    items = asked_items()
    begun = make_replies(items).with_columns(begun=pl.lit("Answer: "))

    replies = model_replies(
        items, begun, benchmark_id="quiz", model_id="ada", prompt_id="direct@0"
    )

    right = replies.filter(native_id="right")
    assert right["response"].item() == "Answer: The answer is (B)."
    assert replies.filter(native_id="failed")["response"].to_list() == [None]


def test_an_item_that_has_changed_since_it_was_asked_is_drifted() -> None:
    items = asked_items()
    replies = asked(items)
    changed = items.with_columns(
        answer=pl.when(pl.col("native_id") == "right")
        .then(pl.lit("A"))
        .otherwise("answer")
    )

    responses = cell_of(replies, with_content_hashes(changed)).responses

    drifted = responses.filter("is_drifted")["item_id"].to_list()
    assert drifted == ["quiz:right"]


def test_a_reply_about_no_item_of_the_benchmark_is_an_error() -> None:
    items = asked_items()

    with pytest.raises(InvalidInputError, match="1 are not, first 'quiz:right'"):
        model_replies(
            items.filter(pl.col("native_id") != "right"),
            make_replies(items),
            benchmark_id="quiz",
            model_id="ada",
            prompt_id="direct@0",
        )


def test_a_new_reader_reads_the_same_replies_again_and_asks_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = asked_items()
    replies = asked(items)
    before = cell_of(replies, items)
    monkeypatch.setattr(eval_runs, "EXTRACTOR_VERSION", "skillmap-2")

    after = cell_of(replies, items)

    assert after.responses.equals(before.responses)
    assert set(after.scores["extractor"]) == {"source", "skillmap-2"}


def test_imported_and_asked_results_of_a_model_share_a_cell() -> None:
    items = asked_items()
    imported = make_source(
        items=make_stated_items(len(SAID), native_id=list(SAID)),
        results=make_results(len(SAID), native_id=list(SAID)),
    )
    sources = [
        ModelSource(replies_source(raw.MODEL_REPLIES.conform(asked(items))), ("ada",)),
        ModelSource(imported, ("ada",)),
    ]

    made = cell(
        "quiz", "ada", sources, order=NO_ORDER, items=items, release_of_source={}
    )

    assert made.eval_runs.height == 2
    assert made.responses.height == 2 * len(SAID)
