"""What is asked of a language model, and what came back."""

from skillmap.calls.call import Call, Image, Message, Parameters, Structure
from skillmap.calls.reply import REPLY_STATUSES, Reply, ReplyStatus

__all__ = [
    "REPLY_STATUSES",
    "Call",
    "Image",
    "Message",
    "Parameters",
    "Reply",
    "ReplyStatus",
    "Structure",
]
