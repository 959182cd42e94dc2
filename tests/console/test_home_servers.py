"""The tile of the home page with the players of each game server."""

from collections.abc import Callable

import pytest
from keepers import open_session

import people
import staff
from game_server import heartbeat, join
from gamekeeper.console import monitor
from gamekeeper.store import users
from world import World


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, make_world: Callable[..., World]) -> World:
    """A world whose home page always has new numbers."""
    monkeypatch.setattr(monitor, "CHECKS_SECONDS", 0.0)
    return make_world()


def test_home_shows_the_players_of_each_game_server(fresh: World) -> None:
    root = open_session(fresh, "Root")
    assert "Players by game server" not in root.page("/console").text
    for name in ("two", "one"):
        heartbeat(fresh, name)
    join(fresh, people.ANN.id, people.BOB.id, server="two")
    page = root.page("/console")
    assert "Players by game server one 0 two 2 " in page.text
    assert page.links["two"] == "/console/online?server=two"
    assert "All game servers" not in page.links


def test_home_shows_the_first_of_many_game_servers(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "MAX_SCANNED", 1)
    monkeypatch.setattr("gamekeeper.console.overview.MAX_SCANNED", 1)
    for number in range(7):
        heartbeat(fresh, f"realm-{number}")
    join(fresh, people.ANN.id, people.BOB.id, server="realm-0")
    page = open_session(fresh, "Root").page("/console")
    assert "realm-0 1+ realm-1 0" in page.text
    assert "realm-5" not in page.text
    assert page.links["All game servers"] == "/console/online"


def test_game_servers_need_the_permission_to_see_players(fresh: World) -> None:
    heartbeat(fresh, "one")
    staff.save_role(fresh, "auditor", ["audit.read"])
    staff.add_account(fresh, "Auditor", "auditor")
    user = fresh.run(users.find_by_fold(fresh.keeper.store, "auditor"))
    assert user
    assert "Players by game server" not in open_session(fresh, user.name, user.id).page("/console").text
