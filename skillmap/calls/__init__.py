"""What is asked of a language model, and what came back."""

from skillmap.calls.budget import Budget
from skillmap.calls.call import Call, Image, Message, Parameters, Structure
from skillmap.calls.chat_requests import Dialect
from skillmap.calls.prices import Price, Prices
from skillmap.calls.progress import CallProgress, CallSummary
from skillmap.calls.reply import (
    FINISHED_STATUSES,
    REPLY_STATUSES,
    Reply,
    ReplyStatus,
)

__all__ = [
    "FINISHED_STATUSES",
    "REPLY_STATUSES",
    "Budget",
    "Call",
    "CallProgress",
    "CallSummary",
    "Dialect",
    "Image",
    "Message",
    "Parameters",
    "Price",
    "Prices",
    "Reply",
    "ReplyStatus",
    "Structure",
]
