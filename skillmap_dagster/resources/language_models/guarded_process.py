"""A process that is ended with everything it started, whatever happens to us."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from skillmap_dagster.resources.language_models import process_guard

_N_LAST_LINES: Final = 20
_N_LAST_BYTES: Final = 20_000
# Beyond the grace, for the guard itself.
_SECONDS_FOR_THE_GUARD: Final = 5.0


class GuardedProcess:
    """A command in a process group of its own, ended with the ``with`` block.

    It is ended as well when this process is killed: see ``process_guard``. What it
    prints goes to the log.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path | None = None,
        has_pipes: bool = False,
        grace_seconds: float = 10.0,
    ) -> None:
        """Start the command.

        Args:
            command: Program and arguments.
            environment: All of its environment variables.
            log: File that output is added to; a temporary one if not given.
            has_pipes: Whether stdin and stdout are pipes to us; else there is no
                input, and stdout goes to the log.
            grace_seconds: Between asking the processes to end and killing them.
        """
        self._grace_seconds = grace_seconds
        # Kept open, to be read from the place where this process began.
        self._log: IO[bytes] = (
            tempfile.TemporaryFile() if log is None else log.open("a+b")  # noqa: SIM115
        )
        self._log_start = self._log.seek(0, os.SEEK_END)
        guard = [sys.executable, "-P", process_guard.__file__]
        theirs, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603  the caller's own command
                [*guard, str(theirs), str(grace_seconds), *command],
                env=dict(environment),
                stdin=subprocess.PIPE if has_pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if has_pipes else self._log,
                stderr=self._log,
                pass_fds=[theirs],
                start_new_session=True,  # Ctrl-C reaches us, and we end it
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(theirs)

    @property
    def stdin(self) -> IO[bytes]:
        """Pipe to the process."""
        assert self._process.stdin is not None  # noqa: S101  has_pipes
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """Pipe from the process."""
        assert self._process.stdout is not None  # noqa: S101  has_pipes
        return self._process.stdout

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def last_lines(self) -> str:
        """End of what it wrote to the log."""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(self._log_start, size - _N_LAST_BYTES))
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-_N_LAST_LINES:])

    def stop(self) -> None:
        """End the process and all that it started, and wait for that."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        try:
            self._process.wait(self._grace_seconds + _SECONDS_FOR_THE_GUARD)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:  # what was not yet flushed has no reader
                    continue
        self._log.close()
