"""Tables that people read."""

import polars as pl

from skillmap import sql
from skillmap.contracts import core, mart
from skillmap.contracts.views import VIEWS
from skillmap.metrics import accuracy
from skillmap_dagster import pictures
from skillmap_dagster.assets.table_asset import table_asset
from skillmap_dagster.resources.lake import Lake

_ITEM_SCORES = next(view for view in VIEWS if view.name == "item_scores")


@table_asset(
    mart.MODEL_ACCURACY,
    group="marts",
    reads=[core.SCORES, core.EVAL_RUNS, core.ITEMS],
    code_version="2",
    picture=pictures.intervals(label=("model_id", "benchmark_id")),
)
def model_accuracy(lake: Lake) -> pl.DataFrame:
    """Accuracy of every model on every benchmark, with its interval."""
    with lake.session([core.SCORES, core.EVAL_RUNS, core.ITEMS]) as connection:
        connection.sql(_ITEM_SCORES.ddl()[0])
        counts = connection.sql(sql.load("mart/cell_counts")).pl()
    return accuracy.model_accuracy(counts)


@table_asset(
    mart.SLICE_ACCURACY,
    group="marts",
    reads=[core.SCORES, core.SLICES, core.SLICE_ITEMS],
    code_version="2",
    picture=pictures.intervals(label=("model_id", "slice_name")),
)
def slice_accuracy(lake: Lake) -> pl.DataFrame:
    """Accuracy of every model on every skill slice, beside its own overall."""
    with lake.session([core.SCORES]) as connection:
        connection.sql(_ITEM_SCORES.ddl()[0])
        scores = connection.sql(
            "select * from mart.item_scores where score is not null"
        ).pl()
    return accuracy.slice_accuracy(
        lake.read(core.SLICE_ITEMS), lake.read(core.SLICES), scores
    )
