"""Calls in batches: handed in as files, and read hours later, at a lower price."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

from skillmap.calls import Call, Reply
from skillmap.calls.batch_lines import BatchResults
from skillmap.calls.scrubbing import Scrubber
from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models.batch_files import (
    BatchLimits,
    deliver_all,
    write_quarantine,
    write_request_files,
)
from skillmap_dagster.resources.language_models.batch_notes import (
    BatchNote,
    BatchNotes,
)
from skillmap_dagster.resources.language_models.endpoint import Endpoint

_ENDPOINT: Final = "/v1/chat/completions"
_WINDOW: Final = "24h"
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
# Name under which a batch carries its note's name, to be found again by.
_TAG: Final = "skillmap"
_N_RECENT: Final = 100


class BatchTransport:
    """Hands calls in to a service's batch interface, and waits for the results.

    Each batch is noted before it is handed in. A run that is killed, or stopped while
    it waits, reads the results of the same batches when it is started again.

    Attributes:
        n_faults: Lines of results that could not be used.

    Args:
        endpoint: The service.
        folder: Where batches are noted; ``<home>/calls/batches``.
        limits: Of one request file.
        poll_seconds: Between two looks at a batch.
        sleep: Waits that many seconds.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        folder: Path,
        *,
        limits: BatchLimits | None = None,
        poll_seconds: float = 30,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._notes = BatchNotes(folder, endpoint.base_url)
        self._limits = limits
        self._poll_seconds = poll_seconds
        self._sleep = sleep
        self.n_faults = 0

    def transmit(self, calls: Iterable[Call], deliver: Callable[[Reply], None]) -> None:
        """As ``Transport.transmit``; all calls are pulled before the first result."""
        scrubber = Scrubber([self._endpoint.key()])
        with _Service(self._endpoint, scrubber) as service:
            waiting = list(self._hand_in(calls, service, deliver))
            while waiting:
                for note, wanted in list(waiting):
                    batch = service.batch(note)
                    if batch is None or batch.status in _ENDED:
                        self._read(note, wanted, batch, service, deliver)
                        waiting.remove((note, wanted))
                if waiting:
                    self._sleep(self._poll_seconds)

    def _hand_in(
        self,
        calls: Iterable[Call],
        service: "_Service",
        deliver: Callable[[Reply], None],
    ) -> Iterator[tuple[BatchNote, frozenset[str]]]:
        """Batches that hold the calls, and which of them each holds."""
        earlier = list(self._notes.read())
        holder = {key: note.name for note in earlier for key in note.unread}
        wanted: dict[str, set[str]] = {note.name: set() for note in earlier}

        def new() -> Iterator[Call]:
            for call in calls:
                if call.key in holder:
                    wanted[holder[call.key]].add(call.key)
                else:
                    yield call

        pending = self._notes.folder(uuid.uuid4().hex)
        files = write_request_files(
            new(),
            pending,
            dialect=self._endpoint.dialect,
            limits=self._limits,
            refuse=deliver,
        )
        for file in files:
            name = uuid.uuid4().hex
            note = BatchNote(
                name=name,
                base_url=self._endpoint.base_url,
                requests=f"{pending.name}/{file.path.name}",
                keys=file.keys,
                unread=file.keys,
            )
            self._notes.write(note)
            yield self._taken(note, service), frozenset(file.keys)
        for note in earlier:
            if wanted[note.name]:
                yield self._taken(note, service), frozenset(wanted[note.name])

    def _taken(self, note: BatchNote, service: "_Service") -> BatchNote:
        """The note of a batch that the service has."""
        if note.batch_id:
            return note
        batch_id = service.find(note) or service.create(
            note.name, self._notes.requests(note)
        )
        taken = note.model_copy(update={"batch_id": batch_id})
        self._notes.write(taken)
        return taken

    def _read(
        self,
        note: BatchNote,
        wanted: frozenset[str],
        batch: Any,
        service: "_Service",
        deliver: Callable[[Reply], None],
    ) -> None:
        results = BatchResults(note.keys, service.scrubber)
        for file_id in service.result_files(batch):
            results.read(service.lines(file_id), file=file_id)
        self.n_faults += len(results.faults)
        folder = self._notes.folder(note.name)
        write_quarantine(folder.with_suffix(".quarantine.jsonl"), results.faults)

        def deliver_wanted(reply: Reply) -> None:
            if reply.key in wanted:
                deliver(reply)

        deliver_all(results, deliver_wanted, reason=service.why_missing(batch))
        rest = () if batch is None else tuple(k for k in note.unread if k not in wanted)
        self._notes.write(note.model_copy(update={"unread": rest}))


class _Service:
    """The batch interface of a service."""

    def __init__(self, endpoint: Endpoint, scrubber: Scrubber) -> None:
        import openai  # noqa: PLC0415  slow to import

        self._openai = openai
        self._endpoint = endpoint
        self.scrubber = scrubber
        self._client = openai.OpenAI(
            api_key=endpoint.key(),
            base_url=endpoint.base_url,
            max_retries=endpoint.n_tries - 1,
            timeout=openai.Timeout(
                endpoint.timeout_seconds, connect=endpoint.connect_seconds
            ),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def find(self, note: BatchNote) -> str | None:
        """Id of the batch if it was handed in, and not noted before the end."""
        listed = self._asked(lambda: self._client.batches.list(limit=_N_RECENT).data)
        for batch in listed or []:
            if (batch.metadata or {}).get(_TAG) == note.name:
                return str(batch.id)
        return None

    def create(self, name: str, request_file: Path) -> str:
        """Hand a batch in."""
        with request_file.open("rb") as requests:
            file = self._asked(
                lambda: self._client.files.create(file=requests, purpose="batch")
            )
        if file is None:
            raise ServiceError(f"{self._endpoint.host} takes no batches")
        # Tried again by itself a batch might be handed in, and paid for, twice.
        once = self._client.with_options(max_retries=0)
        batch = self._asked(
            lambda: once.batches.create(
                input_file_id=file.id,
                endpoint=_ENDPOINT,
                completion_window=_WINDOW,
                metadata={_TAG: name},
            )
        )
        return str(batch.id)

    def batch(self, note: BatchNote) -> Any:
        """What has become of a batch; None if the service knows it no more."""
        return self._asked(lambda: self._client.batches.retrieve(note.batch_id or ""))

    def result_files(self, batch: Any) -> list[str]:
        """Ids of the files that hold its results and its errors."""
        ids = (getattr(batch, f"{kind}_file_id", None) for kind in ("output", "error"))
        return [file_id for file_id in ids if file_id]

    def lines(self, file_id: str) -> list[bytes]:
        """Lines of a file of results."""
        content = self._asked(lambda: self._client.files.content(file_id).content)
        return content.split(b"\n") if content else []

    def why_missing(self, batch: Any) -> str:
        """Why calls may have no result."""
        told = getattr(getattr(batch, "errors", None), "data", None) or []
        said = f": {told[0].message}" if told and told[0].message else ""
        status = "is gone" if batch is None else f"is {batch.status}"
        return self.scrubber.error(f"no result, and the batch {status}{said}")

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """What the service answers; None where it knows nothing of what is asked."""
        openai = self._openai
        host = self._endpoint.host
        try:
            return ask()
        except openai.NotFoundError:
            return None
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            reason = self.scrubber.error(str(error))
            variable = self._endpoint.api_key_variable or "no variable"
            raise InvalidInputError(
                f"{host} does not accept the key in {variable}: {reason}"
            ) from None
        except openai.OpenAIError as error:
            reason = self.scrubber.error(str(error))
            raise ServiceError(f"batches at {host}: {reason}") from None
