"""Vectors of the residual stream: of one text, of a batch, and of the whole model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skillmap.concepts.encoding.identity import Precision
from skillmap_dagster.resources.encoders.residual_stream import (
    Batch,
    ResidualStream,
    layers_of,
)

torch = pytest.importorskip("torch", reason="needs torch: run `make test-torch`")
transformers = pytest.importorskip(
    "transformers", reason="needs transformers: run `make test-torch`"
)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_text_is_the_same_alone_and_in_a_batch(
    tiny_model: Path, dtype: Precision
) -> None:
    stream = ResidualStream(tiny_model, layer=1, dtype=dtype)
    random = np.random.default_rng(3)
    texts = [
        (random.integers(4, 200, n).tolist(), list(range(n))) for n in (3, 17, 9, 40, 1)
    ]

    together = {
        place: rows
        for batch in stream.batches(texts, tokens_per_batch=120)
        for place, rows in split(batch, texts)
    }

    tolerance = 1e-5 if dtype == "float32" else 0.02
    for place, text in enumerate(texts):
        (alone,) = stream.batches([text])
        difference = (together[place] - alone.vectors).norm(dim=1)
        assert (difference / alone.vectors.norm(dim=1)).max() < tolerance


def split(batch: Batch, texts: list[tuple[list[int], list[int]]]) -> list[Any]:
    sizes = [len(texts[place][1]) for place in batch.texts]
    return list(zip(batch.texts, batch.vectors.split(sizes), strict=True))


def test_batches_hold_neighbours_in_length(tiny_model: Path) -> None:
    stream = ResidualStream(tiny_model, layer=0)
    texts = [([5] * n, [0]) for n in (2, 30, 4, 31, 90)]

    read = [(b.texts, b.n_read) for b in stream.batches(texts, tokens_per_batch=64)]

    # The longest is more than a batch holds, and is read all the same.
    assert read == [([4], 90), ([3, 1], 61), ([2, 0], 6)]


def test_the_stream_ends_where_the_whole_model_passes(tiny_model: Path) -> None:
    stream = ResidualStream(tiny_model, layer=0)
    ids = list(range(4, 30))
    model = transformers.AutoModel.from_pretrained(
        tiny_model, attn_implementation="eager"
    )

    (batch,) = stream.batches([(ids, [2, 7])])
    with torch.inference_mode():
        whole = model(torch.tensor([ids]), output_hidden_states=True)

    assert torch.allclose(batch.vectors, whole.hidden_states[1][0, [2, 7]], atol=1e-6)
    assert len(layers_of(model)) == 2
