"""The manifest: which files belong to which benchmark and model, in one YAML file."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import cast

import yaml
from pydantic import ValidationError

from skillmap.errors import ParseError
from skillmap.parsing.formats import format_named
from skillmap.parsing.importer import Match
from skillmap.parsing.keys import validate_key
from skillmap.parsing.manifest_form import FromName, Manifest, SourceEntry, fault_text
from skillmap.parsing.source import ParseOptions
from skillmap.parsing.values import excerpt

__all__ = [
    "Manifest",
    "SourceSpec",
    "canonical_model_name",
    "expand",
    "list_local_files",
    "load_manifest",
    "ordered_sources",
    "validate_key",
]

_DATA_SUFFIXES = frozenset(
    {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".zip", ".gz"}
)
_N_PATHS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One file of a manifest, with everything the manifest says about it.

    Attributes:
        path: Root and name joined.
        name: Relative to the root, the same on every machine.
        benchmark: Benchmark of its records.
        model: Model of its results.
        format: Name of its format; null to detect it.
        annotator: Who wrote its skill phrases or rationales.
        category: Category of its items.
        task: Name of a BIG-Bench Hard task.
        native_id_prefix: Put before native ids.
        match: How records find their items; null for the format's own way.
        defines_order: Whether its records number the items of its benchmark.
    """

    path: str
    name: str
    benchmark: str | None = None
    model: str | None = None
    format: str | None = None
    annotator: str | None = None
    category: str | None = None
    task: str | None = None
    native_id_prefix: str | None = None
    match: Match | None = None
    defines_order: bool = False

    def options(self) -> ParseOptions:
        """What to tell the reader of the file."""
        return ParseOptions(
            benchmark=self.benchmark,
            model=self.model,
            annotator=self.annotator,
            category=self.category,
            task=self.task,
        )

    def match_for(self, format_name: str) -> Match:
        """How its records find their items, once the format is known.

        A source that numbers the items of its benchmark is matched by position
        unless the manifest says otherwise.
        """
        if self.match is not None:
            return self.match
        return "position" if self.defines_order else format_named(format_name).match


