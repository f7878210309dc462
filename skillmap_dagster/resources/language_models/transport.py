"""What makes calls, however they travel."""

from collections.abc import Callable, Iterable
from typing import Protocol

from skillmap.calls import Call, Reply


class Transport(Protocol):
    """Makes calls: over HTTP, in a batch, or with a model in this process."""

    def transmit(self, calls: Iterable[Call], deliver: Callable[[Reply], None]) -> None:
        """Make every call, pulling the next one only when there is room for it.

        Args:
            calls: Pulled from one thread. What is pulled counts as being made, so
                that a budget can end the calls at any of them.
            deliver: Called once for each call as it finishes, in any order, from one
                thread. One bad reply never raises: it is a reply with the status
                "error". What ``deliver`` raises ends the transmission.

        Raises:
            InvalidInputError: If no call can be made as things are configured. The
                calls in flight are delivered first.
            ServiceError: If the service will make no more calls for now; likewise.
        """
        ...
