"""Commands in the change feed and their acknowledgements by game servers."""

import pytest

import api_keys
import game_server
import people
from commanding import CHANGES, ack, acknowledge, read_feed, read_last, stored
from expectations import refused
from gamekeeper.game import erasure_jobs, retention
from tidying import trim_older
from world import World


@pytest.fixture
def kick(world: World) -> int:
    """Return the number of a kick of Zoe, who is on server one; Bob is on server two."""
    for server, player in (("one", people.ZOE), ("two", people.BOB)):
        game_server.heartbeat(world, server)
        game_server.join(world, player.id, server=server)
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    return read_last(world)


def test_kick_is_told_to_the_game_server_of_the_player(world: World, kick: int) -> None:
    told = read_feed(world, kick - 1)
    assert [(each["Seq"], each["Server"], each["ExpiresAt"], each["Expired"]) for each in told] == [
        (kick, "one", None, False)
    ]
    assert read_feed(world, kick - 1, "two") == []
    # a gift has no delivery and is told to all; a command that is told once is not in the feed without a server
    world.post("/api/v1/players/Bob/items/give", {"itemid": people.COIN.id, "quantity": 1})
    assert stored(world) == [("one", "waiting", None)]
    assert [each["Kind"] for each in read_feed(world, kick)] == ["items_given"]
    assert world.post("/api/v1/players/Zoe/admin/kill", {}).status == 200
    told = world.get(f"{CHANGES}?after={kick - 1}&limit=9", by="Server").json["Changes"]
    assert [each["Kind"] for each in told] == ["user_kicked", "items_given"]
    # a notice of an older version has no delivery, and is told to every game server
    world.sql("DELETE FROM deliveries")
    for server in ("one", "two"):
        told = world.get(f"{CHANGES}?after={kick - 1}&server={server}&limit=1", by="Server").json["Changes"]
        assert [each["Seq"] for each in told] == [kick]


def test_first_acknowledgement_stands_except_unknown(world: World, kick: int) -> None:
    refused(acknowledge(world, ack(kick), ack(kick + 1)), 409, "not_told")  # the whole batch
    refused(acknowledge(world, ack(kick), server="two"), 409, "not_told")
    assert stored(world) == [("one", "waiting", None)]
    answer = acknowledge(world, ack(kick, reason="done"))
    assert (answer.status, answer.json) == (200, {"Acks": [{"Seq": kick, "State": "applied"}]})
    assert acknowledge(world, ack(kick)).json == answer.json
    assert stored(world) == [("one", "applied", "done")]
    for first, second, stands in (
        ("applied", "failed", "applied"),
        ("applied", "unknown", "applied"),
        ("failed", "applied", "failed"),
        ("unknown", "applied", "applied"),
        ("unknown", "failed", "failed"),
        ("unknown", "unknown", "unknown"),
    ):
        world.sql("UPDATE deliveries SET state = 'waiting', reason = NULL, acked_at = NULL")
        assert acknowledge(world, ack(kick, first)).json == {"Acks": [{"Seq": kick, "State": first}]}
        assert acknowledge(world, ack(kick, second)).json == {"Acks": [{"Seq": kick, "State": stands}]}


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
    world.post("/api/v1/players/Zoe/items/give", {"itemid": people.COIN.id, "quantity": 1})
    gift = read_last(world)
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
    world.run(erasure_jobs.run_all_jobs(world.keeper.store))
    if is_late:
        tell()
    assert stored(world) == [("one", "failed", None)]


def test_key_of_one_game_server_speaks_for_no_other(world: World, kick: int) -> None:
    key = api_keys.create(world, Name="one", Permissions=["game.link"], Owner="Server", Servers=["one"])["Key"]
    for server, status in (("one", 200), ("two", 403)):
        path = f"{game_server.LINK}/servers/{server}/acks"
        assert world.call("POST", path, body={"Acks": []}, token=key).status == status
        assert world.call("GET", f"{CHANGES}?after={kick}&server={server}", token=key).status == status


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
