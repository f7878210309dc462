from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillmap.calls import Call, Image, Message, Parameters, Reply, Structure
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.local_model import LocalModel
from skillmap_dagster.resources.language_models.transformers_decoder import Decoder

transformers = pytest.importorskip("transformers")

QUESTIONS = [
    "Which animal barks?",
    "two and two",
    "The capital of France is Paris, and two and two are four.",
    "a",
    "cat, ant, dog: which is silent?",
    "Paris",
    "not a dog",
]


def ask(text: str, **changed: Any) -> Call:  # noqa: ANN401  fields of a call
    told = {"parameters": Parameters(12), "messages": (Message("user", text),)}
    return Call("tiny", "tiny", **(told | changed))


def replies(model: LocalModel, *calls: Call) -> list[Reply]:
    """Replies in the order of the calls; each call has one."""
    got: list[Reply] = []
    model.transmit(iter(calls), got.append)
    assert sorted(r.key for r in got) == sorted(c.key for c in calls)
    return [next(r for r in got if r.key == call.key) for call in calls]


def texts(model: LocalModel, *calls: Call) -> list[str | None]:
    return [reply.text for reply in replies(model, *calls)]


@pytest.fixture
def model(tiny_model: Path) -> LocalModel:
    return LocalModel(folder=tiny_model, device="cpu")


