"""Boards: definitions, standings by level, item, variable and play time, seasons, and who is listed."""

import pytest

import staff
from boarding import BOARDS, catch_up, create, end_now, hide, now, pass_time, put, read, set_kills, standings
from economics import give, load_players
from expectations import refused
from game_server import heartbeat, join, put_player
from gamekeeper.game.accounts import erasures
from gamekeeper.game.insight import boards
from gamekeeper.ground.instants import HOUR_MS as HOUR
from people import ANN, KILLS, USER_IDS, ZOE
from playing import SERVER, roll_up
from undos import undone
from world import World


def set_level(world: World, name: str, level: int) -> None:
    assert world.post(f"/api/v1/players/{name}/level", {"level": level}).status == 200


def add_session(world: World, player_id: str, hours_ago: int, hours: int) -> None:
    start = world.now() - hours_ago * HOUR
    end = start + hours * HOUR
    world.insert("play_sessions", player_id=player_id, started_at=start, server=SERVER, ended_at=end)


# --- standings ----------------------------------------------------------------------------------------------------


def test_boards_rank_and_follow_changes(world: World) -> None:
    create(world)
    create(world, "coins", "item", Thing="Gold Coin")
    create(world, "kills", "variable", Thing=KILLS.id)
    give(world, "Bob", 3)
    assert read(world)["Season"]["Complete"] is False
    catch_up(world)
    assert read(world)["Season"]["Complete"] is True
    assert standings(world) == [("Zoe", 12), ("Ann", 12), ("Bob", 3)]
    set_level(world, "Bob", 13)
    assert standings(world) == [("Bob", 13), ("Zoe", 12), ("Ann", 12)]
    assert [each["Rank"] for each in read(world)["Values"]] == [1, 2, 3]
    report = {"Name": "Ann", "UserId": USER_IDS["Ann"], "Level": 12, "Exp": 346}
    assert put_player(world, ANN.id, report).status == 200
    assert standings(world) == [("Bob", 13), ("Ann", 12), ("Zoe", 12)]

    assert standings(world, "coins") == [("Ann", 1250), ("Bob", 3)]
    give(world, "Zoe", 7)
    give(world, "Bob", 3, what="take")
    assert standings(world, "coins") == [("Ann", 1250), ("Zoe", 7)]
    assert read(world, "coins")["Board"]["Thing"] == "Gold Coin"

    before = standings(world, "kills")
    set_kills(world, "Bob", 1000)
    assert standings(world, "kills") == [("Bob", 1000), *before]


def test_gain_counts_differences_within_the_season(world: World) -> None:
    set_kills(world, "Ann", 500)
    create(world, "kills", "variable", Thing="Kills", Gain=True)
    create(world, "ups", "level", Gain=True)
    create(world, "earned", "item", Thing="Gold Coin", Gain=True)
    set_kills(world, "Ann", 510)
    set_kills(world, "Bob", 4)
    set_kills(world, "Bob", 3)
    set_level(world, "Bob", 9)
    give(world, "Zoe", 5)
    give(world, "Ann", 1, what="take")
    catch_up(world)
    assert standings(world, "kills") == [("Ann", 10), ("Bob", 3)]
    assert standings(world, "ups") == [("Bob", 6)]
    assert standings(world, "earned") == [("Zoe", 5)]
    assert undone(world, world.ledger()[-2].seq).status == 200
    assert standings(world, "earned") == []


@pytest.mark.usefixtures("small_counts")
def test_pages_and_neighbours_are_exact_in_small_buckets(world: World) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    catch_up(world)
    load_players(world, 40)
    give(world, f"Loaded{0x5003}", 100)
    catch_up(world)
    everyone = standings(world, "coins")
    assert len(everyone) == 41
    assert everyone == sorted(everyone, key=lambda each: -each[1])
    for rank, (name, _) in enumerate(everyone, start=1):
        near = read(world, "coins", f"?player={name}&pageSize=5")["Values"]
        assert (near[min(rank - 1, 2)]["Name"], near[min(rank - 1, 2)]["Rank"]) == (name, rank)
    refused(world.get(f"{BOARDS}/coins/standings?player=Zoe"), 404, "not_on_board")


# --- seasons ------------------------------------------------------------------------------------------------------


def test_season_keeps_its_final_standings(world: World) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    give(world, "Bob", 3)
    catch_up(world)
    end_now(world, "coins")
    give(world, "Bob", 5000)
    assert standings(world, "coins") == [("Ann", 1250), ("Bob", 3)]
    assert read(world, "coins")["Season"]["State"] == "ended"
    pass_time(world, HOUR)
    catch_up(world)
    assert read(world, "coins")["Season"]["State"] == "final"
    assert world.post(f"{BOARDS}/coins/seasons", {"Title": "Second"}).status == 200
    catch_up(world)
    assert standings(world, "coins") == [("Bob", 5003), ("Ann", 1250)]
    assert standings(world, "coins", "?season=1") == [("Ann", 1250), ("Bob", 3)]
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert standings(world, "coins") == [("Ann", 1250)]
    last = read(world, "coins", "?season=1")["Values"][1]
    assert (last["Rank"], last["Name"], last["PlayerId"], last["Value"]) == (2, None, None, 3)


