"""Fixtures: one world per engine for a whole file, for requests that must not change anything."""

from collections.abc import Generator
from typing import Any

import good_requests
import pytest
import state

from gamekeeper.http.server.admission import Gate
from sharing import open_fresh
from world import World


@pytest.fixture(scope="module")
def shared_world(engine: str, request: pytest.FixtureRequest) -> Generator[World]:
    with open_fresh(engine, request, chat_per_minute=1_000_000) as world:  # it sends many
        good_requests.furnish(world)
        world.compares = False  # nothing may change in it, which the tests check themselves
        yield world


@pytest.fixture
def unchanged(shared_world: World) -> Generator[World]:
    """Return the shared world, and fail the test if the database has changed."""
    before = state.fingerprint(shared_world)
    yield shared_world
    assert state.list_changed(before, state.fingerprint(shared_world)) == []


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the accounts whose reads entered the gate."""
    entered, run = list[str](), Gate.run

    def run_and_note(self: Gate, account: str, *given: Any, **more: Any) -> object:
        entered.append(account)
        return run(self, account, *given, **more)

    monkeypatch.setattr(Gate, "run", run_and_note)
    return entered
