"""A URL with several servers: the writable one is found, and a silent one does not delay requests for long."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Generator
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

import pytest

from databases import Postgres, lend
from gamekeeper.store.engine import clock, postgres, postgres_url
from gamekeeper.store.engine.interface import DatabaseUnavailable
from loops import over
from postgres_sessions import connected
from swallower import Swallower


def test_url_with_several_servers_is_split() -> None:
    url = "postgresql://me:s%2Ccret@one,two:5433/game?sslmode=require"
    assert postgres_url.split_hosts(url) == [
        "postgresql://me:s%2Ccret@one/game?sslmode=require",
        "postgresql://me:s%2Ccret@two:5433/game?sslmode=require",
    ]


@over("url", "postgresql:///game?host=/run/postgresql", "postgresql://one/game")
def test_url_with_one_server_is_unchanged(url: str) -> None:
    assert postgres_url.split_hosts(url) == [url]


def test_connect_timeout_comes_from_url_then_environment_then_default(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://me@one,two/game"
    monkeypatch.delenv(postgres_url.TIMEOUT_VARIABLE, raising=False)
    assert postgres_url.split_timeout(url) == (url, postgres_url.CONNECT_SECONDS)
    monkeypatch.setenv(postgres_url.TIMEOUT_VARIABLE, "20")
    assert postgres_url.split_timeout(f"{url}?sslmode=require") == (f"{url}?sslmode=require", 20)
    given = f"{url}?host=/run&connect_timeout=7&sslmode=require"
    assert postgres_url.split_timeout(given) == (f"{url}?host=/run&sslmode=require", 7)
    assert postgres_url.split_timeout("postgresql:///game?connect_timeout=1") == ("postgresql:///game", 1)


async def look(url: str, times: int) -> list[float]:
    """Return how many seconds each database query takes, each over a new connection."""
    store = postgres.PostgresStore(url, 1)
    took: list[float] = []
    for _ in range(times):
        began = time.monotonic()
        await clock.now(store)
        took.append(time.monotonic() - began)
        await store.close()
    return took


@pytest.fixture
def url(postgres_databases: Postgres) -> Generator[str]:
    yield from lend(postgres_databases, postgres_databases.empty())


def beside(host: str, url: str) -> str:
    """Return the database URL with `host` as first server, followed by its own, which may be a Unix socket.

    The timeout is enough for a working server on a busy machine, and short enough for a test with a silent one.
    """
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    place = place or quote(parse_qs(parts.query)["host"][0], safe="")
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host},{place}", query="connect_timeout=5"))


@pytest.mark.long_only
def test_silent_server_costs_one_timeout(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # this server accepts connections, but never answers
        first, *_ = asyncio.run(look(beside(f"127.0.0.1:{silent.getsockname()[1]}", url), 3))
        assert callers(silent) == 1
    assert 5 <= first < 60


def callers(listener: socket.socket) -> int:
    """Count the connections that the silent server has accepted so far."""
    listener.setblocking(False)
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


def test_unreachable_servers_are_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(DatabaseUnavailable, match="no answer within 1 s"):
            asyncio.run(look(f"postgresql://me@127.0.0.1:{port},127.0.0.1:{port}/game?connect_timeout=1", 1))


async def forbid_writes(url: str) -> None:
    async with connected(url) as db:
        await db.execute(f'ALTER DATABASE "{urlsplit(url).path[1:]}" SET default_transaction_read_only = on')


def test_read_only_server_is_not_used(url: str) -> None:
    asyncio.run(forbid_writes(url))
    with pytest.raises(DatabaseUnavailable, match="read_write"):
        asyncio.run(look(beside("127.0.0.1:1", url), 1))
    assert asyncio.run(look(url, 1))  # a single server in the URL is used even if it is read-only


@pytest.mark.long_only
def test_server_that_falls_silent_blocks_requests_only_briefly(url: str) -> None:
    """All pool connections are in use when the database server falls silent, and all become half-open."""

    async def through(way: Swallower) -> float:
        place = urlsplit(way.url).netloc.rpartition("@")[2]
        store = postgres.PostgresStore(beside(place, url), 4)
        await store.limit_statements(60)
        await asyncio.gather(*(clock.now(store) for _ in range(4)))
        way.swallow()
        began = time.monotonic()
        async with asyncio.timeout(120):
            while True:
                with contextlib.suppress(DatabaseUnavailable):
                    await clock.now(store)
                    break
        await store.close()
        return time.monotonic() - began

    with Swallower(url) as way:
        assert asyncio.run(through(way)) < 50  # seconds; less than the statement timeout of 60 s
