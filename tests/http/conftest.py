"""A world in which every write of the table has something to do."""

import pytest

import game_server
from people import ZOE
from world import World


@pytest.fixture
def ready(world: World) -> World:
    """Zoe is online on server one, so that every case has something to do."""
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id)
    return world
