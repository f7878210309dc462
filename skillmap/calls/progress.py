"""How far a run of calls is, and what came of it."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from skillmap.calls.reply import ReplyStatus

_WINDOW_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class CallProgress:
    """A run of calls at one moment.

    Attributes:
        n_calls: Calls in all, or None where that is not known.
        n_logged: Calls that the log held already.
        n_made: Calls that were made.
        n_errors: Those of them without an answer.
        calls_per_second: Over the last half minute.
        tokens_per_second: Likewise, of prompts and answers.
        cost_usd: Of the calls that were made, where prices are known.
        n_tokens: Of the calls that were made.
        left_usd: What may still be spent, or None without such a budget.
        left_tokens: Likewise.
        seconds: Since the run began.
    """

    n_calls: int | None
    n_logged: int
    n_made: int
    n_errors: int
    calls_per_second: float
    tokens_per_second: float
    cost_usd: float
    n_tokens: int
    left_usd: float | None
    left_tokens: int | None
    seconds: float

    @property
    def n_done(self) -> int:
        """Calls that are logged, whenever they were made."""
        return self.n_logged + self.n_made

    @property
    def n_left(self) -> int | None:
        """Calls still to be made, or None where that is not known."""
        return None if self.n_calls is None else max(0, self.n_calls - self.n_done)

    @property
    def seconds_left(self) -> float | None:
        """Time that the rest takes at the rate of now, or None without a rate."""
        if self.n_left is None or not self.calls_per_second:
            return None
        return self.n_left / self.calls_per_second


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What came of a run of calls.

    Attributes:
        n_calls: Calls that were asked for, repeats counted once.
        n_logged: Calls that the log held, those that another process made while this
            one ran among them.
        n_made: Calls that this run made.
        n_by_status: The calls that were not logged by what became of them.
        n_prompt_tokens: Of the calls that were made, as servers count them.
        n_completion_tokens: Likewise.
        n_without_usage: Answers whose tokens the server did not count.
        cost_usd: Of the calls that were made, where prices are known.
        seconds: That the run took.
        is_budget_stopped: Whether calls were left out for want of budget.
    """

    n_calls: int
    n_logged: int
    n_made: int
    n_by_status: Mapping[ReplyStatus, int]
    n_prompt_tokens: int
    n_completion_tokens: int
    n_without_usage: int
    cost_usd: float
    seconds: float
    is_budget_stopped: bool

    @property
    def n_not_attempted(self) -> int:
        """Calls that were never sent."""
        return self.n_by_status.get("not_attempted", 0)

    @property
    def n_errors(self) -> int:
        """Calls that got no answer; the next run makes them again."""
        return self.n_by_status.get("error", 0)


class Rate:
    """How fast counts grow, over the last half minute."""

    def __init__(self, now: float, *counts: int) -> None:
        self._marks: deque[tuple[float, tuple[int, ...]]] = deque([(now, counts)])

    def at(self, now: float, *counts: int) -> tuple[float, ...]:
        """Growth in a second of each count, given what it is now."""
        self._marks.append((now, counts))
        # One mark from before the window stays, to measure the whole window by.
        while len(self._marks) > 2 and self._marks[1][0] <= now - _WINDOW_SECONDS:  # noqa: PLR2004
            self._marks.popleft()
        start, first = self._marks[0]
        seconds = now - start
        if seconds <= 0:
            return tuple(0.0 for _ in counts)
        return tuple((b - a) / seconds for a, b in zip(first, counts, strict=True))
