"""Commands and changes on their way to game servers: the feed, acknowledgements, and the states that staff see."""

from typing import Any

import pytest

import api_keys
import game_server
import people
from commanding import CHANGES, ack, acknowledge, read_feed, read_last, stored
from expectations import refused
from gamekeeper.game.accounts import erasures
from gamekeeper.game.audit import retention
from gamekeeper.store.world import feed
from tidying import trim_older
from world import World


def test_first_acknowledgement_stands_except_unknown(world: World, kick: int) -> None:
    refused(acknowledge(world, ack(kick), ack(kick + 1)), 409, "not_told")  # the whole batch
    refused(acknowledge(world, ack(kick), server="two"), 409, "not_told")
    assert stored(world) == [("one", "waiting", None)]
    answer = acknowledge(world, ack(kick, reason="done"))
    assert (answer.status, answer.json) == (200, {"Acks": [{"Seq": kick, "State": "applied"}]})
    assert stored(world) == [("one", "applied", "done")]
    for first, second, stands in (
        ("applied", "failed", "applied"),
        ("failed", "applied", "failed"),
        ("unknown", "applied", "applied"),
        ("unknown", "unknown", "unknown"),
    ):
        world.sql("UPDATE deliveries SET state = 'waiting', reason = NULL, acked_at = NULL")
        assert acknowledge(world, ack(kick, first)).json == {"Acks": [{"Seq": kick, "State": first}]}
        assert acknowledge(world, ack(kick, second)).json == {"Acks": [{"Seq": kick, "State": stands}]}


def test_acknowledgements_beyond_the_limits_and_of_another_game_server_are_refused(world: World, kick: int) -> None:
    refused(acknowledge(world, ack(kick, "waiting")), 400, "bad_field")
    refused(acknowledge(world, ack(kick, reason="x" * 256)), 400, "bad_field")
    refused(acknowledge(world, *([ack(kick)] * 1001)), 400, "bad_field")
    key = api_keys.create(world, Permissions=["game.link"], Owner="Server", Servers=["one"])["Key"]
    for server, status in (("one", 200), ("two", 403)):
        path = f"{game_server.LINK}/servers/{server}/acks"
        assert world.post(path, {"Acks": []}, token=key).status == status
        assert world.get(f"{CHANGES}?after={kick}&server={server}", token=key).status == status
    acks = [ack(kick, reason="x" * 255), *([ack(kick)] * 999)]
    assert acknowledge(world, *acks).status == 200


def test_late_acknowledgement_is_taken(world: World, kick: int) -> None:
    """Also without a lease and of an expired command, and by an Idempotency-Key only once."""
    assert game_server.lapse(world) == 1
    world.sql("UPDATE deliveries SET expires_at = 1")
    assert read_feed(world, kick - 1)[0]["Expired"] is True
    first = acknowledge(world, ack(kick, "unknown"), headers={"Idempotency-Key": "a"})
    assert acknowledge(world, ack(kick)).json["Acks"][0]["State"] == "applied"
    assert acknowledge(world, ack(kick, "unknown"), headers={"Idempotency-Key": "a"}).raw == first.raw
    game_server.heartbeat(world, "two")
    game_server.join(world, people.ZOE.id, server="two")
    report = {"Level": 7, "AppliedSeq": kick - 1}  # a report does not wait for commands
    assert world.call("PUT", f"/api/link/v1/players/{people.ZOE.id}", body=report, by="Server").status == 200


def test_trim_keeps_the_newest_change_of_data_before_a_command(world: World, kick: int) -> None:
    gift = give(world)
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    world.sql("UPDATE ledger SET at = at - $1", 20 * retention.DAY_MS)
    world.run(trim_older(world.keeper, 10 * retention.DAY_MS))
    report = {"Level": 7, "AppliedSeq": kick}
    answer = world.call("PUT", f"/api/link/v1/players/{people.ZOE.id}", body=report, by="Server")
    refused(answer, 409, "changes_trimmed")
    assert world.sql("SELECT seq FROM ledger WHERE seq >= $1 AND seq <= $2", kick, gift) == [(gift,)]


@pytest.mark.parametrize("is_late", [False, True])
def test_erasure_blanks_the_reason_of_the_game(world: World, kick: int, *, is_late: bool) -> None:
    def tell() -> None:
        assert acknowledge(world, ack(kick, "failed", "Zoe of 198.51.100.7 has left")).status == 200

    game_server.leave(world, people.ZOE.id)
    if not is_late:
        tell()
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    assert [row[0] for row in world.sql("SELECT reason FROM masked_deliveries")] == [None]
    world.run(erasures.run_all_jobs(world.keeper.store))
    if is_late:
        tell()
    assert stored(world) == [("one", "failed", None)]


def test_cursors_of_polls_are_saved_by_the_job_and_never_move_back(world: World, kick: int) -> None:
    read_feed(world, kick)
    assert world.sql("SELECT sent_seq FROM servers WHERE name = 'one'")[0][0] is None
    cursors = world.keeper.feed.cursors
    world.run(cursors.save())
    read_feed(world, 0)
    world.run(cursors.save())
    assert [tuple(row) for row in world.sql("SELECT name, sent_seq FROM servers ORDER BY name")] == [
        ("one", kick),
        ("two", None),
    ]
    assert cursors.find("one") == kick


HISTORY = "/api/keeper/v1/changes"


