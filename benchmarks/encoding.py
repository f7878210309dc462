"""CPU seconds of encoding, beside what it is made of and beside sae-lens.

Needs torch and transformers (``make torch``); sae-lens is compared with where it is
installed. Run it on one thread:

    OMP_NUM_THREADS=1 python -m benchmarks.encoding

Compare ratios within one run only. Parts take turns, and of each the fastest counts:
other work on the machine slows one turn, not the same part in all.
"""

import argparse
import gc
import importlib.util
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
import transformers
from tokenizers import Tokenizer, models
from transformers.utils import logging

from skillmap.concepts.encoding.autoencoder import Architecture, Autoencoder
from skillmap.concepts.encoding.frames import encoded_frames
from skillmap.concepts.encoding.fused import TOKENS_PER_CHUNK, FusedEncoder
from skillmap.concepts.encoding.pooling import merged, pool
from skillmap.concepts.encoding.storage import write_cells
from skillmap.concepts.encoding.tokens import TokenisedText
from skillmap_dagster.resources.encoders.residual_stream import ResidualStream

N_TOKENS = TOKENS_PER_CHUNK
TOKENS_PER_ITEM = 64
ITEMS_PER_SHARD = 256
# Active latents of a token that published autoencoders have, about.
L0 = {16_384: 32, 24_576: 48, 65_536: 125}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="*", default=["768x16384", "2304x16384"])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--parts", nargs="*", default=["encode", "forward", "memory"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(3)
    if "memory" in options.parts:
        memory()
    if "encode" in options.parts:
        for shape in options.shapes:
            d_in, d_sae = map(int, shape.split("x"))
            for kind in ("jumprelu", "topk"):
                encode(kind, d_in, d_sae, options.repetitions)
    if "forward" in options.parts:
        forward(options.repetitions)


