"""Frames that keep their contract, each column open to be set.

A list gives one value a row and decides how many rows there are; anything else is the
same in every row (a tuple, for a column of lists).
"""

from collections.abc import Callable, Mapping

import duckdb
import polars as pl

from skillmap import sql
from skillmap.contracts import TABLES, core
from skillmap.contracts.views import VIEWS
from skillmap.items.content import with_content_hashes
from skillmap.items.matching import BenchmarkOrder, BenchmarkSource, MatchMethod
from skillmap.parsing.source import (
    RATIONALES_SCHEMA,
    REMARKS_SCHEMA,
    SKILLS_SCHEMA,
    ParsedSource,
    items_frame,
    remarks_frame,
    results_frame,
    typed_frame,
)

NO_ORDER = BenchmarkOrder(
    n_items=None,
    questions=pl.DataFrame(
        schema={"item_position": pl.Int64(), "question_hash": pl.String()}
    ),
)

_Defaults = Mapping[str, Callable[[int], object]]


def make_items(n: int = 3, **columns: object) -> pl.DataFrame:
    """Rows of ``core.items``: different questions with the options yes and no."""
    native_ids = columns.get("native_id")
    benchmark = columns.get("benchmark_id", "quiz")
    defaults: _Defaults = {
        "item_id": lambda i: _item_id(_at(benchmark, i), _at(native_ids, i, str(i))),
        "benchmark_id": lambda _: "quiz",
        "native_id": str,
        "native_id_type": lambda _: "text",
        "question": lambda i: f"Is {i} even?",
        "choices": lambda _: ["yes", "no"],
        "answer": lambda i: "AB"[i % 2],
        "category": lambda _: "numbers",
        "release_id": lambda _: "r1",
    }
    made = _rows(core.ITEMS.polars_schema, n, defaults, columns)
    hashed = with_content_hashes(made)
    n_choices = pl.col("choices").list.len().cast(pl.Int64)
    derived = hashed.with_columns(
        pl.col("item_position").fill_null(pl.int_range(pl.len())), n_choices=n_choices
    )
    given = [made[name] for name in columns if name in _DERIVED]
    return derived.with_columns(given).select(made.columns)


def make_scores(n: int = 3, **columns: object) -> pl.DataFrame:
    """Rows of ``core.scores`` of one eval run: all answers correct."""
    benchmark = columns.get("benchmark_id", "quiz")
    model = columns.get("model_id", "ada")
    outcomes = columns.get("outcome", "correct")
    implied = {"correct": 1.0, "wrong": 0.0, "partial": 0.5}
    defaults: _Defaults = {
        "eval_run_id": lambda i: f"{_at(benchmark, i)}:{_at(model, i)}:f1",
        "benchmark_id": lambda _: "quiz",
        "model_id": lambda _: "ada",
        "item_id": lambda i: _item_id(_at(benchmark, i), str(i)),
        "epoch": lambda _: 0,
        "extractor": lambda _: "source",
        "outcome": lambda _: "correct",
        "score": lambda i: implied.get(str(_at(outcomes, i))),
        "is_primary": lambda _: True,
        "is_drifted": lambda _: False,
        "is_prediction_in_response": lambda _: True,
    }
    return _rows(core.SCORES.polars_schema, n, defaults, columns)


