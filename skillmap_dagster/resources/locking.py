"""Turns taken by processes of one machine."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Run the ``with`` block while no other process runs one with the same lock.

    A killed process gives its turn up; the file stays, empty.
    """
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
