"""Makes the calls that the log does not hold, within a budget."""

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import Final

from skillmap.calls import Budget, Call, CallProgress, CallSummary, Prices, Reply
from skillmap.calls.budget import Spending
from skillmap_dagster.resources.language_models.call_counts import CallCounts
from skillmap_dagster.resources.language_models.call_log import CallLog
from skillmap_dagster.resources.language_models.transport import Transport

_CALLS_PER_CLAIM: Final = 128
# Calls that another process makes; when there are more, they are waited for.
_MOST_WAITED_FOR: Final = 1_024
_SECONDS_BETWEEN_LOOKS: Final = 0.25


def make_calls(
    calls: Iterable[Call],
    *,
    transport: Transport,
    log: CallLog,
    budget: Budget | None = None,
    prices: Prices | None = None,
    progress: Callable[[CallProgress], None] | None = None,
    n_calls: int | None = None,
) -> CallSummary:
    """Make the calls that the log does not hold; each reply is logged as it comes.

    Killed at any moment, a run has logged all but the calls in flight, and the next
    run goes on from there. Of two runs at the same time each makes the calls that the
    other does not.

    Args:
        calls: Read once, little by little; equal calls are made once.
        transport: Makes the calls; not used if the log holds them all.
        log: Where replies are looked up and kept; closed at the end.
        budget: Of this run. When it is used up no more calls are made.
        prices: What tokens cost.
        progress: Told how far the calls are, at most twice a second and at the end.
        n_calls: How many there are, if that is known.

    Returns:
        What came of the calls. The replies are in the log.

    Raises:
        InvalidInputError: If no call can be made as things are configured, such as
            with a wrong key, or without a price where the budget is in USD.
        ServiceError: If the service makes no more calls for now.
    """
    if n_calls is None and isinstance(calls, Sized):
        n_calls = len(calls)
    prices = prices or Prices()
    spending = Spending(budget or Budget(), prices)
    counts = CallCounts(spending, progress, n_calls)
    try:
        run = _Run(calls, log, prices, spending, counts)
        while run.has_more():
            open_calls = run.open_calls()
            # Without a first call no key is needed, and no model loaded.
            for first in open_calls:
                given = itertools.chain([first], open_calls)
                transport.transmit(given, run.deliver)
                run.give_up_undelivered()
    finally:
        log.close()
    return counts.summary()


class _Run:
    """Calls on their way: read, claimed, in flight, waited for."""

    def __init__(
        self,
        calls: Iterable[Call],
        log: CallLog,
        prices: Prices,
        spending: Spending,
        counts: CallCounts,
    ) -> None:
        self._calls = _unique(calls)
        self._log = log
        self._prices = prices
        self._spending = spending
        self._counts = counts
        self._claimed: deque[Call] = deque()
        self._in_flight: dict[str, Call] = {}
        self._waited_for: list[Call] = []
        self._is_read = False
        self._n_pulled = 0

    def has_more(self) -> bool:
        """Whether another transmission may make calls; waits for other processes."""
        if self._claimed and not self._n_pulled:
            # Nothing is in flight, and still the budget has no room for the next.
            self._leave_the_rest()
            return False
        self._n_pulled = 0
        while self._waited_for and not self._claimed and not self._may_read:
            self._look_again()
            if not self._claimed:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
        return bool(self._claimed) or not self._is_read

    @property
    def _may_read(self) -> bool:
        return not self._is_read and len(self._waited_for) < _MOST_WAITED_FOR

    def open_calls(self) -> Iterator[Call]:
        """Calls to make, each set aside for, until there is no room in the budget."""
        while self._claimed or self._claim_more():
            call = self._claimed[0]
            if not self._spending.reserve(call):
                return
            self._claimed.popleft()
            self._in_flight[call.key] = call
            self._n_pulled += 1
            yield call

    def deliver(self, reply: Reply) -> None:
        """Keep the reply to a call in flight."""
        call = self._in_flight.pop(reply.key, None)
        if call is None:
            return
        priced = _priced(reply, call, self._prices)
        self._spending.settle(call, priced)
        if priced.status == "not_attempted":
            self._log.release([call.key])
        else:
            self._log.write(call, priced)
        self._counts.made(priced)

    def give_up_undelivered(self) -> None:
        """Count calls that a transport pulled and forgot as not attempted."""
        for key in list(self._in_flight):
            self.deliver(Reply(key=key, status="not_attempted", n_attempts=0))

    def _claim_more(self) -> bool:
        """Whether there are calls to make among those that were not yet looked at."""
        while not self._claimed:
            if self._waited_for:
                self._look_again()
            if not self._may_read:
                return bool(self._claimed)
            batch = list(itertools.islice(self._calls, _CALLS_PER_CLAIM))
            self._is_read = len(batch) < _CALLS_PER_CLAIM
            self._claim(batch)
        return True

    def _look_again(self) -> None:
        """See what became of the calls that other processes make."""
        batch, self._waited_for = self._waited_for, []
        self._claim(batch)

    def _claim(self, batch: Sequence[Call]) -> None:
        if not batch:
            return
        finished, busy = self._log.claim([call.key for call in batch])
        self._counts.logged(len(finished))
        for call in batch:
            if call.key in busy:
                self._waited_for.append(call)
            elif call.key not in finished:
                self._claimed.append(call)

    def _leave_the_rest(self) -> None:
        """Count the calls that the budget leaves no room for."""
        self._log.release([call.key for call in self._claimed])
        rest = itertools.chain(self._claimed, self._waited_for, self._calls)
        while batch := list(itertools.islice(rest, _CALLS_PER_CLAIM)):
            n_missing = len(self._log.missing([call.key for call in batch]))
            self._counts.logged(len(batch) - n_missing)
            self._counts.left_out(n_missing)


def _unique(calls: Iterable[Call]) -> Iterator[Call]:
    seen: set[bytes] = set()
    for call in calls:
        name = bytes.fromhex(call.key)
        if name not in seen:
            seen.add(name)
            yield call


def _priced(reply: Reply, call: Call, prices: Prices) -> Reply:
    tokens = (reply.n_prompt_tokens, reply.n_completion_tokens)
    cost = prices.cost(call.model, *tokens)
    return reply if cost is None else replace(reply, cost_usd=cost)
