"""Fixtures: real servers for the client, one with demo data as in docs/client.md, on either engine."""

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from gamekeeper import app
from gamekeeper.demo import loader
from gamekeeper.ground import settings
from gamekeeper.store.engine.migrate import migrate
from server import Server

PASSWORD = "moss"


async def fill(url: str) -> None:
    keeper = app.build_keeper(settings.load({}, database=url))
    await keeper.store.open()
    try:
        await migrate(keeper.store)
        await loader.fill(keeper, PASSWORD)
    finally:
        await keeper.store.close()
        keeper.passwords.close()


@pytest.fixture
def demo_server(empty_database: str) -> Generator[Server]:
    """Start a server with a fresh demo database, which the blocks of docs/client.md expect."""
    asyncio.run(fill(empty_database))
    with Server(empty_database) as server:
        yield server


def serve(databases: Any) -> Generator[Server]:
    url = databases.fresh()
    with Server(url) as server:
        yield server
    databases.drop(url)


@pytest.fixture(scope="session")
def sqlite_serving(sqlite_databases: Any) -> Generator[Server]:
    yield from serve(sqlite_databases)


@pytest.fixture(scope="session")
def postgres_serving(postgres_databases: Any) -> Generator[Server]:
    yield from serve(postgres_databases)


@pytest.fixture
def server(engine: str, request: pytest.FixtureRequest) -> Server:
    """Return a server on the test's engine, with the accounts and players of people.py; tests share it."""
    return request.getfixturevalue(f"{engine}_serving")
