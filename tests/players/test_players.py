"""Operations 1 to 5 and 19 of docs/operations.md: list, rank and read players; and the pages of all lists."""

from collections.abc import Generator
from typing import Any

import pytest

import game_server
import people
from expectations import refused
from loops import over
from sharing import open_fresh
from world import PLAYERS, Answer, World

GET_LISTS = (PLAYERS, f"{PLAYERS}/rank", f"{PLAYERS}/online")
POST_LISTS = (PLAYERS, f"{PLAYERS}/online")
ANNS_RECORD = {
    "Name": "Ann",
    "InBank": False,
    "UserId": people.ANN.user_id,
    "MaxVitals": [120, 40],
    "Id": people.ANN.id,
    "Level": 12,
    "Exp": 345,
    "ExperienceToNextLevel": 655,
    "ClassId": people.WARRIOR.id,
    "Gender": 1,
    "Vitals": [100, 40],
    "BaseStats": [5, 6, 7, 8, 9],
    "StatPointAllocations": [0, 0, 0, 0, 0],
    "StatPoints": 3,
    "Equipment": [-1, -1, 2, -1, -1],
    "MapId": people.MEADOW.id,
    "X": 3,
    "Y": 4,
    "Z": 0,
    "Dir": 0,
    "Sprite": "ann.png",
    "Face": "ann-face.png",
    "Dead": False,
    "CreationDate": "2023-11-14T22:13:20.000Z",
    "PlayTimeSeconds": 3600,
    "ClassName": "Warrior",
    "MapName": "Meadow",
    "Online": False,
    "LastOnline": None,
}
# Players added to Ann (12, 345), Bob (3, 10) and Zoe (12, 345), with level and exp: ties on level, and on both.
CROWD = (("ann2", 12, 400), ("aNN1", 12, 345), ("carl", 3, 10), ("Dora", 1, 0), ("eve", 40, 0), ("BOBBY", 3, 9))
BY_NAME = ["Ann", "aNN1", "ann2", "Bob", "BOBBY", "carl", "Dora", "eve", "Zoe"]
BY_RANK = ["eve", "ann2", "aNN1", "Zoe", "Ann", "carl", "Bob", "BOBBY", "Dora"]


@pytest.fixture(scope="module")
def crowded(engine: str, request: pytest.FixtureRequest) -> Generator[World]:
    """Open a world with nine players, all online, for tests that only read."""
    with open_fresh(engine, request) as world:
        assert game_server.online(world) == []
        for number, (name, level, exp) in enumerate(CROWD):
            player_id, body = game_server.newcomer(number, Level=level, Exp=exp)
            assert game_server.put_player(world, player_id, body | {"Name": name}).status == 200
        ids = [record["Id"] for record in world.get(f"{PLAYERS}?pageSize=100").json["Values"]]
        game_server.heartbeat(world)
        assert game_server.join(world, *ids).json == {"Online": 9}
        yield world


