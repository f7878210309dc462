"""Calls over HTTP, to any server that speaks the OpenAI interface."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from skillmap.calls import Call, Dialect, Reply
from skillmap.calls.chat_replies import scrubbed
from skillmap.calls.chat_requests import chat_request, estimated_prompt_tokens
from skillmap.calls.scrubbing import Scrubber
from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.openai_requests import (
    Requests,
    open_client,
)
from skillmap_dagster.resources.language_models.pacing import Pace
from skillmap_dagster.resources.language_models.retries import (
    PassingError,
    QuotaError,
    RejectedError,
    retrying,
)

_NOT_ALLOWED: Final = frozenset({401, 403})
_NOT_UNDERSTOOD: Final = frozenset({400, 422})
# In a row, of a server that has answered before.
_MOST_NOT_ALLOWED: Final = 16
# In a row, of a server that has never answered.
_MOST_UNREACHED: Final = 4


class OpenAITransport:
    """Makes calls over HTTP, many at once, in the order given.

    What it learns of the server stays for the next transmission: how many requests it
    bears at once, and what of the interface it does not understand.

    Args:
        endpoint: The server.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.dialect = endpoint.dialect
        self.pace = Pace(
            first=endpoint.first_concurrency,
            most=endpoint.max_concurrency,
            requests_per_minute=endpoint.requests_per_minute,
            tokens_per_minute=endpoint.tokens_per_minute,
        )

    def transmit(self, calls: Iterable[Call], deliver: Callable[[Reply], None]) -> None:
        """As ``Transport.transmit``."""
        _run(_transmission(self, calls, deliver))

    def learn(self, used: Dialect, reason: str, *, is_structured: bool) -> bool:
        """Whether there is another way to put a request that was rejected."""
        if used == self.dialect:
            other = used.after_rejection(reason, is_structured=is_structured)
            self.dialect = other or used
        return used != self.dialect


@dataclass(slots=True)
class _Tries:
    """The tries of one call, which has been let in when it is pulled."""

    n_requests: int = 0
    is_in: bool = True
    seconds: float | None = None


