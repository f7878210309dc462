"""How much a comparison of models owes to the way their answers were read."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.errors import InvalidInputError
from skillmap.extraction.equality import answers_equal
from skillmap.metrics.intervals import Floats, wilson_interval

SENSITIVITY_SCHEMA = pl.Schema(
    {
        "benchmark_id": pl.String(),
        "model_id": pl.String(),
        "n_items": pl.Int64(),
        "accuracy_source": pl.Float64(),
        "accuracy_source_low": pl.Float64(),
        "accuracy_source_high": pl.Float64(),
        "accuracy_reextracted": pl.Float64(),
        "accuracy_reextracted_low": pl.Float64(),
        "accuracy_reextracted_high": pl.Float64(),
        "n_changed_predictions": pl.Int64(),
        "n_gained_predictions": pl.Int64(),
        "n_lost_predictions": pl.Int64(),
    }
)
"""One row per benchmark and model. A prediction is changed where both readings have
one and they differ, gained where only the new one has, lost where only the source's."""

ORDER_SCHEMA = pl.Schema(
    {
        "benchmark_id": pl.String(),
        "model_a": pl.String(),
        "model_b": pl.String(),
        "n_items": pl.Int64(),
        "difference_source": pl.Float64(),
        "difference_reextracted": pl.Float64(),
        "is_swapped": pl.Boolean(),
    }
)
"""One row per benchmark and pair of models, the first before the second by name."""

_CELL = ("benchmark_id", "model_id")
_REQUIRED = (*_CELL, "item_id", "prediction", "score")
# Sums of fractions may differ by this for the order in which they were added.
_DECIMALS = 12


def extraction_sensitivity(
    source_scores: pl.DataFrame, reextracted_scores: pl.DataFrame
) -> pl.DataFrame:
    """Accuracy of each model by both readings of the same responses.

    Only responses that count in both readings are compared, so that a difference
    comes from the reading and not from the items. Epochs are averaged within the
    item first.

    Args:
        source_scores: One row per benchmark, model and item, and epoch if there is
            such a column: ``benchmark_id``, ``model_id``, ``item_id``, ``prediction``
            (nullable) and ``score``, which counts in [0, 1] (null is left out).
        reextracted_scores: The same by the other reading.

    Returns:
        ``SENSITIVITY_SCHEMA`` with 95% Wilson intervals, sorted by benchmark and
        model. A model with no response in common has no row.

    Raises:
        InvalidInputError: If a column is missing or a response has two rows.
    """
    both = _paired(source_scores, reextracted_scores)
    if both.is_empty():
        return SENSITIVITY_SCHEMA.to_frame()
    items = _item_means(both)
    cells = items.group_by(_CELL, maintain_order=True).agg(
        n_items=pl.len().cast(pl.Int64),
        source=pl.col("score").sum(),
        reextracted=pl.col("score_new").sum(),
    )
    counted = cells.join(_changes(both), on=_CELL, maintain_order="left")
    n = counted["n_items"].cast(pl.Float64).to_numpy()
    columns = {
        name: values
        for reading in ("source", "reextracted")
        for name, values in _accuracy(reading, counted[reading].to_numpy(), n).items()
    }
    return counted.with_columns(
        pl.Series(name, values) for name, values in columns.items()
    ).select(SENSITIVITY_SCHEMA.names())


def extraction_order(
    source_scores: pl.DataFrame, reextracted_scores: pl.DataFrame
) -> pl.DataFrame:
    """Pairs of models, and whether the two readings put them in opposite order.

    Args:
        source_scores: As for `extraction_sensitivity`.
        reextracted_scores: The same by the other reading.

    Returns:
        ``ORDER_SCHEMA``, sorted. Differences are of ``model_a`` less ``model_b``, on
        the items where both models count in both readings; a pair without any has no
        row. Neither order is opposite to a tie.

    Raises:
        InvalidInputError: If a column is missing or a response has two rows.
    """
    items = _item_means(_paired(source_scores, reextracted_scores))
    parts = [
        _pairs_of_benchmark(part)
        for part in items.partition_by("benchmark_id", maintain_order=True)
    ]
    return pl.concat([ORDER_SCHEMA.to_frame(), *parts])


