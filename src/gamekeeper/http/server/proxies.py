"""Find a request's client address and whether it used TLS, with trusted proxies in between."""

import ipaddress
from collections.abc import Iterable, Mapping
from functools import lru_cache

from gamekeeper.ground.settings import BadSetting, Settings, variable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
FORWARDED, SCHEME = b"x-forwarded-for", b"x-forwarded-proto"
# peer addresses whose check against `trusted_proxies` is cached: there are few proxies, with many requests
CACHED_PEERS = 1024


class Proxies:
    """The networks of the setting `trusted_proxies`, parsed once."""

    def __init__(self, settings: Settings) -> None:
        texts = settings.trusted_proxies.split(",") if settings.trusted_proxies.strip() else []
        self._networks = [_parse_network(text.strip()) for text in texts]
        self._own_tls = bool(settings.tls_cert)
        self._is_proxy = lru_cache(CACHED_PEERS)(self._is_trusted)

    def find_address(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the client's address: the peer's; behind trusted proxies the last untrusted one of X-Forwarded-For."""
        if not self._networks or not self._is_proxy(peer):
            return peer
        # all X-Forwarded-For headers: a proxy may extend a header or add another
        lines = [value for name, value in headers if name == FORWARDED]
        for text in reversed(b",".join(lines).decode("latin-1").split(",")):
            address = _parse_address(text.strip())
            if address is None:
                break  # stop: addresses before an untrusted one were not written by a trusted proxy
            if not self._is_in_networks(address):
                return str(address)
        return peer

    def is_over_tls(self, peer: str, headers: Mapping[bytes, bytes]) -> bool:
        """Check whether this server has TLS, or the peer is a trusted proxy that received the request over TLS."""
        return self._own_tls or (bool(self._networks) and headers.get(SCHEME) == b"https" and self._is_proxy(peer))

    def _is_trusted(self, peer: str) -> bool:
        address = _parse_address(peer)
        return address is not None and self._is_in_networks(address)

    def _is_in_networks(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        problem = f"it must be addresses or networks with commas between them, like 10.0.0.7, 192.168.4.0/24: {error}"
        raise BadSetting(f"{variable('trusted_proxies')} is not valid; {problem}.") from None


def _parse_address(text: str) -> Address | None:
    """Parse an IP address. IPv4-mapped IPv6 becomes IPv4, so that limits count one client once."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
