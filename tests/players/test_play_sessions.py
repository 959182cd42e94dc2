"""Play sessions of players: when they start and end, and who sees them."""

from itertools import pairwise
from typing import Any

from expectations import refused
from findings import findings
from game_server import heartbeat, join, leave
from gamekeeper.game.accounts import erasures
from gamekeeper.game.players import presence
from gamekeeper.ground.instants import DAY_MS, format_instant, parse_instant
from people import ANN, BOB, ZOE
from playing import find_midnight, play, read_sessions, roll_up
from world import World


def sessions(world: World, name: str = "Ann", query: str = "") -> Any:
    return world.get(f"/api/keeper/v1/players/{name}/sessions{query}").json


def test_session_is_open_while_online_and_ends_with_left(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    [opened] = sessions(world)["Sessions"]
    assert (opened["Server"], opened["EndedAt"], opened["Seconds"]) == ("one", None, None)
    join(world, ANN.id)
    assert sessions(world)["Sessions"] == [opened]
    leave(world, ANN.id)
    [ended] = sessions(world)["Sessions"]
    assert ended["StartedAt"] == opened["StartedAt"] <= ended["EndedAt"]
    seen = parse_instant(world.get("/api/v1/players/Ann").json["LastOnline"])
    assert abs(parse_instant(ended["EndedAt"]) - seen) < 100
    assert ended["Seconds"] == 0
    leave(world, ANN.id)
    assert sessions(world)["Sessions"] == [ended]
    assert sessions(world, "Bob") == {"Sessions": [], "Next": None}


def test_player_that_moves_to_another_server_gets_a_new_session(world: World) -> None:
    heartbeat(world, "one")
    heartbeat(world, "two")
    join(world, ANN.id, server="one")
    join(world, ANN.id, server="two")
    leave(world, ANN.id, server="one")
    second, first = sessions(world)["Sessions"]
    assert (first["Server"], second["Server"], second["EndedAt"]) == ("one", "two", None)
    assert first["StartedAt"] <= first["EndedAt"] <= second["StartedAt"]
    assert findings(world, "activity") == []


def test_sessions_of_one_player_never_overlap_also_within_a_millisecond(world: World) -> None:
    heartbeat(world)
    for _ in range(12):
        join(world, ANN.id, ZOE.id)
        leave(world, ANN.id, ZOE.id)
    for player_id in (ANN.id, ZOE.id):
        own = [(start, end) for each, _, start, end in read_sessions(world) if each == player_id]
        assert len(own) == 12
        assert all(before[1] <= after[0] and before[0] < after[0] for before, after in pairwise(own))


def test_session_in_the_future_does_not_stop_the_next_one(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    world.wait_for_next_millisecond()
    leave(world, ANN.id)
    world.sql("UPDATE play_sessions SET ended_at = ended_at + $1", 400 * DAY_MS)
    join(world, ANN.id)
    leave(world, ANN.id)
    now = world.now()
    [(_, _, first_start, first_end), (_, _, second_start, second_end)] = read_sessions(world)
    assert first_start < first_end <= second_start <= second_end <= now  # the first one is cut
    join(world, BOB.id)
    world.sql("UPDATE play_sessions SET started_at = started_at + $1 WHERE ended_at IS NULL", 400 * DAY_MS)
    leave(world, BOB.id)
    join(world, BOB.id)
    leave(world, BOB.id)
    now = world.now()
    [(start, end), (future_start, future_end)] = [each[2:] for each in read_sessions(world) if each[0] == BOB.id]
    assert start <= end <= now < future_start == future_end
    assert findings(world, "activity") == []


def test_open_session_without_presence_is_ended_by_the_next_one(world: World) -> None:
    """However a session was left open, its player can come online."""
    heartbeat(world)
    world.insert("play_sessions", player_id=ANN.id, started_at=1000, server="gone")
    assert join(world, ANN.id).status == 200
    [(_, _, _, left), (_, server, start, end)] = read_sessions(world)
    assert (server, end) == ("one", None)
    assert 1000 < left <= start
    assert findings(world, "activity") == []


def test_session_ends_when_the_lease_expired_and_with_a_closed_server(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    world.sql("UPDATE play_sessions SET started_at = 1000")
    world.sql("UPDATE servers SET expires_at = 61000")
    world.run(presence.expire_leases(world.keeper.store))
    assert read_sessions(world) == [(ANN.id, "one", 1000, 61000)]  # not when the expiry was noticed
    heartbeat(world)
    join(world, ZOE.id, BOB.id)
    assert world.call("DELETE", "/api/link/v1/servers/one", by="Server").status == 200
    assert all(end is not None for *_, end in read_sessions(world))
    assert findings(world, "activity") == []


def test_sessions_are_paged_by_a_cursor(world: World) -> None:
    start = find_midnight(world, 10)
    play(world, [(ANN.id, start + day * DAY_MS, start + day * DAY_MS + 90_500) for day in range(3)])
    first = sessions(world, query="?limit=2")
    times = [(each["StartedAt"], each["Seconds"]) for each in first["Sessions"]]
    assert times == [(format_instant(start + 2 * DAY_MS), 90), (format_instant(start + DAY_MS), 90)]
    second = sessions(world, query=f"?limit=2&before={first['Next']}")
    assert [each["StartedAt"] for each in second["Sessions"]] == [format_instant(start)]
    assert second["Next"] is None
    refused(world.get("/api/keeper/v1/players/Ann/sessions?before=x"), 400, "bad_field", "before")


def test_sessions_of_an_erased_person_get_a_random_id(world: World) -> None:
    start = find_midnight(world, 3)
    play(world, [(player_id, start, start + 1000) for player_id in (ANN.id, BOB.id)])
    play(world, [(ANN.id, start + DAY_MS, start + DAY_MS + 1000)])
    roll_up(world)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    world.run(erasures.run_all_jobs(world.keeper.store))
    owners = {each[0] for each in read_sessions(world)}
    assert (len(owners), ANN.id in owners) == (2, False)
    assert ANN.id not in {each[0] for each in world.sql("SELECT player_id FROM player_activity")}
    assert findings(world, "activity") == []
