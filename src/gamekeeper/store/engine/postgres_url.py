"""The servers in a PostgreSQL URL: postgresql://user@one,two:5433/name names a primary and its standby."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

# Default timeout in seconds for connecting to one server. Short: a request waits for a silent server before it can use
# the next one in the URL, and after a network failure every connection attempt has to end before a new one can succeed.
CONNECT_SECONDS = 3
TIMEOUT_PARAMETER, TIMEOUT_VARIABLE = "connect_timeout", "PGCONNECT_TIMEOUT"
MAX_TIMEOUT_DIGITS = 4
_PORT = re.compile(r":(?!\d*(?:,|$))")


class BadTimeout(Exception):
    """The timeout for connecting is not a positive whole number; the message is for people."""


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


def split_timeout(url: str) -> tuple[str, int]:
    """Return the URL without `connect_timeout`, and the timeout in seconds for connecting to each of its servers.

    As in libpq, the environment variable PGCONNECT_TIMEOUT is the default. asyncpg knows neither of the two.
    """
    place, _, query = url.partition("?")
    name, text, kept = TIMEOUT_VARIABLE, os.environ.get(TIMEOUT_VARIABLE) or str(CONNECT_SECONDS), list[str]()
    for each in query.split("&"):
        key, _, value = each.partition("=")
        if key == TIMEOUT_PARAMETER:
            name, text = key, value
        elif each:
            kept.append(each)
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_TIMEOUT_DIGITS and int(text)):
        raise BadTimeout(f"{name} is '{text}'; it must be a whole number of seconds, from 1 to 9999.")
    return "?".join([place, "&".join(kept)] if kept else [place]), int(text)
