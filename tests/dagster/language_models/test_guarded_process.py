"""Nothing outlives us, whether we end it, fail, or are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillmap_dagster.resources.language_models.guarded_process import GuardedProcess
from tests.dagster.language_models.isolated import are_soon_gone, is_gone, wait_for

# A parent and a child, which note their ids; "stubborn" ones do not end when asked.
_FAMILY = """
import os, signal, subprocess, sys, time
child = "import signal, time;"
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child += "signal.signal(signal.SIGTERM, signal.SIG_IGN);"
child = subprocess.Popen([sys.executable, "-c", child + "time.sleep(600)"])
time.sleep(0.2)
open(sys.argv[1] + ".part", "w").write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".part", sys.argv[1])
print("up", flush=True)
if sys.argv[2] == "leaves":
    sys.exit(5)
time.sleep(600)
"""


def family(pids: Path, behaviour: str = "good", **options: float) -> GuardedProcess:
    command = [sys.executable, "-c", _FAMILY, str(pids), behaviour]
    return GuardedProcess(command, environment=os.environ, **options)  # pyright: ignore[reportArgumentType]


def processes(pids: Path) -> list[int]:
    return [int(pid) for pid in wait_for(pids).split()]


def interrupted_once(pids: Path) -> None:
    wait_for(pids)
    raise KeyboardInterrupt


def test_a_process_and_its_children_end_with_the_block(tmp_path: Path) -> None:
    with family(tmp_path / "pids") as process:
        running = processes(tmp_path / "pids")
        assert process.exit_code() is None
        assert not any(map(is_gone, running))

    assert all(map(is_gone, running))


def test_who_does_not_end_when_asked_is_killed(tmp_path: Path) -> None:
    with family(tmp_path / "pids", "stubborn", grace_seconds=0.5):
        running = processes(tmp_path / "pids")
        start = time.monotonic()

    assert all(map(is_gone, running))
    assert time.monotonic() - start >= 0.5


def test_the_block_may_fail(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), family(tmp_path / "pids"):
        interrupted_once(tmp_path / "pids")

    assert all(map(is_gone, processes(tmp_path / "pids")))


def test_what_a_process_leaves_behind_ends_too(tmp_path: Path) -> None:
    with family(tmp_path / "pids", "leaves") as process:
        running = processes(tmp_path / "pids")
        assert are_soon_gone(running)
        while process.exit_code() is None:
            time.sleep(0.05)
        assert process.exit_code() == 5
        assert process.last_lines() == "up"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_process_that_is_killed(
    tmp_path: Path, number: signal.Signals
) -> None:
    told = f"""
import os, sys, time
from pathlib import Path
from tests.dagster.language_models.test_guarded_process import family
with family(Path({str(tmp_path / "pids")!r})):
    time.sleep(600)
"""
    ours = subprocess.Popen([sys.executable, "-c", told], cwd=Path(__file__).parents[3])
    running = processes(tmp_path / "pids")
    ours.send_signal(number)
    ours.wait()

    assert are_soon_gone(running)


def test_the_command_dies_with_its_guard(tmp_path: Path) -> None:
    with family(tmp_path / "pids") as process:
        command, _ = processes(tmp_path / "pids")
        guard = int(Path(f"/proc/{command}/stat").read_text().split()[3])
        os.kill(guard, signal.SIGKILL)

        assert are_soon_gone([command])
        assert process.exit_code() == -signal.SIGKILL


def test_a_log_is_added_to_and_its_end_is_that_of_this_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("of an earlier run\n")
    command = [sys.executable, "-c", "for n in range(50): print(n)"]
    with GuardedProcess(command, environment=os.environ, log=log) as process:
        while process.exit_code() is None:
            time.sleep(0.05)
        assert process.last_lines().splitlines() == [str(n) for n in range(30, 50)]

    assert log.read_text().startswith("of an earlier run\n0\n1\n")


def test_a_program_that_is_not_there_is_an_exit_code() -> None:
    with GuardedProcess(["/nowhere/python"], environment=os.environ) as process:
        while process.exit_code() is None:
            time.sleep(0.05)
        assert process.exit_code() == 1
        assert "/nowhere/python" in process.last_lines()
