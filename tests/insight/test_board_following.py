"""Boards: what the follower counts when changes, sweeps and ends of seasons meet."""

import pytest

from boarding import BOARDS, catch_up, create, end_now, hide, now, pass_time, read, set_kills, standings
from economics import give, load_players
from expectations import refused
from findings import errors
from gamekeeper.game.accounts import erasures
from gamekeeper.game.insight import board_follower
from gamekeeper.game.insight.board_follower import BoardFollower
from gamekeeper.ground.instants import HOUR_MS as HOUR
from people import ANN, ZOE
from playing import play, roll_up
from tidying import trim_older
from undos import undone
from world import World

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def test_gain_beyond_64_bits_is_the_highest_value_and_stops_no_board(world: World) -> None:
    set_kills(world, "Bob", LOWEST)
    create(world, "kills", "variable", Thing="Kills", Gain=True)
    create(world)
    set_kills(world, "Bob", HIGHEST)
    catch_up(world)
    assert standings(world, "kills")[0] == ("Bob", HIGHEST)
    assert len(standings(world)) == 3


def test_read_answers_when_changes_cannot_be_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    create(world)
    catch_up(world)
    give(world, "Bob", 1)

    async def fail(*_: object, **__: object) -> bool:
        raise OverflowError

    monkeypatch.setattr(BoardFollower, "_count", fail)
    assert read(world)["Total"] == 3


# --- ends of seasons ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_read_late", [False, True])
def test_season_does_not_become_final_without_its_last_changes(world: World, *, is_read_late: bool) -> None:
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    catch_up(world)
    upto, read_at = world.run(world.keeper.feed.find_watermark()), world.now()
    give(world, "Bob", 5)
    pass_time(world, 10)  # else the season may end in the same millisecond
    end_now(world, "gains")
    pass_time(world, HOUR)
    if is_read_late:  # the time is new, the number is old
        read_at = world.now()
    else:
        upto = world.ledger()[-1].seq - 2
        read_at -= HOUR
    while world.run(world.keeper.boards.step(upto, read_at)):
        pass
    assert world.sql("SELECT count(*) FROM seasons WHERE final") == [(0,)]
    catch_up(world)
    assert standings(world, "gains") == [("Bob", 5)]
    assert read(world, "gains")["Season"]["State"] == "final"


@pytest.mark.parametrize("ahead", [1000, 2])
def test_sweep_after_the_end_shows_what_players_had_at_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    monkeypatch.setattr(board_follower, "BATCH_PLAYERS", 1)
    create(world, "coins", "item", Thing="Gold Coin")
    world.run(world.keeper.boards.refresh())
    monkeypatch.setattr(board_follower, "MAX_AHEAD", ahead)
    end_now(world, "coins")
    for name in ("Zoe", "Bob", "Ann", "Bob"):
        give(world, name, 7)
    catch_up(world)
    assert standings(world, "coins") == [("Ann", 1250)]
    pass_time(world, HOUR)
    catch_up(world)
    assert standings(world, "coins") == [("Ann", 1250)]
    assert read(world, "coins")["Season"]["State"] == "final"


def test_import_before_the_end_is_counted_without_later_changes(world: World) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    catch_up(world)
    load_players(world, 2)
    pass_time(world, 10)  # else the season may end in the same millisecond
    end_now(world, "coins")
    give(world, "Ann", 9)
    catch_up(world)
    assert [value for _, value in standings(world, "coins")] == [1250, 2, 1]


def test_audit_log_is_not_trimmed_before_a_past_season_has_started(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        give(world, "Bob", 1)
    world.sql("UPDATE ledger SET at = at - 1000000000 RETURNING seq")
    create(world, "gains", "item", Thing="Gold Coin", Gain=True, StartsAt=now(world, -1000100000))
    monkeypatch.setattr(board_follower, "READ_STEPS", 0)  # the trim does not count first
    world.run(trim_older(world.keeper, 1000))
    monkeypatch.undo()
    catch_up(world)
    assert ("Bob", 5) in standings(world, "gains")


# --- who is listed ------------------------------------------------------------------------------------------------


def test_deleted_player_vanishes_from_an_ended_season_until_it_is_final(world: World) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    for name in ("Bob", "Zoe"):
        give(world, name, 3)
    catch_up(world)
    for board in ("coins", "gains"):
        end_now(world, board)
    give(world, "Bob", 1)
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert standings(world, "coins") == [("Ann", 1250), ("Zoe", 3)]
    assert standings(world, "gains") == [("Zoe", 3)]
    assert undone(world, world.ledger()[-1].seq).status == 200
    assert sorted(standings(world, "coins")) == [("Ann", 1250), ("Bob", 3), ("Zoe", 3)]
    assert sorted(standings(world, "gains")) == [("Bob", 3), ("Zoe", 3)]


def test_follower_behind_an_erasure_stores_nothing_of_the_erased_player(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    create(world)
    give(world, "Ann", 9)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    world.run(erasures.run_all_jobs(world.keeper.store))
    monkeypatch.setattr(board_follower, "BATCH_CHANGES", 1)
    catch_up(world)
    ids = {str(row[0]) for row in world.sql("SELECT player_id FROM standings")}
    assert not ids & {ANN.id, ZOE.id}


# --- play time ----------------------------------------------------------------------------------------------------


def test_play_time_from_the_first_session_has_deleted_ones_with_an_end_too(world: World) -> None:
    play(world, [])
    roll_up(world)
    world.sql("DELETE FROM player_activity")
    world.sql("INSERT INTO player_activity SELECT id, 1, 1, {true}, 7200000 FROM players WHERE id = $1", ANN.id)
    world.sql("UPDATE rollups SET value = position + 10 WHERE name = 'activity' RETURNING name")
    create(world, "ever", "play_time", StartsAt=now(world, -999 * HOUR), EndsAt=now(world, HOUR))
    catch_up(world)
    assert standings(world, "ever") == [("Ann", 7200)]
    past = {"StartsAt": now(world, -999 * HOUR), "EndsAt": now(world, -HOUR)}
    refused(world.post(BOARDS, {"Name": "past", "Title": "x", "Ranks": "play_time", **past}), 400, "bad_field")


# --- cost ---------------------------------------------------------------------------------------------------------


def test_gift_beside_a_ban_or_a_hiding_lists_nobody_anew(world: World) -> None:
    """A listed or withheld player is not looked up for a gift, but for each change of its account."""
    create(world, "coins", "item", Thing="Gold Coin")
    give(world, "Bob", 4)
    catch_up(world)
    assert standings(world, "coins") == [("Ann", 1250), ("Bob", 4)]
    # the ban and the gifts are counted in one batch
    give(world, "Bob", 1)
    ban = {"duration": 5, "reason": "x", "moderator": "m", "ip": False}
    assert world.post("/api/v1/users/Bob/admin/ban", ban).status == 200
    give(world, "Bob", 1)
    assert standings(world, "coins") == [("Ann", 1250)]
    give(world, "Bob", 1)
    assert standings(world, "coins") == [("Ann", 1250)]
    assert world.post("/api/v1/users/Bob/admin/unban", {}).status == 200
    assert ("Bob", 7) in standings(world, "coins")
    assert hide(world, "Ann").status == 200
    catch_up(world)
    give(world, "Ann", 1)
    assert standings(world, "coins") == [("Bob", 7)]
    assert errors(world) == []