class _UniqueKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, where YAML keeps the last."""


def _unique_mapping(
    loader: _UniqueKeyLoader, node: yaml.MappingNode
) -> dict[object, object]:
    met: set[str] = set()
    nodes = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
    for key_node, _ in nodes:
        key = str(cast("object", key_node.value))
        if key in met:
            line = key_node.start_mark.line + 1
            msg = f"key {key!r} is given twice, again on line {line}"
            raise yaml.YAMLError(msg)
        met.add(key)
    return cast("dict[object, object]", loader.construct_mapping(node, deep=True))


_UniqueKeyLoader.add_constructor("tag:yaml.org,2002:map", _unique_mapping)


def load_manifest(text: str, *, source_name: str) -> Manifest:
    """Read a manifest.

    Args:
        text: YAML, in the form that ``docs/import-formats.md`` describes.
        source_name: The file, for messages.

    Returns:
        The manifest, checked as far as that is possible without the files.

    Raises:
        ParseError: If the text is not YAML or breaks a rule; each broken rule is
            listed with its place and value.
    """
    try:
        # The loader is a safe one; it only refuses more.
        content: object = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        msg = f"{source_name}: not YAML: {' '.join(str(error).split())}"
        raise ParseError(msg) from error
    if not isinstance(content, dict):
        msg = (
            f"{source_name}: a manifest must be a mapping with version and sources, "
            f"found {excerpt(content)!r}"
        )
        raise ParseError(msg)
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        faults = [fault_text(details) for details in error.errors()]
        msg = f"{source_name}: {len(faults)} faults: {'; '.join(faults)}"
        raise ParseError(msg) from error


def expand(
    manifest: Manifest,
    root: str | PathLike[str],
    list_files: Callable[[str], Iterable[str]],
) -> list[SourceSpec]:
    """The files of a manifest.

    Args:
        manifest: Its paths and globs.
        root: Folder or address that paths are relative to.
        list_files: Gives all files below the root, relative to it, with / between
            folders, in any order; `list_local_files` for a folder.

    Returns:
        One spec per file, in the manifest's order and by name within a glob.

    Raises:
        ParseError: If a path matches nothing, two entries match one file, a file name
            does not fit the pattern for its category or task, or a benchmark's order
            names a file that is no source of that benchmark.
    """
    base = str(root).rstrip("/")
    names = sorted(set(list_files(base)))
    entry_of: dict[str, int] = {}
    specs: list[SourceSpec] = []
    for index, entry in enumerate(manifest.sources):
        matching = _matching(names, entry.path)
        if not matching:
            msg = (
                f"sources[{index}].path: no file under {base!r} matches "
                f"{entry.path!r}. Correct the path or the root"
            )
            raise ParseError(msg)
        for name in matching:
            if name in entry_of:
                msg = (
                    f"sources[{index}].path: {name!r} is a source already, by "
                    f"sources[{entry_of[name]}].path"
                )
                raise ParseError(msg)
            entry_of[name] = index
            specs.append(_spec(manifest, entry, base, name, f"sources[{index}]"))
    _check_orders(manifest, specs)
    return specs


def ordered_sources(
    manifest: Manifest, benchmark: str, specs: Sequence[SourceSpec]
) -> list[SourceSpec]:
    """The sources whose records, one after another, number a benchmark's items.

    Args:
        manifest: Has the benchmark's order.
        benchmark: Its name.
        specs: As `expand` returns them.

    Returns:
        By the order's paths, and by name within a glob; none without an order.
    """
    entry = manifest.benchmarks.get(benchmark)
    spec_of = {spec.name: spec for spec in specs if spec.benchmark == benchmark}
    names = sorted(spec_of)
    patterns = entry.order if entry else []
    ordered = dict.fromkeys(
        name for pattern in patterns for name in _matching(names, pattern)
    )
    return [spec_of[name] for name in ordered]


def list_local_files(root: str) -> list[str]:
    """All files below a folder, relative to it, sorted, with / between folders."""
    base = Path(root)
    return sorted(
        path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file()
    )


def canonical_model_name(
    name: str,
    aliases: Mapping[str, Sequence[str]],
    *,
    keep_organisation: bool = False,
) -> str:
    """The one name of a model that sources name differently.

    Args:
        name: As a source has it.
        aliases: Other names by canonical name.
        keep_organisation: Whether "organisation/model" keeps its first part.

    Returns:
        The canonical name that lists the name, as a whole or without organisation;
        else the name, without organisation unless that is to be kept.

    Examples:
        >>> canonical_model_name("org/m-v2", {"model 2": ["m-v2"]})
        'model 2'
        >>> canonical_model_name("org/other", {"model 2": ["m-v2"]})
        'other'
    """
    canonical = {other: model for model in aliases for other in aliases[model]}
    canonical.update({model: model for model in aliases})
    bare = name.rsplit("/", maxsplit=1)[-1] or name
    if name in canonical:
        return canonical[name]
    if keep_organisation:
        return name
    return canonical.get(bare, bare)


def _spec(
    manifest: Manifest, entry: SourceEntry, base: str, name: str, place: str
) -> SourceSpec:
    benchmark = manifest.benchmarks.get(entry.benchmark) if entry.benchmark else None
    patterns = benchmark.order if benchmark else []
    return SourceSpec(
        path=f"{base}/{name}",
        name=name,
        benchmark=entry.benchmark,
        model=entry.model,
        format=entry.format,
        annotator=entry.annotator,
        category=_text_for(entry.category, name, f"{place}.category"),
        task=_text_for(entry.task, name, f"{place}.task") or _stem(name),
        native_id_prefix=entry.native_id_prefix,
        match=entry.match,
        defines_order=any(_matching([name], pattern) for pattern in patterns),
    )


def _text_for(told: str | FromName | None, name: str, place: str) -> str | None:
    if not isinstance(told, FromName):
        return told
    before, _, after = told.from_name.partition("*")
    file_name = PurePosixPath(name).name
    pattern = f"{re.escape(before)}(.+){re.escape(after)}"
    found = re.fullmatch(pattern, file_name, re.DOTALL)
    if found is None:
        msg = (
            f"{place}.from_name: file name {file_name!r} does not fit "
            f"{told.from_name!r}"
        )
        raise ParseError(msg)
    return found.group(1)


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    while path.suffix.lower() in _DATA_SUFFIXES:
        path = path.with_suffix("")
    return path.name


def _check_orders(manifest: Manifest, specs: Sequence[SourceSpec]) -> None:
    for benchmark, entry in manifest.benchmarks.items():
        names = sorted(spec.name for spec in specs if spec.benchmark == benchmark)
        for index, pattern in enumerate(entry.order):
            if not _matching(names, pattern):
                found = ", ".join(names[:_N_PATHS_SHOWN]) or "no source"
                msg = (
                    f"benchmarks.{benchmark}.order[{index}]: no source of this "
                    f"benchmark matches {pattern!r}, it has {found}. "
                    "List the file under sources"
                )
                raise ParseError(msg)


def _matching(names: Sequence[str], pattern: str) -> list[str]:
    # A file's own name comes first, so that brackets and stars in it do no harm.
    if pattern in names:
        return [pattern]
    whole = re.compile(_regular_expression(pattern), re.DOTALL)
    return [name for name in names if whole.fullmatch(name)]


def _regular_expression(pattern: str) -> str:
    """A glob whose ``*`` and ``?`` stay within a folder, and ``**`` does not."""
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(pieces.get(part, re.escape(part)) for part in parts)
