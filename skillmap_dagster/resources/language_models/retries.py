"""Which failures pass, and how long to wait for that."""

import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import tenacity

_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 60.0
_PASSING: Final = frozenset({408, 409, 425, 429})
_OVERLOADED: Final = frozenset({429, 502, 503, 504, 529})
_FIRST_SERVER_ERROR: Final = 500


@dataclass
class PassingError(Exception):
    """A request failed for a reason that may be gone the next time.

    Attributes:
        reason: What was wrong.
        is_overload: Whether the server has too much to do.
        has_answered: Whether there is a server at all.
        retry_after: Seconds that the server asks to wait, or None.
    """

    reason: str
    is_overload: bool = False
    has_answered: bool = True
    retry_after: float | None = None


@dataclass
class RejectedError(Exception):
    """A request failed, and would again.

    Attributes:
        reason: What was wrong.
        status_code: Of the answer, or None where there was none.
        field: Field of the request that the server names, or nothing.
    """

    reason: str
    status_code: int | None = None
    field: str = ""


@dataclass
class QuotaError(Exception):
    """The account may make no more calls.

    Attributes:
        reason: What the server says.
    """

    reason: str


def passes(status_code: int) -> bool:
    """Whether an answer of that status may be another the next time."""
    return status_code in _PASSING or status_code >= _FIRST_SERVER_ERROR


def is_overload(status_code: int) -> bool:
    """Whether a server that answers so has too much to do."""
    return status_code in _OVERLOADED


def retry_after(
    headers: Mapping[str, str], now: datetime | None = None
) -> float | None:
    """Seconds that a server asks to wait: told as seconds or as a date.

    A date is measured by the server's own clock where the answer tells it.

    Examples:
        >>> retry_after({"retry-after": "1.5"})
        1.5
        >>> told = "Tue, 01 Dec 2026 10:00:"
        >>> retry_after({"retry-after": f"{told}07 GMT", "date": f"{told}02 GMT"})
        5.0
        >>> retry_after({"retry-after": "soon"}) is None
        True
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    told = headers.get("retry-after")
    seconds = _number(told)
    if seconds is not None:
        return seconds
    until = _date(told)
    if until is None:
        return None
    start = _date(headers.get("date")) or now or datetime.now(UTC)
    return max(0.0, (until - start).total_seconds())


def retrying(
    n_tries: int, seed: int, sleep: Callable[[float], Awaitable[None]]
) -> tenacity.AsyncRetrying:
    """The policy: longer and longer waits with a random part, or what a server asks.

    Args:
        n_tries: Times that something is tried in all.
        seed: Of the random part.
        sleep: Waits that many seconds.
    """
    source = random.Random(seed)  # noqa: S311  spreads requests, hides nothing

    def wait(state: tenacity.RetryCallState) -> float:
        most = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (state.attempt_number - 1))
        spread = most * source.uniform(0.5, 1.0)
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, PassingError) else None
        # All that were told to wait come back together otherwise.
        return spread if asked is None else asked + min(1.0, spread) * source.random()

    return tenacity.AsyncRetrying(
        sleep=sleep,
        stop=tenacity.stop_after_attempt(n_tries),
        wait=wait,
        retry=tenacity.retry_if_exception_type(PassingError),
        reraise=True,
    )


def _number(told: str | None) -> float | None:
    try:
        number = float(told or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(told: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(told or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