def test_change_at_the_end_of_a_season_does_not_count(world: World) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    catch_up(world)
    give(world, "Bob", 1)
    give(world, "Bob", 2)
    give(world, "Bob", 4)
    numbers = [each.seq for each in world.ledger()[-3:]]
    end = world.sql("SELECT at FROM ledger WHERE seq = $1", numbers[0])[0][0] + 60_000
    for seq, at in zip(numbers, (end - 1, end, end + 1), strict=True):
        world.sql("UPDATE ledger SET at = $2 WHERE seq = $1 RETURNING seq", seq, at)
    world.sql("UPDATE seasons SET ends_at = $1 RETURNING id", end)
    catch_up(world)
    assert standings(world, "coins") == [("Ann", 1250), ("Bob", 1)]


def test_play_time_of_a_session_across_the_end_is_cut(world: World) -> None:
    add_session(world, ANN.id, 3, 2)
    create(world, "played", "play_time", StartsAt=now(world, -8 * HOUR), EndsAt=now(world, -2 * HOUR))
    catch_up(world)
    assert read(world, "played")["Season"]["State"] == "ended"  # a session of its time is not counted yet
    roll_up(world)
    catch_up(world)
    ((name, seconds),) = standings(world, "played")
    assert (name, abs(seconds - 3600) <= 10) == ("Ann", True)
    assert read(world, "played")["Season"]["State"] == "final"


def test_play_time_counts_players_who_are_online_at_the_end_of_a_season(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    world.sql("UPDATE play_sessions SET started_at = started_at - $1", 3 * HOUR)
    create(world, "played", "play_time", StartsAt=now(world, -8 * HOUR), EndsAt=now(world, -HOUR))
    for follow in (catch_up, roll_up, roll_up, catch_up):
        follow(world)
    ((name, seconds),) = standings(world, "played")
    assert (name, abs(seconds - 7200) <= 10) == ("Ann", True)
    assert read(world, "played")["Season"]["State"] == "final"


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


def test_erased_person_keeps_only_a_place_without_id_in_final_standings(world: World) -> None:
    create(world)
    create(world, "coins", "item", Thing="Gold Coin")
    catch_up(world)
    end_now(world)
    pass_time(world, HOUR)
    catch_up(world)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    world.run(erasures.run_all_jobs(world.keeper.store))
    catch_up(world)
    assert standings(world, "coins") == []
    assert standings(world) == [(None, 12), (None, 12), ("Bob", 3)]
    ids = {str(row[0]) for row in world.sql("SELECT player_id FROM standings")}
    ids |= {str(row[0]) for row in world.sql("SELECT player_id FROM standing_buckets")}
    assert not ids & {ANN.id, ZOE.id}


BOARD = {"Name": "a", "Title": "x", "Ranks": "level"}


def test_board_is_created_renamed_deleted_and_created_again(world: World) -> None:
    create(world)
    refused(world.post(BOARDS, BOARD | {"Name": "levels"}), 409, "board_exists")
    answer = undone(world, world.ledger()[-2].seq)
    refused(answer, 409, "not_undoable")
    assert put(world, "levels", {"Title": "Top", "Public": True}).json["Title"] == "Top"
    with world.nothing_recorded():
        assert put(world, "LEVELS", {"Title": "Top"}).status == 200
    catch_up(world)
    assert world.call("DELETE", f"{BOARDS}/levels").status == 200
    refused(world.get(f"{BOARDS}/levels/standings"), 404, "no_such_board")
    create(world)
    catch_up(world)
    assert len(standings(world)) == 3
    kinds = [each.kind for each in world.ledger() if "board" in each.kind or "season" in each.kind]
    expected = ["board_saved", "season_saved", "board_saved", "board_deleted", "board_saved", "season_saved"]
    assert kinds == expected


def test_boards_and_hidden_accounts_are_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "MAX_BOARDS", 1)
    monkeypatch.setattr(boards, "MAX_HIDDEN", 1)
    create(world)
    refused(world.post(BOARDS, {"Name": "a", "Title": "x", "Ranks": "level"}), 409, "too_many_boards")
    assert hide(world, "Ann").status == 200
    refused(hide(world, "Bob"), 409, "too_many_hidden")
    # only those who may see accounts are told which are hidden
    reader = staff.add_account(world, "Reader", staff.save_role(world, "reader", ["players.read"]))
    assert world.get(BOARDS, token=reader).json["Hidden"] == []
    assert [each["User"] for each in world.get(BOARDS).json["Hidden"]] == ["Ann"]
