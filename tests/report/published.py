"""A small published database, filled row by row, with the marts made from it."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import duckdb
import polars as pl

from skillmap import sql
from skillmap.contracts import TABLES, core, mart, raw, routing
from skillmap.contracts.table import Table
from skillmap.contracts.views import VIEWS
from skillmap.metrics.accuracy import model_accuracy, slice_accuracy

_OF_TYPE: Mapping[str, object] = {
    "varchar": "x",
    "bigint": 0,
    "double": 0.0,
    "boolean": False,
    "varchar[]": [],
}
Rows = Sequence[Mapping[str, Any]]


class Published:
    """An in-memory database with every contract's table and every view."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        for schema in ("raw", "core", "mart"):
            self.connection.execute(f"create schema {schema}")
        for table in TABLES.values():
            self.connection.execute(table.ddl())
        for view in VIEWS:
            self.connection.execute(view.ddl()[0])

    def query(self, text: str) -> pl.DataFrame:
        return self.connection.sql(text).pl()

    def add(self, table: Table, rows: Rows | pl.DataFrame) -> None:
        """Rows with a value for some columns; the others are unknown or empty."""
        given = pl.DataFrame(rows, infer_schema_length=None)
        missing = [c for c in table.columns if c.name not in given.columns]
        frame = table.conform(
            given.with_columns(
                pl.lit(
                    None if c.nullable else (c.allowed or (_OF_TYPE[c.type],))[0],
                    dtype=table.polars_schema[c.name],
                ).alias(c.name)
                for c in missing
            )
        )
        self.connection.register("added", frame)
        # The name comes from the contract.
        self.connection.execute(f"insert into {table} select * from added")
        self.connection.unregister("added")

    def make_marts(self) -> None:
        """``mart.model_accuracy`` and ``mart.slice_accuracy`` of what was added."""
        cells = self.query(sql.load("mart/cell_counts"))
        self.add(mart.MODEL_ACCURACY, model_accuracy(cells))
        scores = self.query("select * from mart.item_scores where score is not null")
        accuracies = slice_accuracy(
            self.query("select slice_id, item_id from core.slice_items"),
            self.query("select slice_id, slice_name from core.slices"),
            scores,
        )
        self.add(mart.SLICE_ACCURACY, accuracies)


def add_benchmark(
    published: Published, benchmark: str, questions: Sequence[str | None]
) -> list[str]:
    """A benchmark of four-option items ``<benchmark>:0`` onwards; their names."""
    names = [f"{benchmark}:{index}" for index in range(len(questions))]
    items = [
        {
            "item_id": name,
            "benchmark_id": benchmark,
            "native_id": name.rpartition(":")[2],
            "question": question,
            "choices": ["one", "two", "three", "four"],
            "n_choices": 4,
            "answer": "A",
            "release_id": "r1",
        }
        for name, question in zip(names, questions, strict=True)
    ]
    published.add(core.ITEMS, items)
    release = {
        "benchmark_id": benchmark,
        "release_id": "r1",
        "is_current": True,
        "n_items": len(names),
        "n_sources": 1,
        "source_ids": ["s1"],
    }
    published.add(core.BENCHMARKS, [release])
    return names


def add_results(
    published: Published,
    benchmark: str,
    model: str,
    outcomes: Mapping[str, str],
    **columns: object,
) -> None:
    """One eval run with an outcome for each item; more columns of its scores."""
    eval_run = f"{benchmark}:{model}"
    published.add(
        core.EVAL_RUNS,
        [
            {
                "eval_run_id": eval_run,
                "benchmark_id": benchmark,
                "model_id": model,
                "is_primary": True,
                "n_items": len(outcomes),
                "n_responses": len(outcomes),
            }
        ],
    )
    scores = {"correct": 1.0, "wrong": 0.0}
    rows = [
        {
            "eval_run_id": eval_run,
            "benchmark_id": benchmark,
            "model_id": model,
            "item_id": item,
            "extractor": "source",
            "outcome": outcome,
            "score": scores.get(outcome),
            "is_primary": True,
            **columns,
        }
        for item, outcome in outcomes.items()
    ]
    published.add(core.SCORES, rows)


def add_models(published: Published, models: Sequence[str]) -> None:
    published.add(core.MODELS, [{"model_id": model} for model in models])


def add_slice(published: Published, name: str, items: Sequence[str]) -> None:
    """A slice called ``name`` of the items."""
    slice_id = f"skill:{name}"
    published.add(
        core.SLICES,
        [{"slice_id": slice_id, "slice_name": name, "n_items": len(items)}],
    )
    members = [
        {"slice_id": slice_id, "item_id": i, "benchmark_id": i.rpartition(":")[0]}
        for i in items
    ]
    published.add(core.SLICE_ITEMS, members)
    published.add(
        core.ITEM_SKILLS,
        [
            {
                "item_id": row["item_id"],
                "benchmark_id": row["benchmark_id"],
                "skill_id": slice_id,
            }
            for row in members
        ],
    )


