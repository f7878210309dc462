"""Any sentence-transformers model as the embedder; needs the extra of that name."""

import hashlib
import importlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from skillmap.embedding import Progress
from skillmap.embedding.phrases import distinct_phrases
from skillmap.errors import InvalidInputError

_INSTALL: Final = "pip install 'skillmap[sentence-transformers]'"
_BATCHES_PER_CALL: Final = 32


class SentenceTransformersEmbedder:
    """A sentence-transformers model, by hub name or local folder.

    Its vectors may depend on their batch in the last bits, so a run that finds some
    phrases in the cache need not equal, to the byte, a run that finds none.

    Attributes:
        model_name: Name on the hub, or path of a folder.
        revision: Branch, tag or commit on the hub. Only a commit says for good which
            weights were used. Not used for a folder.
        device: Where the model runs, as torch names it.
        batch_size: Phrases in one batch.
    """

    def __init__(
        self,
        model_name: str,
        *,
        revision: str = "main",
        device: str = "cpu",
        batch_size: int = 64,
    ) -> None:
        self.model_name: Final = model_name
        self.revision: Final = revision
        self.device: Final = device
        self.batch_size: Final = batch_size

    @cached_property
    def embedder_id(self) -> str:
        """Name and revision; for a folder, its name and a hash over its files."""
        folder = Path(self.model_name)
        if folder.is_dir():
            return f"{folder.resolve().name}:{_hash_of(folder)}"
        return f"{self.model_name}@{self.revision}"

    @cached_property
    def dimensions(self) -> int:
        """Components of one vector; loads the model to find out."""
        return self.embed([""]).shape[1]

    def embed(
        self, phrases: Sequence[str], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Vectors of ``phrases``, pooled as the model's own settings say, length 1.

        Args:
            phrases: Any text; a repeated phrase is computed once.
            progress: Called every few batches with the distinct phrases done so far
                and in all.

        Returns:
            Shape ``(n_phrases, dimensions)``, in the order given.

        Raises:
            InvalidInputError: If sentence-transformers is not installed.
        """
        distinct = distinct_phrases(phrases)
        if not distinct.phrases:
            return np.empty((0, self.dimensions), dtype=np.float32)
        # Neighbours in length share a batch, so little of it is padding.
        order = sorted(
            range(len(distinct.phrases)),
            key=lambda n: (len(distinct.phrases[n]), distinct.phrases[n]),
        )
        parts: list[NDArray[np.float32]] = []
        step = self.batch_size * _BATCHES_PER_CALL
        for start in range(0, len(order), step):
            chosen = [distinct.phrases[n] for n in order[start : start + step]]
            parts.append(self._encoded(chosen))
            if progress is not None:
                progress(start + len(chosen), len(order))
        in_order = np.concatenate(parts)
        vectors = np.empty_like(in_order)
        vectors[order] = in_order
        return vectors[distinct.positions]

    def _encoded(self, phrases: list[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(
            phrases,
            batch_size=self.batch_size,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return vectors.astype(np.float32)

    @cached_property
    def _model(self) -> "_Model":
        try:
            library: Any = importlib.import_module("sentence_transformers")
        except ImportError as error:
            raise InvalidInputError(
                f"embedder {self.model_name!r}: sentence-transformers is not "
                f"installed. Install it with `{_INSTALL}`"
            ) from error
        revision = None if Path(self.model_name).is_dir() else self.revision
        return library.SentenceTransformer(
            self.model_name, revision=revision, device=self.device
        )


class _Model(Protocol):
    """The one call we make of a ``SentenceTransformer``."""

    def encode(
        self,
        sentences: list[str],
        *,
        batch_size: int,
        normalize_embeddings: bool,
        show_progress_bar: bool,
    ) -> NDArray[np.floating[Any]]: ...


def _hash_of(folder: Path) -> str:
    digest = hashlib.sha256()
    files = (file for file in folder.rglob("*") if file.is_file())
    by_name = {file.relative_to(folder).as_posix(): file for file in files}
    for name in sorted(by_name):
        with by_name[name].open("rb") as content:
            file_digest = hashlib.file_digest(content, "sha256").hexdigest()
        digest.update(f"{name}\n{file_digest}\n".encode())
    return digest.hexdigest()[:16]