def plain_generation(folder: Path, prompt: str, n_tokens: int) -> tuple[str, bool]:
    """What transformers says to one prompt, by itself, and whether it ended."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokens = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
    output = model.generate(**tokens, do_sample=False, max_new_tokens=n_tokens)
    new = output[0, tokens["input_ids"].shape[1] :].tolist()
    text = tokenizer.decode(new, skip_special_tokens=True)
    return text, new[-1] == tokenizer.eos_token_id


def test_answers_are_those_of_transformers_for_each_prompt_alone(
    model: LocalModel, tiny_model: Path
) -> None:
    got = replies(model, *map(ask, QUESTIONS))

    for question, reply in zip(QUESTIONS, got, strict=True):
        prompt = f"<|user|>{question}<|end|><|assistant|>"
        text, is_ended = plain_generation(tiny_model, prompt, 12)
        assert reply.text == text
        assert reply.finish_reason == ("stop" if is_ended else "length")
        assert reply.status == ("answered" if is_ended else "truncated")
        assert reply.latency_seconds is not None
    assert len({reply.text for reply in got}) > 3


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5])
def test_answers_do_not_depend_on_the_batch(tiny_model: Path, batch_size: int) -> None:
    calls = [*map(ask, QUESTIONS), ask("x", parameters=Parameters(30))]
    calls += [ask(q, parameters=Parameters(9, temperature=1.0)) for q in QUESTIONS]
    together = texts(LocalModel(folder=tiny_model, device="cpu"), *calls)

    parts = LocalModel(folder=tiny_model, device="cpu", batch_size=batch_size)

    assert texts(parts, *reversed(calls)) == together[::-1]


def test_a_turn_that_is_begun_is_gone_on_with(
    model: LocalModel, tiny_model: Path
) -> None:
    begun = (Message("user", "two and two"), Message("assistant", "two and two are"))

    got = replies(model, ask("", messages=begun))[0]

    prompt = "<|user|>two and two<|end|><|assistant|>two and two are"
    assert got.text == plain_generation(tiny_model, prompt, 12)[0]
    assert got.n_prompt_tokens == n_tokens(tiny_model, prompt)


def n_tokens(folder: Path, text: str) -> int:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return len(tokenizer(text)["input_ids"])


def test_each_call_has_its_own_limit_and_its_own_stop_texts(model: LocalModel) -> None:
    whole = texts(model, ask("Paris", parameters=Parameters(20)))[0]
    assert whole is not None
    stop = whole[6:8]
    calls = [
        ask("Paris", parameters=Parameters(20, stop=(stop, "never said"))),
        ask("Paris", parameters=Parameters(4)),
        ask("Paris", parameters=Parameters(20)),
    ]

    stopped, short, long = replies(model, *calls)

    assert stopped.text == whole[: whole.index(stop)]
    assert stopped.status == "answered"
    assert stopped.finish_reason == "stop"
    assert (stopped.n_completion_tokens or 0) < 20
    assert short.n_completion_tokens == 4
    assert short.status == "truncated"
    assert whole.startswith(short.text or "?")
    assert long.text == whole


def test_what_cannot_be_asked_is_an_error_and_stops_nothing(model: LocalModel) -> None:
    image = Message("user", "what is it?", (Image("image/png", "aGk="),))
    extra = Parameters(4, extra=(("min_p", "0.1"),))

    long, good, shown, strange, untold, other = replies(
        model,
        ask("a " * 300),
        ask("Paris"),
        ask("", messages=(image,)),
        ask("dog", parameters=extra),
        ask("", messages=()),
        ask("dog"),
    )

    assert {good.status, other.status} <= {"answered", "truncated"}
    assert {r.status for r in (long, shown, strange, untold)} == {"error"}
    assert "the model takes 256 together" in (long.error or "")
    assert "cannot be shown images" in (shown.error or "")
    assert "does not know the parameters min_p" in (strange.error or "")
    assert long.n_prompt_tokens is None


def test_the_same_call_is_the_same_draw_and_a_repetition_another(
    model: LocalModel,
) -> None:
    sampled = Parameters(12, temperature=1.5, seed=1)
    calls = [ask("Paris", parameters=sampled, epoch=n) for n in range(6)]

    first = texts(model, *calls)

    assert texts(model, *reversed(calls)) == first[::-1]
    assert len(set(first)) > 3
    other_seed = Parameters(12, temperature=1.5, seed=2)
    assert texts(model, ask("Paris", parameters=other_seed))[0] != first[0]


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(12, temperature=1e-4),
        Parameters(12, temperature=1.0, top_p=1e-6),
        Parameters(12, temperature=None, top_p=1e-6),
    ],
)
def test_cold_sampling_says_what_is_most_likely(
    model: LocalModel, parameters: Parameters
) -> None:
    calls = [ask(question, parameters=parameters) for question in QUESTIONS]

    assert texts(model, *calls) == texts(model, *map(ask, QUESTIONS))


def test_a_schema_is_told_in_the_prompt(model: LocalModel) -> None:
    plain, structured = replies(
        model, ask("dog"), ask("dog", structure=Structure("s", '{"type": "object"}'))
    )

    assert structured.structure_form == "prompt"
    assert plain.structure_form is None
    assert (structured.n_prompt_tokens or 0) > (plain.n_prompt_tokens or 0) + 20


def test_calls_are_pulled_as_they_are_needed(tiny_model: Path) -> None:
    model = LocalModel(folder=tiny_model, device="cpu", batch_size=2)
    n_delivered = 0

    def calls() -> Iterator[Call]:
        for n in range(20):
            assert n - n_delivered <= 8
            yield ask(str(n))

    def deliver(_: Reply) -> None:
        nonlocal n_delivered
        n_delivered += 1

    model.transmit(calls(), deliver)

    assert n_delivered == 20


def test_a_batch_that_does_not_fit_is_halved(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list(map(ask, QUESTIONS))
    whole = texts(model, *calls)
    generate = Decoder.generate
    sizes: list[int] = []

    def cramped(decoder: Decoder, prompts: list[Any]) -> Any:  # noqa: ANN401
        sizes.append(len(prompts))
        if len(prompts) > 2 or any(len(p.tokens) > 60 for p in prompts):
            raise RuntimeError("out of memory")
        return generate(decoder, prompts)

    monkeypatch.setattr(Decoder, "generate", cramped)
    got = replies(model, *calls, ask("paint " * 20))

    assert [r.text for r in got[:-1]] == whole
    assert got[-1].status == "error"
    assert got[-1].error == "RuntimeError: out of memory"
    assert max(sizes) == 8


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=str(tmp_path)):
        LocalModel(folder=tmp_path, device="cpu").transmit([ask("a")], print)


def test_what_the_folder_recommends_for_sampling_changes_nothing(
    tiny_model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    for file in tiny_model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "generation_config.json").write_text(
        '{"do_sample": true, "temperature": 0.6, "repetition_penalty": 5.0}'
    )

    calls = list(map(ask, QUESTIONS))

    assert texts(LocalModel(folder=folder, device="cpu"), *calls) == texts(
        LocalModel(folder=tiny_model, device="cpu"), *calls
    )
