"""Operations 1 to 5 and 19 of docs/operations.md: list, rank and read players; and the list of online players."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

import game_server
import people
from expectations import JSON, refused
from gamekeeper.game.lookup import ZERO_GUID
from loops import over
from world import Answer, World, open_world

PLAYERS = "/api/v1/players"
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
    databases: Any = request.getfixturevalue(f"{engine}_databases")
    url = databases.fresh()
    with open_world(url, databases.tokens) as world:
        assert game_server.online(world) == []
        for number, (name, level, exp) in enumerate(CROWD):
            player_id, body = game_server.newcomer(number, Level=level, Exp=exp)
            assert game_server.put_player(world, player_id, body | {"Name": name}).status == 200
        ids = [record["Id"] for record in world.get(f"{PLAYERS}?pageSize=100").json["Values"]]
        game_server.heartbeat(world)
        assert game_server.join(world, *ids).json == {"Online": 9}
        yield world
    databases.drop(url)


def names(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.raw
    return [record["Name"] for record in answer.json.get("Values", answer.json.get("entries"))]


def test_record_is_found_by_name_and_id_in_every_form(shared_world: World) -> None:
    plain, shouted = people.ANN.id.replace("-", ""), people.ANN.id.upper()
    ids = (people.ANN.id, shouted, plain, f"{{{people.ANN.id}}}", f"{{{plain}}}", f"%7B{people.ANN.id}%7D")
    for key in (*ids, "Ann", "ann", "ANN", "aNn", "%41nn", "%61%4E%6e", "Ann/"):
        answer = shared_world.get(f"{PLAYERS}/{key}", headers={"Content-Type": "nonsense"})
        assert answer.status == 200, key
        assert list(answer.json.items()) == list(ANNS_RECORD.items())


def test_unset_fields_have_defaults_and_unknown_classes_no_name(shared_world: World) -> None:
    record = shared_world.get(f"{PLAYERS}/Bob").json
    assert list(record) == list(ANNS_RECORD)
    found = {name: record[name] for name in ("ClassId", "ClassName", "MapId", "MapName")}
    assert found == {"ClassId": ZERO_GUID, "ClassName": "", "MapId": ZERO_GUID, "MapName": ""}
    assert (record["Equipment"], record["MaxVitals"], record["Vitals"]) == ([-1] * 5, [0, 0], [0, 0])


@over(
    "key, message",
    [
        ("Nobody", "No player with name 'Nobody'."),
        (people.NOBODY_ID, f"No player with id '{people.NOBODY_ID}'."),
        (people.NOBODY_ID.replace("-", "").upper(), f"No player with id '{people.NOBODY_ID}'."),
        (ZERO_GUID, f"No player with id '{ZERO_GUID}'."),
        (people.ANN.id[:-1], f"No player with name '{people.ANN.id[:-1]}'."),
        ("a%2Fb", "No player with name 'a/b'."),
        ("Ann%00", "No player with name 'Ann\0'."),
        ("%EF%BC%91", "No player with name '１'."),  # noqa: RUF001 - a full-width digit is no digit
        ("x" * 8000, f"No player with name '{'x' * 8000}'."),
    ],
)
def test_unknown_key_is_404_with_the_specs_message(shared_world: World, key: str, message: str) -> None:
    answer = shared_world.get(f"{PLAYERS}/{key}")
    refused(answer, 404, "no_such_player")
    assert answer.message == message


def test_literal_paths_win_over_names_and_routes_are_checked_first(shared_world: World) -> None:
    assert next(iter(shared_world.get(f"{PLAYERS}/rank").json)) == "Total"
    assert next(iter(shared_world.get(f"{PLAYERS}/online").json)) == "Total"
    refused(shared_world.get(f"{PLAYERS}/bag"), 404, "no_such_route")
    refused(shared_world.get(f"{PLAYERS}/Ann/nothing", by=None), 404, "no_such_route")
    refused(shared_world.get(f"{PLAYERS}//items", by=None), 404, "no_such_route")
    answer = shared_world.call("DELETE", PLAYERS, by=None)
    refused(answer, 405, "method_not_allowed", "GET, POST")
    assert answer.headers["allow"] == "GET, POST"


def test_answers_have_content_type_and_request_id(shared_world: World) -> None:
    first, second = shared_world.get(f"{PLAYERS}/Ann"), shared_world.get(f"{PLAYERS}/Ann")
    assert first.headers["content-type"] == JSON
    assert first.headers["content-length"] == str(len(first.raw))
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert "connection" not in first.headers


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
            "PAGESIZE=2&Page=1": (2, everybody[2:4]),
            "pageSize=4&page=1&limit=3": (4, everybody[4:7]),
            "pageSize=4&page=1&limit=9": (4, everybody[4:8]),
            "limit=2&page=1": (5, everybody[5:7]),
            "limit=100": (5, everybody[:5]),
            "limit=5000&pageSize=5000": (100, everybody),
            "pageSize=2147483647": (100, everybody),
            "page=2": (5, []),
            "page=2147483647&pageSize=100": (100, []),
            "unknown=1&pageSize=1": (1, everybody[:1]),
        }
        for query, (size, expected) in cuts.items():
            answer = crowded.get(f"{path}?{query}")
            assert names(answer) == expected, query
            assert (answer.json["Total"], answer.json["PageSize"], answer.json["Count"]) == (9, size, len(expected))


def test_largest_page_size_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(max_page_size=2)
    page = world.get(f"{PLAYERS}?pageSize=3&page=1").json
    assert (page["PageSize"], [record["Name"] for record in page["Values"]]) == (2, ["Zoe"])
    assert names(world.post(PLAYERS, {"count": 3})) == ["Ann", "Bob"]


@over("path", GET_LISTS)
def test_malformed_query_is_refused_and_names_the_field(shared_world: World, path: str) -> None:
    wrong = ("-1", "x", "1.0", "", "1e3", "true", "%2B1", "2147483648", "9" * 5000, "%EF%BC%91", "%201")
    for field, least in (("page", 0), ("pageSize", 1), ("limit", 1)):
        for value in (*wrong, *(("0",) if least else ())):
            refused(shared_world.get(f"{path}?{field}={value}"), 400, "bad_field", f"'{field}'")
    refused(shared_world.get(f"{path}?page=0&Page=1"), 400, "repeated_field", "'Page'")


def test_lists_are_sorted_by_name_ignoring_case_and_ranks_by_level_exp_and_id(crowded: World) -> None:
    for path in (PLAYERS, f"{PLAYERS}/online"):
        assert names(crowded.get(f"{path}?pageSize=100")) == BY_NAME
    ranked = crowded.get(f"{PLAYERS}/rank?pageSize=100").json["Values"]
    keys = [(record["Level"], record["Exp"], record["Id"]) for record in ranked]
    assert [record["Name"] for record in ranked] == BY_RANK
    assert keys == sorted(keys, reverse=True)
    for direction, expected in (("descending", ranked), ("DESCENDING", ranked), ("aScEnDiNg", ranked[::-1])):
        found = crowded.get(f"{PLAYERS}/rank?pageSize=100&sortDirection={direction}")
        assert found.json["Values"] == expected
    for direction in ("up", "", "Asc", "Ascending%20", "1"):
        answer = crowded.get(f"{PLAYERS}/rank?sortDirection={direction}")
        refused(answer, 400, "bad_field", "'sortDirection'")


@over("path", POST_LISTS)
def test_legacy_page_is_accepted_in_every_form(crowded: World, path: str) -> None:
    page = crowded.post(path, {"page": 1, "count": 4}).json
    assert list(page) == ["total", "Page", "count", "entries"]
    assert (page["total"], page["Page"], page["count"]) == (9, 1, 4)
    assert [list(record) for record in page["entries"]] == [list(ANNS_RECORD)] * 4
    json, form = "application/json", "application/x-www-form-urlencoded"
    asked: list[tuple[bytes, str, list[str]]] = [
        (b"", "", BY_NAME[:5]),
        (b"{}", "application/json; charset=utf-8", BY_NAME[:5]),
        (b"[]", json, BY_NAME[:5]),
        (b' {"Page": "1", "COUNT": "3"}', json, BY_NAME[3:6]),
        (b'{"count": 5000}', json, BY_NAME),
        (b'{"page": 9}', json, []),
        (b'{"count": 1, "UserId": 7}', "", BY_NAME[:1]),
        (b'{"count": 1}', form, BY_NAME[:1]),
        (b"page=1&count=2", form, BY_NAME[2:4]),
        (b'{"count": 0}', json, BY_NAME[:5]),
        (b'{"page": 1, "count": -1}', json, BY_NAME[5:]),
        (b"count=-2147483648", form, BY_NAME[:5]),
    ]
    for body, content_type, expected in asked:
        answer = crowded.call("POST", path, raw=body, headers={"Content-Type": content_type})
        assert names(answer) == expected, body
        assert (answer.json["total"], answer.json["count"]) == (9, len(expected))


@over("path", POST_LISTS)
def test_malformed_legacy_page_is_refused_and_names_the_field(shared_world: World, path: str) -> None:
    wrong = ("-2147483649", "1.0", "1e3", "true", '"five"', "[]", "{}", "2147483648", "9" * 5000, '""', '"\\uff11"')
    for field, value in [("page", "-1"), *((field, value) for field in ("page", "count") for value in wrong)]:
        raw = f'{{"{field}": {value}}}'.encode()
        answer = shared_world.call("POST", path, raw=raw, headers={"Content-Type": "application/json"})
        refused(answer, 400, "bad_field", f"'{field}'")


@over(
    "body, status, code",
    [
        (b"null", 400, "malformed_body"),
        (b'{"page": NaN}', 400, "malformed_body"),
        ('{"page": 1}'.encode("utf-16"), 400, "malformed_body"),
        (b"\xff\xfe", 400, "malformed_body"),
        (b'{"page": 0, "Page": 0}', 400, "repeated_field"),
        (b'{"x":' + b"[" * 32 + b"]" * 32 + b"}", 400, "malformed_body"),
        (b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", 400, "malformed_body"),
        (b"page=0", 400, "malformed_body"),
        (b" " * 65_537, 413, "body_too_large"),
        ((b'{"x":' + b"[" * 31 + b"]" * 31 + b"}").ljust(65_536), 200, ""),  # the largest depth and size
    ],
)
def test_malformed_body_is_refused(shared_world: World, body: bytes, status: int, code: str) -> None:
    answer = shared_world.call("POST", PLAYERS, raw=body, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.json.get("Code", "")) == (status, code)


def test_deprecated_list_has_the_deprecation_headers(shared_world: World) -> None:
    answer = shared_world.post(PLAYERS)
    assert answer.headers["deprecation"].startswith("@")
    assert answer.headers["deprecation"][1:].isdigit()
    assert answer.headers["link"] == '</api/v1/players>; rel="successor-version"'
    others = [shared_world.get(PLAYERS), shared_world.post(f"{PLAYERS}/online")]
    assert not any({"deprecation", "link"} & other.headers.keys() for other in others)
