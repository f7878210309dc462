"""One request to a server that speaks the OpenAI interface, and how it failed."""

import asyncio
import json
from typing import Any

from skillmap.calls import Reply
from skillmap.calls.chat_replies import (
    error_code,
    error_message,
    read_completion,
    rejected_field,
)
from skillmap.calls.scrubbing import Scrubber
from skillmap.errors import ParseError
from skillmap_dagster.resources.language_models.endpoint import Endpoint
from skillmap_dagster.resources.language_models.retries import (
    PassingError,
    QuotaError,
    RejectedError,
    is_overload,
    passes,
    retry_after,
)

# No wait helps: the account has nothing left.
_USED_UP = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def open_client(endpoint: Endpoint) -> Any:
    """An asynchronous OpenAI client, which leaves retries to its caller."""
    import openai  # noqa: PLC0415  slow to import

    return openai.AsyncOpenAI(
        api_key=endpoint.key(),
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=openai.Timeout(
            endpoint.timeout_seconds, connect=endpoint.connect_seconds
        ),
    )


class Requests:
    """Sends requests and tells how they failed.

    Args:
        client: From ``open_client``.
        timeout_seconds: Longest wait for one answer.
        scrubber: Takes the key out of what is kept.
    """

    def __init__(self, client: Any, timeout_seconds: float, scrubber: Scrubber) -> None:
        import httpx2  # noqa: PLC0415  slow to import
        import openai  # noqa: PLC0415  slow to import

        self._openai = openai
        self._response = httpx2.Response
        self._client = client
        self._seconds = timeout_seconds
        self._scrubber = scrubber

    async def complete(self, key: str, body: dict[str, Any]) -> Reply:
        """The reply to a chat completions request.

        Raises:
            PassingError: If trying again may help.
            RejectedError: If it does not.
            QuotaError: If the account may make no more calls.
        """
        openai = self._openai
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._client.post(
                    "/chat/completions", cast_to=self._response, body=body
                )
        except (TimeoutError, openai.APITimeoutError) as error:
            reason = f"no answer within {self._seconds:g} s"
            raise PassingError(reason, is_overload=True) from error
        except openai.APIStatusError as error:
            raise self._failure(error) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__
            # A server that cuts a connection is there; one that opens none is not.
            is_there = type(cause).__name__ != "ConnectError"
            reason = self._scrubber.error(f"no connection: {cause or error}")
            raise PassingError(reason, has_answered=is_there) from None
        return self._read(key, response)

    def _read(self, key: str, response: Any) -> Reply:
        try:
            return read_completion(key, json.loads(response.content))
        except ParseError as error:
            raise PassingError(self._scrubber.error(str(error))) from None
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "no content type")
            reason = self._scrubber.error(f"the answer is not JSON ({kind})")
            raise PassingError(reason) from None

    def _failure(self, error: Any) -> Exception:
        status = int(error.status_code)
        body = error.response.content
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            told = None
        said = error_message(told)
        reason = self._scrubber.error(f"HTTP {status}: {said}")
        if error_code(told) in _USED_UP:
            return QuotaError(reason)
        if not passes(status):
            return RejectedError(reason, status, rejected_field(told))
        wait = retry_after(error.response.headers)
        return PassingError(reason, is_overload=is_overload(status), retry_after=wait)
