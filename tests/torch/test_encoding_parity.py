"""The same activations as sae-lens: where it is installed."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skillmap.concepts.encoding.autoencoder import (
    Architecture,
    Autoencoder,
    Floats32,
    Normalisation,
    read_autoencoder,
    write_autoencoder,
)
from skillmap.concepts.encoding.fused import Device, FusedEncoder
from skillmap.concepts.encoding.registry import encoder_entry
from skillmap_dagster.resources.encoders import autoencoder_loading
from tests.concepts.encoding.autoencoders import random_autoencoder, vectors
from tests.concepts.encoding.record_sae_lens import in_sae_lens

torch = pytest.importorskip("torch", reason="needs torch: run `make test-torch`")
# Its own imports warn; 20 s, and not needed where skillmap is used.
pytestmark = pytest.mark.filterwarnings("ignore")
try:
    with warnings.catch_warnings(action="ignore"):
        import sae_lens
except ImportError:
    pytest.skip(
        "needs sae-lens (pip install sae-lens==6.54.12): its encoders are the oracle",
        allow_module_level=True,
    )

KINDS = ["standard", "topk", "jumprelu", "gated"]


def theirs(ours: Autoencoder, folder: Path) -> Any:  # noqa: ANN401  it is an extra
    """The same weights in sae-lens, saved by it."""
    sae = in_sae_lens(ours)
    sae.save_model(folder)
    return sae


def filled(autoencoder: Autoencoder, rows: Floats32, device: Device) -> Floats32:
    entries = FusedEncoder(autoencoder, device=device).entries(rows)
    dense = np.zeros((len(rows), autoencoder.d_sae), np.float32)
    dense[entries.token, entries.latent] = entries.value
    return dense


@pytest.mark.parametrize(
    "normalisation", ["none", "layer_norm", "constant_norm_rescale"]
)
@pytest.mark.parametrize("is_centred", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_activations_are_those_of_sae_lens(
    kind: Architecture,
    *,
    is_centred: bool,
    normalisation: Normalisation,
    tmp_path: Path,
) -> None:
    made = random_autoencoder(
        kind, d_in=48, d_sae=2048, is_centred=is_centred, normalisation=normalisation
    )
    rows = vectors(200, d_in=48)
    expected = theirs(made, tmp_path).encode(torch.tensor(rows)).detach().numpy()

    read = read_autoencoder(tmp_path)

    assert (expected > 0).any()
    for activations in (
        read.encode(rows),
        filled(read, rows, "numpy"),
        filled(read, rows, "cpu"),
    ):
        assert np.abs(activations - expected).max() <= 1e-5 * max(1, expected.max())


@pytest.mark.parametrize("kind", KINDS)
def test_sae_lens_reads_what_is_written_here(
    kind: Architecture, tmp_path: Path
) -> None:
    made = random_autoencoder(kind, is_scaled=kind == "topk")
    write_autoencoder(made, tmp_path)

    loaded = sae_lens.SAE.load_from_disk(tmp_path)

    rows = vectors(30)
    activations = loaded.encode(torch.tensor(rows))
    assert activations.detach().numpy() == pytest.approx(
        made.encode(rows), rel=1e-5, abs=2e-6
    )
    assert loaded.decode(activations).detach().numpy() == pytest.approx(
        made.decode(made.encode(rows)), rel=1e-4, abs=1e-4
    )


def test_what_it_trained_as_batchtopk_is_read_as_jumprelu(tmp_path: Path) -> None:
    config = sae_lens.BatchTopKTrainingSAEConfig(d_in=12, d_sae=64, k=5)
    sae = sae_lens.BatchTopKTrainingSAE(config)
    with torch.no_grad():
        sae.topk_threshold.fill_(0.1)
    sae.save_inference_model(tmp_path)

    read = read_autoencoder(tmp_path)

    assert read.architecture == "jumprelu"
    expected = sae_lens.SAE.load_from_disk(tmp_path).encode(torch.tensor(vectors(20)))
    assert read.encode(vectors(20)) == pytest.approx(
        expected.detach().numpy(), rel=1e-5, abs=2e-6
    )


def test_one_of_a_release_is_fetched_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = random_autoencoder("jumprelu")
    sae = theirs(made, tmp_path / "published")
    asked: list[tuple[str, str]] = []

    def from_pretrained(release: str, sae_id: str, device: str) -> object:
        assert device == "cpu"
        asked.append((release, sae_id))
        return sae

    monkeypatch.setattr(sae_lens.SAE, "from_pretrained", from_pretrained)
    entry = encoder_entry(
        "mine", {"model": "m", "layer": 1, "release": "r", "sae_id": "layer_1"}
    )

    first = autoencoder_loading.load_autoencoder(entry, tmp_path / "cache")
    second = autoencoder_loading.load_autoencoder(entry, tmp_path / "cache")

    assert asked == [("r", "layer_1")]
    assert first.file_hash == second.file_hash
    assert np.array_equal(first.encode(vectors(5)), made.encode(vectors(5)))
