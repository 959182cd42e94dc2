"""Bulk jobs for the players that match a filter: who is collected, when, and which filters are refused."""

from collections.abc import Callable
from typing import Any

import pytest

import approving
import bulking
import game_server
from bulking import GIVE, ROOT, create, get, list_results, list_targets, start, work
from expectations import refused
from gamekeeper.game import player_filters
from gamekeeper.http import bulk_filters
from people import COIN, WARRIOR, guid
from world import World


@pytest.fixture
def crowd(world: World) -> World:
    return fill(world)


def fill(world: World) -> World:
    for number in range(12):
        player_id, body = game_server.newcomer(number, Level=number + 20, ClassId=(WARRIOR.id, guid(32))[number % 2])
        assert game_server.put_player(world, player_id, body).status in {200, 201}
    return world


def list_names(world: World, job: dict[str, Any]) -> list[str]:
    return sorted(each["Player"] for each in list_targets(world, job["Id"]))


def test_job_is_for_those_who_match_when_it_is_created(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names, wanted = ["New10", "New2", "New4", "New6", "New8"], {"LevelFrom": 22, "ClassId": WARRIOR.id, "Banned": False}
    job = create(crowd, Filter=wanted)
    for name in ("MAX_SORTED", "MAX_SEARCHED", "BATCH_ROWS"):
        monkeypatch.setattr(player_filters, name, 3)
    monkeypatch.setattr(bulk_filters, "STEP_PLAYERS", 3)
    in_steps = create(crowd, Filter=wanted)
    for each in (job, in_steps):
        assert (each["Players"], each["NotFound"], each["Repeated"]) == (5, 0, 0)
        assert list_names(crowd, each) == names
    assert crowd.post("/api/v1/players/New2/level", {"level": 1}).status == 200  # does not match any more
    start(crowd, job["Id"])
    work(crowd)
    assert get(crowd, job["Id"])["Done"] == 5
    assert list_names(crowd, job) == names
    assert [bulking.count_coins(crowd, name) for name in ("New2", "New3", "New4")] == [5, 0, 5]


def test_filter_adds_to_named_players_and_finds_holders(crowd: World) -> None:
    job = create(crowd, "New11", "Ann", Filter={"LevelFrom": 31, "Search": "new"})
    assert [name for name, *_ in list_results(crowd, job["Id"])] == ["New11", "Ann"]
    assert (job["Players"], job["Repeated"]) == (2, 1)
    crowd.sql("INSERT INTO holdings VALUES ($1, 'item', $2, 7)", guid(0x1003), COIN.id)
    job = create(crowd, Act="take_item", ItemId=COIN.id, Quantity=7, Filter={"ItemId": COIN.id})
    assert list_names(crowd, job) == ["New3"]


def test_approval_rule_counts_the_collected_players(make_world: Callable[..., World]) -> None:
    world = fill(approving.make_strict(make_world, approvals="bulk.run>5"))
    few = create(world, Filter={"LevelFrom": 27, "LevelTo": 31})
    many = create(world, Filter={"LevelFrom": 26, "LevelTo": 31})
    assert (few["Players"], many["Players"]) == (5, 6)
    assert bulking.act(world, few["Id"], "start").status == 200
    assert bulking.act(world, many["Id"], "start").status == 202


def test_wide_filters_are_refused(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.game.bulk_jobs.MOST_PLAYERS", 5)
    monkeypatch.setattr(bulk_filters, "MOST_PLAYERS", 5)
    too_many = crowd.post(ROOT, GIVE | {"Filter": {"LevelFrom": 20}})
    refused(too_many, 400, "too_many_players")
    for name in ("MAX_SORTED", "MAX_SEARCHED", "BATCH_ROWS"):
        monkeypatch.setattr(player_filters, name, 3)
    monkeypatch.setattr(bulk_filters, "MAX_COMPARED", 6)
    wide = crowd.post(ROOT, GIVE | {"Filter": {"ClassId": WARRIOR.id, "LevelTo": 21}})
    refused(wide, 400, "filter_too_wide")
    assert "6 players" in wide.message
    assert crowd.get(ROOT).json["Jobs"] == []


def test_malformed_and_forbidden_filters_are_refused(shared_world: World) -> None:
    for wanted in ({}, {"Search": "ab"}, {"LevelFrom": 7, "LevelTo": 6}, {"Colour": "red"}):
        assert shared_world.post(ROOT, GIVE | {"Filter": wanted}).status == 400, wanted
    body = GIVE | {"Filter": {"Banned": True}}
    refused(shared_world.post(ROOT, body, by="Shop"), 403, "role_missing")
    refused(shared_world.post(ROOT, body), 400, "no_players")
