"""Tells what torch can compute on, as JSON; runs where skillmap need not be installed.

vLLM lives in an environment of its own, with a torch of its own, so the question is
put to that environment's interpreter: this file is run by it, and imports torch and
the standard library only.
"""

import json
import sys
from typing import Any


def probe() -> dict[str, Any]:
    """What the torch of this interpreter sees.

    Returns:
        ``torch`` (its version, None where it is not installed), ``cuda`` (the CUDA
        it was built for, None if for none) and ``devices``: name, bytes of memory
        and compute capability of each CUDA device.
    """
    try:
        import torch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    except ImportError:
        return {"torch": None, "cuda": None, "devices": []}
    n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "devices": [_device(torch, number) for number in range(n_devices)],
    }


def _device(torch: Any, number: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(number)
    return {
        "name": properties.name,
        "memory": properties.total_memory,
        "capability": [properties.major, properties.minor],
    }


if __name__ == "__main__":
    json.dump(probe(), sys.stdout)
