"""A response as columns of evidence, by what was learned from other items."""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import Block, RoutingItems
from skillmap.routing.membership import (
    Integers,
    dense,
    products,
    rows_of,
    transposed,
)
from skillmap.routing.responses import FORM, ModelResponses

# Kinds of evidence that a response gives, beside those of the item itself.
ANSWER: Final = "response_answer"
FORM_KIND: Final = "response_form"
WORDS: Final = "response_words"

# Words that stand in most responses, in so many of them at least, and the directions
# in which responses differ most in them.
_MOST_WORDS: Final = 1_500
_FEWEST_RESPONSES: Final = 3
_N_DIRECTIONS: Final = 50
_SPARE_DIRECTIONS: Final = 10
_N_ROUNDS: Final = 4
_LEAST_SPREAD: Final = 1e-9


class Terms(NamedTuple):
    """What the columns of one kind are made of.

    Attributes:
        names: Of words, answers or marks of form.
        values: Of the items asked about, shape ``(n_rows, n_terms)``.
        loadings: Of each term on each column, shape ``(n_terms, n_columns)``.
    """

    names: tuple[str, ...]
    values: csr_array
    loadings: Floats


@dataclass(frozen=True, eq=False)
class ResponseColumns:
    """How to see one model's responses as columns, learned from some items.

    Attributes:
        model_id: Whose responses they are.
        word_places: Words that count, as columns of the responses' counts.
        word_weights: Of each: the rarer, the more it says.
        directions: Shape ``(n_words, n_directions)``.
        form_centre: Mean of each mark of form.
        form_scale: Its standard deviation.
        means: Of the columns of each kind over the responses learned from: what
            stands for an item without a response.
    """

    model_id: str
    word_places: Integers
    word_weights: Floats
    directions: Floats
    form_centre: Floats
    form_scale: Floats
    means: dict[str, Floats]

    def applied(self, items: RoutingItems) -> RoutingItems:
        """The items with blocks of what the responses say."""
        read = items.responses[self.model_id]
        rows = np.arange(items.item_ids.len())
        blocks = {}
        for kind, terms in self.terms(read, rows).items():
            values = products(terms.values, terms.loadings)
            values[~read.is_known] = self.means[kind]
            width = values.shape[1]
            # A column that is a mixture of terms has no name of its own.
            names = terms.names if kind != WORDS else ("",) * width
            blocks[kind] = Block(names, values)
        return replace(items, blocks={**items.blocks, **blocks})

    def terms(self, read: ModelResponses, rows: Integers) -> dict[str, Terms]:
        """What each kind's columns are made of, for some of the items."""
        answers = rows_of(read.answers.membership, rows)
        form = (read.form[rows] - self.form_centre) / self.form_scale
        form[~read.is_known[rows]] = 0.0
        words = _weighted(
            rows_of(read.words.counts, rows), self.word_places, self.word_weights
        )
        return {
            ANSWER: Terms(read.answers.names, answers, np.eye(len(read.answers.names))),
            FORM_KIND: Terms(FORM, csr_array(form), np.eye(len(FORM))),
            WORDS: Terms(
                tuple(read.words.words[int(place)] for place in self.word_places),
                words,
                self.directions,
            ),
        }


def response_columns(
    model_id: str, read: ModelResponses, rows: Integers
) -> ResponseColumns | None:
    """Vocabulary, weights and directions by the responses to some items.

    Args:
        model_id: Whose responses they are.
        read: The responses.
        rows: To learn from; no other response is looked at.

    Returns:
        None if none of the rows has a response.
    """
    known = rows[read.is_known[rows]]
    if not known.size:
        return None
    form = read.form[known]
    scale = form.std(axis=0)
    counts = rows_of(read.words.counts, known)
    n_responses = _present(counts)
    order = np.lexsort((np.arange(n_responses.size), -n_responses))[:_MOST_WORDS]
    places = np.sort(order[n_responses[order] >= _FEWEST_RESPONSES])
    weights = np.log1p(known.size / n_responses[places])
    words = _weighted(counts, places, weights)
    directions = _directions(words)
    answers = products(
        transposed(rows_of(read.answers.membership, known)), np.ones(known.size)
    )
    return ResponseColumns(
        model_id,
        places,
        weights,
        directions,
        form.mean(axis=0),
        # What rounding leaves of equal values is no spread.
        np.where(scale > _LEAST_SPREAD, scale, 1.0),
        {
            ANSWER: answers / known.size,
            FORM_KIND: np.zeros(len(FORM)),
            WORDS: products(words, directions).mean(axis=0),
        },
    )