def _paired(source: pl.DataFrame, reextracted: pl.DataFrame) -> pl.DataFrame:
    """Responses that count in both readings, sorted by benchmark, model and item."""
    epoch = ["epoch"] if "epoch" in source.columns else []
    keys = [*_CELL, "item_id", *epoch]
    for name, scores in (("source", source), ("reextracted", reextracted)):
        _check(name, scores, keys)
    columns = [*keys, "prediction", "score"]
    new = {"prediction": "prediction_new", "score": "score_new"}
    return (
        source.select(columns)
        .join(reextracted.select(columns).rename(new), on=keys)
        .with_columns(pl.col("score", "score_new").fill_nan(None))
        .drop_nulls(["score", "score_new"])
        .sort(keys)
    )


def _check(name: str, scores: pl.DataFrame, keys: list[str]) -> None:
    missing = [column for column in (*_REQUIRED, *keys) if column not in scores.columns]
    if missing:
        raise InvalidInputError(
            f"{name}_scores: must have {', '.join(_REQUIRED)}: "
            f"{len(missing)} missing, first {missing[0]!r}"
        )
    repeated = scores.filter(scores.select(keys).is_duplicated()).sort(keys)
    if not repeated.is_empty():
        raise InvalidInputError(
            f"{name}_scores: one row per {', '.join(keys)}: {repeated.height} rows "
            f"share theirs, first {repeated.select(keys).row(0)}. "
            "Pass one eval run of each model"
        )


def _item_means(both: pl.DataFrame) -> pl.DataFrame:
    return both.group_by([*_CELL, "item_id"], maintain_order=True).agg(
        pl.col("score", "score_new").mean()
    )


def _changes(both: pl.DataFrame) -> pl.DataFrame:
    """Counts of changed, gained and lost predictions of each benchmark and model."""
    old, new = pl.col("prediction"), pl.col("prediction_new")
    pair = ["prediction", "prediction_new"]
    differing = both.filter(old != new).select(pair).unique().sort(pair)
    is_other = [not answers_equal(*texts) for texts in differing.rows()]
    marked = differing.with_columns(is_other=pl.Series(is_other, dtype=pl.Boolean))
    return (
        both.join(marked, on=pair, how="left", maintain_order="left")
        .group_by(_CELL, maintain_order=True)
        .agg(
            n_changed_predictions=pl.col("is_other").sum().cast(pl.Int64),
            n_gained_predictions=(old.is_null() & new.is_not_null())
            .sum()
            .cast(pl.Int64),
            n_lost_predictions=(old.is_not_null() & new.is_null()).sum().cast(pl.Int64),
        )
    )


def _accuracy(reading: str, correct: Floats, n_items: Floats) -> dict[str, Floats]:
    low, high = wilson_interval(correct, n_items)
    name = f"accuracy_{reading}"
    return {name: correct / n_items, f"{name}_low": low, f"{name}_high": high}


def _pairs_of_benchmark(items: pl.DataFrame) -> pl.DataFrame:
    """Differences of all pairs at once, by products of item-by-model matrices."""
    models = items["model_id"].unique().sort()
    at = _places(items["item_id"]), _places(items["model_id"])
    shape = (int(at[0].max()) + 1, models.len())
    known = np.zeros(shape)
    known[at] = 1.0
    a, b = np.triu_indices(models.len(), k=1)
    n_items = (known.T @ known)[a, b]
    differences: dict[str, Floats] = {}
    for name, column in (("source", "score"), ("reextracted", "score_new")):
        scores = np.zeros(shape)
        scores[at] = items[column].to_numpy()
        sums = scores.T @ known
        with np.errstate(invalid="ignore"):
            mean = (sums - sums.T)[a, b] / n_items
        differences[f"difference_{name}"] = np.round(mean, _DECIMALS)
    swapped = np.prod(np.sign(list(differences.values())), axis=0) < 0
    return pl.DataFrame(
        {
            "benchmark_id": [items["benchmark_id"][0]] * len(a),
            "model_a": models.gather(a),
            "model_b": models.gather(b),
            "n_items": n_items.astype(np.int64),
            **differences,
            "is_swapped": swapped,
        },
        schema=ORDER_SCHEMA,
    ).filter(pl.col("n_items") > 0)


def _places(values: pl.Series) -> NDArray[np.int64]:
    """Place of each value among the distinct ones, in their order."""
    return values.rank("dense").cast(pl.Int64).to_numpy() - 1
