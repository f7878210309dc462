"""Autoencoders with random weights, of every kind."""

from typing import Any

import numpy as np

from skillmap.concepts.encoding.autoencoder import Architecture, Autoencoder, Floats32


def random_autoencoder(
    architecture: Architecture,
    *,
    d_in: int = 12,
    d_sae: int = 96,
    seed: int = 3,
    **about: Any,  # noqa: ANN401  fields of several types
) -> Autoencoder:
    random = np.random.default_rng(seed)

    def draw(*shape: int, scale: float = 1.0) -> Floats32:
        return (scale * random.standard_normal(shape)).astype(np.float32)

    weights = {
        "W_enc": draw(d_in, d_sae, scale=d_in**-0.5),
        "W_dec": draw(d_sae, d_in),
        "b_dec": draw(d_in, scale=0.3),
    }
    if architecture == "gated":
        weights |= {
            "b_gate": draw(d_sae, scale=0.5),
            "b_mag": draw(d_sae, scale=0.5),
            "r_mag": draw(d_sae, scale=0.3),
        }
    else:
        weights["b_enc"] = draw(d_sae, scale=0.5)
    if architecture == "jumprelu":
        weights["threshold"] = np.abs(draw(d_sae, scale=0.8))
    if architecture == "topk":
        about.setdefault("k", 7)
    return Autoencoder(architecture, weights, **about)


def vectors(n_tokens: int, d_in: int = 12, seed: int = 5) -> Floats32:
    random = np.random.default_rng(seed)
    return random.standard_normal((n_tokens, d_in)).astype(np.float32)