def strongest_terms(terms: Terms, gaps: Floats, *, n_terms: int) -> pl.Series:
    """The terms that say most about each item, with what each adds in points.

    Args:
        terms: Of one kind, of the items.
        gaps: What a column adds to one model before another, one column an item:
            shape ``(n_columns, n_rows)``.
        n_terms: At most so many an item.

    Returns:
        Such as ``integral +0.6, percent -0.3``; empty where there is none.
    """
    n_rows = cast("tuple[int, int]", terms.values.shape)[0]
    rows = np.repeat(np.arange(n_rows), np.diff(cast("Integers", terms.values.indptr)))
    places = cast("Integers", terms.values.indices)
    adds = np.einsum("ij,ij->i", terms.loadings[places], gaps[:, rows].T)
    adds *= cast("Floats", terms.values.data)
    # Adding 0 turns a rounded -0.0 into 0.0.
    points = (pl.col("adds") * 100).round(1) + 0.0
    sign = pl.when(points > 0).then(pl.lit("+")).otherwise(pl.lit(""))
    told = (
        pl.DataFrame({"row": rows, "adds": adds})
        .with_columns(term=pl.Series(terms.names, dtype=pl.String)[places])
        .sort("row", pl.col("adds").abs(), "term", descending=[False, True, False])
        .group_by("row", maintain_order=True)
        .agg(told=pl.format("{} {}{}", "term", sign, points).head(n_terms))
        .select("row", told=pl.col("told").list.join(", "))
    )
    everyone = pl.DataFrame({"row": np.arange(n_rows)})
    return everyone.join(told, on="row", how="left", maintain_order="left")[
        "told"
    ].fill_null("")


def _present(counts: csr_array) -> NDArray[np.int64]:
    """In how many rows each word stands."""
    width = cast("tuple[int, int]", counts.shape)[1]
    columns = cast("Integers", counts.indices)
    return np.bincount(columns, minlength=width).astype(np.int64)


def _weighted(counts: csr_array, places: Integers, weights: Floats) -> csr_array:
    """Log counts of the words that count, by their weights, each row of length 1."""
    some = csr_array(cast("csr_array", counts[:, places]), copy=True)
    columns = cast("Integers", some.indices)
    some.data = (1 + np.log(cast("Floats", some.data))) * weights[columns]
    n_rows = cast("tuple[int, int]", some.shape)[0]
    row = np.repeat(np.arange(n_rows), np.diff(cast("Integers", some.indptr)))
    lengths = np.sqrt(np.bincount(row, np.square(some.data), minlength=n_rows))
    some.data = some.data / lengths[row]
    return some


def _directions(words: csr_array) -> Floats:
    """Leading right singular vectors, by iterating on a subspace of the words.

    Source:
        Halko, Martinsson and Tropp (2011), SIAM Review 53, 217-288, algorithm 4.4,
        on the words' products, which are few.
    """
    gram = dense(cast("csr_array", transposed(words) @ words))
    n_words = len(gram)
    width = min(_N_DIRECTIONS + _SPARE_DIRECTIONS, n_words)
    start = np.random.default_rng(0).standard_normal((n_words, width))
    basis = np.linalg.qr(start).Q
    for _ in range(_N_ROUNDS):
        basis = np.linalg.qr(gram @ basis).Q
    values, vectors = np.linalg.eigh(basis.T @ gram @ basis)
    # A direction in which nothing differs is noise of the rounding.
    leading = np.flatnonzero(values > 1e-9 * max(float(values.sum()), 1.0))[::-1]
    return (basis @ vectors[:, leading[:_N_DIRECTIONS]]).astype(np.float64)
