"""The servers in a PostgreSQL URL: postgresql://user@one,two:5433/name names a primary and its standby."""

import re
from urllib.parse import urlsplit, urlunsplit

_PORT = re.compile(r":(?!\d*(?:,|$))")


def has_numeric_ports(url: str) -> bool:
    """Return whether all ports in a PostgreSQL URL are numbers.

    If not, an unescaped password may have been read as a port, and an error message must not quote it.
    """
    try:
        hosts = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # "[" without "]" in the URL, in an address or in a password
        return False
    return not _PORT.search(re.sub(r"\[[^\]]*\]", "", hosts))


def split_hosts(url: str) -> list[str]:
    """Return one PostgreSQL URL per server: asyncpg has one timeout for all, and one silent server would use it up."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [url]
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]
