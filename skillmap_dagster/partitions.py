"""The partitions: benchmarks, models, and the cells where they meet."""

from collections.abc import Mapping

import dagster as dg

from skillmap.contracts.table import Partitions, Table
from skillmap_dagster.resources.lake import Partition

BENCHMARKS = dg.DynamicPartitionsDefinition(name="benchmark")
MODELS = dg.DynamicPartitionsDefinition(name="model")
# Dimensions are ordered by name, so a cell's key reads "benchmark|model".
CELLS = dg.MultiPartitionsDefinition({"benchmark": BENCHMARKS, "model": MODELS})

DEFINITIONS: Mapping[Partitions | None, dg.PartitionsDefinition | None] = {
    None: None,
    "benchmark": BENCHMARKS,
    "model": MODELS,
    "benchmark_model": CELLS,
}


def partition_key(partition: Partition) -> str | None:
    """Dagster's key of a partition; None for a table without partitions."""
    if not partition:
        return None
    if len(partition) == 1:
        return next(iter(partition.values()))
    return dg.MultiPartitionKey(dict(partition))


def partition_of(table: Table, context: dg.AssetExecutionContext) -> Partition:
    """The partition that a run is about, by dimension.

    Raises:
        dg.Failure: If the run covers a range of partitions: Dagster then records
            the checks for none of them.
    """
    if not table.dimensions:
        return {}
    if len(context.partition_keys) > 1:
        raise dg.Failure(
            f"{table}: the run covers {len(context.partition_keys)} partitions. "
            "Launch one run a partition, so that each has its own checks"
        )
    key = context.partition_key
    if isinstance(key, dg.MultiPartitionKey):
        return dict(key.keys_by_dimension)
    return {table.dimensions[0]: key}
