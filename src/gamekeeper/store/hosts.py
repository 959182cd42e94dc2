"""The servers that a PostgreSQL URL names: postgresql://user@one,two:5433/name is a primary and its standby."""

import re
from urllib.parse import urlsplit, urlunsplit

_PORT = re.compile(r":(?!\d*(?:,|$))")


def has_numeric_ports(url: str) -> bool:
    """Whether its ports are numbers: a password can end the servers early, and no error may quote what is left."""
    try:
        hosts = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # a [ without its ], in a server's address or in a password
        return False
    return not _PORT.search(re.sub(r"\[[^\]]*\]", "", hosts))


def split_hosts(url: str) -> list[str]:
    """A URL for each: the driver has one time limit for all of them, and a silent one would use it up."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [url]
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]
