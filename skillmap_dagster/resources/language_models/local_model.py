"""A language model that answers in this process, through transformers."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from skillmap.calls import Call, Reply
from skillmap_dagster.resources.language_models.device import (
    Device,
    DeviceChoice,
    Precision,
    pick_device,
)
from skillmap_dagster.resources.language_models.local_replies import (
    answer,
    chat_of,
    failure,
    sampling_seed,
)
from skillmap_dagster.resources.language_models.transformers_decoder import (
    Decoder,
    Prompt,
)

Deliver = Callable[[Reply], None]

# Batches that are pulled and sorted together.
_BATCHES_PER_WINDOW: Final = 4
# It cannot be held to a schema.
_FORM: Final = "prompt"


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """Answers calls by batches, neighbours in length together.

    Attributes:
        folder: A Hugging Face model: weights, configuration and tokenizer.
        device: Where it computes.
        precision: Of weights and sums.
        batch_size: Calls in one batch.
        n_threads: Of the CPU. Two are slower than one on a busy machine, and one
            gives the same sums on any number of cores.
    """

    folder: Path
    device: DeviceChoice = "auto"
    precision: Precision = "auto"
    batch_size: int = 32
    n_threads: int = 1

    @cached_property
    def picked_device(self) -> Device:
        """The device that was picked, and why."""
        return pick_device(self.device, precision=self.precision)

    def transmit(self, calls: Iterable[Call], deliver: Deliver) -> None:
        """Answer every call, pulling the next ones only when a window is done.

        Args:
            calls: What is asked.
            deliver: Gets each reply, batch by batch.

        Raises:
            InvalidInputError: If the model cannot be loaded.
        """
        decoder = self._decoder
        remaining = iter(calls)
        while window := list(islice(remaining, self.batch_size * _BATCHES_PER_WINDOW)):
            prompts = _prompts(decoder, window, deliver)
            # Neighbours in length share a batch, so little of it is padding.
            prompts.sort(key=lambda asked: (len(asked[1].tokens), asked[0].key))
            for batch in _parts(prompts, self.batch_size):
                _answer(decoder, batch, deliver)

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.folder, self.picked_device, n_threads=self.n_threads)


def _prompts(
    decoder: Decoder, calls: Sequence[Call], deliver: Deliver
) -> list[tuple[Call, Prompt]]:
    """Calls that can be asked; the others get an error."""
    prompts: list[tuple[Call, Prompt]] = []
    for call in calls:
        try:
            prompts.append((call, _prompt(decoder, call)))
        except Exception as error:  # noqa: BLE001  a template may raise anything
            deliver(failure(call, error))
    return prompts


def _prompt(decoder: Decoder, call: Call) -> Prompt:
    if any(message.images for message in call.messages):
        raise ValueError("a local model cannot be shown images")
    if call.parameters.extra:
        names = ", ".join(name for name, _ in call.parameters.extra)
        raise ValueError(f"a local model does not know the parameters {names}")
    tokens = decoder.tokens(chat_of(call, _FORM))
    n_allowed = decoder.context_length
    if len(tokens) + call.parameters.max_tokens > n_allowed:
        raise ValueError(
            f"the prompt has {len(tokens)} tokens and the answer up to "
            f"{call.parameters.max_tokens}; the model takes {n_allowed} together"
        )
    return Prompt(tokens, call.parameters, sampling_seed(call))


def _answer(
    decoder: Decoder, batch: Sequence[tuple[Call, Prompt]], deliver: Deliver
) -> None:
    start = time.monotonic()
    try:
        generations = decoder.generate([prompt for _, prompt in batch])
    except Exception as error:  # noqa: BLE001  such as no memory: smaller may do
        if len(batch) == 1:
            deliver(failure(batch[0][0], error))
            return
        half = len(batch) // 2
        _answer(decoder, batch[:half], deliver)
        _answer(decoder, batch[half:], deliver)
        return
    seconds = time.monotonic() - start
    for (call, prompt), generation in zip(batch, generations, strict=True):
        told = {
            "text": generation.text,
            "finish_reason": generation.finish_reason,
            "n_prompt_tokens": len(prompt.tokens),
            "n_completion_tokens": generation.n_tokens,
        }
        deliver(answer(call, told, _FORM, seconds=seconds))


def _parts(
    prompts: list[tuple[Call, Prompt]], size: int
) -> Iterator[list[tuple[Call, Prompt]]]:
    for start in range(0, len(prompts), size):
        yield prompts[start : start + size]