def make_eval_runs(scores: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``core.eval_runs`` that fit the scores."""
    return (
        scores.group_by(
            "eval_run_id", "benchmark_id", "model_id", "is_primary", maintain_order=True
        )
        .agg(
            source_ids=pl.lit(["f1"]).first(),
            source_model_names=pl.col("model_id").unique(),
            format=pl.lit("generic").first(),
            release_id=pl.lit("r1").first(),
            n_responses=pl.len().cast(pl.Int64),
            n_items=pl.col("item_id").n_unique().cast(pl.Int64),
            n_drifted=pl.col("is_drifted").sum().cast(pl.Int64),
        )
        .select(core.EVAL_RUNS.polars_schema.names())
    )


def make_slices(**items_by_slice: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of ``core.slices`` and ``core.slice_items``: items by slice name."""
    pairs = [(f"skill:{s}", i) for s, items in items_by_slice.items() for i in items]
    members = pl.DataFrame(
        pairs, schema={"slice_id": pl.String(), "item_id": pl.String()}, orient="row"
    ).with_columns(benchmark_id=pl.col("item_id").str.split(":").list.first())
    slices = members.group_by("slice_id", maintain_order=True).agg(
        slice_name=pl.col("slice_id").first().str.strip_prefix("skill:"),
        level=pl.lit("skill").first(),
        n_items=pl.len().cast(pl.Int64),
        n_inherited_items=pl.lit(0, pl.Int64).first(),
        benchmark_ids=pl.col("benchmark_id").unique().sort(),
    )
    return slices, members


def make_results(n: int = 3, **columns: object) -> pl.DataFrame:
    """Results as a reader returns them: one model, all answers right."""
    defaults: _Defaults = {
        "position": lambda i: i,
        "native_id": str,
        "native_id_type": lambda _: "text",
        "model": lambda _: "ada",
        "score": lambda _: 1.0,
        "prediction": lambda _: "A",
        "response": lambda _: "The answer is A.",
    }
    return results_frame(_values(n, defaults, columns))


def make_stated_items(n: int = 3, **columns: object) -> pl.DataFrame:
    """Items as a reader returns them: the questions of ``make_items``."""
    defaults: _Defaults = {
        "position": lambda i: i,
        "native_id": str,
        "native_id_type": lambda _: "text",
        "question": lambda i: f"Is {i} even?",
        "choices": lambda _: ["yes", "no"],
        "answer": lambda i: "AB"[i % 2],
    }
    return items_frame(_values(n, defaults, columns))


def make_source(
    source_id: str = "f1",
    *,
    items: pl.DataFrame | None = None,
    results: pl.DataFrame | None = None,
    skills: Mapping[str, object] | None = None,
    rationales: Mapping[str, object] | None = None,
    rejects: list[tuple[int | None, str, str | None]] | None = None,
    n_records: int | None = None,
    format_name: str = "generic",
    match: MatchMethod = "id",
    prefix: str | None = None,
    order_offset: int | None = None,
) -> BenchmarkSource:
    """A source's records; as many as its longest frame has, unless said otherwise."""
    told_items = make_stated_items(0) if items is None else items
    told_results = make_results(0) if results is None else results
    # As readers do: a result has the hashes of the item its record states.
    if told_results.height and told_items.height:
        told_results = results_frame(
            told_results.drop("content_hash", "question_hash").to_dict(),
            items=told_items,
        )
    parsed = ParsedSource(
        format=format_name,
        importer_version="1",
        n_records=n_records or max(told_items.height, told_results.height),
        items=told_items,
        results=told_results,
        skills=typed_frame(SKILLS_SCHEMA, skills or {}),
        rationales=typed_frame(RATIONALES_SCHEMA, rationales or {}),
        rejects=remarks_frame(rejects or []),
        warnings=typed_frame(REMARKS_SCHEMA, {}),
    )
    return BenchmarkSource(
        source_id=source_id,
        parsed=parsed,
        match=match,
        prefix=prefix,
        order_offset=order_offset,
    )


def make_warehouse(**frames: pl.DataFrame) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with all tables and views; frames by table name."""
    connection = duckdb.connect()
    for schema in ("raw", "core", "mart"):
        connection.execute(f"create schema {schema}")
    for table in TABLES.values():
        connection.execute(table.ddl())
        if table.name in frames:
            rows = table.conform(frames.pop(table.name))
            connection.register("rows", rows.to_arrow())
            connection.execute(f"insert into {table} by name from rows")
    if frames:
        message = f"no such tables: {sorted(frames)}"
        raise ValueError(message)
    for view in VIEWS:
        connection.execute(view.ddl()[0])
    return connection


def rows_of(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """What a query of ``skillmap.sql`` selects, by its name."""
    return connection.sql(sql.load(query)).pl()


_DERIVED = ("item_position", "n_choices", "content_hash", "question_hash")


def _item_id(benchmark_id: object, native_id: object) -> str:
    return f"{benchmark_id}:{native_id}"


def _at(value: object, row: int, default: object = None) -> object:
    """The value of a row, where a list has one a row."""
    chosen = value[row] if isinstance(value, list) else value
    return default if chosen is None else chosen


def _rows(
    schema: pl.Schema, n: int, defaults: _Defaults, columns: Mapping[str, object]
) -> pl.DataFrame:
    unknown = sorted(columns.keys() - schema.keys())
    if unknown:
        message = f"no such columns: {unknown}"
        raise ValueError(message)
    values = _values(n, defaults, columns)
    height = _height(n, columns)
    return pl.DataFrame(
        {name: values.get(name, [None] * height) for name in schema}, schema=schema
    )


def _values(
    n: int, defaults: _Defaults, columns: Mapping[str, object]
) -> dict[str, object]:
    height = _height(n, columns)
    made = {name: [make(i) for i in range(height)] for name, make in defaults.items()}
    return made | {
        name: value if isinstance(value, list) else [_plain(value)] * height
        for name, value in columns.items()
    }


def _height(n: int, columns: Mapping[str, object]) -> int:
    heights = {len(value) for value in columns.values() if isinstance(value, list)}
    if len(heights) > 1:
        message = f"columns of different heights: {sorted(heights)}"
        raise ValueError(message)
    return heights.pop() if heights else n


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
