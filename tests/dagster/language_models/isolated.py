"""An interpreter that has a stand-in for vLLM, as the isolated environment has vLLM."""

import sys
import time
from pathlib import Path

FAKE = Path(__file__).with_name("fake_vllm")
_SOON_SECONDS = 60


def make_interpreter(folder: Path) -> Path:
    """A script that runs our Python with the stand-in on its path."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{FAKE}" exec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path


def is_gone(pid: int) -> bool:
    """Whether a process ended, or is a zombie that nobody has waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def are_soon_gone(pids: list[int]) -> bool:
    end = time.monotonic() + _SOON_SECONDS
    while time.monotonic() < end:
        if all(map(is_gone, pids)):
            return True
        time.sleep(0.05)
    return False


def wait_for(path: Path) -> str:
    end = time.monotonic() + _SOON_SECONDS
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.05)
    raise AssertionError(f"{path.name} did not come")
