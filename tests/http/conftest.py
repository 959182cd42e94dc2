"""Fixtures: a world for tests that change nothing, and one in which every write of `writes.CASES` can succeed."""

from collections.abc import Generator

import pytest

import game_server
import guild_rows
from people import SWORD, ZOE, guid
from sharing import ENGINES, open_shared
from world import World


@pytest.fixture(scope="module", params=ENGINES)
def shared_world(request: pytest.FixtureRequest) -> Generator[World]:
    """Return a world that the tests of a file share, because they only read or are refused."""
    yield from open_shared(request)


@pytest.fixture
def ready(world: World) -> World:
    """Put Zoe online on server one, send it a command, and add guilds and a picture for the write cases."""
    world.sql("INSERT INTO deliveries (seq, server, state, queued_at) VALUES (4711, 'one', 'waiting', 0)")
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id)
    for guild_id in (guild_rows.GUILD_ID, guid(72)):
        guild_rows.insert(world, {}, guild_id)
    world.sql("INSERT INTO item_pictures (item_id, hash, content) VALUES ($1, '00ff', '')", SWORD.id)
    return world
