"""Limits of API keys that are checked before a request is handled: addresses, requests per minute, game servers."""

import ipaddress
import time
from dataclasses import dataclass

from gamekeeper.game.key_refusals import AddressNotAllowed, ServerNotAllowed, TooManyKeyRequests
from gamekeeper.game.presence import Speaker
from gamekeeper.store.api_keys import KeyCallerRow, KeyLimits

MINUTE = 60.0  # seconds
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class CallingKey:
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
