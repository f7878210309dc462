"""One command's calls: what they may cost together, and who watches them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from skillmap.calls.budget import Budget
from skillmap.calls.progress import CallProgress, CallSummary


@dataclass(frozen=True)
class Session:
    """Calls of several runs that share a budget.

    Attributes:
        budget: What they may cost together.
        progress: Called as they go on.
        summaries: What came of each run, in their order.
    """

    budget: Budget = field(default_factory=Budget)
    progress: Callable[[CallProgress], None] | None = None
    summaries: list[CallSummary] = field(default_factory=list[CallSummary])

    @property
    def left(self) -> Budget:
        """What the next run may cost."""
        usd, tokens = self.budget.usd, self.budget.tokens
        spent_usd = sum(s.cost_usd for s in self.summaries)
        spent_tokens = sum(
            s.n_prompt_tokens + s.n_completion_tokens for s in self.summaries
        )
        return Budget(
            usd=None if usd is None else max(0.0, usd - spent_usd),
            tokens=None if tokens is None else max(0, tokens - spent_tokens),
        )


_CURRENT: ContextVar[Session | None] = ContextVar("session", default=None)


def current_session() -> Session | None:
    """The session that this code runs in, or None."""
    return _CURRENT.get()


@contextmanager
def shared_session(session: Session) -> Iterator[Session]:
    """Let the calls that are made inside share ``session``."""
    token = _CURRENT.set(session)
    try:
        yield session
    finally:
        _CURRENT.reset(token)
