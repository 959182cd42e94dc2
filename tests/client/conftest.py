"""A real server with the demo world in it, on either engine, as docs/client.md has it."""

import asyncio
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import pytest

from gamekeeper import app, settings
from gamekeeper.client import Client, Patience
from gamekeeper.demo import filling
from gamekeeper.store.migrate import migrate
from server import Server

QUICK = Patience(retries=6, first=0.02, longest=0.2)
PASSWORD = "moss"


async def fill(url: str) -> None:
    keeper = app.build_keeper(settings.load({}, database=url))
    await keeper.store.open()
    try:
        await migrate(keeper.store)
        await filling.fill(keeper, PASSWORD)
    finally:
        await keeper.store.close()
        keeper.passwords.close()


@pytest.fixture
def demo_server(empty_database: str) -> Generator[Server]:
    """With a database of its own: for the page, which counts on a fresh demo."""
    asyncio.run(fill(empty_database))
    with Server(empty_database) as server:
        yield server


@pytest.fixture(scope="session")
def shared_servers(
    request: pytest.FixtureRequest,
) -> Iterator[Callable[[str], tuple[Server, Mapping[str, str]]]]:
    """One server per engine with the people of people.py, for tests that can share it."""
    running: dict[str, tuple[Server, Mapping[str, str], Any, str]] = {}

    def serve(engine: str) -> tuple[Server, Mapping[str, str]]:
        if engine not in running:
            databases = request.getfixturevalue(f"{engine}_databases")
            url = databases.fresh()
            server = Server(url)
            server.start()
            running[engine] = server, databases.tokens, databases, url
        return running[engine][:2]

    yield serve
    for server, _, databases, url in running.values():
        server.stop()
        databases.drop(url)


@pytest.fixture
def server(engine: str, shared_servers: Callable[[str], tuple[Server, Mapping[str, str]]]) -> Server:
    return shared_servers(engine)[0]


@pytest.fixture
def client(engine: str, shared_servers: Callable[[str], tuple[Server, Mapping[str, str]]]) -> Generator[Client]:
    """Root's, with a token."""
    server, known = shared_servers(engine)
    with Client(server.url, token=known["Root"], patience=QUICK) as client:
        yield client