class _Transmission:
    """Workers that pull calls until there are none, or there is a reason to stop."""

    def __init__(
        self,
        transport: OpenAITransport,
        calls: Iterable[Call],
        deliver: Callable[[Reply], None],
        requests: Requests,
        scrubber: Scrubber,
    ) -> None:
        endpoint = transport.endpoint
        self._transport = transport
        self._endpoint = endpoint
        self._pace = transport.pace
        self._calls = iter(calls)
        self._deliver = deliver
        self._requests = requests
        self._scrubber = scrubber
        self._retrying = retrying(endpoint.n_tries, endpoint.seed, self._sleep)
        self._is_over = False
        self._stop: Exception | None = None
        self._stopped = asyncio.Event()
        self._has_accepted = False
        self._has_answered = False
        self._n_not_allowed = 0
        self._n_unreached = 0

    async def run(self) -> None:
        self._pace.begin()
        n_workers = self._endpoint.max_concurrency
        await asyncio.gather(*(self._work() for _ in range(n_workers)))
        if self._stop:
            raise self._stop

    async def _work(self) -> None:
        while not self._is_over:
            await self._pace.enter()
            try:
                call = None if self._is_over else next(self._calls, None)
            except Exception as error:  # noqa: BLE001  raised when calls are back
                self._end(error)
                call = None
            if call is None:
                self._is_over = True
                self._pace.leave()
                return
            reply = await self._reply(call)
            try:
                self._deliver(reply)
            except Exception as error:  # noqa: BLE001  likewise
                self._end(error)

    def _end(self, reason: Exception) -> None:
        """Pull no more calls, and try none again."""
        self._stop = self._stop or reason
        self._is_over = True
        self._stopped.set()

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    async def _reply(self, call: Call) -> Reply:
        tries = _Tries()
        try:
            reply = await self._retrying.copy()(self._try, call, tries)
            reply = scrubbed(reply, self._scrubber)
        except (PassingError, RejectedError, QuotaError) as error:
            self._consider(error)
            reply = Reply(key=call.key, status="error", error=error.reason)
        except Exception as error:  # noqa: BLE001  one bad reply never stops the rest
            reason = self._scrubber.error(f"{type(error).__name__}: {error}")
            reply = Reply(key=call.key, status="error", error=reason)
        return replace(
            reply, n_attempts=tries.n_requests, latency_seconds=tries.seconds
        )

    async def _try(self, call: Call, tries: _Tries) -> Reply:
        if not tries.is_in:
            await self._pace.enter()
            tries.is_in = True
        began = time.monotonic()
        try:
            reply = await self._within_tokens(call, tries)
        except PassingError as error:
            self._slow_down(error, began)
            raise
        finally:
            self._pace.leave()
            tries.is_in = False
        self._pace.accepted()
        self._has_accepted = self._has_answered = True
        self._n_not_allowed = 0
        return reply

    async def _within_tokens(self, call: Call, tries: _Tries) -> Reply:
        if self._endpoint.tokens_per_minute is None:
            return await self._send(call, tries)
        taken = estimated_prompt_tokens(call) + call.parameters.max_tokens
        await self._pace.take_tokens(taken)
        reply = await self._send(call, tries)
        counts = (reply.n_prompt_tokens, reply.n_completion_tokens)
        if None not in counts:
            self._pace.give_back_tokens(taken - sum(n for n in counts if n))
        return reply

    async def _send(self, call: Call, tries: _Tries) -> Reply:
        while True:
            dialect = self._transport.dialect
            body = chat_request(call, dialect)
            tries.n_requests += 1
            began = time.monotonic()
            try:
                reply = await self._requests.complete(call.key, body)
            except RejectedError as error:
                if not self._is_put_otherwise(call, dialect, error):
                    raise
                continue
            finally:
                tries.seconds = time.monotonic() - began
            if call.structure:
                return replace(reply, structure_form=dialect.structure_form)
            return reply

    def _is_put_otherwise(
        self, call: Call, dialect: Dialect, error: RejectedError
    ) -> bool:
        return error.status_code in _NOT_UNDERSTOOD and self._transport.learn(
            dialect,
            f"{error.reason} {error.field}",
            is_structured=call.structure is not None,
        )

    def _slow_down(self, error: PassingError, began: float) -> None:
        self._has_answered |= error.has_answered
        if error.is_overload:
            self._pace.overloaded(began)
        pause = error.retry_after or 0.0
        if pause > self._endpoint.longest_pause_seconds:
            told = f"{self._endpoint.host} asks to wait {pause:,.0f} s: {error.reason}"
            self._end(ServiceError(told))
        elif pause:
            self._pace.pause(pause)
        if self._stop:
            raise RejectedError(error.reason) from None

    def _consider(self, error: PassingError | RejectedError | QuotaError) -> None:
        """Stop if the other calls would fail in the same way."""
        host = self._endpoint.host
        if isinstance(error, QuotaError):
            self._end(ServiceError(f"{host} makes no more calls: {error.reason}"))
        elif isinstance(error, PassingError):
            self._n_unreached += not self._has_answered
            if not self._has_answered and self._n_unreached >= _MOST_UNREACHED:
                self._end(ServiceError(f"nothing answers at {host}: {error.reason}"))
        elif error.status_code in _NOT_ALLOWED:
            self._n_not_allowed += 1
            if not self._has_accepted or self._n_not_allowed >= _MOST_NOT_ALLOWED:
                self._end(InvalidInputError(self._not_allowed(error)))

    def _not_allowed(self, error: RejectedError) -> str:
        variable = self._endpoint.api_key_variable
        key = (
            f"the key in {variable}"
            if variable
            else "a call without a key (no variable is named)"
        )
        return f"{self._endpoint.host} does not accept {key}: {error.reason}"


async def _transmission(
    transport: OpenAITransport,
    calls: Iterable[Call],
    deliver: Callable[[Reply], None],
) -> None:
    endpoint = transport.endpoint
    scrubber = Scrubber([endpoint.key()])
    async with open_client(endpoint) as client:
        requests = Requests(client, endpoint.timeout_seconds, scrubber)
        await _Transmission(transport, calls, deliver, requests, scrubber).run()


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, in a thread of its own where a loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, work).result()
