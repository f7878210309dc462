import numpy as np
import polars as pl
import pytest

from skillmap.routing.membership import dense
from skillmap.routing.responses import FORM, ModelResponses, model_responses


def responses(
    *texts: str | None, answers: list[str | None] | None = None
) -> ModelResponses:
    predictions = answers or [None] * len(texts)
    return ModelResponses(
        pl.Series(texts, dtype=pl.String), pl.Series(predictions, dtype=pl.String)
    )


def test_responses_are_lined_up_with_the_items() -> None:
    stored = pl.DataFrame(
        {
            "item_id": ["b", "a", "b"],
            "response": ["first", "other", "second"],
            "prediction": ["A", None, "B"],
        }
    )

    found = model_responses(pl.Series(["a", "b", "c"]), stored)

    assert found.texts.to_list() == ["other", "first", None]
    assert found.predictions.to_list() == [None, "A", None]
    assert found.is_known.tolist() == [True, True, False]


def test_words_are_counted_and_all_numbers_are_one() -> None:
    found = responses("Add 12 and 3,\nthen ADD x", None, "\\frac is é", "").words

    assert found.words == ("#", "\\frac", "add", "and", "is", "then")
    assert dense(found.counts).tolist() == [
        [2, 0, 2, 1, 0, 1],
        [0] * 6,
        [0, 1, 0, 0, 1, 0],
        [0] * 6,
    ]


def test_an_answer_is_a_letter_or_none_could_be_read() -> None:
    found = responses("x", "y", "z", None, answers=["B", None, "42", "C"]).answers

    assert found.names == ("B", "none read")
    assert dense(found.membership).tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]


def test_the_form_tells_length_and_marks() -> None:
    found = responses("It may be 2 = 1 + 1.\nWait, no: " + "so " * 20, "(A)", None, "")

    form = {name: found.form[:, place] for place, name in enumerate(FORM)}
    assert form["bare answer"].tolist() == [0, 1, 0, 1]
    assert form["length"].argmax() == 0
    for name, times in (("lines", 1), ("hedges", 2), ("numbers", 3), ("equations", 1)):
        assert form[name][0] == pytest.approx(np.log1p(times))
    assert not found.form[2].any()


def test_no_items_have_no_words() -> None:
    found = responses()

    assert found.form.shape == (0, len(FORM))
    assert found.words.words == ()
    assert found.answers.names == ()
