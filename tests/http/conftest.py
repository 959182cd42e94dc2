"""Fixture: a world in which every write of the table `writes.CASES` can succeed."""

import pytest

import game_server
import guild_rows
from people import SWORD, ZOE, guid
from world import World


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
