import numpy as np
import polars as pl
import pytest

from skillmap.concepts.relevance import term_relevance
from skillmap.concepts.terms import reduced, term_vectors, terms_of

CARDS = pl.DataFrame(
    {
        "benchmark_id": ["law", "maths"],
        "card": [
            "Questions about court rulings, contracts and legal reasoning",
            "School mathematics: arithmetic and word problems",
        ],
    }
)
ITEMS = pl.DataFrame(
    {
        "benchmark_id": ["law", "law", "maths", "maths"],
        "text": [
            "The court held that the contract was void",
            "Which ruling binds a lower court?",
            "Sum the integers from 1 to 100",
            "A train covers 30 miles; find the sum of distances",
        ],
    }
)
CONCEPTS = pl.DataFrame(
    {
        "encoder_id": "e",
        "latent_index": [0, 1, 2, 3],
        "label": ["legal contracts", "sums of integers", "palindromes", None],
    }
)


def test_concepts_belong_where_their_words_stand() -> None:
    found = term_relevance(CONCEPTS, CARDS, ITEMS)

    assert found.select("benchmark_id", "latent_index", "relevance").rows() == [
        ("law", 0, "relevant"),
        ("law", 1, "irrelevant"),
        ("law", 2, "irrelevant"),
        ("law", 3, "unclear"),
        ("maths", 0, "irrelevant"),
        ("maths", 1, "relevant"),
        ("maths", 2, "irrelevant"),
        ("maths", 3, "unclear"),
    ]
    assert found["score"][3] is None
    assert set(found["method"]) == {"terms"}


def test_the_cut_offs_can_be_moved() -> None:
    found = term_relevance(
        CONCEPTS, CARDS, ITEMS, relevant_from=0.99, irrelevant_below=0.0
    )

    assert set(found["relevance"]) == {"unclear"}


def test_a_card_is_enough() -> None:
    found = term_relevance(CONCEPTS, CARDS, ITEMS.clear())

    assert found["relevance"][0] == "relevant"


def test_terms_are_words_without_endings_and_stop_words() -> None:
    assert terms_of("The 3 Classes of berries' analysis: is-it gas?") == [
        "classe",
        "berry",
        "analysis",
        "gas",
    ]


def test_cosines_are_those_of_the_dense_vectors() -> None:
    texts = [*ITEMS["text"], *CARDS["card"], "", "court court contract"]
    vectors = term_vectors(texts)
    dense = vectors.matrix().toarray()

    found = vectors.cosines(range(1, 5), range(3, 8))

    assert found == pytest.approx(dense[1:5] @ dense[3:8].T)
    lengths = np.linalg.norm(dense, axis=1)
    assert lengths == pytest.approx([1, 1, 1, 1, 1, 1, 0, 1])


def test_reduced_vectors_keep_cosines_when_all_directions_are_kept() -> None:
    vectors = term_vectors(ITEMS["text"])
    dense = vectors.matrix().toarray()

    found = reduced(vectors)

    assert found @ found.T == pytest.approx(dense @ dense.T)


def test_reduced_vectors_are_the_same_each_time() -> None:
    random = np.random.default_rng(0)
    words = [f"word{chr(97 + i)}{chr(97 + j)}" for i in range(26) for j in range(5)]
    words = [w.replace("word", "w") for w in words]
    texts = [" ".join(random.choice(words, 6)) for _ in range(120)]
    vectors = term_vectors(texts)

    once, again = (reduced(vectors, n_components=8) for _ in range(2))

    assert once.shape == (120, 8)
    assert (once == again).all()
    # Rank 8 as NumPy gives it.
    left, size, _ = np.linalg.svd(vectors.matrix().toarray(), full_matrices=False)
    plain = left[:, :8] * size[:8]
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    assert once @ once.T == pytest.approx(plain @ plain.T, abs=1e-6)
