"""Fixture: a world in which every write of the table `writes.CASES` can succeed."""

import pytest

import game_server
from people import ZOE
from world import World


@pytest.fixture
def ready(world: World) -> World:
    """Put Zoe online on server one, so that every write case can succeed."""
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id)
    return world
