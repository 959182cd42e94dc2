"""Limits that are checked before a request is handled. Each process counts its own requests.

API keys have limits of addresses, requests per minute and game servers; accounts have one of chat messages per minute;
clients without a token have one of requests per network and minute.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct

from gamekeeper.game.access.guess_limits import find_network
from gamekeeper.game.access.refusals import AddressNotAllowed, ServerNotAllowed, TooManyKeyRequests
from gamekeeper.game.insight.refusals import TooManyPublicRequests
from gamekeeper.game.players.presence import Speaker
from gamekeeper.game.world.refusals import TooManyMessages
from gamekeeper.store.access.api_keys import KeyCallerRow, KeyLimits

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class CallingKey(Struct, frozen=True):
    """The API key of a caller."""

    id: str
    name: str
    scope_id: str  # its Idempotency-Keys are stored under this id
    limits: KeyLimits
    networks: tuple[Network, ...] | None  # networks from which it may be used; None: any


def make_calling_key(row: KeyCallerRow) -> CallingKey:
    addresses = row.limits.addresses
    networks = None if addresses is None else tuple(ipaddress.ip_network(each) for each in addresses)
    return CallingKey(row.id, row.name, row.scope_id, row.limits, networks)


class KeyGuard:
    """Checks requests of API keys. It counts requests per process: each has its own guard."""

    def __init__(self) -> None:
        self._minutes: dict[str, tuple[float, int]] = {}  # key's id → end of its current minute, requests in it

    def check(self, key: CallingKey, address: str) -> None:
        if key.networks is not None and not _is_inside(address, key.networks):
            raise AddressNotAllowed(name=key.name, address=address)
        if key.limits.per_minute is not None:
            self._count(key.id, key.limits.per_minute)

    def _count(self, key_id: str, most: int) -> None:
        now = time.monotonic()
        ends, count = self._minutes.get(key_id, (0.0, 0))
        if now >= ends:
            ends, count = now + MINUTE, 0
        if count >= most:
            raise TooManyKeyRequests(max(1, round(ends - now + 0.5)))
        self._minutes[key_id] = ends, count + 1


def require_server(key: CallingKey | None, server: str) -> None:
    """Refuse an API key that may speak only for other game servers."""
    if key is not None and key.limits.servers is not None and server not in key.limits.servers:
        raise ServerNotAllowed(name=key.name, server=server, known=", ".join(key.limits.servers))


def find_speaker(key: CallingKey | None) -> Speaker | None:
    """Return the API key if it may speak for some game servers only."""
    return None if key is None or key.limits.servers is None else Speaker(key.name, key.limits.servers)


def _is_inside(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False  # such as the peer of a Unix socket
    # a server that listens on IPv6 sees IPv4 clients as ::ffff:192.0.2.7
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(parsed in network for network in networks)


class ChatGuard:
    def __init__(self) -> None:
        self._minutes: dict[str, tuple[float, int]] = {}  # account → end of its current minute, messages in it

    def count(self, account_id: str, most: int, *, dry_run: bool) -> None:
        """Refuse a message if the account has sent too many in this minute. Count it unless it is a dry run."""
        now = time.monotonic()
        self._minutes = {each: kept for each, kept in self._minutes.items() if kept[0] > now}
        ends, count = self._minutes.get(account_id, (now + MINUTE, 0))
        if count >= most:
            raise TooManyMessages(max(1, round(ends - now + 0.5)))
        if not dry_run:
            self._minutes[account_id] = ends, count + 1


MINUTE = 60.0  # seconds
# Client networks whose requests are counted in one minute. Beyond this number, the count of the network that has been
# quiet for longest is dropped. Refusing new networks would let an owner of many networks lock out all other visitors.
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
