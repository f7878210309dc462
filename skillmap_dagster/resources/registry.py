"""Which files were imported, as what, and what they hold."""

import functools
import json
import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import dagster as dg
import polars as pl
from pydantic import BaseModel

from skillmap.errors import InvalidInputError, ParseError
from skillmap.ids import short_hash
from skillmap.items.matching import BenchmarkSource, MatchMethod
from skillmap.parsing import formats
from skillmap.parsing.keys import validate_key
from skillmap.parsing.manifest import canonical_model_name
from skillmap.parsing.source import ParsedSource, ParseOptions
from skillmap_dagster.resources.files import file_sha256, file_stamp

_FRAMES = ("items", "results", "skills", "rationales", "rejects", "warnings")


class RegisteredSource(BaseModel, frozen=True):
    """A file as it was last read.

    Attributes:
        source_id: Short hash of where the file is.
        uri: Where it is.
        sha256: Hash of its bytes when it was last read.
        stamp: Size in bytes and modification time in nanoseconds then: while they
            are the same the file is not hashed again.
        format: Name of the format it is read as.
        importer_version: Version of that format's reader.
        benchmark: Benchmark of every record, where the content does not tell.
        model: Model of every result, where the content does not tell.
        annotator: Who named the skills, where the content does not tell.
        category: Category of its items, where the content does not tell.
        task: Name of the task in the file, where the content does not tell.
        native_id_prefix: Put before native ids.
        match: How its records name their items.
        aliases: Other names of models, by canonical name.
        keep_organisation: Whether "organisation/model" is kept as a model's name.
        n_records: Records in the file, good or bad.
        benchmarks: Benchmarks it has records about, sorted.
        models: By benchmark, the names in the source by canonical model name.
    """

    source_id: str
    uri: str
    sha256: str
    stamp: tuple[int, int]
    format: str
    importer_version: str
    benchmark: str | None = None
    model: str | None = None
    annotator: str | None = None
    category: str | None = None
    task: str | None = None
    native_id_prefix: str | None = None
    match: MatchMethod
    aliases: dict[str, list[str]] = {}
    keep_organisation: bool = False
    n_records: int
    benchmarks: list[str]
    models: dict[str, dict[str, list[str | None]]]

    @property
    def options(self) -> ParseOptions:
        """What the reader is told beside the file."""
        return ParseOptions(
            benchmark=self.benchmark,
            model=self.model,
            annotator=self.annotator,
            category=self.category,
            task=self.task,
        )

    @property
    def own_prefix(self) -> str | None:
        """First part of the ids that a source without ids gives its items."""
        stem = Path(self.uri).name.partition(".")[0]
        return (self.task or stem) if self.match == "own" else None

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides what the source contributes."""
        told = self.model_dump(mode="json", exclude={"stamp", "uri"})
        return short_hash(json.dumps(told, sort_keys=True))


class DeclaredBenchmark(BaseModel, frozen=True):
    """What was declared of a benchmark beside its sources.

    Attributes:
        benchmark_id: The benchmark.
        n_items: Number of items, where they are known by position alone.
        order: Sources that define the items' order, one after another.
    """

    benchmark_id: str
    n_items: int | None = None
    order: list[str] = []


class Registry(dg.ConfigurableResource):
    """The imported files, and their records as last read.

    One small JSON file a source, so that any number of imports write at once. What a
    file holds is read once for each content and kept under the hash of that content,
    the reader's version and its options.

    Attributes:
        folder: Where the registry is.
        cache: Where read records are kept; may be deleted at any time.
    """

    folder: str
    cache: str

    def sources(self, benchmark_id: str | None = None) -> list[RegisteredSource]:
        """Registered sources, those about one benchmark or all, by id."""
        files = sorted((Path(self.folder) / "sources").glob("*.json"))
        found = [_registered(str(file), file.stat().st_mtime_ns) for file in files]
        return [
            s for s in found if benchmark_id is None or benchmark_id in s.benchmarks
        ]

    def benchmark(self, benchmark_id: str) -> DeclaredBenchmark:
        """What was declared of a benchmark; nothing, where nothing was."""
        file = self._file("benchmarks", benchmark_id)
        if not file.exists():
            return DeclaredBenchmark(benchmark_id=benchmark_id)
        return DeclaredBenchmark.model_validate_json(file.read_text("utf-8"))

    def benchmarks(self) -> list[str]:
        """All benchmarks, sorted."""
        declared = (
            unquote(file.stem)
            for file in (Path(self.folder) / "benchmarks").glob("*.json")
        )
        met = (b for source in self.sources() for b in source.benchmarks)
        return sorted({*declared, *met})

    def cells(self) -> list[tuple[str, str]]:
        """Benchmark and model of every cell with results, sorted."""
        return sorted(
            {
                (b, m)
                for s in self.sources()
                for b, names in s.models.items()
                for m in names
            }
        )

    def register(self, source: RegisteredSource) -> None:
        """Add a source, or replace what is known of it."""
        self._write("sources", source.source_id, source)

    def forget(self, source_id: str) -> None:
        """Remove a source from the registry; its file is not touched."""
        self._file("sources", source_id).unlink(missing_ok=True)

    def declare(self, benchmark: DeclaredBenchmark) -> None:
        """Record what was declared of a benchmark."""
        self._write("benchmarks", benchmark.benchmark_id, benchmark)

    def refreshed(
        self, source: RegisteredSource, *, trusts_stamp: bool = True
    ) -> RegisteredSource:
        """The source as its file is now, registered anew if the file has changed.

        A file that is gone keeps what was read of it.

        Args:
            source: The source as registered.
            trusts_stamp: Whether a file of the same size and time counts as unchanged
                without being hashed.

        Raises:
            ParseError: If the changed file cannot be read; the registry keeps the
                source as it was.
        """
        path = Path(source.uri)
        version = formats.format_named(source.format).version
        is_same = (
            trusts_stamp
            and path.exists()
            and file_stamp(path) == source.stamp
            and version == source.importer_version
        )
        if is_same or not path.exists():
            return source
        now = source.model_copy(
            update={"sha256": file_sha256(path), "stamp": file_stamp(path)}
        )
        if (now.sha256, version) != (source.sha256, source.importer_version):
            now = now.model_copy(update={"importer_version": version})
            now = with_contents(now, self.parsed(now))
        self.register(now)
        return now

    def parsed(self, source: RegisteredSource) -> ParsedSource:
        """The source's records, read from its file once for each content.

        Raises:
            ParseError: If the file cannot be read, or has changed or gone since its
                hash was taken and its records are no longer kept.
        """
        folder = self._parsed_folder(source)
        if not folder.exists():
            self._parse_into(folder, source)
        about = json.loads((folder / "about.json").read_text("utf-8"))
        frames = {name: pl.read_parquet(folder / f"{name}.parquet") for name in _FRAMES}
        return ParsedSource(
            format=source.format,
            importer_version=source.importer_version,
            n_records=about["n_records"],
            notes=tuple(about["notes"]),
            **frames,
        )

    def benchmark_sources(
        self,
        benchmark_id: str,
        *,
        keep: Callable[[RegisteredSource], bool] = lambda _: True,
    ) -> list[BenchmarkSource]:
        """Records about a benchmark, a source at a time, as last read.

        Args:
            benchmark_id: The benchmark.
            keep: Which of its sources to read.
        """
        everything = self.sources(benchmark_id)
        n_records = {s.source_id: s.n_records for s in everything}
        offsets: dict[str, int] = {}
        total = 0
        for source_id in self.benchmark(benchmark_id).order:
            offsets[source_id] = total
            total += n_records.get(source_id, 0)
        return [
            BenchmarkSource(
                source_id=source.source_id,
                parsed=about_benchmark(self.parsed(source), source, benchmark_id),
                match=source.match,
                prefix=source.native_id_prefix or source.own_prefix,
                order_offset=offsets.get(source.source_id),
                model_names={
                    name: model
                    for model, names in source.models.get(benchmark_id, {}).items()
                    for name in names
                    if name is not None
                },
            )
            for source in everything
            if keep(source)
        ]

    def _parse_into(self, folder: Path, source: RegisteredSource) -> None:
        path = Path(source.uri)
        if not path.exists():
            raise ParseError(f"{path}: the file is gone. Put it back, or import again")
        parsed = formats.parse(path, format_name=source.format, options=source.options)
        if file_sha256(path) != source.sha256:
            raise ParseError(f"{path}: the file changed while it was read. Run again")
        temporary = folder.with_name(f".{uuid.uuid4().hex}.tmp")
        temporary.mkdir(parents=True)
        try:
            for name in _FRAMES:
                getattr(parsed, name).write_parquet(temporary / f"{name}.parquet")
            about = {"n_records": parsed.n_records, "notes": list(parsed.notes)}
            (temporary / "about.json").write_text(json.dumps(about), "utf-8")
            temporary.rename(folder)
        except OSError:
            # Another process was first with the same content: its copy serves.
            if not folder.exists():
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _parsed_folder(self, source: RegisteredSource) -> Path:
        key = (source.sha256, source.format, source.importer_version, source.options)
        return Path(self.cache) / "parsed" / short_hash(repr(key))

    def _file(self, kind: str, name: str) -> Path:
        return Path(self.folder) / kind / f"{quote(name, safe=' -_')}.json"

    def _write(self, kind: str, name: str, document: BaseModel) -> None:
        file = self._file(kind, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f".{uuid.uuid4().hex}.tmp")
        temporary.write_text(document.model_dump_json(indent=1), "utf-8")
        temporary.replace(file)


@functools.lru_cache(maxsize=4096)
def _registered(file: str, _modified_nanoseconds: int) -> RegisteredSource:
    """A registry document, read again only when it has changed."""
    return RegisteredSource.model_validate_json(Path(file).read_text("utf-8"))


def with_contents(source: RegisteredSource, parsed: ParsedSource) -> RegisteredSource:
    """The source with what its records say it holds.

    Raises:
        ParseError: If its benchmark or a model's name is neither in the content nor
            given.
    """
    models: dict[str, dict[str, list[str | None]]] = {}
    named = _with_benchmark(parsed.results, source).select("benchmark", "model")
    for benchmark, name in named.unique().sort("benchmark", "model").rows():
        given = name if name is not None else source.model
        if given is None:
            raise ParseError(
                f"{source.uri}: its results do not say which model they are of. "
                "Name it with --model, or with `model` in the manifest"
            )
        canonical = canonical_model_name(
            given, source.aliases, keep_organisation=source.keep_organisation
        )
        _check_key(canonical, source)
        models.setdefault(benchmark, {}).setdefault(canonical, []).append(name)
    met = [
        _with_benchmark(getattr(parsed, frame), source)["benchmark"].unique()
        for frame in ("items", "results", "skills", "rationales")
    ]
    benchmarks = sorted(set(pl.concat(met)))
    for benchmark in benchmarks:
        _check_key(benchmark, source)
    return source.model_copy(
        update={
            "n_records": parsed.n_records,
            "importer_version": parsed.importer_version,
            "benchmarks": benchmarks or [source.benchmark],
            "models": models,
        }
    )


def _check_key(name: str, source: RegisteredSource) -> None:
    try:
        validate_key(name)
    except InvalidInputError as error:
        raise ParseError(
            f"{source.uri}: {error}. Name it otherwise with --benchmark or --model, or "
            "with an alias in the manifest"
        ) from error


def about_benchmark(
    parsed: ParsedSource, source: RegisteredSource, benchmark_id: str
) -> ParsedSource:
    """The records about one benchmark; rejects and warnings stay whole."""
    if source.benchmarks == [benchmark_id]:
        return parsed
    kept: Mapping[str, Any] = {
        name: _with_benchmark(getattr(parsed, name), source).filter(
            pl.col("benchmark") == benchmark_id
        )
        for name in ("items", "results", "skills", "rationales")
    }
    return ParsedSource(
        format=parsed.format,
        importer_version=parsed.importer_version,
        n_records=parsed.n_records,
        rejects=parsed.rejects,
        warnings=parsed.warnings,
        notes=parsed.notes,
        **kept,
    )


def _with_benchmark(frame: pl.DataFrame, source: RegisteredSource) -> pl.DataFrame:
    known = frame.with_columns(
        benchmark=pl.coalesce("benchmark", pl.lit(source.benchmark, pl.String))
    )
    if known["benchmark"].null_count():
        raise ParseError(
            f"{source.uri}: its records do not say which benchmark they are about. "
            "Name it with --benchmark, or with `benchmark` in the manifest"
        )
    return known
