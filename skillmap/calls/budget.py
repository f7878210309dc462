"""Hard limits on what a run may spend."""

from dataclasses import dataclass

from skillmap.calls.call import Call
from skillmap.calls.chat_requests import estimated_prompt_tokens
from skillmap.calls.prices import Prices
from skillmap.calls.reply import Reply
from skillmap.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may spend; None for no limit.

    Attributes:
        usd: Most US dollars.
        tokens: Most tokens, of prompts and answers.
    """

    usd: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        limits = (self.usd, self.tokens)
        if any(limit is not None and not limit >= 0 for limit in limits):
            raise InvalidInputError(f"a budget is a number from 0 up, got {limits}")


@dataclass(slots=True)
class _Reserve:
    tokens: int
    usd: float


class Spending:
    """What is spent, and set aside for calls in flight.

    A call sets aside its estimated prompt and its limit on tokens, and pays what the
    server counts when it is done. Where the server counts nothing, what was set aside
    is taken as spent. What an error may have cost is not known and not counted.

    Attributes:
        spent_usd: Of calls that are done.
        spent_tokens: Likewise.

    Args:
        budget: The limits.
        prices: What tokens cost.
    """

    def __init__(self, budget: Budget, prices: Prices) -> None:
        self._budget = budget
        self._prices = prices
        self._reserves: dict[str, _Reserve] = {}
        self._reserved_usd = 0.0
        self._reserved_tokens = 0
        self.spent_usd = 0.0
        self.spent_tokens = 0

    def reserve(self, call: Call) -> bool:
        """Set aside what ``call`` can cost; False if that is more than is left.

        Raises:
            InvalidInputError: If the budget is in USD and the model has no price.
        """
        n_prompt = estimated_prompt_tokens(call)
        tokens = n_prompt + call.parameters.max_tokens
        usd = self._prices.cost(call.model, n_prompt, call.parameters.max_tokens)
        if usd is None and self._budget.usd is not None:
            raise InvalidInputError(
                f"no price is known of {call.model!r}, which a budget in USD needs"
            )
        usd = usd or 0.0
        held_usd = self.spent_usd + self._reserved_usd
        held_tokens = self.spent_tokens + self._reserved_tokens
        if not (
            _fits(held_usd + usd, self._budget.usd)
            and _fits(held_tokens + tokens, self._budget.tokens)
        ):
            return False
        self._reserves[call.key] = _Reserve(tokens, usd)
        self._reserved_usd += usd
        self._reserved_tokens += tokens
        return True

    def settle(self, call: Call, reply: Reply) -> None:
        """Take what ``call`` has cost for what was set aside for it."""
        held = self._reserves.pop(call.key)
        # Sums of what comes and goes drift off zero.
        self._reserved_usd = self._reserved_usd - held.usd if self._reserves else 0.0
        self._reserved_tokens -= held.tokens
        if reply.status in {"error", "not_attempted"}:
            return
        counts = (reply.n_prompt_tokens, reply.n_completion_tokens)
        usd = self._prices.cost(call.model, *counts)
        self.spent_usd += held.usd if usd is None else usd
        known = [count for count in counts if count is not None]
        self.spent_tokens += sum(known) if len(known) == len(counts) else held.tokens

    @property
    def left_usd(self) -> float | None:
        """What may still be spent, calls in flight not counted."""
        limit = self._budget.usd
        return None if limit is None else max(0.0, limit - self.spent_usd)

    @property
    def left_tokens(self) -> int | None:
        """Likewise, in tokens."""
        limit = self._budget.tokens
        return None if limit is None else max(0, limit - self.spent_tokens)


def _fits(amount: float, limit: float | None) -> bool:
    return limit is None or amount <= limit
