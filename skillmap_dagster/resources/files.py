"""What tells whether a file has changed."""

import hashlib
import os
from pathlib import Path

_BLOCK_BYTES = 1 << 20


def file_sha256(path: Path) -> str:
    """SHA-256 of the file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def file_stamp(path: Path) -> tuple[int, int]:
    """Size in bytes and modification time in nanoseconds."""
    status = os.stat(path)  # noqa: PTH116  one call for both
    return status.st_size, status.st_mtime_ns
