"""Fixtures: a world for tests that change nothing, and one in which every write of `writes.CASES` can succeed."""

from collections.abc import Generator

import pytest

from sharing import open_shared
from world import World
from writes import prepare


@pytest.fixture(scope="module")
def shared_world(engine: str, request: pytest.FixtureRequest) -> Generator[World]:
    """Return a world that the tests of a file share, because they only read or are refused."""
    yield from open_shared(engine, request)


@pytest.fixture
def ready(world: World) -> World:
    """Put Zoe online on server one, send it a command, and add guilds and a picture for the write cases."""
    prepare(world)
    return world
