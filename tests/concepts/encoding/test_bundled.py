from pathlib import Path

import numpy as np
import polars as pl
import pytest

from scripts.bundle_starter_encoder import NAME, starter_items
from scripts.encoder_text import SOURCES
from skillmap.concepts.encoding.bundled import BundledEncoder, bundled_encoder
from skillmap.concepts.encoding.frames import CONCEPTS, ITEM_CONCEPTS, ITEM_ENCODINGS
from skillmap.concepts.encoding.registry import bundled_folder, find_encoder
from skillmap.errors import ParseError

BUNDLED = bundled_encoder()


def test_the_files_are_small() -> None:
    sizes = {file.name: file.stat().st_size for file in bundled_folder().iterdir()}

    assert sizes["sae_weights.safetensors"] < 5_000_000
    assert sum(sizes.values()) < 5_500_000


def test_the_weights_are_those_that_recorded() -> None:
    entry = find_encoder(NAME)
    encoder = BUNDLED.encoder

    assert encoder.sae_hash == BUNDLED.autoencoder.file_hash
    assert (encoder.layer, encoder.model) == (entry.layer, entry.model)
    assert BUNDLED.autoencoder.d_sae == entry.d_sae
    assert BUNDLED.autoencoder.k == 16
    assert encoder.policy.max_norm == BUNDLED.autoencoder.metadata["max_norm"]


def test_every_item_of_the_starter_suite_is_recorded() -> None:
    items = BUNDLED.item_encodings()

    expected = {
        (benchmark_id, item_id)
        for benchmark_id, rows in starter_items()
        for item_id, _ in rows
    }
    assert items.schema == ITEM_ENCODINGS
    assert set(items.select("benchmark_id", "item_id").iter_rows()) == expected
    assert len(expected) == 233
    assert set(items["status"]) == {"encoded"}
    assert not items["is_truncated"].any()


def test_recorded_cells_agree_with_the_items_they_are_of() -> None:
    cells, items = BUNDLED.item_concepts(), BUNDLED.item_encodings()

    sums = cells.group_by("item_id").agg(
        mass=pl.col("mean_activation").cast(pl.Float64).sum(),
        n_active=pl.len(),
        n_entries=pl.col("n_active_tokens").sum(),
    )
    both = items.join(sums, on="item_id")
    assert cells.schema == ITEM_CONCEPTS
    assert cells.equals(cells.sort("item_id", "latent_index"))
    assert both.height == items.height
    assert both["mass"].to_numpy() == pytest.approx(both["mass_right"].to_numpy(), 1e-5)
    assert (both["n_active"] == both["n_active_latents"]).all()
    # TopK: 16 latents of each token, or fewer where they are not above 0.
    assert (both["n_entries"] <= 16 * both["n_kept_tokens"]).all()
    assert (cells["mean_activation"] <= cells["max_activation"]).all()
    positions = cells.join(items, on="item_id")
    assert (positions["position_of_max"] < positions["n_kept_tokens"]).all()


def test_every_latent_is_in_the_dictionary_or_says_why_not() -> None:
    concepts = BUNDLED.concepts()

    assert concepts.schema == CONCEPTS
    assert concepts["latent_index"].to_list() == list(range(2048))
    assert concepts["in_dictionary"].equals(concepts["reason"].is_null())
    assert set(concepts["label_source"].drop_nulls()) == {"top_tokens"}
    # Each token has 16 active latents at most.
    assert 0 < concepts["reference_density"].sum() <= 16.001
    assert concepts["in_dictionary"].mean() > 0.9


def test_decoder_rows_have_one_length() -> None:
    assert BUNDLED.autoencoder.decoder_norms == pytest.approx(np.ones(2048), rel=2e-3)


def test_the_model_card_names_every_source_with_its_licence() -> None:
    card = (bundled_folder() / "README.md").read_text("utf-8")

    for name, source in SOURCES.items():
        assert f"| {name} | `{source.package}`" in card
        assert source.licence in card
    assert "explained variance" in card


def test_a_folder_without_its_identity_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"encoder\.json"):
        _ = BundledEncoder(tmp_path).encoder
