"""The transport of a configured language model, open for as long as it is used."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from skillmap_dagster.resources.language_models.configuration import LanguageModel
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.local_model import LocalModel
from skillmap_dagster.resources.language_models.openai_transport import OpenAITransport
from skillmap_dagster.resources.language_models.smollm2 import smollm2_folder
from skillmap_dagster.resources.language_models.transport import Transport
from skillmap_dagster.resources.language_models.vllm_engine import VllmEngine
from skillmap_dagster.resources.language_models.vllm_server import VllmServer

_PACKAGED: Final = "smollm2"


@contextmanager
def transport_of(
    name: str, model: LanguageModel, *, cache: Path
) -> Iterator[Transport]:
    """What carries calls to a language model.

    Args:
        name: Its name among the language models.
        model: Its configuration.
        cache: Where converted weights are kept.

    Yields:
        A transport. A server or an engine that was started for it ends with the
        block.

    Raises:
        InvalidInputError: If the configuration does not fit, or weights are missing.
    """
    with ExitStack() as opened:
        if model.kind == "transformers":
            yield _local(model, cache)
        elif model.kind == "vllm_engine":
            yield opened.enter_context(_engine(model, cache))
        elif model.kind == "vllm_server":
            yield opened.enter_context(_own_server(name, model, cache))
        else:
            yield _server(model)


def _server(model: LanguageModel, *, base_url: str | None = None) -> Transport:
    told = {
        "base_url": base_url or model.base_url,
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
    return OpenAITransport(Endpoint.model_validate(given))


def _local(model: LanguageModel, cache: Path) -> Transport:
    return LocalModel(folder=_weights(model, cache))


@contextmanager
def _engine(model: LanguageModel, cache: Path) -> Iterator[Transport]:
    interpreter = Path(model.interpreter) if model.interpreter else None
    with VllmEngine(folder=_weights(model, cache), interpreter=interpreter) as engine:
        yield engine


@contextmanager
def _own_server(name: str, model: LanguageModel, cache: Path) -> Iterator[Transport]:
    server = VllmServer(
        folder=_weights(model, cache),
        interpreter=Path(model.interpreter or "python"),
        served_name=model.served_name or name,
    )
    with server.running() as endpoint:
        yield _server(
            model.model_copy(update={"continues_messages": True}),
            base_url=endpoint.base_url,
        )


def _weights(model: LanguageModel, cache: Path) -> Path:
    if model.folder == _PACKAGED:
        return smollm2_folder(cache)
    return Path(model.folder or "")
