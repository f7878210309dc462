import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.concepts.encoding.autoencoder import Architecture, Autoencoder, Floats32
from skillmap.concepts.encoding.fused import Entries, FusedEncoder
from skillmap.concepts.encoding.pooling import Cells, merged, pool
from tests.concepts.encoding.autoencoders import random_autoencoder, vectors
from tests.concepts.encoding.record_sae_lens import N_TOKENS, RECORD, cases


def dense(entries: Entries, n_tokens: int, n_latents: int) -> Floats32:
    filled = np.zeros((n_tokens, n_latents), np.float32)
    filled[entries.token, entries.latent] = entries.value
    return filled


@pytest.mark.parametrize("width", [16, 33, 96, 4096])
@pytest.mark.parametrize("is_scaled", [True, False])
@pytest.mark.parametrize("kind", ["standard", "topk", "jumprelu", "gated"])
def test_blocks_give_what_the_whole_product_gives(
    kind: Architecture, *, is_scaled: bool, width: int
) -> None:
    autoencoder = random_autoencoder(kind, is_scaled=is_scaled and kind == "topk")
    rows = vectors(37)

    entries = FusedEncoder(autoencoder, latents_per_block=width).entries(rows)

    expected = autoencoder.encode(rows)
    assert (entries.value > 0).all()
    assert dense(entries, 37, 96) == pytest.approx(expected, rel=1e-5, abs=2e-6)
    assert entries.token.size == np.count_nonzero(expected)


@pytest.mark.parametrize("normalisation", ["layer_norm", "constant_norm_rescale"])
def test_vectors_are_normalised_before_they_are_centred(normalisation: str) -> None:
    autoencoder = random_autoencoder("jumprelu", normalisation=normalisation)
    rows = 40 * vectors(8)

    entries = FusedEncoder(autoencoder).entries(rows)

    assert dense(entries, 8, 96) == pytest.approx(
        autoencoder.encode(rows), rel=1e-5, abs=2e-6
    )


@given(st.integers(1, 96), st.integers(0, 2**16), st.sampled_from([16, 32, 48]))
def test_no_row_has_more_than_k_and_none_that_is_larger_is_left_out(
    k: int, seed: int, width: int
) -> None:
    autoencoder = random_autoencoder("topk", k=k, seed=seed)
    rows = vectors(5, seed=seed)

    entries = FusedEncoder(autoencoder, latents_per_block=width).entries(rows)

    assert np.bincount(entries.token, minlength=5).max() <= k
    assert dense(entries, 5, 96) == pytest.approx(
        autoencoder.encode(rows), rel=1e-5, abs=2e-6
    )


def test_of_equal_latents_the_first_ones_are_kept() -> None:
    weights = {"W_enc": np.ones((1, 64), np.float32), "b_enc": np.zeros(64, np.float32)}
    autoencoder = Autoencoder("topk", weights, k=3)

    entries = FusedEncoder(autoencoder, latents_per_block=32).entries(
        np.ones((1, 1), np.float32)
    )

    assert entries.latent.tolist() == [0, 1, 2]


def test_no_tokens_have_no_entries() -> None:
    for kind in ("standard", "topk"):
        entries = FusedEncoder(random_autoencoder(kind)).entries(vectors(0))

        assert entries.token.size == 0


def cells_of(items: list[int], n_chunks: int) -> Cells:
    autoencoder = random_autoencoder("topk")
    encoder = FusedEncoder(autoencoder)
    rows, of = vectors(len(items)), np.array(items)
    positions = np.concatenate(
        [np.arange(n) for n in np.unique(of, return_counts=True)[1]]
    )
    chunks = np.array_split(np.arange(len(items)), n_chunks)
    return merged(
        [pool(encoder.entries(rows[c]), of[c], positions[c]) for c in chunks if c.size]
    )


@pytest.mark.parametrize("n_chunks", [1, 4, 11])
def test_pooled_cells_are_those_of_the_dense_activations(n_chunks: int) -> None:
    items = [0] * 5 + [1] + [3] * 13

    cells = cells_of(items, n_chunks)

    activations = random_autoencoder("topk").encode(vectors(19))
    rows = []
    for item in (0, 1, 3):
        of_item = activations[np.array(items) == item].astype(np.float64)
        for latent in np.flatnonzero(of_item.max(0) > 0):
            column = of_item[:, latent]
            rows.append(
                (
                    item,
                    latent,
                    column.sum(),
                    column.max(),
                    (column > 0).sum(),
                    column.argmax(),
                )
            )
    expected = np.array(rows, np.float64)
    found = np.stack(
        [
            cells.item,
            cells.latent,
            cells.total,
            cells.maximum,
            cells.n_active_tokens,
            cells.position_of_max,
        ],
        axis=1,
    )
    assert found[:, [0, 1, 4, 5]].tolist() == expected[:, [0, 1, 4, 5]].tolist()
    assert found == pytest.approx(expected, abs=2e-6)


def test_reading_a_text_twice_leaves_its_means() -> None:
    once = cells_of([0] * 7, 1)
    encoder = FusedEncoder(random_autoencoder("topk"))
    rows = vectors(7)
    twice = pool(
        encoder.entries(np.concatenate([rows, rows])),
        np.zeros(14, np.int64),
        np.arange(14),
    )

    assert twice.total / 14 == pytest.approx(once.total / 7)
    assert twice.position_of_max.tolist() == once.position_of_max.tolist()


@pytest.mark.parametrize("name", cases())
def test_activations_are_those_that_sae_lens_gave(name: str) -> None:
    autoencoder = cases()[name]
    with np.load(RECORD) as recorded:
        expected = recorded[name]

    rows = vectors(N_TOKENS)
    entries = FusedEncoder(autoencoder, latents_per_block=32).entries(rows)

    assert (expected > 0).any()
    for activations in (autoencoder.encode(rows), dense(entries, N_TOKENS, 96)):
        assert activations == pytest.approx(expected, rel=1e-5, abs=1e-5)
