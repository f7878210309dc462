"""The transport of a configured language model, open for as long as it is used."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, Self

import dagster as dg
from pydantic import ValidationError

from skillmap.calls import Call, Reply
from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.batch_transport import BatchTransport
from skillmap_dagster.resources.language_models.configuration import LanguageModel
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.local_model import LocalModel
from skillmap_dagster.resources.language_models.openai_transport import OpenAITransport
from skillmap_dagster.resources.language_models.smollm2 import smollm2_folder
from skillmap_dagster.resources.language_models.transport import Transport
from skillmap_dagster.resources.language_models.vllm_engine import VllmEngine
from skillmap_dagster.resources.language_models.vllm_server import VllmServer

_PACKAGED: Final = "smollm2"


class ConfiguredTransport:
    """What carries calls to a language model; opened by the first call, if any.

    A server or an engine that is started for it ends with the ``with`` block. Where
    the log holds every reply, nothing is started and no key is asked for.

    Args:
        name: The model's name among the language models.
        model: Its configuration.
        cache: Where converted weights are kept.
        folder: Where batches that were handed in are noted.
    """

    def __init__(
        self, name: str, model: LanguageModel, *, cache: Path, folder: Path
    ) -> None:
        self._name = name
        self._model = model
        self._cache = cache
        self._folder = folder
        self._opened = ExitStack()
        self._transport: Transport | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def transmit(self, calls: Iterable[Call], deliver: Callable[[Reply], None]) -> None:
        """As ``Transport.transmit``.

        Raises:
            InvalidInputError: If the configuration does not fit, or weights or the key
                are missing.
            ServiceError: If what is started does not come up, or gives up.
        """
        if self._transport is None:
            self._transport = self._open()
        self._transport.transmit(calls, deliver)

    def _open(self) -> Transport:
        model = self._model
        if model.kind == "openai":
            return OpenAITransport(endpoint_of(model))
        if model.kind == "openai_batch":
            return BatchTransport(endpoint_of(model), self._folder / "batches")
        if model.kind == "vllm_server":
            return self._opened.enter_context(self._own_server())
        computing: dict[str, Any] = {
            "folder": self._weights(),
            "device": model.device,
            "precision": model.precision,
        }
        if model.kind == "transformers":
            local = LocalModel(**computing)
            self._tell(local.picked_device)
            return local
        engine = VllmEngine(
            interpreter=Path(model.interpreter) if model.interpreter else None,
            options=model.options,
            log=self._log,
            **computing,
        )
        return self._opened.enter_context(engine)

    @contextmanager
    def _own_server(self) -> Iterator[Transport]:
        model = self._model
        server = VllmServer(
            folder=self._weights(),
            interpreter=Path(model.interpreter or "python"),
            served_name=model.served_name or self._name,
            device=model.device,
            precision=model.precision,
            options=model.options,
            log=self._log,
        )
        with server.running(self._tell_waiting) as served:
            self._tell(served.device)
            understood = {"base_url": served.base_url, "continues_messages": True}
            yield OpenAITransport(endpoint_of(model.model_copy(update=understood)))

    def _weights(self) -> Path:
        if self._model.folder == _PACKAGED:
            return smollm2_folder(self._cache)
        return Path(self._model.folder or "")

    @property
    def _log(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / "vllm.log"

    def _tell(self, device: object) -> None:
        dg.get_dagster_logger().info("%s computes on %s", self._name, device)

    def _tell_waiting(self, seconds: float, last_line: str) -> None:
        dg.get_dagster_logger().info(
            "waiting for %s for %.0f s: %s", self._name, seconds, last_line
        )


def endpoint_of(model: LanguageModel) -> Endpoint:
    """The server of a language model.

    Raises:
        InvalidInputError: If the address or a number is not allowed. What was given is
            not repeated, for it may hold what must not be told.
    """
    told = {
        "base_url": model.base_url,
        "api_key_variable": model.api_key_variable,
        "continues_messages": model.continues_messages,
        "max_concurrency": model.max_concurrency,
        "first_concurrency": min(model.max_concurrency, 8),
        "requests_per_minute": model.requests_per_minute,
        "tokens_per_minute": model.tokens_per_minute,
        "timeout_seconds": model.timeout_seconds,
        "n_tries": model.n_tries,
    }
    given = {field: value for field, value in told.items() if value is not None}
    try:
        return Endpoint.model_validate(given)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise InvalidInputError("; ".join(wrong)) from None
