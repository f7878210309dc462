"""A planted model, whose activations are known exactly, from text to files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from skillmap.concepts.encoding.autoencoder import (
    Architecture,
    Autoencoder,
    write_autoencoder,
)
from skillmap.concepts.encoding.frames import ITEM_CONCEPTS, ITEM_ENCODINGS
from skillmap.concepts.encoding.fused import FusedEncoder
from skillmap.concepts.encoding.registry import encoder_entry
from skillmap.concepts.encoding.storage import read_cells
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.encoders.benchmark_encoding import (
    EncodedBenchmark,
    Progress,
    RunningEncoder,
    encode_benchmark,
)
from skillmap_dagster.resources.encoders.loading import load_encoder
from tests.concepts.encoding.autoencoders import random_autoencoder, vectors

torch = pytest.importorskip("torch", reason="needs torch: run `make test-torch`")
transformers = pytest.importorskip(
    "transformers", reason="needs transformers: run `make test-torch`"
)

WORDS = ["<s>", "</s>", "user", "assistant", "dog", "cat", "sun", "moon", "and"]
# What each word adds to the residual stream.
EMBEDDINGS = np.zeros((len(WORDS), 8), np.float32)
EMBEDDINGS[WORDS.index("dog"), 0] = 4
EMBEDDINGS[WORDS.index("cat"), 0] = 2
EMBEDDINGS[WORDS.index("sun"), 1] = 3
EMBEDDINGS[WORDS.index("moon"), 1] = 1
EMBEDDINGS[WORDS.index("moon"), 2] = 8
EMBEDDINGS[WORDS.index("and"), 3] = 0.5
EMBEDDINGS[WORDS.index("user"), 0] = 64
EMBEDDINGS[WORDS.index("<s>"), 4] = 1000
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m.role }} {{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}assistant{% endif %}"
)


def animals_and_sky() -> Autoencoder:
    """Latents: animals above 1, the sun above 2, the moon, and one that is dead."""
    weights = np.zeros((8, 4), np.float32)
    weights[0, 0] = weights[1, 1] = 1
    weights[2, 2] = 0.5
    return Autoencoder(
        "jumprelu",
        {
            "W_enc": weights,
            "W_dec": weights.T.copy(),
            "b_enc": np.array([0, 0, -1, 0], np.float32),
            "b_dec": np.zeros(8, np.float32),
            "threshold": np.array([1, 2, 0, 0], np.float32),
        },
        is_centred=False,
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A Llama whose layers add nothing, and an autoencoder of its third."""
    folder = tmp_path_factory.mktemp("planted")
    tokenizer = Tokenizer(
        models.WordLevel(
            {word: n for n, word in enumerate(WORDS)},
            unk_token="and",  # noqa: S106  no secret
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    told = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "</s>",
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=64,
    )
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.tensor(EMBEDDINGS))
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
    model.save_pretrained(folder)
    write_autoencoder(animals_and_sky(), folder / "sae")
    return {"model": str(folder), "layer": 2, "folder": str(folder / "sae")}


def load(planted: dict[str, Any], cache: Path, **policy: object) -> RunningEncoder:
    entry = encoder_entry("planted", {**planted, "policy": policy})
    return load_encoder(entry, cache=cache, device="cpu")


ITEMS: list[tuple[str, str | None]] = [
    ("toy:1", "dog and cat and"),
    ("toy:2", "sun moon sun dog"),
    ("toy:3", "and and"),
    ("toy:4", ""),
    ("toy:5", None),
    ("toy:6", "</s> </s>"),
    ("toy:7", "dog " * 60),
]
# Item, latent, mean, max, active tokens and position of the max, by hand.
CELLS = [
    ("toy:1", 0, 6 / 4, 4.0, 2, 0),  # dog 4, cat 2
    ("toy:2", 0, 4 / 4, 4.0, 1, 3),
    ("toy:2", 1, 6 / 4, 3.0, 2, 0),  # the moon's 1 is not above 2
    ("toy:2", 2, 3 / 4, 3.0, 1, 1),  # 8 · 0.5 - 1
    ("toy:7", 0, 4.0, 4.0, 30, 0),
]


