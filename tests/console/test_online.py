"""Who is online, on all servers and on one."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from keepers import Keeper, signed_in

import game_server
import people
from gamekeeper.console import pulse
from gamekeeper.demo import filling
from gamekeeper.demo.names import numbered_id
from gamekeeper.store import presence
from world import World

PAGE = "/console/online"


@pytest.fixture
def played(world: World) -> World:
    """Ann and Zoe are on one server, Bob is on another."""
    for server in ("north", "south"):
        assert game_server.heartbeat(world, server).status == 200
    game_server.join(world, people.ANN.id, people.ZOE.id, server="north")
    game_server.join(world, people.BOB.id, server="south")
    return world


def test_nobody_yet(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    page = root.page(PAGE)
    assert "No game server holds a lease." in page.text
    assert "(page Tokens)" in page.text
    assert "Tokens" not in keeper("Shop").page(PAGE).text
    assert "Nobody is online." in page.text


def test_all_with_their_servers(played: World, root: Keeper) -> None:
    page = root.page(PAGE)
    [(lease,)] = played.sql("SELECT expires_at FROM servers WHERE name = 'north'")
    ends = datetime.fromtimestamp(lease // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    assert page.links["north"] == f"{PAGE}?server=north"
    assert f"north 2 {ends}" in page.text
    assert "south 1 20" in page.text
    assert "Bob 3 south" in page.text
    assert "1 to 3 of 3 online" in page.text


@pytest.mark.usefixtures("played")
def test_one_server(root: Keeper) -> None:
    page = root.page(f"{PAGE}?server=north")
    assert "On north" in page.text
    assert "1 to 2 of 2 online" in page.text
    assert {"Ann", "Zoe"} <= page.links.keys()
    assert "Bob" not in page.links
    assert page.form(PAGE, "Search").fields == {"server": "north", "search": ""}
    found = root.page(f"{PAGE}?server=north&search=Zo")  # any part will do where few are looked at
    assert "Zoe" in found.links
    assert "Ann" not in found.links


def test_by_name_on_all_servers(played: World, root: Keeper) -> None:
    page = root.page(f"{PAGE}?search=bob")
    assert "Bob" in page.links
    assert "Ann" not in page.links
    game_server.leave(played, people.BOB.id, server="south")
    assert "Nobody who is online here" in root.page(f"{PAGE}?search=bob").text


@pytest.mark.parametrize("server", ["gone", "%", "no\ufffdrth", "x" * 300])
@pytest.mark.usefixtures("played")
def test_a_server_that_is_not_there(root: Keeper, server: str) -> None:
    assert root.page(f"{PAGE}?server={quote(server)}").links["To all servers"] == PAGE


def test_a_server_that_went_silent_is_gone_with_its_players(played: World, root: Keeper) -> None:
    game_server.lapse(played, "north")
    page = root.page(PAGE)
    assert "north" not in page.text
    assert "1 to 1 of 1 online" in page.text


def test_all_who_look_share_one_question(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    """To count those on each server is the dearest of this page."""
    monkeypatch.setattr(pulse, "FRESH_SECONDS", 60.0)
    asked, servers = 0, presence.servers

    async def counted(*given: Any) -> Any:
        nonlocal asked
        asked += 1
        return await servers(*given)

    monkeypatch.setattr(presence, "servers", counted)
    world = make_world()
    for name in ("Root", "Shop", "Root"):
        signed_in(world, name).page(PAGE)
    assert asked == 1


def test_no_more_are_looked_at_than_so_many(played: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "LOOKED_AT", 60)
    played.run(filling.load_players(played.keeper, 100, lambda _: None))
    ids = [numbered_id("player", number) for number in range(100)]
    played.run(played.keeper.store.write(lambda tx: presence.join(tx, "south", ids)))
    everywhere = root.page(PAGE)
    assert "south 60 or more" in everywhere.text
    assert "1 to 50 of 103 online" in everywhere.text
    south = root.page(f"{PAGE}?server=south")
    assert "1 to 50 of 60 or more online" in south.text
    assert "51 to 60 of 60 or more online" in root.page(south.links["Next"]).text
    assert "search on all servers" in south.text
    assert "of 2 online" in root.page(f"{PAGE}?server=north").text
