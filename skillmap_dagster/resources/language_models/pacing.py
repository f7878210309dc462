"""How many requests are out at once, and when the next may go."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

Clock = Callable[[], float]

# A wait shorter than a clock can tell would be waited for without end.
_ROUNDING = 1e-6


class Allowance:
    """An amount that grows evenly and is taken from, such as tokens a minute.

    Args:
        per_minute: How much it grows; None for no limit.
        clock: Seconds.
    """

    def __init__(self, per_minute: float | None, clock: Clock = time.monotonic) -> None:
        self._per_second = None if per_minute is None else per_minute / 60
        # What was not used does not add up: servers count over short spans too.
        self._most = max(1.0, self._per_second or 0.0)
        self._level = self._most
        self._clock = clock
        self._then = clock()

    def take(self, amount: float) -> float:
        """Take ``amount`` and return 0; or, if it is too early, the seconds to wait.

        What is more than there ever is at once is lent, and paid back in time.
        """
        if self._per_second is None:
            return 0.0
        now = self._clock()
        grown = self._level + (now - self._then) * self._per_second
        self._level, self._then = min(self._most, grown), now
        lacking = min(amount, self._most) - self._level
        if lacking > _ROUNDING:
            return lacking / self._per_second
        self._level -= amount
        return 0.0

    def give_back(self, amount: float) -> None:
        """Return what was taken and not used; a negative amount is taken besides."""
        self._level += amount


class Pace:
    """Lets requests through: as many at once as the server bears, and no more.

    The number doubles with every round of good answers until the server is first
    overloaded, grows by one a round from then on, and halves, once for all requests
    that were out together, whenever the server is overloaded.

    Args:
        first: Requests at once in the beginning.
        most: Requests at once, at most.
        requests_per_minute: Most requests in a minute, or None.
        tokens_per_minute: Most tokens in a minute, or None.
        clock: Seconds.
    """

    def __init__(
        self,
        *,
        first: int,
        most: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._most = most
        self._limit = float(min(first, most))
        self._is_searching = True
        self._clock = clock
        self._requests = Allowance(requests_per_minute, clock)
        self._tokens = Allowance(tokens_per_minute, clock)
        self._cut_at = float("-inf")
        self._paused_until = float("-inf")
        self._n_out = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Requests that may be out at once."""
        return int(self._limit)

    async def enter(self) -> None:
        """Wait for room, for the end of a pause and for the requests of the minute."""
        while self._n_out >= self.limit:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._n_out += 1
        while seconds := self._early():  # noqa: ASYNC110  time is waited for
            await asyncio.sleep(seconds)

    async def take_tokens(self, amount: int) -> None:
        """Wait for that many tokens of the minute."""
        while seconds := self._tokens.take(amount):  # noqa: ASYNC110  likewise
            await asyncio.sleep(seconds)

    def give_back_tokens(self, amount: int) -> None:
        """Return tokens that were taken and not used."""
        self._tokens.give_back(amount)

    def leave(self) -> None:
        """Make room for the next."""
        self._n_out -= 1
        self._wake()

    def accepted(self) -> None:
        """An answer came: the server may bear more."""
        step = 1.0 if self._is_searching else 1.0 / self._limit
        self._limit = min(float(self._most), self._limit + step)
        self._wake()

    def overloaded(self, began: float) -> None:
        """The server could not bear a request that went out at ``began``."""
        if began >= self._cut_at:
            self._cut_at = self._clock()
            self._limit = max(1.0, self._limit / 2)
        self._is_searching = False

    def pause(self, seconds: float) -> None:
        """Let nothing through for a while."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def begin(self) -> None:
        """Forget who waited: requests of an event loop that has ended."""
        self._waiting.clear()
        self._n_out = 0

    def _early(self) -> float:
        """Seconds until a request may go; it is counted if that is now."""
        pause = self._paused_until - self._clock()
        return pause if pause > 0 else self._requests.take(1)

    def _wake(self) -> None:
        n_free = self.limit - self._n_out
        while n_free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                n_free -= 1
