"""Browser sessions of the console: `root` has all permissions; `keeper("Clerk")` is any other account of people.py."""

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest

from keepers import Keeper, open_session
from oidc_browser import ROLES
from providers import ScriptedProvider, make_settings
from sharing import open_shared
from world import MakeWorld, World


@pytest.fixture
def keeper(world: World) -> Callable[[str], Keeper]:
    """Return a function that opens a console session as an account: Root (all permissions), Clerk, Shop or Server."""
    return partial(open_session, world)


@pytest.fixture
def root(world: World) -> Keeper:
    return open_session(world, "Root")


@pytest.fixture(scope="module")
def shared_root(engine: str, request: pytest.FixtureRequest) -> Generator[Keeper]:
    """Return a session with all permissions that the tests of a file share, because they change nothing."""
    for world in open_shared(engine, request, without="tokens"):
        yield open_session(world, "Root")


@pytest.fixture
def provider() -> Generator[ScriptedProvider]:
    with ScriptedProvider() as started:
        yield started


@pytest.fixture
def open_to(make_world: MakeWorld, provider: ScriptedProvider, tmp_path: Path) -> MakeWorld:
    """Return a function that makes worlds which use the scripted provider."""

    def make(roles: str = ROLES, **changed: object) -> World:
        return make_world(**{**make_settings(provider.issuer, tmp_path, roles), **changed})

    return make