def add_contrasts(published: Published, rows: Rows) -> None:
    """Contrasts of models ``able`` and ``lost``, where a row does not say otherwise."""
    usual = {"model_a": "able", "model_b": "lost", "n_items": 20, "n_clusters": 20}
    made = [
        {
            **usual,
            "slice_id": f"skill:{row['slice_name']}",
            "difference_low": row.get("difference", 0.0) - 0.1,
            "difference_high": row.get("difference", 0.0) + 0.1,
            **row,
        }
        for row in rows
    ]
    published.add(mart.SLICE_CONTRASTS, made)


def add_routing(
    published: Published,
    gains: Mapping[str, tuple[float | None, float | None, float | None]],
    *,
    models: Sequence[str] = ("able", "lost"),
    scope: str = "all",
    columns: Mapping[str, object] | None = None,
) -> None:
    """Policies with their gain and its bounds, on 20 items; more columns of all."""
    published.add(
        routing.ROUTING_EVALUATION,
        [
            {
                "candidate_models": sorted(models),
                "scope": scope,
                "policy": policy,
                "n_items": 20,
                "n_groups": 18,
                "accuracy": None if gain is None else 0.5 + gain,
                "accuracy_low": None if gain is None else 0.4 + gain,
                "accuracy_high": None if gain is None else 0.6 + gain,
                "gain": gain,
                "gain_low": low,
                "gain_high": high,
                **(columns or {}),
            }
            for policy, (gain, low, high) in gains.items()
        ],
    )


def add_frontier(
    published: Published,
    points: Sequence[tuple[str, float, float]],
    *,
    cost_unit: str = "usd",
    dominated: Sequence[int] = (),
    scope: str = "all",
) -> None:
    """Points of ``policy, mean cost, accuracy`` of models ``able`` and ``lost``.

    Bounds are 0.1 to either side. The best single model has an accuracy of 0.5.
    """
    rows = [
        {
            "candidate_models": ["able", "lost"],
            "scope": scope,
            "policy": policy,
            "point": index,
            "n_items": 20,
            "n_groups": 18,
            "cost_unit": cost_unit,
            "mean_cost": cost,
            "accuracy": accuracy,
            "accuracy_low": accuracy - 0.1,
            "accuracy_high": accuracy + 0.1,
            "gain": accuracy - 0.5,
            "gain_low": accuracy - 0.55,
            "gain_high": accuracy - 0.45,
            "is_dominated": index in dominated,
        }
        for index, (policy, cost, accuracy) in enumerate(points)
    ]
    published.add(routing.ROUTING_FRONTIER, rows)


def add_readings(
    published: Published, accuracies: Mapping[str, tuple[float, float]]
) -> None:
    """Accuracies on ``quiz`` by the source's reading and by ours, and all pairs."""
    published.add(
        mart.EXTRACTION_ACCURACY,
        [
            {
                "benchmark_id": "quiz",
                "model_id": model,
                "n_items": 20,
                **{
                    f"accuracy_{reading}{end}": value + step
                    for reading, value in zip(
                        ("source", "reextracted"), both, strict=True
                    )
                    for end, step in (("", 0.0), ("_low", -0.1), ("_high", 0.1))
                },
            }
            for model, both in accuracies.items()
        ],
    )
    pairs = []
    for model_a, model_b in combinations(sorted(accuracies), 2):
        source, ours = (
            a - b for a, b in zip(accuracies[model_a], accuracies[model_b], strict=True)
        )
        pairs.append(
            {
                "benchmark_id": "quiz",
                "model_a": model_a,
                "model_b": model_b,
                "n_items": 19,
                "difference_source": source,
                "difference_reextracted": ours,
                "is_swapped": source * ours < 0,
            }
        )
    published.add(mart.EXTRACTION_SENSITIVITY, pairs)


def two_models(*, question: str = "What is it?") -> Published:
    """Twenty items, of which one model gets all and the other every second one."""
    published = Published()
    items = add_benchmark(published, "quiz", [f"{question} {n}" for n in range(20)])
    add_models(published, ["able", "lost"])
    add_results(published, "quiz", "able", dict.fromkeys(items, "correct"))
    half = {name: ("wrong", "correct")[n % 2] for n, name in enumerate(items)}
    add_results(published, "quiz", "lost", half)
    add_slice(published, "even numbers", items[::2])
    add_slice(published, "all numbers", items)
    published.add(
        raw.REJECTS, [{"benchmark_id": "quiz", "source_id": "s1", "reason": "no id"}]
    )
    published.make_marts()
    return published
