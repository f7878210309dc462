"""Record SmolLM2's answers to the starter suite under three prompts.

Everything from the packaged weights to ``skillmap/starter/results/*.jsonl`` in one
command, run from the repository's root in the environment of ``make torch``::

    .venv-torch/bin/python -m scripts.record_starter_responses --work-folder FOLDER

FOLDER keeps the converted model and every finished batch. A run that is stopped
goes on where it was, and a batch whose prompts changed is done again. Decoding is
greedy in float32 on one thread, so a second run gives the same files.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scripts.build_starter_items import BENCHMARKS, ITEMS
from scripts.stated_answer import reading
from skillmap.calls import Parameters
from skillmap.prompting.questions import question_text
from skillmap.prompting.templates import PromptTemplate, bundled_template
from skillmap_dagster.resources.language_models.device import pick_device
from skillmap_dagster.resources.language_models.gguf_llama import convert
from skillmap_dagster.resources.language_models.smollm2 import packaged_gguf
from skillmap_dagster.resources.language_models.transformers_decoder import (
    Decoder,
    Generation,
    Prompt,
)

Chat = list[dict[str, str]]

MODEL = "SmolLM2-135M-Instruct"
BATCH_SIZE = 32
SEED = 0  # nothing is sampled; fixed all the same
_ROOT = Path(__file__).resolve().parent.parent
RESULTS = _ROOT / "skillmap" / "starter" / "results"


class Mode(NamedTuple):
    """One way of asking: the prompt file's name and the limit on new tokens."""

    name: str
    max_new_tokens: int

    @property
    def model(self) -> str:
        """Name under which the model is evaluated in this mode."""
        return f"{MODEL}-{self.name.replace('_', '-')}"

    @property
    def prompt(self) -> PromptTemplate:
        """The prompt, whose options carry no letters.

        With letters this small model clings to one of them, whatever the question.
        """
        return bundled_template(f"starter_{self.name}")


MODES = (Mode("direct", 16), Mode("few_shot", 24), Mode("step_by_step", 160))


def read_items() -> list[dict[str, Any]]:
    """Items of all starter benchmarks, in the order of the files."""
    texts = [(ITEMS / f"{b}.jsonl").read_text(encoding="utf-8") for b in BENCHMARKS]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def chat_about(item: dict[str, Any], prompt: PromptTemplate) -> Chat:
    """Turns with ``role`` and ``content`` that ask a model one item."""
    choices = item.get("choices", [])
    question = question_text(item["question"], choices, style=prompt.options)
    messages = prompt.chat("choice" if choices else "free", {"question": question})
    return [{"role": turn.role, "content": turn.content} for turn in messages]


def batches(items: list[dict[str, Any]]) -> Iterator[list[int]]:
    """Positions of neighbouring items of one benchmark.

    Batches follow the files and not the lengths of the prompts, so that a changed
    item changes one batch only: padding costs little here.
    """
    for benchmark in BENCHMARKS:
        positions = [
            k for k, item in enumerate(items) if item["benchmark"] == benchmark
        ]
        for start in range(0, len(positions), BATCH_SIZE):
            yield positions[start : start + BATCH_SIZE]


def record(
    mode: Mode, items: list[dict[str, Any]], decoder: Decoder, work_folder: Path
) -> None:
    """Generate what is missing of one mode and write its results file."""
    chats = [chat_about(item, mode.prompt) for item in items]
    # A turn that the prompt begins ("Answer:") is part of what the reader sees.
    begun = [_begun(chat) for chat in chats]
    generations: dict[int, Generation] = {}
    for batch in batches(items):
        asked = [chats[position] for position in batch]
        done = _batch(mode, asked, decoder, work_folder / mode.name)
        generations |= dict(zip(batch, done, strict=True))
        sys.stdout.write(f"{mode.name}: {len(generations)} of {len(items)}\n")
        sys.stdout.flush()
    lines = [
        json.dumps(
            _result(mode, item, begun[position], generations[position]),
            ensure_ascii=False,
        )
        for position, item in enumerate(items)
    ]
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{mode.model}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _batch(
    mode: Mode, chats: list[Chat], decoder: Decoder, folder: Path
) -> list[Generation]:
    """Generations of one batch, from its file when there is one."""
    asked = json.dumps([mode.max_new_tokens, chats]).encode()
    path = folder / f"{hashlib.sha256(asked).hexdigest()[:16]}.json"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        parameters = Parameters(mode.max_new_tokens)
        generations = decoder.generate(
            [Prompt(decoder.tokens(chat), parameters, SEED) for chat in chats]
        )
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(generations), encoding="utf-8")
        unfinished.replace(path)
    return [Generation(*one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _begun(chat: Chat) -> str:
    return chat[-1]["content"] if chat[-1]["role"] == "assistant" else ""


def _result(
    mode: Mode, item: dict[str, Any], begun: str, generation: Generation
) -> dict[str, str | int | None]:
    response = begun + generation.text
    read = reading(
        response,
        answer=item["answer"],
        choices=item.get("choices"),
        finish_reason=generation.finish_reason,
    )
    return {
        "benchmark": item["benchmark"],
        "item_id": item["item_id"],
        "model": mode.model,
        "score": read.score,
        "outcome": read.outcome,
        "prediction": read.prediction,
        "response": response,
        "prompt_mode": mode.name,
        "finish_reason": generation.finish_reason,
        "n_output_tokens": generation.n_tokens,
    }


def main() -> None:
    """Convert the model unless it is there, then record the three modes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work-folder", type=Path, required=True)
    parser.add_argument("--modes", nargs="+", choices=[mode.name for mode in MODES])
    arguments = parser.parse_args()
    model_folder = arguments.work_folder / "model"
    if not (model_folder / "model.safetensors").is_file():
        convert(packaged_gguf(), model_folder)
    # One thread: sums in one order, on any number of cores.
    decoder = Decoder(model_folder, pick_device("cpu"), n_threads=1)
    items = read_items()
    for mode in MODES:
        if not arguments.modes or mode.name in arguments.modes:
            record(mode, items, decoder, arguments.work_folder)


if __name__ == "__main__":
    main()
