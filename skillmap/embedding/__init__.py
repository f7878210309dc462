"""Phrases to vectors: what an embedder is, and the two that come with skillmap."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[int, int], None]


class Embedder(Protocol):
    """Anything that turns phrases into unit vectors.

    Vectors are stored under ``embedder_id`` and a phrase, and used again without
    asking, so whatever changes a vector has to change the id.
    """

    @property
    def embedder_id(self) -> str:
        """Name of the embedder and of everything that decides its vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """Components of one vector."""
        ...

    def embed(
        self, phrases: Sequence[str], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Vectors of ``phrases``, in their order.

        Args:
            phrases: Any text; a repeated phrase is computed once.
            progress: Called with the distinct phrases done so far and in all.

        Returns:
            Shape ``(n_phrases, dimensions)``, every row of length 1.
        """
        ...
