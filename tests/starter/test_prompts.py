import hashlib
import json

import pytest

from scripts.record_starter_responses import (
    BATCH_SIZE,
    MODES,
    Mode,
    batches,
    chat_about,
    read_items,
)

# Chats of the recorded responses, hashed when they were recorded.
RECORDED = {
    "direct": "f1cd6ae7bfc8c041f063f44d4ff98b78304b402029992a6b6c913c0d0af2ad9e",
    "few_shot": "06bd4a870b465213d65a98b7d2bbc9c5d5f300bc2f42cf4458c4e068abe142aa",
    "step_by_step": "df679b14b731d6a28704e4358ab578b95b6edadd31ca4b40135dfee6f1c88a91",
}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_the_chats_are_those_that_were_answered(mode: Mode) -> None:
    chats = [chat_about(item, mode.prompt) for item in read_items()]

    told = json.dumps(chats).encode()

    assert hashlib.sha256(told).hexdigest() == RECORDED[mode.name]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_no_item_is_given_away_as_an_example(mode: Mode) -> None:
    text = "\n".join(
        turn.content for part in mode.prompt.parts.values() for turn in part
    )

    assert [item["item_id"] for item in read_items() if item["question"] in text] == []


def test_batches_hold_each_item_once_and_one_benchmark_each() -> None:
    items = read_items()

    groups = list(batches(items))

    assert [position for group in groups for position in group] == list(
        range(len(items))
    )
    assert all(len(group) <= BATCH_SIZE for group in groups)
    for group in groups:
        assert len({items[position]["benchmark"] for position in group}) == 1
