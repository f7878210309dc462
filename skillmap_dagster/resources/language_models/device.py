"""What a local model computes on: CUDA where there is one, else the CPU."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models import torch_probe

DeviceChoice = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]

_PROBE_SECONDS: Final = 120
_FIRST_WITH_BFLOAT16: Final = 8  # compute capability of Ampere
_GIB: Final = 2**30


@dataclass(frozen=True, slots=True)
class Device:
    """A device, and why it was picked.

    Attributes:
        name: As torch names it: "cpu" or "cuda".
        dtype: Precision of weights and sums.
        description: The hardware's name.
        memory_bytes: All of it, used or not.
        reason: Why this one.
    """

    name: Literal["cpu", "cuda"]
    dtype: Literal["float32", "bfloat16", "float16"]
    description: str
    memory_bytes: int
    reason: str

    def __str__(self) -> str:
        """One line for a log."""
        memory = f"{self.memory_bytes / _GIB:.1f} GiB"
        return (
            f"{self.name} ({self.description}, {memory}) in {self.dtype}: {self.reason}"
        )


def pick_device(
    choice: DeviceChoice = "auto",
    *,
    precision: Precision = "auto",
    interpreter: Path | None = None,
) -> Device:
    """The device to compute on.

    Args:
        choice: "auto" takes CUDA where torch can use it.
        precision: "auto" is float32 on the CPU, where a second run must give the
            same answers, and the half precision that the hardware has on CUDA.
        interpreter: Python of the environment that will compute, if another one.

    Raises:
        InvalidInputError: If CUDA is asked for and torch has none, or the
            interpreter cannot be asked.
    """
    seen = torch_probe.probe() if interpreter is None else _asked(interpreter)
    devices = seen["devices"]
    if choice == "cuda" and not devices:
        raise InvalidInputError(f"device cuda: {_why_no_cuda(seen)}")
    if devices and choice != "cpu":
        reason = "as asked for" if choice == "cuda" else "torch sees a CUDA device"
        return _cuda(devices[0], precision, reason)
    reason = "as asked for" if choice == "cpu" else _why_no_cuda(seen)
    return Device(
        name="cpu",
        dtype="float32" if precision == "auto" else precision,
        description=_processor(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        reason=reason,
    )


def _cuda(device: dict[str, Any], precision: Precision, reason: str) -> Device:
    has_bfloat16 = device["capability"][0] >= _FIRST_WITH_BFLOAT16
    own = "bfloat16" if has_bfloat16 else "float16"
    return Device(
        name="cuda",
        dtype=own if precision == "auto" else precision,
        description=device["name"],
        memory_bytes=device["memory"],
        reason=reason,
    )


def _why_no_cuda(seen: dict[str, Any]) -> str:
    if seen["torch"] is None:
        return "torch is not installed"
    if seen["cuda"] is None:
        return f"torch {seen['torch']} is built without CUDA"
    return f"torch {seen['torch']} sees no CUDA device"


def _asked(interpreter: Path) -> dict[str, Any]:
    command = [str(interpreter), "-P", torch_probe.__file__]
    try:
        done = subprocess.run(  # noqa: S603  the interpreter that the user configured
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
        )
        return json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise InvalidInputError(
            f"interpreter {interpreter}: cannot say what it computes on: {error}"
        ) from error


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return "CPU"
    names = [
        line.partition(":")[2] for line in told.splitlines() if "model name" in line
    ]
    return names[0].strip() if names else "CPU"