def names(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.raw
    return [record["Name"] for record in answer.json.get("Values", answer.json.get("entries"))]


def test_record_is_found_by_name_and_id_in_every_form(shared_world: World) -> None:
    plain = people.ANN.id.replace("-", "")
    for key in (people.ANN.id.upper(), f"{{{plain}}}", f"%7B{people.ANN.id}%7D", "Ann", "aNn", "%61%4E%6e", "Ann/"):
        answer = shared_world.get(f"{PLAYERS}/{key}", headers={"Content-Type": "nonsense"})
        assert answer.status == 200, key
        assert list(answer.json.items()) == list(ANNS_RECORD.items())


def test_literal_paths_in_any_case_win_over_names_and_routes_are_checked_first(shared_world: World) -> None:
    for path in ("rank", "online", "online/count"):
        plain = shared_world.get(f"{PLAYERS}/{path}").raw
        assert shared_world.get(f"/Api/V1/PLAYERS/{path.upper()}").raw == plain
        assert shared_world.get(f"/%41pi/v1/players/{path.replace('n', '%4E')}").raw == plain
    for name in ("bag", "BAG", "b%61g", ""):
        refused(shared_world.post(f"{PLAYERS}/{name}/items/give", {}), 404, "no_such_route")
    refused(shared_world.get(f"{PLAYERS}/bag"), 404, "no_such_route")
    refused(shared_world.get(f"{PLAYERS}/Ann/nothing", by=None), 404, "no_such_route")
    answer = shared_world.call("DELETE", PLAYERS, by=None)
    refused(answer, 405, "method_not_allowed", "GET, POST")
    assert answer.headers["allow"] == "GET, POST"


def test_pages_follow_the_decided_rules(crowded: World) -> None:
    for path in GET_LISTS:
        first = crowded.get(path)
        assert list(first.json) == ["Total", "Page", "PageSize", "Count", "Values"]
        assert [list(record) for record in first.json["Values"]] == [list(ANNS_RECORD)] * 5
        everybody = names(crowded.get(f"{path}?pageSize=100"))
        assert len(everybody) == 9
        cuts: dict[str, tuple[int, list[str]]] = {
            "": (5, everybody[:5]),
            "page=1": (5, everybody[5:]),
            "pageSize=2&page=1": (2, everybody[2:4]),
            "PAGESIZE=4&Page=1&limit=3": (4, everybody[4:7]),
            "limit=2&page=1": (5, everybody[5:7]),
            "limit=5000&pageSize=5000": (100, everybody),
            "page=2": (5, []),
            "unknown=1&pageSize=1": (1, everybody[:1]),
        }
        for query, (size, expected) in cuts.items():
            answer = crowded.get(f"{path}?{query}")
            assert names(answer) == expected, query
            assert (answer.json["Total"], answer.json["PageSize"], answer.json["Count"]) == (9, size, len(expected))


def test_lists_are_sorted_by_name_ignoring_case_and_ranks_by_level_exp_and_id(crowded: World) -> None:
    for path in (PLAYERS, f"{PLAYERS}/online"):
        assert names(crowded.get(f"{path}?pageSize=100")) == BY_NAME
    ranked = crowded.get(f"{PLAYERS}/rank?pageSize=100").json["Values"]
    keys = [(record["Level"], record["Exp"], record["Id"]) for record in ranked]
    assert [record["Name"] for record in ranked] == BY_RANK
    assert keys == sorted(keys, reverse=True)
    for direction, expected in (("DESCENDING", ranked), ("aScEnDiNg", ranked[::-1])):
        found = crowded.get(f"{PLAYERS}/rank?pageSize=100&sortDirection={direction}")
        assert found.json["Values"] == expected


@over("path", *POST_LISTS)
def test_legacy_page_is_accepted_in_every_form(crowded: World, path: str) -> None:
    page = crowded.post(path, {"page": 1, "count": 4}).json
    assert list(page) == ["total", "Page", "count", "entries"]
    assert (page["total"], page["Page"], page["count"]) == (9, 1, 4)
    assert [list(record) for record in page["entries"]] == [list(ANNS_RECORD)] * 4
    json, form = "application/json", "application/x-www-form-urlencoded"
    asked: list[tuple[bytes, str, list[str]]] = [
        (b"", "", BY_NAME[:5]),
        (b' {"Page": "1", "COUNT": "3"}', json, BY_NAME[3:6]),
        (b"page=9&count=2", form, []),
        (b'{"count": 0}', json, BY_NAME[:5]),
        (b'{"page": 1, "count": -1}', json, BY_NAME[5:]),
    ]
    for body, content_type, expected in asked:
        answer = crowded.call("POST", path, raw=body, headers={"Content-Type": content_type})
        assert names(answer) == expected, body
        assert (answer.json["total"], answer.json["count"]) == (9, len(expected))


@over("path", "/api/v1/players", "/api/v1/users", "/api/v1/gameobjects/item")
def test_legacy_list_takes_from_the_query_what_its_body_leaves_out(shared_world: World, path: str) -> None:
    everything = shared_world.post(path, {"count": 100}).json["entries"]
    assert len(everything) > 2

    def read(query: str, body: object = None, **more: Any) -> tuple[int, Any]:
        answer = shared_world.call("POST", f"{path}?{query}", body=body, **more).accepted()
        return answer.json["Page"], answer.json["entries"]

    second = (1, everything[1:2])
    assert read("Page=1&count=1") == read("page=1&pageSize=1", []) == second
    assert read("page=1", {"count": 1}) == read("pageSize=1", {"page": 1}) == second
    assert read("page=1", form={"count": "1"}) == second
    # the body wins, also with a default value
    assert read("page=9&pageSize=2", {"page": 1, "count": 1}) == second
    assert read("page=9", {"page": 0, "count": 1}) == (0, everything[:1])
    # what cannot be read counts as missing
    assert read("page=0pageSize=25") == read("page=-1&pageSize=x") == (0, everything[:5])
    assert read("page=2147483648&pageSize=1")[0] == 0
