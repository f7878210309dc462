"""Vectors in planted crowds, the shape that phrase vectors have."""

import numpy as np
from numpy.typing import NDArray


def planted_vectors(
    n: int, *, seed: int, n_dimensions: int = 24, n_crowds: int = 12, noise: float = 0.6
) -> NDArray[np.float32]:
    random = np.random.default_rng(seed)
    centres = random.standard_normal((n_crowds, n_dimensions))
    spread = noise * random.standard_normal((n, n_dimensions))
    vectors = centres[random.integers(0, n_crowds, n)] + spread
    return unit_rows(vectors)


def unit_rows(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / lengths).astype(np.float32)
