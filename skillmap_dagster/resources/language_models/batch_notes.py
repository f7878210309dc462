"""Which batches were handed in, so that none is handed in twice."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from skillmap_dagster.resources.language_models.batch_files import replace_file

_NOTE = "batch.json"


class BatchNote(BaseModel, frozen=True):
    """One batch, as far as it got.

    Attributes:
        name: What the service is told to know it by.
        base_url: Of the service.
        requests: Its request file, from the folder of all notes.
        keys: Of its calls.
        unread: Of those whose results were not read yet.
        batch_id: That the service gave it; None while it may not have it.
    """

    name: str
    base_url: str
    requests: str
    keys: tuple[str, ...]
    unread: tuple[str, ...]
    batch_id: str | None = None


class BatchNotes:
    """The batches that were handed in to one service.

    Args:
        folder: Where they are noted, a folder each.
        base_url: Of the service.
    """

    def __init__(self, folder: Path, base_url: str) -> None:
        self._folder = folder
        self._base_url = base_url

    def read(self) -> Iterator[BatchNote]:
        """Batches with results that were not read yet."""
        for file in sorted(self._folder.glob(f"*/{_NOTE}")):
            note = BatchNote.model_validate_json(file.read_text("utf-8"))
            if note.base_url == self._base_url:
                yield note

    def requests(self, note: BatchNote) -> Path:
        """The request file of a batch."""
        return self._folder / note.requests

    def folder(self, name: str) -> Path:
        """Where the files of a batch are."""
        return self._folder / name

    def write(self, note: BatchNote) -> None:
        """Keep a note in place of the one before; one with all read is done with."""
        if not note.unread:
            shutil.rmtree(self.folder(note.name), ignore_errors=True)
            self.requests(note).unlink(missing_ok=True)
            with suppress(OSError):  # other batches' requests may be there
                self.requests(note).parent.rmdir()
            return
        told = note.model_dump_json().encode()
        replace_file(self.folder(note.name) / _NOTE, told)
