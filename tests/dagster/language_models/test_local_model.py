"""Batches and replies, with a stand-in for the model; `tests/torch` has a real one."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillmap.calls import Call, Message, Parameters, Reply
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models import local_model
from skillmap_dagster.resources.language_models.local_model import LocalModel
from skillmap_dagster.resources.language_models.transformers_decoder import (
    Generation,
    Prompt,
)
from skillmap_dagster.resources.language_models.transport import Transport

_CONTEXT = 50


class WordModel:
    """A token for each word; says how long the prompt is, and fails where told to."""

    context_length = _CONTEXT
    batches: list[list[int]]

    def __init__(self, *_: object, **__: object) -> None:
        WordModel.batches = []

    def tokens(self, messages: Sequence[dict[str, Any]]) -> list[int]:
        words = messages[-1]["content"].split()
        if words[0] == "unlikely":
            raise RuntimeError("the template does not take this chat")
        return [len(word) for word in words]

    def generate(self, prompts: Sequence[Prompt]) -> list[Generation]:
        lengths = [len(prompt.tokens) for prompt in prompts]
        WordModel.batches.append(lengths)
        if 13 in lengths:
            raise MemoryError("no room")
        return [
            Generation(
                "" if n == 1 else f"{n} words", "length" if n == 3 else "stop", 2
            )
            for n in lengths
        ]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LocalModel:
    monkeypatch.setattr(local_model, "Decoder", WordModel)
    return LocalModel(folder=tmp_path, device="cpu", batch_size=4)


def ask(n_words: int, word: str = "word") -> Call:
    chat = (Message("user", " ".join([word] * n_words)),)
    return Call("tiny", "served", chat, Parameters(10))


def replies(transport: Transport, *calls: Call) -> list[Reply]:
    got: list[Reply] = []
    transport.transmit(iter(calls), got.append)
    assert sorted(r.key for r in got) == sorted(c.key for c in calls)
    return [next(r for r in got if r.key == call.key) for call in calls]


def test_neighbours_in_length_share_a_batch(model: LocalModel) -> None:
    lengths = [9, 2, 8, 3, 7, 4, 6, 5]

    got = replies(model, *map(ask, lengths))

    assert WordModel.batches == [[2, 3, 4, 5], [6, 7, 8, 9]]
    assert [r.text for r in got] == [f"{n} words" for n in lengths]
    assert got[0].n_prompt_tokens == 9
    assert got[0].n_completion_tokens == 2
    assert got[0].served_model == "served"


def test_outcomes_are_told_apart(model: LocalModel) -> None:
    got = replies(model, ask(1), ask(2), ask(3), ask(41), ask(2, "unlikely"), ask(40))

    statuses = [r.status for r in got]
    assert statuses == ["empty", "answered", "truncated", "error", "error", "answered"]
    assert got[3].error == (
        "ValueError: the prompt has 41 tokens and the answer up to 10; the model takes "
        "50 together"
    )
    assert got[4].error == "RuntimeError: the template does not take this chat"


def test_one_call_that_does_not_fit_costs_no_other(model: LocalModel) -> None:
    got = replies(model, ask(11), ask(12), ask(13), ask(14))

    statuses = [r.status for r in got]
    assert statuses == ["answered", "answered", "error", "answered"]
    assert got[2].error == "MemoryError: no room"
    assert WordModel.batches == [[11, 12, 13, 14], [11, 12], [13, 14], [13], [14]]


def test_calls_are_pulled_a_few_batches_at_a_time(model: LocalModel) -> None:
    n_delivered = 0

    def calls() -> Iterator[Call]:
        for n in range(100):
            assert n - n_delivered <= 16
            yield ask(2, str(n))

    def deliver(_: Reply) -> None:
        nonlocal n_delivered
        n_delivered += 1

    model.transmit(calls(), deliver)

    assert n_delivered == 100


def test_what_deliver_raises_ends_the_transmission(model: LocalModel) -> None:
    def full(_: Reply) -> None:
        raise OSError("disk full")

    for call in (ask(2), ask(41)):
        with pytest.raises(OSError, match="disk full"):
            model.transmit([call, ask(3)], full)


def test_without_torch_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(InvalidInputError, match=r"skillmap\[local\]"):
        LocalModel(folder=tmp_path, device="cpu").transmit([ask(1)], print)
