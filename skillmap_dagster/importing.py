"""From paths on a command line to registered sources."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillmap.errors import ParseError
from skillmap.ids import short_hash
from skillmap.parsing import formats
from skillmap.parsing.manifest import (
    SourceSpec,
    expand,
    list_local_files,
    load_manifest,
    ordered_sources,
)
from skillmap_dagster.resources.files import file_sha256, file_stamp
from skillmap_dagster.resources.registry import (
    DeclaredBenchmark,
    RegisteredSource,
    Registry,
    with_contents,
)

_MANIFEST_SUFFIXES = frozenset({".yaml", ".yml"})


@dataclass(frozen=True)
class Request:
    """What a person asked to import.

    Attributes:
        specs: The files, with all that was said about each.
        benchmarks: What was declared of benchmarks: number of items, or the specs
            that define their order.
        aliases: Other names of models, by canonical name.
        keep_organisation: Whether "organisation/model" is kept as a name.
        skips_unreadable: Whether a file that is no result file is passed over, with
            a word about it: so in a folder, where other files lie about.
    """

    specs: Sequence[SourceSpec]
    benchmarks: Sequence[tuple[str, int | None, Sequence[SourceSpec]]] = ()
    aliases: dict[str, list[str]] | None = None
    keep_organisation: bool = False
    skips_unreadable: bool = False


@dataclass(frozen=True)
class Registered:
    """What came of a request: sources, by what was done with them."""

    new: Sequence[str]
    changed: Sequence[str]
    unchanged: Sequence[str]
    skipped: Sequence[str]


def manifest_request(manifest: Path, root: Path) -> Request:
    """What a manifest asks for, with its paths below ``root``.

    Raises:
        ParseError: If the manifest or one of its paths is wrong.
    """
    read = load_manifest(_text(manifest), source_name=str(manifest))
    specs = expand(read, root.resolve(), list_local_files)
    return Request(
        specs=specs,
        benchmarks=[
            (name, entry.n_items, ordered_sources(read, name, specs))
            for name, entry in sorted(read.benchmarks.items())
        ],
        aliases={model: list(names) for model, names in read.models.items()},
        keep_organisation=read.keep_organisation,
    )


def paths_request(
    paths: Sequence[Path],
    *,
    benchmark: str | None = None,
    model: str | None = None,
    format_name: str | None = None,
    annotator: str | None = None,
) -> Request:
    """What paths on a command line ask for: files, and all files in folders.

    Raises:
        ParseError: If a path does not exist.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += [path / name for name in list_local_files(str(path))]
        elif path.exists():
            files.append(path)
        else:
            raise ParseError(f"{path}: no such file or folder")
    return Request(
        specs=[
            SourceSpec(
                path=str(file.resolve()),
                name=file.name,
                benchmark=benchmark,
                model=model,
                format=format_name,
                annotator=annotator,
                task=file.name.partition(".")[0],
            )
            for file in dict.fromkeys(files)
        ],
        skips_unreadable=any(path.is_dir() for path in paths),
    )


def is_manifest(path: Path) -> bool:
    """Whether a path names a manifest rather than a result file."""
    return path.is_file() and path.suffix.lower() in _MANIFEST_SUFFIXES


def register(
    request: Request,
    registry: Registry,
    *,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Registered:
    """Read every file of a request and register it.

    Nothing is registered unless every file could be read: a manifest is imported
    whole or not at all.

    Args:
        request: The files.
        registry: Where to register them.
        progress: Called before each file with its name, number and how many.

    Raises:
        ParseError: If a file cannot be read, or says neither its benchmark nor its
            model and the request does not either.
    """
    known = {source.source_id: source for source in registry.sources()}
    read: list[RegisteredSource] = []
    skipped: list[str] = []
    for number, spec in enumerate(request.specs):
        progress(spec.name, number, len(request.specs))
        try:
            read.append(_registered(spec, request, registry, known))
        except ParseError as error:
            if not request.skips_unreadable:
                raise
            skipped.append(str(error))
    for name, n_items, order in request.benchmarks:
        declared = DeclaredBenchmark(
            benchmark_id=name,
            n_items=n_items,
            order=[_source_id(spec) for spec in order],
        )
        registry.declare(declared)
    changed = [
        s.uri
        for s in read
        if s.source_id in known and known[s.source_id].fingerprint != s.fingerprint
    ]
    new = [s.uri for s in read if s.source_id not in known]
    for source in read:
        if known.get(source.source_id) != source:
            registry.register(source)
    touched = {*new, *changed}
    return Registered(
        new=new,
        changed=changed,
        unchanged=[s.uri for s in read if s.uri not in touched],
        skipped=skipped,
    )


def _registered(
    spec: SourceSpec,
    request: Request,
    registry: Registry,
    known: dict[str, RegisteredSource],
) -> RegisteredSource:
    path = Path(spec.path)
    before = known.get(_source_id(spec))
    stamp = file_stamp(path)
    is_same_file = before is not None and before.stamp == stamp
    sha256 = before.sha256 if before and is_same_file else file_sha256(path)
    if before and before.sha256 == sha256 and spec.format in {None, before.format}:
        format_name = before.format
    else:
        format_name = spec.format or formats.detect(path, options=spec.options())
    # A path on the command line says little; what a manifest said of it before holds.
    kept = before if request.aliases is None else None
    source = RegisteredSource(
        source_id=_source_id(spec),
        uri=spec.path,
        sha256=sha256,
        stamp=stamp,
        format=format_name,
        importer_version=formats.format_named(format_name).version,
        benchmark=spec.benchmark or (kept and kept.benchmark),
        model=spec.model or (kept and kept.model),
        annotator=spec.annotator or (kept and kept.annotator),
        category=spec.category or (kept and kept.category),
        task=(kept and kept.task) or spec.task,
        native_id_prefix=spec.native_id_prefix or (kept and kept.native_id_prefix),
        match=kept.match if kept else spec.match_for(format_name),
        aliases=kept.aliases if kept else request.aliases or {},
        keep_organisation=(
            kept.keep_organisation if kept else request.keep_organisation
        ),
        n_records=0,
        benchmarks=[],
        models={},
    )
    if (
        before
        and source.model_copy(
            update={
                "n_records": before.n_records,
                "benchmarks": before.benchmarks,
                "models": before.models,
            }
        )
        == before
    ):
        return before
    return with_contents(source, registry.parsed(source))


def _source_id(spec: SourceSpec) -> str:
    return short_hash(spec.path)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParseError(f"{path}: cannot be read as UTF-8 text: {error}") from error