def list_deliveries(world: World, seq: int) -> list[dict[str, Any]]:
    changes = world.get(f"{HISTORY}?before={seq + 1}&limit=1").json["Changes"]
    assert [each["Seq"] for each in changes] == [seq]
    return changes[0]["Deliveries"]


def list_states(world: World, seq: int) -> list[tuple[str, str]]:
    return [(each["Server"], each["State"]) for each in list_deliveries(world, seq)]


def give(world: World, player: str = "Zoe") -> int:
    world.give(player).accepted()
    return read_last(world)


def add_change(world: World, kind: str, player: str | None = None, targets: str = "", life: int | None = None) -> int:
    """Add a change to the audit log, with a delivery to each of these game servers."""
    world.insert("ledger", at=1000, kind=kind, over_link=False, player_id=player, request_id="")
    seq = world.sql("SELECT MAX(seq) FROM ledger")[0][0]
    for server in targets.split():
        world.insert("deliveries", seq=seq, server=server, state="waiting", queued_at=1000, expires_at=life)
    return seq


@pytest.fixture
def online(world: World) -> None:
    """Zoe is on server one and Bob on server two."""
    for server, player in (("one", people.ZOE), ("two", people.BOB)):
        game_server.heartbeat(world, server)
        game_server.join(world, player.id, server=server)


@pytest.fixture
def kick(world: World, online: None) -> int:  # noqa: ARG001 - the players must be online first
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    return read_last(world)


def list_overdue(world: World) -> list[int]:
    return [each.seq for each in world.run(feed.read_overdue(world.keeper.store, -60_000, 10))]


def test_state_command_is_not_needed_when_the_player_has_left_the_game_server(world: World, kick: int) -> None:
    read_feed(world, kick)
    assert list_overdue(world) == [kick]
    game_server.leave(world, people.ZOE.id)
    assert list_states(world, kick) == [("one", "not_needed")]
    game_server.join(world, people.ZOE.id, server="two")
    assert list_states(world, kick) == [("one", "not_needed")]
    assert list_overdue(world) == []
    game_server.join(world, people.ZOE.id, server="one")
    assert list_states(world, kick) == [("one", "sent")]
    assert list_overdue(world) == [kick]


@pytest.mark.usefixtures("online")
def test_command_told_once_waits_for_a_player_who_left_until_it_expires(world: World) -> None:
    """The game server that was told may still carry it out, and must say so, also if the player has moved."""
    kill = add_change(world, "player_killed", people.ZOE.id, "one", life=4_000_000_000_000)
    game_server.leave(world, people.ZOE.id)
    assert list_states(world, kill) == [("one", "waiting")]
    game_server.join(world, people.ZOE.id, server="two")
    assert list_overdue(world) == [kill]
    assert list_states(world, kill) == [("one", "waiting")]
    world.sql("UPDATE deliveries SET expires_at = 2000")
    assert list_overdue(world) == []
    assert list_deliveries(world, kill) == [
        {"Server": "one", "State": "expired", "Reason": None, "At": "1970-01-01T00:00:02.000Z"}
    ]
    read_feed(world, kill)
    assert list_states(world, kill) == [("one", "expired")]
    acknowledge(world, ack(kill, "failed"))
    assert list_states(world, kill) == [("one", "failed")]
    chat = add_change(world, "chat_sent", None, "one two", life=4_000_000_000_000)
    acknowledge(world, ack(chat), server="two")
    assert list_states(world, chat) == [("one", "waiting"), ("two", "applied")]


@pytest.mark.usefixtures("online")
def test_gift_is_waiting_sent_and_applied_by_the_game_server_of_the_player(world: World) -> None:
    gift = give(world)
    read_feed(world, gift, "two")
    game_server.heartbeat(world, "two", AppliedSeq=gift)
    assert list_deliveries(world, gift) == [{"Server": "one", "State": "waiting", "Reason": None, "At": None}]
    refused(game_server.heartbeat(world, AppliedSeq=gift + 1), 409, "cursor_ahead")
    refused(game_server.put_player(world, people.ZOE.id, {"AppliedSeq": gift + 1}), 409, "cursor_ahead")
    read_feed(world, gift)
    assert list_states(world, gift) == [("one", "sent")]
    game_server.heartbeat(world, AppliedSeq=gift - 1)
    assert list_states(world, gift) == [("one", "sent")]
    # the receipt of a heartbeat never moves back
    receipts: list[dict[str, Any]] = [{"AppliedSeq": gift}, {}, {"AppliedSeq": gift - 1}]
    for more in receipts:
        assert game_server.heartbeat(world, **more).status == 200
    assert list_deliveries(world, gift) == [{"Server": "one", "State": "applied", "Reason": None, "At": None}]


@pytest.mark.both_engines
@pytest.mark.usefixtures("online")
def test_report_of_the_player_is_a_receipt_of_its_own(world: World) -> None:
    """Level and receipt are in the same row, which PostgreSQL updates only once in one statement."""
    gift = give(world)
    game_server.heartbeat(world, AppliedSeq=1)
    assert game_server.put_player(world, people.ZOE.id, {"Exp": 7}).status == 200
    assert list_states(world, gift) == [("one", "waiting")]
    for level in (44, 45):
        assert game_server.put_player(world, people.ZOE.id, {"Level": level, "AppliedSeq": gift}).status == 200
        row = world.sql("SELECT level, applied_seq FROM presence WHERE server = 'one'")[0]
        assert tuple(row) == (level, gift)
        assert list_states(world, gift) == [("one", "applied")]
    assert list_states(world, give(world)) == [("one", "waiting")]
