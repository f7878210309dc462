"""Whether a process that is making calls still lives."""

import fcntl
import uuid
from pathlib import Path
from typing import IO


class CallOwner:
    """One maker of calls, alive for as long as it holds the lock of its file.

    The system gives the lock up when a process ends, however it ends: a killed one is
    known for dead at once, and no number of a process is mistaken for another's.

    Args:
        folder: Where the files of all owners are.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = uuid.uuid4().hex
        self._path = folder / self.name
        self._file: IO[str] = self._path.open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def close(self) -> None:
        """Be dead to the others."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def is_alive(folder: Path, name: str) -> bool:
    """Whether the owner of that name still holds its lock."""
    try:
        with (folder / name).open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    (folder / name).unlink(missing_ok=True)
    return False
