"""Weighted terms of short texts: what stands in for a language model offline."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, cast

import numpy as np
import polars as pl
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse.linalg import (  # pyright: ignore[reportMissingTypeStubs]
    svds,  # pyright: ignore[reportUnknownVariableType]
)

from skillmap.metrics.clustered import Integers
from skillmap.metrics.intervals import Floats

_WORD = re.compile(r"[^\W\d_]{2,}")
# Words that say nothing about a subject.
_STOPPED = frozenset(
    """
    a about all an and any are as at be been both but by can do does each for from has
    have how if in into is it its may more most no not of on one only or other out over
    such than that the their them then there these they this to up use used using
    various was we were what when where which who will with you your
    """.split()  # noqa: SIM905 - a list of them would fill the page
)
_NOTHING = 1e-9


class TermVectors(NamedTuple):
    """Unit vectors of texts over their terms, as entries that are not 0.

    Attributes:
        text: Text of each entry, from 0.
        term: Term of each entry, from 0.
        value: Its weight.
        n_texts: Texts, those without a term included.
        n_terms: Terms.
    """

    text: Integers
    term: Integers
    value: Floats
    n_texts: int
    n_terms: int

    def cosines(self, first: range, second: range) -> Floats:
        """Cosine of each two texts, of two ranges that count up by 1."""
        left = self._rows(first)
        return cast("Floats", left @ self._table(second).T)

    def matrix(self) -> csr_array:
        """All of them, shape ``(n_texts, n_terms)``."""
        return self._rows(range(self.n_texts))

    def _rows(self, texts: range) -> csr_array:
        text, term, value = self._entries(texts)
        return csr_array((value, (text, term)), shape=(len(texts), self.n_terms))

    def _table(self, texts: range) -> Floats:
        text, term, value = self._entries(texts)
        table = np.zeros((len(texts), self.n_terms))
        table[text, term] = value
        return table

    def _entries(self, texts: range) -> tuple[Integers, Integers, Floats]:
        at = slice(*np.searchsorted(self.text, [texts.start, texts.stop]).tolist())
        return self.text[at] - texts.start, self.term[at], self.value[at]


def terms_of(text: str) -> list[str]:
    """Words of two letters or more, in lower case and singular, but for stop words.

    Examples:
        >>> terms_of("Proofs by the 2 methods of induction")
        ['proof', 'method', 'induction']
    """
    words = (_singular(word) for word in _WORD.findall(text.lower()))
    return [word for word in words if word not in _STOPPED]


def term_vectors(texts: Iterable[str]) -> TermVectors:
    """TF-IDF vectors of texts.

    Args:
        texts: Compared with each other only: how rare a term is, is counted here.

    Source:
        Salton and Buckley (1988), Information Processing & Management 24, 513-523:
        ``(1 + ln tf) (1 + ln((1 + n) / (1 + df)))``, rows of length 1.
    """
    counts = [Counter(terms_of(text)) for text in texts]
    terms = sorted({term for count in counts for term in count})
    place = {term: i for i, term in enumerate(terms)}
    text = np.repeat(np.arange(len(counts)), [len(count) for count in counts])
    term = np.array([place[t] for count in counts for t in count], dtype=np.int64)
    times = np.array([n for count in counts for n in count.values()], dtype=float)
    n_terms = max(len(terms), 1)
    rarity = 1 + np.log((1 + len(counts)) / (1 + np.bincount(term, minlength=n_terms)))
    value = (1 + np.log(times)) * rarity[term]
    length = np.sqrt(np.bincount(text, weights=value**2, minlength=len(counts)))
    return TermVectors(text, term, value / length[text], len(counts), n_terms)


def reduced(vectors: TermVectors, *, n_components: int = 64) -> Floats:
    """Unit vectors over the directions that most of the texts' terms lie in.

    Returns:
        Shape ``(n_texts, at most n_components)``; rows of 0 for texts without a term.

    Source:
        Latent semantic analysis: Deerwester et al. (1990), JASIS 41, 391-407.
    """
    matrix = vectors.matrix()
    n_least = min(vectors.n_texts, vectors.n_terms)
    if n_least <= n_components + 1:
        table = cast("Floats", matrix @ np.eye(vectors.n_terms))
        left, size, _ = np.linalg.svd(table, full_matrices=False)
    else:
        # A start of its own makes the iteration the same each time.
        start = np.ones(n_least) / np.sqrt(n_least)
        left, size, _ = cast(
            "tuple[Floats, Floats, Floats]", svds(matrix, k=n_components, v0=start)
        )
    kept = size > _NOTHING * size.max(initial=0)
    projected = left[:, kept] * size[kept]
    length = np.sqrt((projected**2).sum(axis=1, keepdims=True))
    return np.divide(
        projected, length, out=np.zeros_like(projected), where=length > _NOTHING
    )


def common_terms(labels: pl.Series, *, n: int = 3) -> str:
    """The terms that most of the labels share, commonest first, joined by " / ".

    Examples:
        >>> common_terms(pl.Series(["prime numbers", "odd numbers", None]), n=1)
        'number'
    """
    counts = Counter(
        term for label in labels.drop_nulls() for term in set(terms_of(label))
    )
    ordered = sorted(counts, key=lambda term: (-counts[term], term))
    return " / ".join(ordered[:n])


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "ties" stays
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1] if len(word) > 3 else word  # noqa: PLR2004 - "gas" stays
    return word
