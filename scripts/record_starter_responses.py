"""Record SmolLM2's answers to the starter suite under three prompts.

Everything from the packaged weights to ``skillmap/starter/results/*.jsonl`` in one
command, run from the repository's root in an environment of its own (see
``scripts/starter-requirements.txt``)::

    python -m scripts.record_starter_responses --work-folder FOLDER

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
from scripts.starter_prompts import chat_about, read_prompt
from scripts.stated_answer import reading

MODEL = "SmolLM2-135M-Instruct"
BATCH_SIZE = 32
SEED = 0
_ROOT = Path(__file__).resolve().parent.parent
_PROMPTS = _ROOT / "scripts" / "prompts"
_RESULTS = _ROOT / "skillmap" / "starter" / "results"


class Mode(NamedTuple):
    """One way of asking: the prompt file's name and the limit on new tokens."""

    name: str
    max_new_tokens: int

    @property
    def model(self) -> str:
        """Name under which the model is evaluated in this mode."""
        return f"{MODEL}-{self.name.replace('_', '-')}"


MODES = (Mode("direct", 16), Mode("few_shot", 24), Mode("step_by_step", 160))


class Generation(NamedTuple):
    """Generated text, why it ended and its length without the end token."""

    response: str
    finish_reason: str
    n_output_tokens: int


class Decoder:
    """SmolLM2 with greedy decoding of batches."""

    def __init__(self, folder: Path) -> None:
        # Loaded here, so that items and scores can be used without torch.
        import torch  # noqa: PLC0415
        from transformers import (  # noqa: PLC0415
            AutoModelForCausalLM,
            AutoTokenizer,
        )

        torch.set_num_threads(1)  # sums in one order, on any number of cores
        torch.manual_seed(SEED)  # nothing is sampled; fixed all the same
        self._no_grad = torch.inference_mode
        self._tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self._model.eval()

    def text(self, chat: list[dict[str, str]]) -> str:
        """Prompt text of a chat, by the model's own template."""
        is_begun = chat[-1]["role"] == "assistant"
        return self._tokenizer.apply_chat_template(
            chat,
            tokenize=False,
            add_generation_prompt=not is_begun,
            continue_final_message=is_begun,
        )

    def generations(self, prompts: list[str], max_new_tokens: int) -> list[Generation]:
        """Most likely continuation of each prompt."""
        batch = self._tokenizer(prompts, padding=True, return_tensors="pt")
        with self._no_grad():
            output = self._model.generate(
                **batch,
                do_sample=False,
                max_new_tokens=max_new_tokens,
                pad_token_id=self._tokenizer.pad_token_id,
            )
        n_prompt = batch["input_ids"].shape[1]
        return [self._generation(row) for row in output[:, n_prompt:].tolist()]

    def _generation(self, tokens: list[int]) -> Generation:
        end = self._tokenizer.eos_token_id
        is_stopped = end in tokens
        kept = tokens[: tokens.index(end)] if is_stopped else tokens
        response = self._tokenizer.decode(kept, skip_special_tokens=True)
        return Generation(response, "stop" if is_stopped else "length", len(kept))


def read_items() -> list[dict[str, Any]]:
    """Items of all starter benchmarks, in the order of the files."""
    texts = [(ITEMS / f"{b}.jsonl").read_text(encoding="utf-8") for b in BENCHMARKS]
    return [json.loads(line) for text in texts for line in text.splitlines()]


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
    prompt = read_prompt(_PROMPTS / f"{mode.name}.txt")
    prompts = [decoder.text(chat_about(item, prompt)) for item in items]
    # A turn that the prompt begins ("Answer:") is part of what the reader sees.
    begun = [_begun(chat_about(item, prompt)) for item in items]
    generations: dict[int, Generation] = {}
    for batch in batches(items):
        batch_prompts = [prompts[position] for position in batch]
        done = _batch(mode, batch_prompts, decoder, work_folder / mode.name)
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
    _RESULTS.mkdir(parents=True, exist_ok=True)
    path = _RESULTS / f"{mode.model}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _batch(
    mode: Mode, prompts: list[str], decoder: Decoder, folder: Path
) -> list[Generation]:
    """Generations of one batch, from its file when there is one."""
    asked = json.dumps([mode.max_new_tokens, prompts]).encode()
    path = folder / f"{hashlib.sha256(asked).hexdigest()[:16]}.json"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        generations = decoder.generations(prompts, mode.max_new_tokens)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(generations), encoding="utf-8")
        unfinished.replace(path)
    return [Generation(*one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _begun(chat: list[dict[str, str]]) -> str:
    return chat[-1]["content"] if chat[-1]["role"] == "assistant" else ""


def _result(
    mode: Mode, item: dict[str, Any], begun: str, generation: Generation
) -> dict[str, str | int | None]:
    response = begun + generation.response
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
        "n_output_tokens": generation.n_output_tokens,
    }


def main() -> None:
    """Convert the model unless it is there, then record the three modes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work-folder", type=Path, required=True)
    parser.add_argument("--modes", nargs="+", choices=[mode.name for mode in MODES])
    arguments = parser.parse_args()
    model_folder = arguments.work_folder / "model"
    if not (model_folder / "model.safetensors").is_file():
        # Needs gguf, which nothing else here does.
        from scripts.convert_smollm2 import convert, packaged_gguf  # noqa: PLC0415

        convert(packaged_gguf(), model_folder)
    decoder = Decoder(model_folder)
    items = read_items()
    for mode in MODES:
        if not arguments.modes or mode.name in arguments.modes:
            record(mode, items, decoder, arguments.work_folder)


if __name__ == "__main__":
    main()
