"""Browser sessions of the console: `root` has all permissions; `keeper("Clerk")` is any other account of people.py."""

from collections.abc import Callable
from functools import partial

import pytest
from keepers import Keeper, open_session

from world import World


@pytest.fixture
def keeper(world: World) -> Callable[[str], Keeper]:
    """Return a function that opens a console session as an account: Root (all permissions), Clerk, Shop or Server."""
    return partial(open_session, world)


@pytest.fixture
def root(world: World) -> Keeper:
    return open_session(world, "Root")
