"""What a partition is made from, as texts: it is made anew when one of them changes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillmap.contracts.table import Table
from skillmap_dagster.resources.lake import Lake, Partition
from skillmap_dagster.resources.registry import RegisteredSource
from skillmap_dagster.resources.settings import AnalysisSettings

# What of the settings makes a difference to a partition, as texts.
SettingsRead = Callable[[Partition, AnalysisSettings], Sequence[str]]


def settings_parts(
    read: tuple[str, ...] | SettingsRead,
    partition: Partition,
    resources: Mapping[str, Any],
) -> Sequence[str]:
    """The settings that are used, each with its name."""
    if callable(read):
        return read(partition, resources["settings"].read())
    chosen = resources["settings"].read() if read else None
    return [f"{name}={getattr(chosen, name)!r}" for name in read]


def source_parts(
    sources: Sequence[RegisteredSource],
    partition: Partition,
    resources: Mapping[str, Any],
) -> list[str]:
    """What was declared of the benchmark, and the version of each source."""
    if not sources:
        return []
    declared = resources["registry"].benchmark(partition["benchmark"])
    return [
        declared.model_dump_json(),
        *(f"{source.source_id}={source.fingerprint}" for source in sources),
    ]


def content_parts(table: Table, partition: Partition, lake: Lake) -> list[str]:
    """The rows of every partition of a table that the partition reads."""
    parts = []
    shared = {d: k for d, k in partition.items() if d in table.dimensions}
    for upstream in lake.partitions(table, **shared):
        stored = lake.stored(table, upstream)
        parts.append(f"{table}{upstream}={stored.content if stored else None}")
    return parts
