"""The limit of requests without a token per client network and minute. Each process counts its own."""

import time
from collections import OrderedDict
from collections.abc import Callable

from gamekeeper.game.board_refusals import TooManyPublicRequests
from gamekeeper.game.guesses import find_network

MINUTE = 60.0  # seconds
# Networks that are counted in one minute: some MB of memory. Beyond them, the one that has been quiet for longest is
# forgotten. Refusing new ones instead would let one owner of many networks lock all other visitors out.
MAX_NETWORKS = 100_000


class PublicGuard:
    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ends = 0.0
        self._counts: OrderedDict[str, int] = OrderedDict()  # by network, the last that asked at the end

    def count(self, address: str, most: int) -> None:
        """Count a request; refuse it if its network has sent too many in this minute."""
        now, network = self._monotonic(), find_network(address)
        if now >= self._ends:
            self._ends, self._counts = now + MINUTE, OrderedDict()
        self._counts[network] = counted = self._counts.get(network, 0) + 1
        self._counts.move_to_end(network)
        if len(self._counts) > MAX_NETWORKS:
            self._counts.popitem(last=False)
        if counted > most:
            raise TooManyPublicRequests(max(1, round(self._ends - now + 0.5)))
