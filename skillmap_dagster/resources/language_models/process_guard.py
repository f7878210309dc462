"""Runs a command that must not outlive the process that asked for it.

The asker holds the other end of a pipe, the lifeline. When that end is closed, be it
on purpose or because the asker was killed, the command and all that it started are
ended: asked first, killed when the grace is over. Imports the standard library only
and is run as a script of its own: ``process_guard.py LIFELINE GRACE COMMAND...``
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from types import FrameType

_SECONDS_BETWEEN_LOOKS = 0.1
_PR_SET_PDEATHSIG = 1


def main(lifeline: int, grace_seconds: float, command: list[str]) -> int:
    """Run ``command`` until it ends or the lifeline is cut.

    Args:
        lifeline: File descriptor that is read; nothing is ever written to it.
        grace_seconds: Between asking processes to end and killing them.
        command: What to run, as the leader of a group of its own.

    Returns:
        The command's exit code.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)
    child = subprocess.Popen(  # noqa: S603  the asker's own command
        command,
        start_new_session=True,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509  no threads here
    )
    try:
        _let_go_of_pipes()
        while child.poll() is None:
            if select.select([lifeline], [], [], _SECONDS_BETWEEN_LOOKS)[0]:
                break
    finally:
        _end_group(child, grace_seconds)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _die_with_parent() -> None:
    # Also if this process is killed and cannot end its child any more.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _let_go_of_pipes() -> None:
    """Leave the pipes to the command, so that their other ends see when it ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def _end_group(child: subprocess.Popen[bytes], grace_seconds: float) -> None:
    _signal_group(child.pid, signal.SIGTERM)
    end = time.monotonic() + grace_seconds
    while _signal_group(child.pid, 0) and time.monotonic() < end:
        child.poll()
        time.sleep(_SECONDS_BETWEEN_LOOKS / 2)
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def _signal_group(group: int, number: int) -> bool:
    """Whether the group had a process left to signal."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
        return True
    return False


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
