import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from skillmap.errors import InvalidInputError
from skillmap.extraction.sensitivity import (
    ORDER_SCHEMA,
    SENSITIVITY_SCHEMA,
    extraction_order,
    extraction_sensitivity,
)


def make_readings(
    scores: dict[str, list[float | None]],
    predictions: dict[str, list[str | None]] | None = None,
    *,
    benchmark: str = "quiz",
) -> pl.DataFrame:
    """One row per model and item, from each model's scores in the order of items."""
    parts = [
        pl.DataFrame(
            {
                "benchmark_id": benchmark,
                "model_id": model,
                "item_id": [f"{benchmark}:{place}" for place in range(len(values))],
                "prediction": (predictions or {}).get(model, ["A"] * len(values)),
                "score": values,
            },
            schema_overrides={"prediction": pl.String, "score": pl.Float64},
        )
        for model, values in scores.items()
    ]
    return pl.concat(parts)


def test_each_model_has_both_accuracies_with_their_intervals() -> None:
    source = make_readings({"m": [1, 1, 1, 0, 0]})
    reextracted = make_readings({"m": [1, 1, 1, 1, 0]})

    (row,) = extraction_sensitivity(source, reextracted).rows(named=True)

    wilson = binomtest(3, 5).proportion_ci(method="wilson")
    assert (row["n_items"], row["accuracy_source"]) == (5, 0.6)
    assert row["accuracy_reextracted"] == 0.8
    assert row["accuracy_source_low"] == pytest.approx(wilson.low, abs=1e-12)
    assert row["accuracy_source_high"] == pytest.approx(wilson.high, abs=1e-12)


def test_changed_gained_and_lost_predictions_are_counted() -> None:
    source = make_readings({"m": [0] * 6}, {"m": ["A", "B", None, "C", None, "29.00"]})
    reextracted = make_readings(
        {"m": [0] * 6}, {"m": ["A", "C", "D", None, None, "29"]}
    )

    (row,) = extraction_sensitivity(source, reextracted).rows(named=True)

    assert row["n_changed_predictions"] == 1
    assert row["n_gained_predictions"] == 1
    assert row["n_lost_predictions"] == 1


def test_models_that_change_places_are_marked() -> None:
    source = make_readings({"a": [1, 1, 0, 0], "b": [1, 0, 0, 0], "c": [0, 0, 0, 0]})
    reextracted = make_readings(
        {"a": [1, 0, 0, 0], "b": [1, 1, 0, 0], "c": [1, 0, 0, 0]}
    )

    pairs = extraction_order(source, reextracted)

    assert pairs.rows() == [
        ("quiz", "a", "b", 4, 0.25, -0.25, True),
        ("quiz", "a", "c", 4, 0.5, 0.0, False),
        ("quiz", "b", "c", 4, 0.25, 0.25, False),
    ]


def test_only_responses_that_count_in_both_readings_are_compared() -> None:
    source = make_readings({"a": [1, 1, None], "b": [1, 0, 0]})
    reextracted = make_readings({"a": [1, None, 1], "b": [0, 0, 0]})

    cells = extraction_sensitivity(source, reextracted)
    pairs = extraction_order(source, reextracted)

    assert cells["n_items"].to_list() == [1, 3]
    assert pairs.rows() == [("quiz", "a", "b", 1, 0.0, 1.0, False)]


def test_pairs_are_compared_within_each_benchmark() -> None:
    both = pl.concat(
        [
            make_readings({"a": [1, 0], "b": [0, 0]}),
            make_readings({"a": [1]}, benchmark="test"),
            make_readings({"b": [1]}, benchmark="task"),
        ]
    )

    assert extraction_order(both, both)["benchmark_id"].to_list() == ["quiz"]


def test_models_without_a_common_item_are_no_pair() -> None:
    both = make_readings({"a": [1, None], "b": [None, 1]})

    assert extraction_order(both, both).is_empty()


def test_epochs_are_averaged_within_the_item_first() -> None:
    scores = make_readings({"m": [1, 0, 1]}).with_columns(
        item_id=pl.Series(["x", "x", "y"]), epoch=pl.Series([1, 2, 1])
    )

    (row,) = extraction_sensitivity(scores, scores).rows(named=True)

    assert (row["n_items"], row["accuracy_source"]) == (2, 0.75)


def test_pairs_agree_with_brute_force() -> None:
    random = np.random.default_rng(5)
    models = ["a", "b", "c", "d"]
    kept = {m: random.random(40) < 0.8 for m in models}

    def draw() -> pl.DataFrame:
        raw = {m: random.integers(0, 2, 40).astype(float) for m in models}
        return make_readings(
            {m: np.where(kept[m], raw[m], np.nan).tolist() for m in models}
        )

    source, reextracted = draw(), draw()

    for _, a, b, n, *differences, _ in extraction_order(source, reextracted).rows():
        both = np.flatnonzero(kept[a] & kept[b])
        assert n == len(both)
        for scores, difference in zip((source, reextracted), differences, strict=True):
            means = [
                scores.filter(pl.col("model_id") == m)["score"].to_numpy()[both].mean()
                for m in (a, b)
            ]
            assert difference == pytest.approx(means[0] - means[1], abs=1e-12)


def test_the_order_of_the_rows_does_not_matter() -> None:
    source = make_readings({"a": [1, 0, 0.3], "b": [0.2, 1, 1]})
    reextracted = make_readings({"a": [0, 0, 1], "b": [1, 0.7, 0]})
    mixed = source.sample(fraction=1, shuffle=True, seed=3)

    assert extraction_order(mixed, reextracted).equals(
        extraction_order(source, reextracted)
    )
    assert extraction_sensitivity(mixed, reextracted).equals(
        extraction_sensitivity(source, reextracted)
    )


def test_nothing_in_common_gives_empty_tables() -> None:
    source, reextracted = make_readings({"a": [1]}), make_readings({"b": [1]})

    assert extraction_sensitivity(source, reextracted).schema == SENSITIVITY_SCHEMA
    assert extraction_order(source, reextracted).schema == ORDER_SCHEMA


def test_a_response_that_was_read_twice_is_named() -> None:
    scores = make_readings({"a": [1, 0]})
    twice = pl.concat([scores, scores.head(1)])

    with pytest.raises(InvalidInputError, match=r"2 rows .*'quiz:0'"):
        extraction_sensitivity(scores, twice)


def test_a_missing_column_is_named() -> None:
    scores = make_readings({"a": [1]})

    with pytest.raises(InvalidInputError, match=r"source_scores.*'prediction'"):
        extraction_order(scores.drop("prediction"), scores)
