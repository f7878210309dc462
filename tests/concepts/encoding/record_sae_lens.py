"""Record what sae-lens 6.54.12 gives, so that no test needs it.

Run from the repository's root, where sae-lens is installed::

    python -m tests.concepts.encoding.record_sae_lens
"""

from pathlib import Path
from typing import Any, Final

import numpy as np

from skillmap.concepts.encoding.autoencoder import (
    Architecture,
    Autoencoder,
    Floats32,
    Normalisation,
)
from tests.concepts.encoding.autoencoders import random_autoencoder, vectors

RECORD: Final = Path(__file__).with_name("sae_lens_activations.npz")
KINDS: Final[tuple[Architecture, ...]] = ("standard", "topk", "jumprelu", "gated")
NORMALISATIONS: Final[tuple[Normalisation, ...]] = (
    "none",
    "layer_norm",
    "constant_norm_rescale",
)
N_TOKENS: Final = 20


def cases() -> dict[str, Autoencoder]:
    """An autoencoder of every kind and normalisation, and a TopK that is scaled."""
    made = {
        f"{kind} {normalisation}": random_autoencoder(kind, normalisation=normalisation)
        for kind in KINDS
        for normalisation in NORMALISATIONS
    }
    made["topk scaled"] = random_autoencoder("topk", is_scaled=True)
    made["jumprelu plain"] = random_autoencoder("jumprelu", is_centred=False)
    return made


def in_sae_lens(ours: Autoencoder) -> Any:  # noqa: ANN401  it is an extra
    """The same weights in sae-lens."""
    import sae_lens  # noqa: PLC0415  20 s
    import torch  # noqa: PLC0415

    classes: dict[str, tuple[Any, Any]] = {
        "standard": (sae_lens.StandardSAE, sae_lens.StandardSAEConfig),
        "topk": (sae_lens.TopKSAE, sae_lens.TopKSAEConfig),
        "jumprelu": (sae_lens.JumpReLUSAE, sae_lens.JumpReLUSAEConfig),
        "gated": (sae_lens.GatedSAE, sae_lens.GatedSAEConfig),
    }
    made, config = classes[ours.architecture]
    about: dict[str, Any] = {}
    if ours.architecture == "topk":
        about = {"k": ours.k, "rescale_acts_by_decoder_norm": ours.is_scaled}
    sae = made(
        config(
            d_in=ours.d_in,
            d_sae=ours.d_sae,
            apply_b_dec_to_input=ours.is_centred,
            normalize_activations=ours.normalisation,
            **about,
        )
    )
    sae.load_state_dict({n: torch.tensor(v) for n, v in ours.weights.items()})
    return sae


def activations(ours: Autoencoder) -> Floats32:
    """What sae-lens gives."""
    import torch  # noqa: PLC0415

    rows = torch.tensor(vectors(N_TOKENS))
    return in_sae_lens(ours).encode(rows).detach().numpy()


if __name__ == "__main__":
    recorded = {name: activations(ours) for name, ours in cases().items()}
    np.savez_compressed(RECORD, **recorded)
