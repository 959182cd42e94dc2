"""Definitions of boards, and which players they list: not the hidden, banned, deleted and erased ones."""

from typing import Any

import pytest

from boarding import BOARDS, catch_up, create, end_now, hide, pass_time, put, read, standings
from economics import give
from expectations import refused
from gamekeeper.game import board_seasons, erasure_jobs
from gamekeeper.game import standings as standing_rules
from gamekeeper.game.board_follower import BoardFollower
from gamekeeper.game.calendar_steps import HOUR_MS as HOUR
from gamekeeper.store import clock
from loops import over
from people import ANN, USER_IDS, ZOE
from undos import undone
from world import World


def test_hidden_account_is_on_no_board_until_it_is_shown(world: World) -> None:
    create(world)
    catch_up(world)
    end_now(world)
    pass_time(world, HOUR)
    catch_up(world)
    create(world, "coins", "item", Thing="Gold Coin")
    catch_up(world)
    assert hide(world, "Ann").json == {"UserId": USER_IDS["Ann"], "User": "Ann", "Hidden": True}
    assert standings(world) == [("Bob", 3)]  # final standings too
    assert standings(world, "coins") == []
    give(world, "Ann", 1)
    assert standings(world, "coins") == []
    assert [each["User"] for each in world.get(BOARDS).json["Hidden"]] == ["Ann"]
    assert hide(world, "Ann", hidden=False).json["Hidden"] is False
    assert standings(world, "coins") == [("Ann", 1251)]
    assert standings(world) == [("Zoe", 12), ("Ann", 12), ("Bob", 3)]
    assert world.sql("SELECT count(*) FROM hidden_accounts") == [(0,)]


def test_banned_players_and_staff_are_hidden(world: World) -> None:
    create(world)
    create(world, "all", HideStaff=False)
    catch_up(world)
    body = {"duration": 1, "reason": "x", "moderator": "m", "ip": False}
    for end in (lambda: pass_time(world, 25 * HOUR), lambda: world.post("/api/v1/users/Ann/admin/unban", {})):
        assert world.post("/api/v1/users/Ann/admin/ban", body).status == 200
        assert standings(world) == [("Bob", 3)]
        end()
        assert standings(world) == [("Zoe", 12), ("Ann", 12), ("Bob", 3)]
    assert world.post("/api/keeper/v1/users/Bob/roles", {"give": ["moderator"]}).status == 200
    assert standings(world) == [("Zoe", 12), ("Ann", 12)]
    assert len(standings(world, "all")) == 3
    assert put(world, "levels", {"HideStaff": False}).status == 200
    assert len(standings(world)) == 3


def test_staff_is_reviewed_in_batches_that_go_on_after_a_crash(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing_rules, "BATCH_STAFF", 1)
    create(world)
    catch_up(world)
    for name in ("Ann", "Bob"):
        assert world.post(f"/api/keeper/v1/users/{name}/roles", {"give": ["moderator"]}).status == 200
    catch_up(world)
    count = "SELECT COUNT(*) FROM standings WHERE listed"
    assert world.sql(count) == [(0,)]
    end_now(world)
    catch_up(world)
    counted = world.ledger()[-1].seq
    assert put(world, "levels", {"HideStaff": False}).status == 200
    pass_time(world, HOUR)
    seen, read_at = list[int](), 0
    while world.sql("SELECT 1 FROM boards WHERE reviewed IS NOT NULL"):
        # each step is by a follower of its own, as after a crash
        follower = BoardFollower(world.keeper.store, world.keeper.changes.codec, world.keeper.feed)
        upto, read_at = world.ledger()[-1].seq, world.run(clock.now(world.keeper.store))
        assert world.run(board_seasons.find_finished(world.keeper.store, counted, read_at)) is None
        assert world.run(follower.step(upto, read_at))
        seen += [number for ((number,),) in (world.sql(count),) if number not in seen]
        assert world.sql("SELECT COUNT(*) FROM seasons WHERE final") == [(0,)]
    assert seen == [0, 2, 3]
    assert world.run(board_seasons.find_finished(world.keeper.store, counted, read_at)) is not None
    catch_up(world)
    assert read(world)["Season"]["State"] == "final"
    assert len(standings(world)) == 3


def test_deleted_player_comes_back_with_an_undo_and_an_erased_one_does_not(world: World) -> None:
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    create(world)
    give(world, "Ann", 9)
    give(world, "Zoe", 4)
    catch_up(world)
    assert world.call("DELETE", "/api/v1/players/Zoe").status == 200
    assert standings(world, "gains") == [("Ann", 9)]
    assert standings(world) == [("Ann", 12), ("Bob", 3)]
    assert undone(world, world.ledger()[-1].seq).status == 200
    assert standings(world, "gains") == [("Ann", 9), ("Zoe", 4)]
    assert len(standings(world)) == 3


def test_erased_person_keeps_only_a_place_without_id_in_final_standings(world: World) -> None:
    create(world)
    create(world, "coins", "item", Thing="Gold Coin")
    catch_up(world)
    end_now(world)
    pass_time(world, HOUR)
    catch_up(world)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    world.run(erasure_jobs.run_all_jobs(world.keeper.store))
    catch_up(world)
    assert standings(world, "coins") == []
    assert standings(world) == [(None, 12), (None, 12), ("Bob", 3)]
    ids = {str(row[0]) for row in world.sql("SELECT player_id FROM standings")}
    ids |= {str(row[0]) for row in world.sql("SELECT player_id FROM standing_buckets")}
    assert not ids & {ANN.id, ZOE.id}


BOARD = {"Name": "a", "Title": "x", "Ranks": "level"}


@over(
    "given",
    [
        {"Name": "A B"},
        {"Ranks": "item", "Thing": "Nothing"},
        {"Ranks": "play_time", "Gain": True},
        {"Gain": True, "StartsAt": "2020-01-02T00:00:00Z", "EndsAt": "2020-01-01T00:00:00Z"},
    ],
)
def test_unusable_board_is_malformed(shared_world: World, given: dict[str, Any]) -> None:
    refused(shared_world.post(BOARDS, BOARD | given), 400, "bad_field")
    assert shared_world.get(BOARDS).json["Boards"] == []


def test_board_is_created_renamed_deleted_and_created_again(world: World) -> None:
    body, key = {"Name": "levels", "Title": "Levels", "Ranks": "level"}, {"Idempotency-Key": "once"}
    first, again = (world.post(BOARDS, body, headers=key) for _ in range(2))
    assert (first.status, first.raw) == (200, again.raw)
    assert len(world.get(BOARDS).json["Boards"]) == 1
    refused(world.post(BOARDS, BOARD | {"Name": "levels"}), 409, "board_exists")
    answer = undone(world, world.ledger()[-2].seq)
    refused(answer, 409, "not_undoable")
    assert put(world, "levels", {"Title": "Top", "Public": True}).json["Title"] == "Top"
    rows = world.ledger()
    assert put(world, "LEVELS", {"Title": "Top"}).status == 200
    assert world.ledger() == rows
    catch_up(world)
    assert world.call("DELETE", f"{BOARDS}/levels").status == 200
    refused(world.get(f"{BOARDS}/levels/standings"), 404, "no_such_board")
    create(world)
    catch_up(world)
    assert len(standings(world)) == 3
    kinds = [each.kind for each in world.ledger() if "board" in each.kind or "season" in each.kind]
    expected = ["board_saved", "season_saved", "board_saved", "board_deleted", "board_saved", "season_saved"]
    assert kinds == expected
