"""The public side: boards and players without a token, only if a setting says so."""

import re

import pytest

from boarding import BOARDS, catch_up, create, now, pass_time
from expectations import refused
from gamekeeper.game.insight.refusals import TooManyPublicRequests
from gamekeeper.ground.settings import BadSetting, Settings
from gamekeeper.http.insight import public
from gamekeeper.http.server.rate_limits import PublicGuard
from people import ANN, USER_IDS
from world import Answer, MakeWorld, World

BOARD, PLAYER = "/api/public/v1/boards/levels", "/api/public/v1/players/"


def ask(world: World, path: str, headers: dict[str, str] | None = None) -> Answer:
    return world.get(path, by=None, headers=headers or {})


@pytest.fixture
def shown(make_world: MakeWorld) -> World:
    world = make_world(public_boards=True, public_fields="Exp, Online")
    create(world, Public=True)
    catch_up(world)
    return world


def test_public_side_is_off_by_default(world: World) -> None:
    create(world, Public=True)
    catch_up(world)
    for path in (BOARD, f"{PLAYER}Ann"):
        refused(ask(world, path), 404, "no_such_route")


def test_public_board_needs_no_token_and_can_be_cached(shown: World) -> None:
    answer = ask(shown, BOARD)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert answer.headers["cache-control"] == "public, max-age=30"
    assert answer.json["Values"] == [
        {"Rank": 1, "Name": "Zoe", "Value": 12},
        {"Rank": 2, "Name": "Ann", "Value": 12},
        {"Rank": 3, "Name": "Bob", "Value": 3},
    ]
    assert (answer.json["Title"], answer.json["Total"]) == ("Levels", 3)
    again = ask(shown, BOARD, {"If-None-Match": answer.headers["etag"]})
    assert (again.status, again.raw) == (304, b"")
    assert ask(shown, f"{BOARD}?page=1&pageSize=2").json["Values"][0]["Name"] == "Bob"
    assert ask(shown, f"{BOARD}?page=&pageSize=&season=").json == ask(shown, BOARD).json  # empty: left out


def test_player_has_only_public_fields_and_no_answer_has_ids(shown: World) -> None:
    for path in (BOARD, f"{PLAYER}Ann"):
        raw = ask(shown, path).raw.decode()
        assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", raw)
    found = ask(shown, f"{PLAYER}ann").json
    assert list(found) == ["Name", "Level", "Class", "Rank", "Boards", "Exp", "Online"]
    assert (found["Name"], found["Level"], found["Class"], found["Exp"]) == ("Ann", 12, "Warrior", 345)
    assert found["Boards"] == [{"Board": "levels", "Title": "Levels", "Rank": 2, "Value": 12}]


def test_board_that_is_not_public_is_like_an_unknown_one(shown: World) -> None:
    create(shown, "secret")
    for name in ("secret", "nothing"):
        refused(ask(shown, f"/api/public/v1/boards/{name}"), 404, "no_such_board")
    assert shown.call("DELETE", f"{BOARDS}/levels").status == 200
    refused(ask(shown, BOARD), 404, "no_such_board")


def test_planned_season_is_not_public(shown: World) -> None:
    seasons = f"{BOARDS}/levels/seasons"
    assert shown.post(seasons, {"Title": "Secret event", "StartsAt": now(shown, 3_600_000)}).status == 200
    answer = ask(shown, BOARD)
    assert [each["Number"] for each in answer.json["Seasons"]] == [1]
    assert b"Secret event" not in answer.raw
    refused(ask(shown, f"{BOARD}?season=2"), 404, "no_such_season")
    create(shown, "later", Public=True, SeasonTitle="Secret event", StartsAt=now(shown, 3_600_000))
    refused(ask(shown, "/api/public/v1/boards/later"), 404, "no_such_board")
    pass_time(shown, 3_600_001)
    catch_up(shown)
    assert ask(shown, BOARD).json["Season"]["Title"] == "Secret event"


def test_hidden_banned_and_unknown_players_are_the_same(shown: World) -> None:
    refused(ask(shown, f"{PLAYER}{ANN.id}"), 404, "no_such_player")
    assert shown.post("/api/keeper/v1/users/Ann/boards", {"Hidden": True}).status == 200
    assert shown.post("/api/v1/users/Bob/admin/ban", {"duration": 1}).status == 200
    messages = set[str]()
    for name in ("Ann", "Bob", "Nobody"):
        answer = ask(shown, f"{PLAYER}{name}")
        refused(answer, 404, "no_such_player")
        messages.add(answer.message.replace(name, "x"))
    assert len(messages) == 1
    catch_up(shown)
    assert ask(shown, BOARD).json["Values"] == []
    assert USER_IDS["Ann"].encode() not in ask(shown, BOARD).raw


def test_address_that_asks_too_often_has_to_wait(make_world: MakeWorld) -> None:
    world = make_world(public_boards=True, public_per_minute=2)
    create(world, Public=True)
    assert [ask(world, BOARD).status for _ in range(3)] == [200, 200, 429]
    assert int(ask(world, f"{PLAYER}Ann").headers["retry-after"]) <= 61


def test_limit_is_per_address_or_ipv6_network_and_starts_anew_each_minute() -> None:
    now = [0.0]
    for first, second, limited in (
        ("a", "b", False),
        ("a", "a", True),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
    ):
        guard = PublicGuard(lambda: now[0])
        guard.count(first, 1)
        if limited:
            with pytest.raises(TooManyPublicRequests):
                guard.count(second, 1)
            now[0] += 61
        guard.count(second, 1)


def test_setting_names_only_fields_without_ids() -> None:
    assert public.parse_fields(Settings(public_fields="Exp, Online")) == ("Exp", "Online")
    with pytest.raises(BadSetting, match="UserId"):
        public.parse_fields(Settings(public_fields="UserId"))
