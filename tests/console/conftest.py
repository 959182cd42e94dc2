"""Browser sessions of the console: `root` has all permissions; `keeper("Clerk")` is any other account of people.py."""

from collections.abc import Callable
from functools import partial

import pytest
from keepers import Keeper, signed_in

from world import World


@pytest.fixture
def keeper(world: World) -> Callable[[str], Keeper]:
    """Open a session by name: Root (all permissions), Clerk (users.query), Shop (no role), Server (game.link)."""
    return partial(signed_in, world)


@pytest.fixture
def root(world: World) -> Keeper:
    return signed_in(world, "Root")
