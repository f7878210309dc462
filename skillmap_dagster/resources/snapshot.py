"""The registry at one moment."""

from skillmap_dagster.resources.registry import (
    DeclaredBenchmark,
    RegisteredSource,
    Registry,
)


class RegistrySnapshot:
    """What the registry held, read once, for whoever asks about many partitions.

    Args:
        registry: The registry to read.
    """

    def __init__(self, registry: Registry) -> None:
        self._sources: dict[str, list[RegisteredSource]] = {}
        for source in registry.sources():
            for benchmark_id in source.benchmarks:
                self._sources.setdefault(benchmark_id, []).append(source)
        self._declared = {b: registry.benchmark(b) for b in registry.benchmarks()}

    def sources(self, benchmark_id: str) -> list[RegisteredSource]:
        """As ``Registry.sources``, about one benchmark."""
        return self._sources.get(benchmark_id, [])

    def benchmark(self, benchmark_id: str) -> DeclaredBenchmark:
        """As ``Registry.benchmark``."""
        undeclared = DeclaredBenchmark(benchmark_id=benchmark_id)
        return self._declared.get(benchmark_id, undeclared)
