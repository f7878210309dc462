"""Starter suite: three small benchmarks of our own and one small model's answers."""

from importlib.resources import files
from pathlib import Path

from skillmap.errors import InvalidInputError


def folder() -> Path:
    """Installed folder of the starter suite.

    Returns:
        A folder with ``items/*.jsonl`` (one object an item), ``results/*.jsonl`` (one
        object an item and evaluated model) and ``README.md``.

    Raises:
        InvalidInputError: If skillmap is imported from an archive, where the suite
            has no folder.

    Examples:
        >>> sorted(path.stem for path in (folder() / "items").glob("*.jsonl"))
        ['starter_arithmetic', 'starter_knowledge', 'starter_reasoning']
    """
    installed = files(__name__)
    if not isinstance(installed, Path):
        raise InvalidInputError(
            f"skillmap.starter: the suite must lie in a folder, found {installed!r}. "
            "Install skillmap unpacked"
        )
    return installed
