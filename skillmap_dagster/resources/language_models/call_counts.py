"""Counts of a run of calls, as they are told while it goes on and at its end."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from skillmap.calls import CallProgress, CallSummary, Reply, ReplyStatus
from skillmap.calls.budget import Spending
from skillmap.calls.progress import Rate

_SECONDS_BETWEEN: Final = 0.5


class CallCounts:
    """What came of the calls so far.

    Args:
        spending: Of the same run.
        progress: Told at most twice a second and at the end.
        n_calls: Calls in all, if that is known.
    """

    def __init__(
        self,
        spending: Spending,
        progress: Callable[[CallProgress], None] | None,
        n_calls: int | None,
    ) -> None:
        self._spending = spending
        self._progress = progress
        self._n_calls = n_calls
        self._began = self._told = time.monotonic()
        self._rate = Rate(self._began, 0, 0)
        self._n_by_status: Counter[ReplyStatus] = Counter()
        self._n_logged = self._n_made = self._n_left_out = 0
        self._n_prompt_tokens = self._n_completion_tokens = self._n_without_usage = 0
        self._cost_usd = 0.0

    def logged(self, n: int) -> None:
        """Count calls that the log held."""
        self._n_logged += n
        self._tell_in_time()

    def made(self, reply: Reply) -> None:
        """Count a call that came back."""
        self._n_by_status[reply.status] += 1
        self._n_prompt_tokens += reply.n_prompt_tokens or 0
        self._n_completion_tokens += reply.n_completion_tokens or 0
        self._cost_usd += reply.cost_usd or 0.0
        if reply.status != "not_attempted":
            self._n_made += 1
            tokens = (reply.n_prompt_tokens, reply.n_completion_tokens)
            self._n_without_usage += reply.status != "error" and None in tokens
        self._tell_in_time()

    def left_out(self, n: int) -> None:
        """Count calls that the budget had no room for."""
        self._n_by_status["not_attempted"] += n
        self._n_left_out += n

    def summary(self) -> CallSummary:
        """What came of all calls; tells the progress once more."""
        now = time.monotonic()
        self._tell(now)
        return CallSummary(
            n_calls=self._n_logged + self._n_by_status.total(),
            n_logged=self._n_logged,
            n_made=self._n_made,
            n_by_status=dict(+self._n_by_status),
            n_prompt_tokens=self._n_prompt_tokens,
            n_completion_tokens=self._n_completion_tokens,
            n_without_usage=self._n_without_usage,
            cost_usd=self._cost_usd,
            seconds=now - self._began,
            is_budget_stopped=self._n_left_out > 0,
        )

    def _tell_in_time(self) -> None:
        now = time.monotonic()
        if now - self._told >= _SECONDS_BETWEEN:
            self._tell(now)

    def _tell(self, now: float) -> None:
        if self._progress is None:
            return
        self._told = now
        n_tokens = self._n_prompt_tokens + self._n_completion_tokens
        calls_per_second, tokens_per_second = self._rate.at(now, self._n_made, n_tokens)
        self._progress(
            CallProgress(
                n_calls=self._n_calls,
                n_logged=self._n_logged,
                n_made=self._n_made,
                n_errors=self._n_by_status["error"],
                calls_per_second=calls_per_second,
                tokens_per_second=tokens_per_second,
                cost_usd=self._cost_usd,
                n_tokens=n_tokens,
                left_usd=self._spending.left_usd,
                left_tokens=self._spending.left_tokens,
                seconds=now - self._began,
            )
        )
