"""The limit of requests without a token per address and minute. Each process counts its own."""

import time
from collections import Counter
from collections.abc import Callable

from gamekeeper.game.board_refusals import TooManyPublicRequests

MINUTE = 60.0  # seconds
MOST_ADDRESSES = 100_000  # addresses that are counted in one minute: some MB of memory


class PublicGuard:
    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ends = 0.0
        self._counts: Counter[str] = Counter()

    def count(self, address: str, most: int) -> None:
        """Count a request; refuse it if its address has sent too many in this minute."""
        now = self._monotonic()
        if now >= self._ends:
            self._ends, self._counts = now + MINUTE, Counter()
        if address in self._counts or len(self._counts) < MOST_ADDRESSES:
            self._counts[address] += 1
        if self._counts[address] > most:
            raise TooManyPublicRequests(max(1, round(self._ends - now + 0.5)))
