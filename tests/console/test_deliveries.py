"""Delivery states in the console: beside changes, on the page of overdue commands, and on the overview."""

import pytest
from keepers import Keeper
from markup import Page

import game_server
import people
from commanding import ack, acknowledge, read_feed, read_last
from gamekeeper.store import deliveries
from world import World

PLAYER = f"/console/players/{people.ZOE.id}?tab=history"
OVERDUE = "/console/deliveries"
LIST = "/console/changes"


@pytest.fixture
def kick(world: World) -> int:
    """Return the number of a kick of Zoe, who is on server one."""
    game_server.heartbeat(world)
    game_server.join(world, people.ZOE.id)
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    return read_last(world)


def require_text(root: Keeper, seq: int, text: str) -> None:
    """Require that the list, the player's page and the change's page show this text."""
    for path in (LIST, PLAYER, f"{LIST}/{seq}"):
        assert text in root.page(path).text, path


def test_states_are_shown_beside_a_command(world: World, root: Keeper, kick: int) -> None:
    require_text(root, kick, "waiting for one")
    read_feed(world, kick)
    require_text(root, kick, "sent to one")
    acknowledge(world, ack(kick, "unknown", "<b>crashed"))
    require_text(root, kick, "one does not know whether it was done: <b>crashed")
    acknowledge(world, ack(kick))
    world.sql("UPDATE deliveries SET queued_at = 1000, acked_at = 1400")
    require_text(root, kick, "applied by one after 0.4 s")


def test_open_page_of_the_player_follows_the_states(world: World, root: Keeper, kick: int) -> None:
    def read_version() -> str:
        return root.get(f"/console/players/{people.ZOE.id}/version").json["version"]

    waiting = read_version()
    assert read_version() == waiting
    acknowledge(world, ack(kick, "unknown"))
    unknown = read_version()
    acknowledge(world, ack(kick))
    assert len({waiting, unknown, read_version()}) == 3


def test_failure_is_shown_with_its_reason(world: World, root: Keeper, kick: int) -> None:
    acknowledge(world, ack(kick, "failed", "no such player"))
    require_text(root, kick, "failed on one: no such player")


def test_expiry_is_shown(world: World, root: Keeper, kick: int) -> None:
    world.sql("UPDATE deliveries SET expires_at = 1")
    require_text(root, kick, "expired before one confirmed it")


def test_command_that_is_not_needed_is_explained_on_its_page_only(world: World, root: Keeper, kick: int) -> None:
    game_server.leave(world, people.ZOE.id)
    assert "not needed by one any more: the player has left it" in root.page(f"{LIST}/{kick}").text
    for path in (LIST, PLAYER):
        page = root.page(path)
        assert "not needed" not in page.text
        assert 'class="delivered' not in page.html


def test_gift_is_shown_as_applied_without_a_time(world: World, root: Keeper, kick: int) -> None:
    world.post("/api/v1/players/Zoe/items/give", {"itemid": people.COIN.id, "quantity": 1})
    gift = read_last(world)
    assert gift > kick
    game_server.heartbeat(world, AppliedSeq=gift)
    require_text(root, gift, "applied by one")
    world.post("/api/v1/players/Ann/items/give", {"itemid": people.COIN.id, "quantity": 1})
    assert "No game server needs this change." in root.page(f"{LIST}/{read_last(world)}").text


def test_overdue_commands_are_counted_and_listed(world: World, root: Keeper, kick: int) -> None:
    assert "Overdue commands 0" in root.page("/console").text
    assert "No overdue commands." in root.page(OVERDUE).text
    world.sql("UPDATE deliveries SET queued_at = queued_at - 31000")
    page = root.page(OVERDUE)
    assert f"{kick} Player kicked Zoe one" in page.text
    world.sql("UPDATE deliveries SET expires_at = 1")
    assert "No overdue commands." in root.page(OVERDUE).text
    world.sql("UPDATE deliveries SET expires_at = NULL")
    game_server.leave(world, people.ZOE.id)
    assert "No overdue commands." in root.page(OVERDUE).text
    game_server.join(world, people.ZOE.id)
    assert f"{kick} Player kicked" in root.page(OVERDUE).text
    acknowledge(world, ack(kick))
    assert "No overdue commands." in root.page(OVERDUE).text


def test_overview_counts_the_overdue_commands(
    world: World, root: Keeper, kick: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MAX_EXAMINED", 1)
    for _ in range(2):  # newer ones that expire do not hide the kick
        assert world.post("/api/v1/chat", {"Message": "Hi"}).status == 200
    world.sql("UPDATE deliveries SET queued_at = queued_at - 31000")
    world.sql("UPDATE deliveries SET expires_at = 1 WHERE seq > $1", kick)
    assert "Overdue commands 1" in root.page("/console").text


def test_ban_of_an_online_player_is_one_table_and_says_how_far_it_got(world: World, root: Keeper) -> None:
    game_server.heartbeat(world)
    game_server.join(world, people.ZOE.id)
    shown = root.preview("POST", f"/api/v1/players/{people.ZOE.id}/admin/ban", {"duration": 7, "reason": "rude"})
    table = Page(shown.raw.decode())
    assert "These changes will be made: Account Ann, Player Zoe Field" in table.text
    assert table.text.count("Ban reason") == 1
    done = "/console/done/" + root.confirm(shown, "rude").headers["location"].rpartition("done=")[2]
    page = root.page(done)
    assert "account Ann" in page.text
    assert "player Zoe" in page.text
    assert page.text.count("Ban reason") == 1
    assert "waiting for one" in page.text
    assert "data-pending" in page.html
    acknowledge(world, ack(read_last(world)))
    world.sql("UPDATE deliveries SET queued_at = 1000, acked_at = 1300")
    page = root.page(done)
    assert "applied by one after 0.3 s" in page.text
    assert "data-pending" not in page.html
