from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skillmap.routing.membership import dense, membership
from skillmap.routing.response_columns import (
    ANSWER,
    FORM_KIND,
    WORDS,
    Terms,
    response_columns,
    strongest_terms,
)
from skillmap.routing.responses import ModelResponses
from tests.routing.worlds import planted_responses

LEARNED = np.arange(600)


def test_words_are_weighed_as_by_hand() -> None:
    _, read = planted_responses(900)
    columns = response_columns("a", read, LEARNED)
    assert columns is not None

    terms = columns.terms(read, np.arange(900))[WORDS]

    counts = dense(read.words.counts)[:, columns.word_places]
    n_responses = (counts[LEARNED] > 0).sum(axis=0)
    weighted = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    weighted = weighted * np.log1p(600 / n_responses)
    lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
    assert_allclose(dense(terms.values), weighted / np.maximum(lengths, 1e-9))


def test_directions_are_those_in_which_responses_differ_most() -> None:
    _, read = planted_responses(900)
    columns = response_columns("a", read, LEARNED)
    assert columns is not None

    values = dense(columns.terms(read, LEARNED)[WORDS].values)

    _, sizes, vectors = np.linalg.svd(values, full_matrices=False)
    n = columns.directions.shape[1]
    assert_allclose(columns.directions.T @ columns.directions, np.eye(n), atol=1e-9)
    kept = np.linalg.norm(values @ columns.directions, axis=0)
    assert_allclose(kept, sizes[:n], rtol=1e-3)
    assert abs(vectors[0] @ columns.directions[:, 0]) == pytest.approx(1, abs=1e-6)


def test_only_the_responses_learned_from_are_looked_at() -> None:
    _, read = planted_responses(900)
    texts = read.texts.to_list()
    other = ModelResponses(
        pl.Series(texts[:600] + ["unheard words " * 9] * 300), read.predictions
    )

    first = response_columns("a", read, LEARNED)
    second = response_columns("a", other, LEARNED)

    assert first is not None
    assert second is not None
    words = [
        [read.words.words[place] for place in first.word_places],
        [other.words.words[place] for place in second.word_places],
    ]
    assert words[0] == words[1]
    assert_array_equal(first.word_weights, second.word_weights)
    assert_array_equal(first.directions, second.directions)
    assert_array_equal(first.form_centre, second.form_centre)


def test_an_item_without_a_response_is_like_the_mean() -> None:
    items, read = planted_responses(900)
    texts = read.texts.to_list()
    gone = ModelResponses(pl.Series([None, *texts[1:]]), read.predictions)
    columns = response_columns("a", gone, LEARNED)
    assert columns is not None

    blocks = columns.applied(replace(items, responses={"a": gone})).blocks

    for kind in (ANSWER, FORM_KIND, WORDS):
        mean = blocks[kind].values[1:600].mean(axis=0)
        assert_allclose(blocks[kind].values[0], mean, atol=1e-12)


def test_an_empty_response_is_one() -> None:
    items, read = planted_responses(900)
    texts = ["", *read.texts.to_list()[1:]]
    read = ModelResponses(pl.Series(texts), read.predictions)
    columns = response_columns("a", read, LEARNED)
    assert columns is not None

    blocks = columns.applied(replace(items, responses={"a": read})).blocks

    assert not blocks[WORDS].values[0].any()
    assert blocks[FORM_KIND].values[0, 0] < -2


def test_without_responses_there_is_nothing_to_learn() -> None:
    nothing = ModelResponses(
        pl.Series([None] * 5, dtype=pl.String), pl.Series([None] * 5, dtype=pl.String)
    )

    assert response_columns("a", nothing, np.arange(5)) is None


def test_responses_without_a_word_that_recurs_have_no_directions() -> None:
    read = ModelResponses(
        pl.Series(["one", "two", ""]), pl.Series([None] * 3, dtype=pl.String)
    )

    columns = response_columns("a", read, np.arange(3))

    assert columns is not None
    assert columns.directions.shape == (0, 0)


def test_the_terms_that_say_most_are_named() -> None:
    values = membership(np.array([0, 0, 0]), np.array([0, 1, 2]), (2, 3))
    terms = Terms(("up", "down", "flat"), values, np.array([[1.0], [-2.0], [0.1]]))

    found = strongest_terms(terms, np.array([[0.01, 0.01]]), n_terms=2)

    assert found.to_list() == ["down -2.0, up +1.0", ""]
