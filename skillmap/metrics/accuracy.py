"""Accuracies of models, on benchmarks and on slices."""

from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.contracts import mart
from skillmap.metrics.intervals import Floats, part_to_whole_interval, wilson_interval


def model_accuracy(cells: pl.DataFrame) -> pl.DataFrame:
    """Accuracy of each model on each benchmark, with its Wilson interval.

    Args:
        cells: One row per benchmark and model, with ``n_items``, ``n_correct`` and
            ``n_answered`` items and ``n_correct_answered`` among them; what else
            the rows hold is kept. A cell in which no item counts has no accuracy
            and is left out.

    Returns:
        Columns of ``mart.model_accuracy``, sorted by benchmark and model.
    """
    counted = cells.filter(pl.col("n_items") > 0)
    correct, items = _floats(counted, "n_correct"), _floats(counted, "n_items")
    low, high = wilson_interval(correct, items)
    answered = pl.col("n_correct_answered") / pl.col("n_answered")
    return (
        counted.with_columns(
            accuracy=pl.Series(correct / items),
            accuracy_low=pl.Series(low),
            accuracy_high=pl.Series(high),
            accuracy_answered=pl.when(pl.col("n_answered") > 0).then(answered),
        )
        .select(mart.MODEL_ACCURACY.polars_schema.names())
        .sort("benchmark_id", "model_id")
    )


def slice_accuracy(
    slice_items: pl.DataFrame, slices: pl.DataFrame, item_scores: pl.DataFrame
) -> pl.DataFrame:
    """Accuracy of each model on each slice, beside the model's own overall accuracy.

    One sparse product of the slices' items with the matrix of scores gives every
    cell at once; each item counts once a slice.

    Args:
        slice_items: ``slice_id`` and ``item_id``, each pair once.
        slices: ``slice_id`` and ``slice_name``.
        item_scores: One row per model and item that counts: ``model_id``,
            ``item_id``, ``benchmark_id``, ``score`` in [0, 1], ``is_unparsed`` and
            ``is_drifted``. Drifted items are counted and left out.

    Returns:
        Columns of ``mart.slice_accuracy``, sorted by slice and model. A model
        without a result on a slice has no row there.
    """
    models = item_scores["model_id"].unique().sort()
    items = item_scores["item_id"].unique().sort()
    order = slices.sort("slice_id")
    member = _incidence(slice_items, order["slice_id"], items)
    kept = item_scores.filter(~pl.col("is_drifted"))
    own = kept.with_columns(
        expected=pl.col("score").mean().over("model_id", "benchmark_id")
    )

    def summed(rows: pl.DataFrame, column: str | None) -> Floats:
        return _summed(member, rows, column, items=items, models=models)

    n_items, n_correct = summed(own, None), summed(own, "score")
    cells = {
        "n_correct": n_correct,
        "n_items": n_items,
        "n_unparsed": summed(own.filter("is_unparsed"), None),
        "n_drifted": summed(item_scores.filter("is_drifted"), None),
        "expected_accuracy": summed(own, "expected") / np.maximum(n_items, 1),
    }
    n_slice_items = _slice_sizes(slice_items, order)
    overall = _overall(own, models)
    frame = _long(cells, order, n_slice_items, overall).filter(pl.col("n_items") > 0)
    return _with_intervals(frame).select(mart.SLICE_ACCURACY.polars_schema.names())


def _incidence(
    slice_items: pl.DataFrame, slice_ids: pl.Series, items: pl.Series
) -> csr_array:
    rows = _codes(slice_items["slice_id"], slice_ids)
    columns = _codes(slice_items["item_id"], items)
    known = columns >= 0
    shape = (slice_ids.len(), items.len())
    return csr_array(
        (np.ones(int(known.sum())), (rows[known], columns[known])), shape=shape
    )


def _summed(
    member: csr_array,
    rows: pl.DataFrame,
    column: str | None,
    *,
    items: pl.Series,
    models: pl.Series,
) -> Floats:
    """Sum of ``column`` (or count of rows) by slice and model, shape (S, M)."""
    values = np.zeros((items.len(), models.len()))
    at = _codes(rows["item_id"], items), _codes(rows["model_id"], models)
    values[at] = 1.0 if column is None else rows[column].to_numpy()
    return cast("Floats", member @ values)


def _codes(values: pl.Series, categories: pl.Series) -> NDArray[np.int64]:
    """Place of each value in the sorted categories; -1 where it is not among them."""
    index = pl.DataFrame({"value": categories, "code": range(categories.len())})
    codes = pl.DataFrame({"value": values}).join(
        index, on="value", how="left", maintain_order="left"
    )["code"]
    return codes.fill_null(-1).to_numpy().astype(np.int64)


def _slice_sizes(slice_items: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    sizes = slice_items.group_by("slice_id").len("n_slice_items")
    return order.select("slice_id", "slice_name").join(
        sizes, on="slice_id", how="left", maintain_order="left"
    )


def _overall(scores: pl.DataFrame, models: pl.Series) -> pl.DataFrame:
    totals = scores.group_by("model_id").agg(
        n_overall_items=pl.len().cast(pl.Int64), n_overall_correct=pl.col("score").sum()
    )
    return models.to_frame().join(
        totals, on="model_id", how="left", maintain_order="left"
    )


def _long(
    cells: dict[str, Floats],
    order: pl.DataFrame,
    n_slice_items: pl.DataFrame,
    overall: pl.DataFrame,
) -> pl.DataFrame:
    by_slice = n_slice_items.select(pl.all().repeat_by(overall.height).explode())
    by_model = pl.concat([overall] * order.height) if order.height else overall.clear()
    return pl.concat(
        [
            by_slice,
            by_model,
            pl.DataFrame({name: values.ravel() for name, values in cells.items()}),
        ],
        how="horizontal",
    )


def _with_intervals(frame: pl.DataFrame) -> pl.DataFrame:
    correct, items = _floats(frame, "n_correct"), _floats(frame, "n_items")
    whole = _floats(frame, "n_overall_correct"), _floats(frame, "n_overall_items")
    low, high = wilson_interval(correct, items)
    difference = correct / items - whole[0] / whole[1]
    difference_low, difference_high = part_to_whole_interval((correct, items), whole)
    return frame.with_columns(
        pl.col("n_items", "n_unparsed", "n_drifted", "n_slice_items").cast(pl.Int64),
        accuracy=pl.Series(correct / items),
        accuracy_low=pl.Series(low),
        accuracy_high=pl.Series(high),
        overall_accuracy=pl.Series(whole[0] / whole[1]),
        difference=pl.Series(difference),
        # Where the part is nearly the whole, rounding can put a bound past it.
        difference_low=pl.Series(np.minimum(difference_low, difference)),
        difference_high=pl.Series(np.maximum(difference_high, difference)),
    ).with_columns(
        difference_to_expected=pl.col("accuracy") - pl.col("expected_accuracy")
    )


def _floats(frame: pl.DataFrame, column: str) -> Floats:
    return frame[column].cast(pl.Float64).to_numpy()
