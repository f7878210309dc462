import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from skillmap.embedding import Embedder
from skillmap.embedding.sentence_transformers import SentenceTransformersEmbedder
from skillmap.errors import InvalidInputError


class LengthModel:
    """Stands in for a SentenceTransformer: a phrase's vector tells its length."""

    def __init__(self, name: str, *, revision: str | None, device: str) -> None:
        self.opened_with = (name, revision, device)
        self.batches: list[list[str]] = []

    def encode(self, sentences: list[str], **_: object) -> NDArray[np.float64]:
        self.batches.append(sentences)
        angle = np.array([len(text) for text in sentences]) / 100
        return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[LengthModel]:
    models: list[LengthModel] = []

    def open_model(name: str, *, revision: str | None, device: str) -> LengthModel:
        models.append(LengthModel(name, revision=revision, device=device))
        return models[-1]

    library = SimpleNamespace(SentenceTransformer=open_model)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    return models


def test_rows_follow_the_order_given_and_repeats_are_computed_once(
    opened: list[LengthModel],
) -> None:
    phrases = ["long phrase", "a", "long phrase", "\ud83d"]
    embedder: Embedder = SentenceTransformersEmbedder("some/model", revision="abc")

    vectors = embedder.embed(phrases)

    assert vectors.dtype == np.float32
    assert vectors[:, 1] == pytest.approx(np.sin([0.11, 0.01, 0.11, 0.01]))
    assert opened[0].opened_with == ("some/model", "abc", "cpu")
    assert opened[0].batches == [["a", "\ufffd", "long phrase"]]


def test_progress_counts_distinct_phrases(opened: list[LengthModel]) -> None:
    seen: list[tuple[int, int]] = []
    phrases = [str(n) for n in range(40)] + ["0"]

    SentenceTransformersEmbedder("some/model", batch_size=1).embed(
        phrases, progress=lambda *n: seen.append(n)
    )

    assert seen == [(32, 40), (40, 40)]
    assert len(opened) == 1


@pytest.mark.usefixtures("opened")
def test_no_phrases_give_no_rows_of_the_models_width() -> None:
    embedder = SentenceTransformersEmbedder("some/model")

    assert embedder.embed([]).shape == (0, 2)
    assert embedder.dimensions == 2


def test_the_id_of_a_hub_model_is_its_name_and_revision() -> None:
    embedder = SentenceTransformersEmbedder("some/model", revision="abc")

    assert embedder.embedder_id == "some/model@abc"


def test_the_id_of_a_folder_changes_with_its_content(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("1", encoding="utf-8")
    before = SentenceTransformersEmbedder(str(folder)).embedder_id

    (folder / "config.json").write_text("2", encoding="utf-8")
    after = SentenceTransformersEmbedder(str(folder)).embedder_id

    assert before.startswith("model:")
    assert after.startswith("model:")
    assert before != after


def test_a_folder_is_opened_without_a_revision(
    opened: list[LengthModel], tmp_path: Path
) -> None:
    SentenceTransformersEmbedder(str(tmp_path), device="meta").embed(["a"])

    assert opened[0].opened_with == (str(tmp_path), None, "meta")


def test_without_the_library_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = SentenceTransformersEmbedder("some/model")

    with pytest.raises(InvalidInputError, match=r"skillmap\[sentence-transformers\]"):
        embedder.embed(["a"])
