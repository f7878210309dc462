import importlib.util
from pathlib import Path

import pytest

from skillmap.concepts.encoding.autoencoder import write_autoencoder
from skillmap.concepts.encoding.registry import encoder_entry, find_encoder
from skillmap.errors import InvalidInputError, ParseError
from skillmap_dagster.resources.encoders.autoencoder_loading import load_autoencoder
from skillmap_dagster.resources.encoders.loading import folder_hash, load_encoder
from skillmap_dagster.resources.language_models.smollm2 import SMOLLM2
from tests.concepts.encoding.autoencoders import random_autoencoder

without_sae_lens = pytest.mark.skipif(
    importlib.util.find_spec("sae_lens") is not None, reason="sae-lens is installed"
)
without_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="torch is installed"
)


def test_a_local_folder_needs_nothing_else(tmp_path: Path) -> None:
    write_autoencoder(random_autoencoder("gated"), tmp_path / "sae")
    entry = encoder_entry(
        "mine", {"model": "m", "layer": 1, "folder": str(tmp_path / "sae"), "d_in": 12}
    )

    assert load_autoencoder(entry, tmp_path).architecture == "gated"


def test_the_bundled_one_is_found(tmp_path: Path) -> None:
    found = load_autoencoder(find_encoder("smollm2-135m-l11-2k"), tmp_path)

    assert (found.d_in, found.d_sae) == (576, 2048)
    assert not list(tmp_path.iterdir())


def test_an_autoencoder_that_is_not_what_its_entry_says_is_refused(
    tmp_path: Path,
) -> None:
    write_autoencoder(random_autoencoder("gated"), tmp_path)
    entry = encoder_entry(
        "mine",
        {"model": "m", "layer": 1, "folder": str(tmp_path), "architecture": "topk"},
    )

    with pytest.raises(
        InvalidInputError, match="architecture gated, the registry says"
    ):
        load_autoencoder(entry, tmp_path)


def test_a_repository_has_to_be_downloaded_by_hand(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"download cfg\.json"):
        load_autoencoder(find_encoder("mistral-7b-it-v0.1-l16"), tmp_path)


def test_a_folder_without_an_autoencoder_is_named(tmp_path: Path) -> None:
    entry = encoder_entry("mine", {"model": "m", "layer": 1, "folder": str(tmp_path)})

    with pytest.raises(ParseError, match=r"cfg\.json"):
        load_autoencoder(entry, tmp_path)


@without_sae_lens
def test_a_release_needs_sae_lens_and_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"pip install 'skillmap\[sae-lens\]'"):
        load_autoencoder(find_encoder("gemma-2-2b-it-l20-16k"), tmp_path)


@without_torch
def test_an_encoder_needs_torch_and_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "models" / f"{SMOLLM2}-1").mkdir(parents=True)

    with pytest.raises(InvalidInputError, match=r"pip install 'skillmap\[local\]'"):
        load_encoder(find_encoder("smollm2-135m-l11-2k"), cache=tmp_path)


def test_a_model_is_known_by_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", "utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    first = folder_hash(tmp_path)

    (tmp_path / "notes.txt").write_text("no part of it", "utf-8")
    assert folder_hash(tmp_path) == first
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    assert folder_hash(tmp_path) != first


def test_a_folder_without_a_model_has_no_hash(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no files of a model"):
        folder_hash(tmp_path)
