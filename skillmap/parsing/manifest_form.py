"""The form of a manifest, and the rules that need no look at the files."""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from skillmap.parsing.formats import format_named
from skillmap.parsing.keys import validate_key
from skillmap.parsing.values import excerpt


def _checked_format(name: str) -> str:
    return format_named(name).name


def _checked_path(path: str) -> str:
    if not path or path.startswith("/") or ".." in path.split("/") or "\\" in path:
        msg = (
            "a path must be relative to the manifest's root, with / between folders "
            "and without .."
        )
        raise ValueError(msg)
    return path


Key = Annotated[str, AfterValidator(validate_key)]
FormatName = Annotated[str, AfterValidator(_checked_format)]
RelativePath = Annotated[str, AfterValidator(_checked_path)]


class _Strict(BaseModel):
    # Strict, so that `model: 4` is an error and not the model "4".
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FromName(_Strict):
    """A text to take from a file's name.

    Attributes:
        from_name: A name with one ``*``; what stands there is the text.
    """

    from_name: str

    @field_validator("from_name")
    @classmethod
    def _has_one_star(cls, pattern: str) -> str:
        if pattern.count("*") != 1 or "/" in pattern:
            msg = "a name pattern must hold exactly one * and no /"
            raise ValueError(msg)
        return pattern


class BenchmarkEntry(_Strict):
    """How a benchmark numbers its items.

    Attributes:
        order: Paths whose records, one file after another in sorted order, are the
            items; their native id is the running position.
        n_items: Number of items that are known by position only.
    """

    order: list[RelativePath] = Field(default_factory=list[str])
    n_items: int | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_one_of_them(self) -> "BenchmarkEntry":
        if bool(self.order) == (self.n_items is not None):
            msg = "give either order (paths) or n_items (a count)"
            raise ValueError(msg)
        return self


class SourceEntry(_Strict):
    """One file, or all files that a glob matches.

    Attributes:
        path: Relative to the root; ``*`` matches within a folder, ``**`` across.
        benchmark: Benchmark of its records.
        model: Model of its results.
        format: Name of a format; detected when left out.
        annotator: Who wrote its skill phrases or rationales.
        category: Category of its items, or the pattern of file name to take it from.
        task: Name of a BIG-Bench Hard task; the name without suffix when left out.
        native_id_prefix: Put before native ids, to keep files of one benchmark apart.
        match: How records find their items; by the format when left out.
    """

    path: RelativePath
    benchmark: Key | None = None
    model: Key | None = None
    format: FormatName | None = None
    annotator: Key | None = None
    category: str | FromName | None = None
    task: str | FromName | None = None
    native_id_prefix: str | None = None
    match: Literal["id", "position", "question"] | None = None


class Manifest(_Strict):
    """A whole manifest.

    Attributes:
        version: Of the manifest's form; 1.
        models: Other names of each model, by its canonical name.
        keep_organisation: Whether "org/model" stays so instead of becoming "model".
        benchmarks: How each benchmark numbers its items, where that is needed.
        sources: The files.
    """

    version: Literal[1]
    models: dict[Key, list[str]] = Field(default_factory=dict[str, list[str]])
    keep_organisation: bool = False
    benchmarks: dict[Key, BenchmarkEntry] = Field(
        default_factory=dict[str, BenchmarkEntry]
    )
    sources: list[SourceEntry] = Field(min_length=1)

    @field_validator("models")
    @classmethod
    def _one_model_per_name(cls, models: dict[str, list[str]]) -> dict[str, list[str]]:
        owner: dict[str, str] = {name: name for name in models}
        for model, others in models.items():
            for other in others:
                if owner.setdefault(other, model) != model:
                    msg = f"{other!r} names both {owner[other]!r} and {model!r}"
                    raise ValueError(msg)
        return models

    @field_validator("sources")
    @classmethod
    def _each_source_once(cls, sources: list[SourceEntry]) -> list[SourceEntry]:
        seen: set[str] = set()
        for source in sources:
            if source.path in seen:
                msg = f"path {source.path!r} is named twice"
                raise ValueError(msg)
            seen.add(source.path)
        return sources


def fault_text(details: ErrorDetails) -> str:
    """One broken rule: its place in the manifest, the rule, the value and the fix."""
    place = ""
    for part in details["loc"]:
        name = f"[{part}]" if isinstance(part, int) else f".{part}"
        place = f"{place}{name}" if place else str(part)
    value = excerpt(details["input"])
    if details["type"] == "extra_forbidden":
        return f"{place}: unknown key. Known here: {', '.join(_known_keys(details))}"
    if details["type"] == "missing":
        return f"{place}: is required"
    if details["type"] == "string_type":
        return f"{place}: must be a text, got {value!r}. Put it in quotes"
    rule = details["msg"].removeprefix("Value error, ")
    return f"{place}: {rule[:1].lower()}{rule[1:]}, got {value!r}"


def _known_keys(details: ErrorDetails) -> list[str]:
    match details["loc"][:-1]:
        case ():
            form: type[BaseModel] = Manifest
        case ("sources", _):
            form = SourceEntry
        case ("benchmarks", _):
            form = BenchmarkEntry
        case _:
            form = FromName
    return list(form.model_fields)
