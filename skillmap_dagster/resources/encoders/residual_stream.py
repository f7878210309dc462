"""Vectors of a model's residual stream, after one of its layers.

torch and transformers are imported when a model is loaded.
"""

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from skillmap.concepts.encoding.identity import Precision, release
from skillmap.errors import InvalidInputError

INSTALL: Final = "pip install 'skillmap[local]'"
_LIBRARIES: Final = ("torch", "transformers", "tokenizers")


class Batch(NamedTuple):
    """Vectors of some texts.

    Attributes:
        texts: Places of the texts among those given.
        vectors: Of the kept tokens of those texts, one after the other: a tensor of
            shape ``(n_kept, d_model)``, float32, where the model computes.
        n_read: Tokens that the model read, padding left out.
    """

    texts: list[int]
    vectors: Any
    n_read: int


class _Stop(Exception):  # noqa: N818  it is no error
    """Ends a forward pass at the layer that is wanted."""


class ResidualStream:
    """A model, run up to one layer.

    Attributes:
        tokenizer: Of the model.
        device: Where it computes.
        d_model: Length of a vector.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        layer: int,
        device: str = "cpu",
        dtype: Precision = "float32",
        attention: str = "eager",
        revision: str | None = None,
        n_threads: int = 1,
    ) -> None:
        """Load the model without its head and the layers behind the one wanted.

        Args:
            model: Folder of a Hugging Face model, or its name on the hub.
            layer: Index of the layer whose output is read.
            device: "cpu" or "cuda".
            dtype: Precision of the weights and sums.
            attention: Implementation of attention: with "eager" a text's vectors
                depend least on what else is in its batch.
            revision: Commit on the hub.
            n_threads: Of the CPU.

        Raises:
            InvalidInputError: If torch or transformers is missing, the model cannot
                be loaded, or it has no such layer.
        """
        self._torch: Final = _library("torch")
        transformers = _library("transformers")
        self._torch.set_num_threads(n_threads)
        about = {"revision": revision} if revision else {}
        try:
            self.tokenizer: Final = transformers.AutoTokenizer.from_pretrained(
                model, **about
            )
            loaded = transformers.AutoModel.from_pretrained(
                model,
                dtype=getattr(self._torch, dtype),
                attn_implementation=attention,
                **about,
            )
        except (OSError, ValueError) as error:
            raise InvalidInputError(f"{model}: no model: {error}") from error
        self.device: Final = device
        self._model: Final = self._cut(loaded, layer, model).to(device).eval()
        self.d_model: Final[int] = loaded.config.get_text_config().hidden_size
        own = self.tokenizer.pad_token_id
        self._padding: Final = 0 if own is None else own

    def batches(
        self,
        texts: Sequence[tuple[Sequence[int], Sequence[int]]],
        *,
        tokens_per_batch: int = 2048,
    ) -> Iterator[Batch]:
        """Vectors of texts, by batches of neighbours in length.

        Args:
            texts: Tokens of each text, and the places of those that are kept.
            tokens_per_batch: Of one batch, padding counted; a longer text is a batch
                of its own.
        """
        order = sorted(
            range(len(texts)), key=lambda place: (-len(texts[place][0]), place)
        )
        start = 0
        while start < len(order):
            width = len(texts[order[start]][0])
            end = start + max(1, tokens_per_batch // max(width, 1))
            places = order[start:end]
            yield self._batch(places, [texts[place] for place in places])
            start = end

    def _batch(
        self, places: list[int], texts: Sequence[tuple[Sequence[int], Sequence[int]]]
    ) -> Batch:
        torch = self._torch
        width = max(len(ids) for ids, _ in texts)
        # Padding to the right of a text cannot move it: attention looks back only.
        padded = [[*ids, *[self._padding] * (width - len(ids))] for ids, _ in texts]
        read = [[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in texts]
        caught: list[Any] = []
        hook = self._layer.register_forward_hook(_catching(caught))
        try:
            with torch.inference_mode():
                self._model(
                    input_ids=torch.tensor(padded, device=self.device),
                    attention_mask=torch.tensor(read, device=self.device),
                    use_cache=False,
                )
        except _Stop:
            pass
        finally:
            hook.remove()
        kept = [row * width + place for row, (_, t) in enumerate(texts) for place in t]
        flat = caught[0].reshape(-1, caught[0].shape[-1])
        vectors = flat[torch.tensor(kept, device=self.device)].float()
        return Batch(places, vectors, sum(len(ids) for ids, _ in texts))

    def _cut(self, model: Any, layer: int, name: str | Path) -> Any:
        layers = layers_of(model)
        if not 0 <= layer < len(layers):
            raise InvalidInputError(
                f"{name}: layer must be from 0 to {len(layers) - 1}, got {layer}"
            )
        self._layer: Any = layers[layer]
        del layers[layer + 1 :]
        return model


def layers_of(model: Any) -> Any:
    """The list of a model's layers, whose outputs are its residual stream.

    Raises:
        InvalidInputError: If there is none where known architectures have it.
    """
    for path in ("layers", "h", "model.layers", "decoder.layers", "gpt_neox.layers"):
        found = model
        for name in path.split("."):
            found = getattr(found, name, None)
        if found is not None:
            return found
    raise InvalidInputError(f"{type(model).__name__}: no list of layers is known of it")


def versions() -> dict[str, str]:
    """Versions of the libraries that move an activation."""
    metadata = importlib.import_module("importlib.metadata")
    return {name: release(metadata.version(name)) for name in _LIBRARIES}


def _catching(caught: list[Any]) -> Any:
    def catch(_module: Any, _inputs: Any, output: Any) -> None:
        # Older releases of transformers give a tuple.
        caught.append(output[0] if isinstance(output, tuple) else output)
        raise _Stop

    return catch


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InvalidInputError(
            f"encoder: {error.name} is not installed. Install it with `{INSTALL}`"
        ) from error
