"""The formats that can be read, and how a file is matched to one of them.

By content, never by suffix: a ``.jsonl`` may hold one array, a ``.json`` may hold JSON
lines, and a ``.zip`` may be called ``.json.zip``.
"""

from os import PathLike

from skillmap.errors import InvalidInputError, ParseError
from skillmap.parsing import bbh, evaltree, generic, gsm8k, mmlu_pro, routellm
from skillmap.parsing.documents import Document, decode_document, read_document
from skillmap.parsing.importer import Confidence, Format, parsed_source
from skillmap.parsing.source import ParsedSource, ParseOptions
from skillmap.parsing.told_names import with_told_names
from skillmap.parsing.values import excerpt

FORMATS: tuple[Format, ...] = (
    bbh.FORMAT,
    evaltree.RESULTS,
    evaltree.SKILLS,
    generic.FORMAT,
    gsm8k.ITEMS,
    gsm8k.SOLUTIONS,
    mmlu_pro.FORMAT,
    routellm.FORMAT,
)
"""All formats, by name."""

_N_NAMES_SHOWN = 8


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        InvalidInputError: If there is none.
    """
    for known in FORMATS:
        if known.name == name:
            return known
    names = [known.name for known in FORMATS]
    msg = f"format must be one of {names}, got {name!r}"
    raise InvalidInputError(msg)


def detect(path: str | PathLike[str], *, options: ParseOptions | None = None) -> str:
    """The name of the format that a file has, told by its content.

    Args:
        path: A file.
        options: ``max_bytes`` is used.

    Returns:
        A name in `FORMATS`.

    Raises:
        ParseError: If the file is damaged, of no known format, or could be read as
            several.
    """
    return detect_document(read_document(path, options=options)).name


def detect_document(document: Document) -> Format:
    """As `detect`, for a document that is decoded already."""
    confidence = {known.name: known.sniff(document) for known in FORMATS}
    best = max(confidence.values())
    candidates = [known for known in FORMATS if confidence[known.name] == best]
    if best == Confidence.NO:
        names = ", ".join(known.name for known in FORMATS)
        msg = (
            f"{document.name}: not a known format: found a {_description(document)}. "
            f"Known formats: {names}"
        )
        raise ParseError(msg)
    if len(candidates) > 1:
        names = ", ".join(known.name for known in candidates)
        msg = (
            f"{document.name}: could be {names}: found a {_description(document)}. "
            "Say which with --format"
        )
        raise ParseError(msg)
    return candidates[0]


def parse(
    path: str | PathLike[str],
    *,
    format_name: str | None = None,
    options: ParseOptions | None = None,
) -> ParsedSource:
    """Read a file into frames.

    Args:
        path: A file; anything with ``read_bytes`` (a remote path, say) serves too.
        format_name: A name in `FORMATS`; detected when left out.
        options: What the caller knows that the content may not tell.

    Returns:
        The frames, with every record that was left out and the reason.

    Raises:
        InvalidInputError: If there is no format of that name.
        ParseError: If the file is damaged, is of no or several known formats, holds
            no good record, or names several benchmarks or models where ``options``
            name one.
    """
    options = options or ParseOptions()
    document = read_document(path, options=options)
    return parse_document(document, format_name=format_name, options=options)


def parse_bytes(
    content: bytes,
    *,
    name: str,
    format_name: str | None = None,
    options: ParseOptions | None = None,
) -> ParsedSource:
    """As `parse`, for bytes in memory; ``name`` stands for the file in messages."""
    options = options or ParseOptions()
    document = decode_document(content, name=name, options=options)
    return parse_document(document, format_name=format_name, options=options)


def parse_document(
    document: Document,
    *,
    format_name: str | None = None,
    options: ParseOptions | None = None,
) -> ParsedSource:
    """As `parse`, for a document that is decoded already."""
    options = options or ParseOptions()
    known = format_named(format_name) if format_name else detect_document(document)
    source = parsed_source(known, document, known.read(document, options))
    _check_not_all_rejected(source, document.name)
    return with_told_names(source, options, name=document.name)


def _check_not_all_rejected(source: ParsedSource, name: str) -> None:
    frames = (source.items, source.results, source.skills, source.rationales)
    if any(not frame.is_empty() for frame in frames):
        return
    first = source.rejects.row(0, named=True) if not source.rejects.is_empty() else {}
    msg = (
        f"{name}: no record can be used as {source.format}: "
        f"{source.rejects.height} of {source.n_records} are rejected"
    )
    if first:
        msg += f", first at {first['position']}: {first['reason']}: {first['value']!r}"
    raise ParseError(msg)


def _description(document: Document) -> str:
    if document.is_table:
        return f"{document.shape} with the columns {_some(list(document.columns))}"
    first = document.first_object()
    if first:
        of_objects = "" if document.shape == "JSON object" else " of objects"
        return f"{document.shape}{of_objects} with the keys {_some(list(first))}"
    value = document.records[0] if document.records else None
    return f"{document.shape} of {type(value).__name__}, first {excerpt(value)[:80]}"


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:_N_NAMES_SHOWN])
    n_more = len(names) - _N_NAMES_SHOWN
    return f"{shown} and {n_more} more" if n_more > 0 else shown
