"""Runs a table's great-expectations suite over a frame, by DuckDB SQL, uncopied.

great-expectations has no DuckDB engine. Through SQLAlchemy its queries run, but it
gives the connection back before it reads the rows, and a DuckDB cursor is empty by
then; the engine here takes the rows first.
"""

import functools
import logging
import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from skillmap.contracts.expectations import Expectation


class ExpectationResult(NamedTuple):
    """Whether one expectation held, and what was seen if not."""

    name: str
    success: bool
    observed: dict[str, object]


def validate(
    frame: pl.DataFrame, expectations: Sequence[Expectation]
) -> list[ExpectationResult]:
    """Results of ``expectations`` on ``frame``, in their order.

    great-expectations is imported on the first call, which takes some seconds.
    """
    with warnings.catch_warnings():
        # Its own deprecation and dialect warnings are nothing a user can act on.
        warnings.simplefilter("ignore")
        return _validate(frame, expectations)


def _validate(
    frame: pl.DataFrame, expectations: Sequence[Expectation]
) -> list[ExpectationResult]:
    import great_expectations as gx  # noqa: PLC0415  seconds, and only here needed

    engine, batch = _frames()
    with engine.get_connection() as connection:
        duckdb_connection = connection.connection.driver_connection
    duckdb_connection.register("frame", frame.to_arrow())
    built = [
        getattr(gx.expectations, e["type"])(**e["arguments"], meta={"number": number})
        for number, e in enumerate(expectations)
    ]
    suite = gx.ExpectationSuite(name="contract", expectations=built)
    report = batch.get_batch().validate(suite, result_format="SUMMARY")
    # Its rows would otherwise be held until the next suite runs.
    duckdb_connection.unregister("frame")
    # The report has an order of its own.
    results = sorted(report.results, key=lambda r: r.expectation_config.meta["number"])
    return [
        ExpectationResult(_name(e), bool(r.success), _observed(r))
        for e, r in zip(expectations, results, strict=True)
    ]


@functools.cache
def _frames() -> tuple[Any, Any]:
    """The engine, and the batch definition of the view ``frame`` in it."""
    import great_expectations as gx  # noqa: PLC0415
    from great_expectations.data_context.types.base import (  # noqa: PLC0415
        ProgressBarsConfig,
    )
    from great_expectations.datasource.fluent.sql_datasource import (  # noqa: PLC0415
        SQLDatasource,
    )
    from great_expectations.execution_engine.sqlalchemy_execution_engine import (  # noqa: PLC0415
        SqlAlchemyExecutionEngine,
    )

    class FrameEngine(SqlAlchemyExecutionEngine):
        """Takes a query's rows while it still has the connection."""

        def execute_query(self, query: Any) -> Any:
            with self.get_connection() as connection:
                return self._execute_query_with_recovery(connection, query).freeze()()

    class SkillmapFramesDatasource(SQLDatasource):
        """An in-memory DuckDB whose views are frames."""

        type: Literal["skillmap_frames"] = "skillmap_frames"  # type: ignore[assignment]

        @property
        def execution_engine_type(self) -> Any:
            return FrameEngine

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    datasource = context.data_sources.add_skillmap_frames(  # type: ignore[attr-defined]
        "frames", connection_string="duckdb:///:memory:", create_temp_table=False
    )
    asset = datasource.add_query_asset("frame", query="select * from frame")
    return (
        datasource.get_execution_engine(),
        asset.add_batch_definition_whole_table("all"),
    )


def _name(expectation: Expectation) -> str:
    arguments = expectation["arguments"]
    about = arguments.get("column") or arguments.get("description") or ""
    return f"{expectation['type']} {about}".strip()


def _observed(result: Any) -> dict[str, object]:
    told = ("unexpected_count", "partial_unexpected_list", "observed_value")
    seen = {name: result.result[name] for name in told if name in result.result}
    if result.exception_info and result.exception_info.get("raised_exception"):
        seen["exception"] = result.exception_info["exception_message"]
    return {name: str(value)[:300] for name, value in seen.items()}