def encoded(
    running: RunningEncoder,
    folder: Path,
    items_per_shard: int = 512,
    report: Callable[[Progress], None] | None = None,
) -> EncodedBenchmark:
    return encode_benchmark(
        running,
        ITEMS,
        folder,
        benchmark_id="toy",
        items_per_shard=items_per_shard,
        report=report,
    )


def test_activations_are_those_that_were_planted(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    # The template has two tokens before the content.
    running = load(planted, tmp_path, max_length=32)

    done = encoded(running, tmp_path, items_per_shard=2)

    cells = read_cells(done.cells.by_item)
    assert cells.drop("encoder_id", "benchmark_id").rows() == CELLS
    assert set(cells["encoder_id"]) == {running.encoder.encoder_id}
    by_latent = read_cells(done.cells.by_latent, "by_latent")
    assert by_latent.select(
        "latent_index", "item_id", "mean_activation"
    ).rows() == sorted((latent, item, mean) for item, latent, mean, *_ in CELLS)


def test_every_item_has_a_status_and_its_sums(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    done = encoded(load(planted, tmp_path, max_length=32), tmp_path)

    items = pl.read_parquet(done.items)
    assert items.schema == ITEM_ENCODINGS
    columns = ["item_id", "status", "n_tokens", "n_kept_tokens", "is_truncated"]
    assert items.select(columns).rows() == [
        ("toy:1", "encoded", 8, 4, False),
        ("toy:2", "encoded", 8, 4, False),
        ("toy:3", "encoded", 6, 2, False),
        ("toy:4", "empty", 0, 0, False),
        ("toy:5", "empty", 0, 0, False),
        ("toy:6", "all_special", 6, 0, False),
        ("toy:7", "encoded", 64, 30, True),
    ]
    assert items.select("mass", "l0_mean", "n_active_latents").rows() == [
        (1.5, 0.5, 1),
        (1.0 + 1.5 + 0.75, 1.0, 3),
        (0.0, 0.0, 0),
        (None, None, None),
        (None, None, None),
        (None, None, None),
        (4.0, 1.0, 1),
    ]


def test_the_whole_prompt_may_count_with_its_special_tokens(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    running = load(planted, tmp_path, span="prompt", special_tokens="included")

    frames, _ = running.encode(["toy:1"], ["dog"], "toy")

    # <s> user dog </s> assistant: 64 of "user" and 4 of "dog", over five tokens.
    assert frames.items["n_kept_tokens"].to_list() == [5]
    assert frames.cells.select("latent_index", "mean_activation").rows() == [
        (0, pytest.approx(68 / 5))
    ]


def test_tokens_with_vectors_that_are_too_long_are_left_out(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    running = load(planted, tmp_path, max_norm=5.0)

    frames, _ = running.encode(["toy:1", "toy:2"], ["dog moon", "moon"], "toy")

    # The moon's vector has the length √65.
    assert frames.items.select(
        "status", "n_kept_tokens", "n_outlier_tokens"
    ).rows() == [
        ("encoded", 1, 1),
        ("empty", 0, 1),
    ]
    assert frames.cells["mean_activation"].to_list() == [4.0]


def test_a_run_that_was_ended_repeats_one_shard_at_most(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    running = load(planted, tmp_path, max_length=32)
    whole = encoded(running, tmp_path / "whole", items_per_shard=2)

    def end(progress: Progress) -> None:
        if progress.n_items == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoded(running, tmp_path / "ended", items_per_shard=2, report=end)
    told: list[Progress] = []
    again = encoded(running, tmp_path / "ended", items_per_shard=2, report=told.append)

    # <s> user and four words; the shards of the first four items are there.
    assert [progress.n_tokens for progress in told] == [0, 0, 0, 32]
    assert again.cells.by_item.read_bytes() == whole.cells.by_item.read_bytes()
    assert pl.read_parquet(again.items).equals(pl.read_parquet(whole.items))


def test_other_texts_make_other_shards(planted: dict[str, Any], tmp_path: Path) -> None:
    running = load(planted, tmp_path)
    first = encode_benchmark(running, [("a", "dog")], tmp_path, benchmark_id="toy")
    second = encode_benchmark(running, [("a", "cat")], tmp_path, benchmark_id="toy")

    assert first.progress.n_tokens == second.progress.n_tokens == 3
    assert read_cells(second.cells.by_item)["mean_activation"].to_list() == [2.0]


def test_nothing_to_encode_gives_empty_files(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    done = encode_benchmark(load(planted, tmp_path), [], tmp_path, benchmark_id="toy")

    assert read_cells(done.cells.by_item).schema == ITEM_CONCEPTS
    assert pl.read_parquet(done.items).is_empty()


def test_the_identity_holds_what_was_loaded(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    one = load(planted, tmp_path).encoder
    other = load(planted, tmp_path, span="prompt").encoder

    assert set(one.versions) == {"torch", "transformers", "tokenizers"}
    assert one.model_revision != "main"
    assert one.encoder_id == load(planted, tmp_path).encoder.encoder_id
    assert list(one.differences(other)) == ["policy"]


def test_a_model_and_an_autoencoder_that_do_not_fit_are_refused(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    write_autoencoder(random_autoencoder("standard"), tmp_path / "sae")

    with pytest.raises(InvalidInputError, match="8 numbers, the autoencoder reads 12"):
        load({**planted, "folder": str(tmp_path / "sae")}, tmp_path)
    with pytest.raises(InvalidInputError, match="layer must be from 0 to 3, got 4"):
        load({**planted, "layer": 4}, tmp_path)
    with pytest.raises(InvalidInputError, match="has d_sae 4, the registry says 5"):
        load({**planted, "d_sae": 5}, tmp_path)
    with pytest.raises(InvalidInputError, match="no model"):
        load({**planted, "model": str(tmp_path)}, tmp_path)


@pytest.mark.parametrize("is_scaled", [True, False])
@pytest.mark.parametrize("kind", ["standard", "topk", "jumprelu", "gated"])
def test_torch_encodes_as_numpy_does(kind: Architecture, *, is_scaled: bool) -> None:
    autoencoder = random_autoencoder(kind, is_scaled=is_scaled and kind == "topk")
    rows = vectors(50)

    entries = FusedEncoder(autoencoder, device="cpu", latents_per_block=32).entries(
        torch.tensor(rows)
    )

    filled = np.zeros((50, 96), np.float32)
    filled[entries.token, entries.latent] = entries.value
    assert filled == pytest.approx(autoencoder.encode(rows), rel=1e-5, abs=2e-6)


def test_normalisation_is_the_same_in_torch() -> None:
    for normalisation in ("layer_norm", "constant_norm_rescale"):
        autoencoder = random_autoencoder("standard", normalisation=normalisation)
        rows = 30 * vectors(9)

        entries = FusedEncoder(autoencoder, device="cpu").entries(torch.tensor(rows))

        filled = np.zeros((9, 96), np.float32)
        filled[entries.token, entries.latent] = entries.value
        assert filled == pytest.approx(autoencoder.encode(rows), rel=1e-5, abs=2e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", ["standard", "topk", "jumprelu", "gated"])
def test_cuda_gives_what_the_cpu_gives(kind: Architecture) -> None:
    autoencoder = random_autoencoder(kind, d_in=64, d_sae=4096)
    rows = vectors(300, d_in=64)

    entries = FusedEncoder(autoencoder, device="cuda").entries(torch.tensor(rows))

    filled = np.zeros((300, 4096), np.float32)
    filled[entries.token, entries.latent] = entries.value
    assert np.abs(filled - autoencoder.encode(rows)).sum() < 1e-3 * filled.sum()


def test_a_tokenizer_that_adds_a_beginning_adds_none(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    running = load(planted, tmp_path)
    tokenizer = running.stream.tokenizer
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )

    text = running.texts.tokenised("dog")

    assert tokenizer("dog")["input_ids"] == [0, 4]
    assert list(text.ids) == [0, 2, 4]
