"""The environment that vLLM runs in: variables, and options by device."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from skillmap_dagster.resources.language_models.device import Device

# Nothing is fetched and nothing is told to anybody.
_EVERYWHERE: Final = MappingProxyType(
    {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }
)
# Measured together: on a busy machine they are the difference between seconds and
# minutes until vLLM is ready.
_ON_CPU: Final = MappingProxyType(
    {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
    }
)
_SECRET_PARTS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
# They would lead another interpreter to our packages.
_OURS: Final = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"})


def vllm_variables(device: Device) -> dict[str, str]:
    """Variables that vLLM is started with, beside those of this process."""
    return {**_EVERYWHERE, **(_ON_CPU if device.name == "cpu" else {})}


def vllm_environment(
    device: Device, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """All variables of a process that runs vLLM.

    Keys and passwords of this process are left out: vLLM needs none of them. What is
    set outside, such as another size of the cache, goes before our own choice.

    Args:
        device: What it computes on.
        extra: Further variables, which go before all others.
    """
    outside = {
        name: value
        for name, value in os.environ.items()
        if name not in _OURS and not any(part in name.upper() for part in _SECRET_PARTS)
    }
    chosen = {
        name: value
        for name, value in vllm_variables(device).items()
        if not (name.startswith("VLLM_") and name in outside)
    }
    return {**outside, **chosen, **(extra or {})}


def engine_options(device: Device) -> dict[str, Any]:
    """Options of ``vllm.LLM`` and of the server, by the names of the former.

    ``generation_config``: an answer is decoded as its call says, not as the model's
    folder recommends, so that every way of asking gives the same.
    """
    options: dict[str, Any] = {
        "dtype": device.dtype,
        "seed": 0,
        "generation_config": "vllm",
    }
    if device.name == "cpu":
        options |= {"enforce_eager": True, "max_num_seqs": 16}
    return options


def as_arguments(options: Mapping[str, Any]) -> list[str]:
    """Options as arguments of the server's command line."""
    arguments: list[str] = []
    for name, value in options.items():
        if value is True:
            arguments.append(f"--{name.replace('_', '-')}")
        elif value is not False and value is not None:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    return arguments


def one_process_variables(device: Device) -> dict[str, str]:
    """Variables of ``vllm.LLM``, which the server does not know.

    On the CPU it computes in its own process: another one only takes time to start.
    """
    return {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"} if device.name == "cpu" else {}


def set_vllm_variables(device: Device) -> None:
    """Set the variables for a vLLM that is imported by this process."""
    for name, value in (vllm_variables(device) | one_process_variables(device)).items():
        os.environ.setdefault(name, value)
