"""Decodes batches of prompts with a causal language model of transformers.

torch and transformers, the extra ``local``, are imported when a model is loaded.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from skillmap.calls import Parameters
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.device import Device

INSTALL: Final = "pip install 'skillmap[local]'"
# A character is at most four tokens of one byte.
_TOKENS_PER_CHARACTER: Final = 4


class Prompt(NamedTuple):
    """What a model goes on with.

    Attributes:
        tokens: Of the chat, by the model's own template.
        parameters: How the answer is decoded.
        seed: Of the sampling, where the temperature is above 0.
    """

    tokens: list[int]
    parameters: Parameters
    seed: int


class Generation(NamedTuple):
    """Generated text, why it ended, and its length without the end token."""

    text: str
    finish_reason: str
    n_tokens: int


class Decoder:
    """A causal language model and its tokenizer.

    Attributes:
        context_length: Most tokens of prompt and answer together.
    """

    def __init__(self, folder: Path, device: Device, *, n_threads: int) -> None:
        """Load the model.

        Args:
            folder: A Hugging Face model: weights, configuration and tokenizer.
            device: Where it computes.
            n_threads: Of the CPU. With one, sums are made in one order on any
                number of cores.

        Raises:
            InvalidInputError: If torch or transformers is not installed, or the
                folder holds no model.
        """
        torch, transformers = _libraries()
        torch.set_num_threads(n_threads)
        transformers.utils.logging.disable_progress_bar()
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, padding_side="left", local_files_only=True
            )
            model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=getattr(torch, device.dtype), local_files_only=True
            )
        except (OSError, ValueError) as error:
            raise InvalidInputError(f"{folder}: no model: {error}") from error
        self._torch: Any = torch
        self._tokenizer: Any = tokenizer
        self._model: Any = model.to(device.name).eval()
        self.context_length: Final[int] = model.config.max_position_embeddings
        ends = model.generation_config.eos_token_id
        if ends is None:
            ends = tokenizer.eos_token_id
        self._ends = set(ends if isinstance(ends, list) else [ends])
        own = tokenizer.pad_token_id
        self._padding: int = next(iter(self._ends)) if own is None else own
        # An answer is decoded as its call says, not as the folder recommends.
        model.generation_config = transformers.GenerationConfig(
            do_sample=False,  # a sampled row has one token left to choose
            eos_token_id=sorted(self._ends),
            pad_token_id=self._padding,
        )

    def tokens(self, messages: Sequence[dict[str, Any]]) -> list[int]:
        """Tokens of a chat; a last turn of the assistant is left open."""
        is_begun = messages[-1]["role"] == "assistant"
        text = self._tokenizer.apply_chat_template(
            list(messages),
            tokenize=False,
            add_generation_prompt=not is_begun,
            continue_final_message=is_begun,
        )
        # The template has written the special tokens.
        return self._tokenizer(text, add_special_tokens=False)["input_ids"]

    def generate(self, prompts: Sequence[Prompt]) -> list[Generation]:
        """What the model says to each prompt, decoded together."""
        torch = self._torch
        width = max(len(prompt.tokens) for prompt in prompts)
        padded = [
            [self._padding] * (width - len(prompt.tokens)) + prompt.tokens
            for prompt in prompts
        ]
        told = [
            [0] * (width - len(prompt.tokens)) + [1] * len(prompt.tokens)
            for prompt in prompts
        ]
        ends = _Ends(self._tokenizer, [p.parameters for p in prompts], width)
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=torch.tensor(padded, device=self._model.device),
                attention_mask=torch.tensor(told, device=self._model.device),
                max_new_tokens=max(p.parameters.max_tokens for p in prompts),
                stopping_criteria=[ends],
                logits_processor=[_Sampler(torch, prompts)],
            )
        rows = output[:, width:].tolist()
        return [
            self._generation(row[:length], prompt.parameters)
            for row, length, prompt in zip(rows, ends.lengths, prompts, strict=True)
        ]

    def _generation(self, tokens: list[int], parameters: Parameters) -> Generation:
        end = next((n for n, token in enumerate(tokens) if token in self._ends), None)
        kept = tokens[:end]
        text = self._tokenizer.decode(kept, skip_special_tokens=True)
        places = [text.find(stop) for stop in parameters.stop if stop in text]
        if places:
            return Generation(text[: min(places)], "stop", len(kept))
        return Generation(text, "length" if end is None else "stop", len(kept))


class _Ends:
    """Ends each row at its own limit or stop text: a stopping criterion.

    Attributes:
        lengths: Tokens of each row, up to its end or so far.
    """

    def __init__(
        self, tokenizer: Any, parameters: Sequence[Parameters], n_prompt: int
    ) -> None:
        self.lengths = [0] * len(parameters)
        self._is_done = [False] * len(parameters)
        self._tokenizer = tokenizer
        self._parameters = parameters
        self._n_prompt = n_prompt

    def __call__(self, input_ids: Any, _scores: Any, **_: Any) -> Any:
        """Which rows are done, as a boolean for each."""
        n_new = input_ids.shape[1] - self._n_prompt
        for row, parameters in enumerate(self._parameters):
            if not self._is_done[row]:
                self.lengths[row] = n_new
                self._is_done[row] = n_new >= parameters.max_tokens or (
                    bool(parameters.stop)
                    and self._is_stopped(input_ids[row, self._n_prompt :], parameters)
                )
        # A tensor of the kind and place that generate() works with.
        return input_ids.new_tensor(self._is_done).bool()

    def _is_stopped(self, tokens: Any, parameters: Parameters) -> bool:
        longest = max(map(len, parameters.stop))
        last = tokens[-_TOKENS_PER_CHARACTER * (longest + 1) :].tolist()
        text = self._tokenizer.decode(last, skip_special_tokens=True)
        return any(stop in text for stop in parameters.stop)


class _Sampler:
    """Leaves a sampled row one token to choose: a processor of logits.

    Each row draws from a generator of its own, so that an answer does not depend on
    what else is in its batch.
    """

    def __init__(self, torch: Any, prompts: Sequence[Prompt]) -> None:
        self._torch = torch
        self._rows = [
            (row, prompt.parameters, torch.Generator().manual_seed(prompt.seed))
            for row, prompt in enumerate(prompts)
            if prompt.parameters.temperature != 0
        ]

    def __call__(self, _input_ids: Any, scores: Any) -> Any:
        """The scores, with all but one token of each sampled row ruled out."""
        if not self._rows:
            return scores
        scores = scores.clone()
        for row, parameters, generator in self._rows:
            chances = self._chances(scores[row], parameters)
            token = self._torch.multinomial(chances, 1, generator=generator).item()
            scores[row] = -self._torch.inf
            scores[row, token] = 0
        return scores

    def _chances(self, scores: Any, parameters: Parameters) -> Any:
        temperature = 1 if parameters.temperature is None else parameters.temperature
        # On the CPU in float64, so that every device draws alike.
        chances = (scores.cpu().double() / temperature).softmax(-1)
        if parameters.top_p is None:
            return chances
        ordered, tokens = chances.sort(descending=True, stable=True)
        before = ordered.cumsum(-1) - ordered
        ordered[before >= parameters.top_p] = 0
        return self._torch.zeros_like(chances).scatter(0, tokens, ordered)


def _libraries() -> tuple[Any, Any]:
    try:
        torch = importlib.import_module("torch")
        return torch, importlib.import_module("transformers")
    except ImportError as error:
        raise InvalidInputError(
            f"local model: {error.name} is not installed. Install it with `{INSTALL}`"
        ) from error
