"""Admission control: limit the number of concurrent requests; reject more with 503 at once."""

from collections.abc import Awaitable
from typing import TypeVar

from gamekeeper.game.refusals import Overloaded

T = TypeVar("T")
# paths that are never rejected for overload: monitoring must work then too
UNLIMITED_PATHS = frozenset({b"/health/live", b"/health/ready", b"/metrics"})


class Admission:
    """The slots for concurrent requests of a process. All calls are on one event loop, so a counter is enough.

    `Dispatcher.handle` changes the counters directly, which saves two function calls per request.
    """

    __slots__ = ("in_flight", "most", "total")

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self.total = 0  # requests since the start of the process

    async def release_while(self, waiting: Awaitable[T]) -> T:
        """Release the request's slot while waiting for the client or for an event, then take it again."""
        self.in_flight -= 1
        try:
            return await waiting
        finally:
            self.in_flight += 1

    def require_slot(self) -> None:
        """Reject a request if others filled all slots while it waited for its body. It had no effect yet."""
        if self.in_flight > self.most:
            raise Overloaded
