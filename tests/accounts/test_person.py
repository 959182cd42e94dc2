"""GET users/[lookupKey]/export: all data of a person over the API, as in the file of the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import people
from gamekeeper.copies.exports import export_person
from gamekeeper.ground.instants import DAY_MS, format_day, format_instant
from gamekeeper.http.accounts import person
from playing import find_midnight, play, roll_up
from proof import refused
from world import World

PATH = "/api/keeper/v1/users/{}/export"
ANN, ROOT = people.USER_IDS["Ann"], people.USER_IDS["Root"]


def exports(world: World) -> list[dict[str, Any]]:
    return world.get("/api/keeper/v1/security?kind=person_exported").json["Events"]


def test_export_equals_the_file_of_the_command_line_and_is_in_the_security_log(world: World, tmp_path: Path) -> None:
    world.run(export_person(world.keeper, "Ann", tmp_path / "ann.json", force=False))
    answer = world.get(PATH.format("ann")).accepted()
    assert answer.json == json.loads((tmp_path / "ann.json").read_bytes())
    assert answer.json["account"]["Name"] == "Ann"
    assert answer.headers["content-disposition"] == f'attachment; filename="person-{ANN}.json"'
    [event] = exports(world)
    assert (event["UserId"], event["ActorId"]) == (ANN, ROOT)


def test_export_has_sessions_and_play_time_of_deleted_players_too(world: World) -> None:
    start = find_midnight(world, 3)
    play(world, [(people.ANN.id, start, start + 90_000), (people.BOB.id, start, start + 1)])
    roll_up(world)
    assert world.call("DELETE", "/api/v1/players/Ann").status == 200
    found = world.get(PATH.format("Ann")).json
    day = format_day(start // DAY_MS)
    session = {"player_id": people.ANN.id, "started_at": format_instant(start), "server": "one"}
    assert people.ANN.id not in [each["Id"] for each in found["characters"]]
    assert found["play_sessions"] == [session | {"ended_at": format_instant(start + 90_000)}]
    assert found["play_time"] == [
        {"player_id": people.ANN.id, "first_day": day, "last_day": day, "is_new": False, "play_ms": 90_000}
    ]


def test_refused_export_is_not_recorded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(world.get(PATH.format("Ann"), by="Clerk"), 403, "permission_missing")
    refused(world.get(PATH.format("Nobody")), 404, "no_such_user")
    monkeypatch.setattr(person, "MAX_MIB", 0)
    answer = world.get(PATH.format("Ann"))
    refused(answer, 409, "export_too_large")
    assert "gamekeeper users export" in answer.json["Message"]
    assert exports(world) == []
