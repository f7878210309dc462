"""From a file's bytes to the bytes of the one text or table inside it."""

import gzip
import io
import zipfile
import zlib
from typing import NamedTuple

from skillmap.errors import ParseError
from skillmap.parsing.source import Remark

_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"

# A compressed file inside an archive is common; a third layer is an attack.
_MAX_LAYERS = 3

_READABLE_SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".csv",
    ".tsv",
    ".parquet",
    ".gz",
)


class Unpacked(NamedTuple):
    """The bytes inside, and what was left in the archive."""

    content: bytes
    warnings: list[Remark]


def unpack(content: bytes, *, name: str, max_bytes: int) -> Unpacked:
    """Undo zip and gzip compression, known by content and not by suffix.

    Args:
        content: The file's bytes.
        name: The file, for messages.
        max_bytes: Largest size that anything may unpack to. Archives declare their
            sizes, so one that would fill the memory is refused before it does.

    Returns:
        The bytes of the single member; the content itself when not compressed.

    Raises:
        ParseError: If an archive is damaged, encrypted, holds no or several files
            that could be meant, or unpacks to more than ``max_bytes``.
    """
    warnings: list[Remark] = []
    for _ in range(_MAX_LAYERS):
        if len(content) > max_bytes:
            raise ParseError(_too_large(name, len(content), max_bytes))
        if content.startswith(_ZIP_MAGIC):
            content = _only_member(content, name, max_bytes, warnings)
        elif content.startswith(_GZIP_MAGIC):
            content = _gunzipped(content, name, max_bytes)
        elif content.startswith(_ZSTANDARD_MAGIC):
            msg = f"{name}: Zstandard is not read. Unpack it or use gzip or zip"
            raise ParseError(msg)
        else:
            return Unpacked(content, warnings)
    msg = f"{name}: an archive within an archive within an archive is not read"
    raise ParseError(msg)


def _only_member(
    content: bytes, name: str, max_bytes: int, warnings: list[Remark]
) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            member = _chosen_member(archive, name, warnings)
            if member.file_size > max_bytes:
                where = f"{name}: {member.filename}"
                raise ParseError(_too_large(where, member.file_size, max_bytes))
            return archive.read(member)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        msg = f"{name}: damaged zip archive: {error}. Fetch the file again"
        raise ParseError(msg) from error
    # An encrypted or exotically compressed member; also a header whose size or
    # offset makes no sense.
    except (RuntimeError, NotImplementedError, OSError, OverflowError) as error:
        msg = f"{name}: zip archive cannot be read: {error}"
        raise ParseError(msg) from error


def _chosen_member(
    archive: zipfile.ZipFile, name: str, warnings: list[Remark]
) -> zipfile.ZipInfo:
    # Finder adds a second, hidden tree beside the real one.
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    readable = (
        members
        if len(members) == 1
        else [m for m in members if m.filename.lower().endswith(_READABLE_SUFFIXES)]
    )
    if len(readable) != 1:
        names = ", ".join(repr(m.filename) for m in members[:8]) or "nothing"
        msg = (
            f"{name}: a zip archive must hold one JSON, CSV or Parquet file, "
            f"found {len(readable)} among {len(members)} files: {names}. "
            "Unpack it and import the files one by one"
        )
        raise ParseError(msg)
    warnings.extend(
        (None, "file in the archive was not read", member.filename[:200])
        for member in members
        if member is not readable[0]
    )
    return readable[0]


def _gunzipped(content: bytes, name: str, max_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unpacked = stream.read(max_bytes + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{name}: damaged gzip file: {error}. Fetch the file again"
        raise ParseError(msg) from error
    if len(unpacked) > max_bytes:
        raise ParseError(_too_large(name, len(unpacked), max_bytes))
    return unpacked


def _too_large(where: str, size: int, max_bytes: int) -> str:
    return (
        f"{where}: a file may unpack to {max_bytes:,} bytes, this one has {size:,} "
        "or more. Split it, or raise max_bytes"
    )
