"""Tables that people read."""

import polars as pl

from skillmap import sql
from skillmap.comparisons import contrasts, gains
from skillmap.contracts import core, mart
from skillmap.contracts.views import VIEWS
from skillmap.extraction import EXTRACTOR_VERSION, sensitivity
from skillmap.metrics import accuracy
from skillmap.results.eval_runs import SOURCE_EXTRACTOR
from skillmap.results.outcomes import with_counted_score
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
    return accuracy.slice_accuracy(
        lake.read(core.SLICE_ITEMS), lake.read(core.SLICES), item_scores(lake)
    )


@table_asset(
    mart.SLICE_CONTRASTS,
    group="marts",
    reads=[core.SCORES, core.SLICES, core.SLICE_ITEMS, core.ITEM_GROUPS],
    picture=pictures.counts_of("verdict"),
)
def slice_contrasts(lake: Lake) -> pl.DataFrame:
    """Which of two models is better on each slice, and how sure that is."""
    return contrasts.slice_contrasts(
        item_scores(lake),
        lake.read(core.SLICE_ITEMS).select("slice_id", "item_id"),
        lake.read(core.SLICES).select("slice_id", "slice_name"),
        _duplicates(lake),
    )


@table_asset(
    mart.SLICE_GAINS,
    group="marts",
    reads=[core.SCORES, core.SLICES, core.SLICE_ITEMS, core.ITEM_GROUPS],
)
def slice_gains(lake: Lake) -> pl.DataFrame:
    """Each model against the mean of the others on each slice, all held together."""
    return gains.gains_by_benchmark(
        item_scores(lake),
        lake.read(core.SLICE_ITEMS).select("slice_id", "item_id"),
        lake.read(core.SLICES).select("slice_id", "slice_name"),
        _duplicates(lake),
    )


@table_asset(mart.EXTRACTION_ACCURACY, group="marts", reads=[core.SCORES])
def extraction_accuracy(lake: Lake) -> pl.DataFrame:
    """Accuracy by the source's reading of the answers, and by ours."""
    return sensitivity.extraction_sensitivity(*_readings(lake))


@table_asset(
    mart.EXTRACTION_SENSITIVITY,
    group="marts",
    reads=[core.SCORES],
    picture=pictures.counts_of("is_swapped"),
)
def extraction_sensitivity(lake: Lake) -> pl.DataFrame:
    """Which models change places when the answers are read again."""
    return sensitivity.extraction_order(*_readings(lake))


def item_scores(lake: Lake) -> pl.DataFrame:
    """The score that counts of each model on each item, where there is one."""
    with lake.session([core.SCORES]) as connection:
        connection.sql(_ITEM_SCORES.ddl()[0])
        return connection.sql(
            "select * from mart.item_scores where score is not null"
        ).pl()


def _duplicates(lake: Lake) -> pl.DataFrame:
    """Items that are not independent; near groups hold the exact ones."""
    near = lake.scan(core.ITEM_GROUPS).filter(pl.col("kind") == "near")
    return near.select("item_id", cluster_id="group_id").collect()


def _readings(lake: Lake) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores that count, of the primary runs, by the source and by our extractor."""
    counted = with_counted_score(lake.scan(core.SCORES).filter("is_primary").collect())
    by = pl.col("extractor")
    return (
        counted.filter(by == SOURCE_EXTRACTOR),
        counted.filter(by == EXTRACTOR_VERSION),
    )