def encode(kind: Architecture, d_in: int, d_sae: int, repetitions: int) -> None:
    """Encode and mean, beside the product in blocks and beside sae-lens."""
    autoencoder = random_autoencoder(kind, d_in, d_sae, L0.get(d_sae, 64))
    rows = torch.randn(N_TOKENS, d_in)
    items = np.repeat(np.arange(N_TOKENS // TOKENS_PER_ITEM), TOKENS_PER_ITEM)
    positions = np.tile(np.arange(TOKENS_PER_ITEM), items.max() + 1)
    fused = FusedEncoder(autoencoder, device="cpu")
    parts: dict[str, Callable[[], Any]] = {
        f"product in blocks of {width}": product(autoencoder, rows, width)
        for width in (1024, 4096)
    }
    parts["encode and pool"] = lambda: pool(fused.entries(rows), items, positions)
    if importlib.util.find_spec("sae_lens"):
        for size in (256, N_TOKENS):
            name = f"sae-lens and mean, {size} tokens"
            parts[name] = of_sae_lens(autoencoder, rows.split(size))
    seconds = in_turns(parts, repetitions)
    cells = pool(fused.entries(rows), items, positions)
    l0 = cells.n_active_tokens.sum() / N_TOKENS
    best = min(s for name, s in seconds.items() if name.startswith("product"))
    print(f"{kind} {d_in} x {d_sae}, L0 {l0:.0f}")
    for name, spent in seconds.items():
        print(
            f"  {name:<30} {N_TOKENS / spent:9,.0f} tokens/CPU-s "
            f"{best / spent:6.2f} of the product"
        )
    theirs = [spent for name, spent in seconds.items() if name.startswith("sae-lens")]
    if theirs:
        ratio = min(theirs) / seconds["encode and pool"]
        print(f"  {ratio:.2f} times as fast as sae-lens")


def random_autoencoder(
    kind: Architecture, d_in: int, d_sae: int, k: int = 64
) -> Autoencoder:
    random = np.random.default_rng(3)
    weights = {
        "W_enc": random.standard_normal((d_in, d_sae), np.float32) / d_in**0.5,
        "W_dec": random.standard_normal((d_sae, d_in), np.float32),
        "b_enc": np.zeros(d_sae, np.float32),
        "b_dec": np.zeros(d_in, np.float32),
    }
    if kind == "jumprelu":
        # So many of a normal distribution are above it.
        weights["threshold"] = np.full(d_sae, 2.89, np.float32)
    return Autoencoder(kind, weights, k=k if kind == "topk" else None)


def product(
    autoencoder: Autoencoder, rows: torch.Tensor, width: int
) -> Callable[[], None]:
    weights = torch.tensor(autoencoder.weights["W_enc"])
    blocks = [block.contiguous() for block in weights.split(width, 1)]
    room = torch.empty(len(rows), width)

    def run() -> None:
        for block in blocks:
            torch.mm(rows, block, out=room)

    return run


def of_sae_lens(
    autoencoder: Autoencoder, parts: Sequence[torch.Tensor]
) -> Callable[[], None]:
    import sae_lens  # noqa: PLC0415  20 s

    about: dict[str, Any] = {"d_in": autoencoder.d_in, "d_sae": autoencoder.d_sae}
    if autoencoder.architecture == "topk":
        made = sae_lens.TopKSAE(sae_lens.TopKSAEConfig(k=autoencoder.k or 1, **about))
    else:
        made = sae_lens.JumpReLUSAE(sae_lens.JumpReLUSAEConfig(**about))
    made.load_state_dict({n: torch.tensor(v) for n, v in autoencoder.weights.items()})

    def run() -> None:
        with torch.inference_mode():
            for rows in parts:
                made.encode(rows).view(-1, TOKENS_PER_ITEM, made.cfg.d_sae).mean(1)

    return run


def forward(repetitions: int) -> None:
    """To the hook in sorted batches, beside the whole model as texts come."""
    config = transformers.LlamaConfig(
        vocab_size=50_257,
        hidden_size=768,
        intermediate_size=2_048,
        num_hidden_layers=12,
        num_attention_heads=12,
        num_key_value_heads=12,
    )
    random = np.random.default_rng(3)
    sizes = random.integers(12, 320, 24).tolist()
    texts = [random.integers(0, 50_000, size).tolist() for size in sizes]
    with tempfile.TemporaryDirectory() as place:
        whole = transformers.LlamaForCausalLM(config).eval()
        whole.save_pretrained(place)
        save_tokenizer(Path(place))
        stream = ResidualStream(place, layer=7)

    def full() -> None:
        for start in range(0, len(texts), 8):
            batch = texts[start : start + 8]
            width = max(map(len, batch))
            padded = [ids + [0] * (width - len(ids)) for ids in batch]
            read = [[1] * len(ids) + [0] * (width - len(ids)) for ids in batch]
            with torch.inference_mode():
                whole(torch.tensor(padded), attention_mask=torch.tensor(read))

    def ours() -> None:
        kept = [(ids, list(range(len(ids)))) for ids in texts]
        for _ in stream.batches(kept):
            pass

    seconds = in_turns({"full": full, "ours": ours}, max(repetitions // 2, 2))
    n_tokens = sum(sizes)
    print(f"12 layers of 768, {len(texts)} texts of 12 to 320 tokens, hook after 8")
    for name, part in (("whole model, batches of 8", "full"), ("to the hook", "ours")):
        print(f"  {name:<30} {n_tokens / seconds[part]:9,.0f} tokens/CPU-s")
    print(f"  {seconds['full'] / seconds['ours']:.2f} times as fast")


def save_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))  # noqa: S106
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(
        folder
    )


def memory() -> None:
    """Peak memory of a few and of many items' cells, from activations to files."""
    autoencoder = random_autoencoder("topk", 64, 4_096, 8)
    fused = FusedEncoder(autoencoder, device="cpu")
    random = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as place:
        for n_shards in (4, 16, 32):
            folder = Path(place) / str(n_shards)
            folder.mkdir()
            n_cells, n_bytes = shards(fused, random, folder, n_shards)
            gc.collect()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{n_shards * ITEMS_PER_SHARD:,} items, {n_cells:,} cells: "
                f"{n_bytes / n_cells:.1f} bytes a cell in both orders, "
                f"peak memory {peak:,.0f} MB"
            )


def shards(
    fused: FusedEncoder, random: np.random.Generator, folder: Path, n_shards: int
) -> tuple[int, int]:
    text = TokenisedText("encoded", (0,) * 64, tuple(range(64)), 64)
    files: list[Path] = []
    for number in range(n_shards):
        parts = []
        for start in range(0, ITEMS_PER_SHARD, 4):
            items = np.repeat(np.arange(start, start + 4), 64)
            rows = random.standard_normal((256, 64), np.float32)
            parts.append(pool(fused.entries(rows), items, np.tile(np.arange(64), 4)))
        ids = [f"toy:{number:04}/{place:04}" for place in range(ITEMS_PER_SHARD)]
        frames = encoded_frames(
            [text] * ITEMS_PER_SHARD,
            merged(parts),
            [0] * ITEMS_PER_SHARD,
            item_ids=ids,
            encoder_id="toy-1",
            benchmark_id="toy",
        )
        files.append(folder / f"shard-{number}.parquet")
        frames.cells.write_parquet(files[-1])
    stored = write_cells(
        lambda: (pl.scan_parquet(file) for file in files), folder, n_latents=4_096
    )
    return stored.n_cells, stored.n_bytes


def in_turns(parts: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, float]:
    """Seconds of CPU that the fastest turn of each part took."""
    seconds = dict.fromkeys(parts, float("inf"))
    for _ in range(repetitions + 1):
        for name, part in parts.items():
            start = time.process_time()
            part()
            seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds


if __name__ == "__main__":
    main()
