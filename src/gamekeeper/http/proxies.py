"""Whose word is taken for where a request comes from, and how."""

import ipaddress
from collections.abc import Iterable, Mapping
from functools import lru_cache

from gamekeeper.settings import BadSetting, Settings, variable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
FORWARDED, SCHEME = b"x-forwarded-for", b"x-forwarded-proto"
REMEMBERED = 1024  # peers: proxies are few, and they ask often


class Proxies:
    """The networks of `trusted_proxies`, parsed once."""

    def __init__(self, settings: Settings) -> None:
        texts = settings.trusted_proxies.split(",") if settings.trusted_proxies.strip() else []
        self._networks = [_network(text.strip()) for text in texts]
        self._is_proxy = lru_cache(REMEMBERED)(self._is_trusted)

    def address(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The peer's; through trusted proxies, that of the last who is not one of them."""
        if not self._networks or not self._is_proxy(peer):
            return peer
        lines = [value for name, value in headers if name == FORWARDED]  # a proxy may add to a line, or a line
        for text in reversed(b",".join(lines).decode("latin-1").split(",")):
            address = _address(text.strip())
            if address is None:
                break  # whatever is before it was not written by a proxy of ours
            if not self._holds(address):
                return str(address)
        return peer

    def over_tls(self, peer: str, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the peer is a proxy that we trust, and says that it ends TLS."""
        return bool(self._networks) and headers.get(SCHEME) == b"https" and self._is_proxy(peer)

    def _is_trusted(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and self._holds(address)

    def _holds(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        problem = f"it must be addresses or networks with commas between them, like 10.0.0.7, 192.168.4.0/24: {error}"
        raise BadSetting(f"{variable('trusted_proxies')} is not right; {problem}.") from None


def _address(text: str) -> Address | None:
    """One person has one address, however it is written: limits are counted by it."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
