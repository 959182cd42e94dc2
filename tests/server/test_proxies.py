"""The client address of a request: that of the peer, or the one that a trusted proxy forwards."""

from gamekeeper.ground import settings
from gamekeeper.http.server.proxies import Proxies
from loops import over

PROXIES = "10.0.0.1, 192.168.4.0/24,::1"


def address(peer: str, *lines: str, trusted: str = PROXIES) -> str:
    headers = [(b"host", b"x"), *((b"x-forwarded-for", line.encode("latin-1")) for line in lines)]
    return Proxies(settings.load({}, trusted_proxies=trusted)).find_address(peer, headers)


@over(
    "peer, lines, found",
    ("203.0.113.5", ["198.51.100.7"], "203.0.113.5"),  # the peer is not a trusted proxy: its header is ignored
    ("10.0.0.1", [], "10.0.0.1"),
    ("192.168.4.77", ["198.51.100.7"], "198.51.100.7"),
    # The first forwarded address was sent by the caller and is not trusted
    ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
    ("10.0.0.1", ["1.1.1.1", "198.51.100.7", "192.168.4.9"], "198.51.100.7"),
    ("10.0.0.1", ["192.168.4.9, 10.0.0.1"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.7, nonsense"], "10.0.0.1"),
    ("10.0.0.1", ["nonsense, 198.51.100.7"], "198.51.100.7"),
    ("10.0.0.1", ["198.51.100.7:4711"], "10.0.0.1"),
    ("10.0.0.1", ["\xff" * 5000], "10.0.0.1"),
    ("::1", ["2001:DB8:0::7"], "2001:db8::7"),
    ("::ffff:10.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"),
    ("", ["198.51.100.7"], ""),
)
def test_client_address_is_taken_from_trusted_proxies_only(peer: str, lines: list[str], found: str) -> None:
    assert address(peer, *lines) == found
