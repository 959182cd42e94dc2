"""What sites and tools ask about the server first."""

from dataclasses import replace

from gamekeeper_client.call import Call, get, reading, then
from gamekeeper_client.shapes import Authorized, Config, Info, ServerStats, Versions

INFO = "/api/v1/info"


def versions() -> Call[list[str]]:
    """Which versions of the API there are. Needs no token."""
    read = then(reading(Versions), lambda answer: answer.versions)
    return replace(get("/api/info", read), needs_token=False)


def about() -> Call[Info]:
    """The game's name, and the port that is served."""
    return get(INFO, reading(Info))


def authorized() -> Call[bool]:
    """True with a good token; raises Denied otherwise."""
    return get(f"{INFO}/authorized", then(reading(Authorized), lambda answer: answer.authorized))


def stats() -> Call[ServerStats]:
    return get(f"{INFO}/stats", reading(ServerStats))


def config() -> Call[Config]:
    """The game's limits."""
    return get(f"{INFO}/config", reading(Config))


def stat_names() -> Call[list[str]]:
    """The five stats, in the order of every list of five."""
    return get(f"{INFO}/config/stats", reading(list[str]))
