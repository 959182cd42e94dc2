"""Operations 1 to 5 and 19 of docs/operations.md: list, rank and read players; and the list of online players."""

from collections.abc import Callable

import pytest

import game_server
import people
from expectations import JSON, refused
from gamekeeper.game import tokens
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import users
from world import Answer, World

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


def crowd(world: World) -> None:
    """Add players until there are nine in the world, all online."""
    for number, (name, level, exp) in enumerate(CROWD):
        player_id, body = game_server.newcomer(number, Level=level, Exp=exp)
        assert game_server.put_player(world, player_id, body | {"Name": name}).status == 200
    ids = [record["Id"] for record in world.get(f"{PLAYERS}?pageSize=100").json["Values"]]
    game_server.heartbeat(world)
    assert game_server.join(world, *ids).json == {"Online": 9}


def names(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.raw
    return [record["Name"] for record in answer.json.get("Values", answer.json.get("entries"))]


# --- operation 5: one record ---------------------------------------------------------------------------------------


def test_record_has_the_specs_fields_first_and_ours_after_them(shared_world: World) -> None:
    answer = shared_world.get(f"{PLAYERS}/Ann")
    assert answer.status == 200
    assert list(answer.json.items()) == list(ANNS_RECORD.items())


def test_unset_fields_have_defaults_and_unknown_classes_no_name(shared_world: World) -> None:
    record = shared_world.get(f"{PLAYERS}/Bob").json
    assert list(record) == list(ANNS_RECORD)
    assert (record["ClassId"], record["ClassName"], record["MapId"], record["MapName"]) == (
        ZERO_GUID,
        "",
        ZERO_GUID,
        "",
    )
    assert (record["Equipment"], record["MaxVitals"], record["Vitals"]) == ([-1] * 5, [0, 0], [0, 0])


def test_guid_is_accepted_in_every_common_form(shared_world: World, subtests: pytest.Subtests) -> None:
    plain = people.ANN.id.replace("-", "")
    shouted = people.ANN.id.upper()
    for key in (people.ANN.id, shouted, plain, f"{{{people.ANN.id}}}", f"{{{plain}}}", f"%7B{people.ANN.id}%7D"):
        with subtests.test(key):
            assert shared_world.get(f"{PLAYERS}/{key}").json == ANNS_RECORD


def test_name_is_percent_decoded_and_matched_in_any_case(shared_world: World, subtests: pytest.Subtests) -> None:
    for key in ("Ann", "ann", "ANN", "aNn", "%41nn", "%61%4E%6e"):
        with subtests.test(key):
            assert shared_world.get(f"{PLAYERS}/{key}").json == ANNS_RECORD


def test_unknown_key_is_404_with_the_specs_message(shared_world: World, subtests: pytest.Subtests) -> None:
    messages = {
        "Nobody": "No player with name 'Nobody'.",
        people.NOBODY_ID: f"No player with id '{people.NOBODY_ID}'.",
        people.NOBODY_ID.replace("-", "").upper(): f"No player with id '{people.NOBODY_ID}'.",
        ZERO_GUID: f"No player with id '{ZERO_GUID}'.",
        people.ANN.id[:-1]: f"No player with name '{people.ANN.id[:-1]}'.",
        "a%2Fb": "No player with name 'a/b'.",
        "Ann%00": "No player with name 'Ann\0'.",
        "%EF%BC%91": "No player with name '１'.",  # noqa: RUF001 - a full-width digit is no digit
        "x" * 8000: f"No player with name '{'x' * 8000}'.",
    }
    for key, message in messages.items():
        with subtests.test(key[:40]):
            answer = shared_world.get(f"{PLAYERS}/{key}")
            refused(answer, 404, "no_such_player")
            assert answer.message == message


def test_literal_paths_win_over_names(shared_world: World) -> None:
    assert next(iter(shared_world.get(f"{PLAYERS}/rank").json)) == "Total"
    assert next(iter(shared_world.get(f"{PLAYERS}/online").json)) == "Total"
    refused(shared_world.get(f"{PLAYERS}/bag"), 404, "no_such_route")


# --- common rules of all operations --------------------------------------------------------------------------------


def test_players_need_a_token(shared_world: World, subtests: pytest.Subtests) -> None:
    calls = [("GET", path) for path in (*GET_LISTS, f"{PLAYERS}/online/count", f"{PLAYERS}/Ann", f"{PLAYERS}/Nobody")]
    for method, path in [*calls, *(("POST", path) for path in POST_LISTS)]:
        for token in (None, "gka_wrong", ""):
            with subtests.test(f"{method} {path}", token=token):
                answer = shared_world.call(method, path, by=None, token=token)
                refused(answer, 401, "denied")
                assert answer.message == "Authorization has been denied for this request."
                assert answer.headers["www-authenticate"] == "Bearer"


def test_token_without_roles_reads_players(shared_world: World, subtests: pytest.Subtests) -> None:
    for path in (*GET_LISTS, f"{PLAYERS}/online/count", f"{PLAYERS}/Ann"):
        with subtests.test(path):
            assert shared_world.get(path, by="Shop").status == 200


def test_read_only_token_may_use_the_post_lists(world: World, subtests: pytest.Subtests) -> None:
    shop = world.run(users.find_by_fold(world.keeper.store, "shop"))
    assert shop
    pair = world.run(tokens.issue_for_service(world.keeper, shop, 1, read_only=True))
    for path in POST_LISTS:
        with subtests.test(path):
            assert world.post(path, token=pair.access).status == 200


def test_trailing_slash_and_content_type_on_get_are_ignored(shared_world: World) -> None:
    assert shared_world.get(f"{PLAYERS}/Ann/").json == ANNS_RECORD
    assert names(shared_world.get(f"{PLAYERS}/?pageSize=2")) == ["Ann", "Bob"]
    for content_type in ("application/json", "text/plain", "nonsense"):
        assert shared_world.get(f"{PLAYERS}/Ann", headers={"Content-Type": content_type}).json == ANNS_RECORD


def test_answers_have_content_type_and_request_id(shared_world: World) -> None:
    first, second = shared_world.get(f"{PLAYERS}/Ann"), shared_world.get(f"{PLAYERS}/Ann")
    assert first.headers["content-type"] == JSON
    assert first.headers["content-length"] == str(len(first.raw))
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert "connection" not in first.headers


def test_connection_close_is_echoed(shared_world: World) -> None:
    assert shared_world.get(PLAYERS, headers={"Connection": "close"}).headers["connection"] == "close"


def test_unknown_path_and_wrong_method_are_refused_before_the_token(shared_world: World) -> None:
    refused(shared_world.get(f"{PLAYERS}/Ann/nothing", by=None), 404, "no_such_route")
    refused(shared_world.get(f"{PLAYERS}//items", by=None), 404, "no_such_route")
    answer = shared_world.call("DELETE", PLAYERS, by=None)
    refused(answer, 405, "method_not_allowed", "GET, POST")
    assert answer.headers["allow"] == "GET, POST"


# --- operations 1, 2 and GET online: the paged envelope ------------------------------------------------------------


@pytest.mark.parametrize("path", GET_LISTS)
def test_paged_envelope_has_five_fields_and_by_default_five_records(world: World, path: str) -> None:
    crowd(world)
    page = world.get(path).json
    assert list(page) == ["Total", "Page", "PageSize", "Count", "Values"]
    assert (page["Total"], page["Page"], page["PageSize"], page["Count"], len(page["Values"])) == (9, 0, 5, 5, 5)
    assert [list(record) for record in page["Values"]] == [list(ANNS_RECORD)] * 5
    rest = world.get(f"{path}?page=1").json
    assert (rest["Total"], rest["Page"], rest["PageSize"], rest["Count"], len(rest["Values"])) == (9, 1, 5, 4, 4)
    assert not {record["Id"] for record in rest["Values"]} & {record["Id"] for record in page["Values"]}


@pytest.mark.parametrize("path", GET_LISTS)
def test_page_and_page_size_follow_the_decided_rules(world: World, path: str, subtests: pytest.Subtests) -> None:
    crowd(world)
    everybody = names(world.get(f"{path}?pageSize=100"))
    assert len(everybody) == 9
    cuts: dict[str, tuple[int, list[str]]] = {
        "pageSize=2&page=1": (2, everybody[2:4]),
        "PAGESIZE=2&Page=1": (2, everybody[2:4]),
        "pageSize=4&page=1&limit=3": (4, everybody[4:7]),
        "pageSize=4&page=1&limit=9": (4, everybody[4:8]),
        "pageSize=4&limit=4": (4, everybody[:4]),
        "limit=2": (5, everybody[:2]),
        "limit=2&page=1": (5, everybody[5:7]),
        "limit=100": (5, everybody[:5]),
        "limit=5000&pageSize=5000": (100, everybody),
        "pageSize=5000": (100, everybody),
        "pageSize=2147483647": (100, everybody),
        "page=2": (5, []),
        "page=2147483647&pageSize=100": (100, []),
        "unknown=1&pageSize=1": (1, everybody[:1]),
    }
    for query, (size, expected) in cuts.items():
        with subtests.test(query):
            answer = world.get(f"{path}?{query}")
            assert names(answer) == expected
            assert (answer.json["Total"], answer.json["PageSize"], answer.json["Count"]) == (9, size, len(expected))


def test_largest_page_size_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(max_page_size=2)
    page = world.get(f"{PLAYERS}?pageSize=3&page=1").json
    assert (page["PageSize"], [record["Name"] for record in page["Values"]]) == (2, ["Zoe"])
    assert names(world.post(PLAYERS, {"count": 3})) == ["Ann", "Bob"]


@pytest.mark.parametrize("path", GET_LISTS)
def test_malformed_query_is_refused_and_names_the_field(
    shared_world: World, path: str, subtests: pytest.Subtests
) -> None:
    wrong = ("-1", "x", "1.0", "", "1e3", "true", "%2B1", "2147483648", "9" * 5000, "%EF%BC%91", "%201")
    for field, least in (("page", 0), ("pageSize", 1), ("limit", 1)):
        for value in (*wrong, *(("0",) if least else ())):
            with subtests.test(f"{field}={value[:12]}"):
                refused(shared_world.get(f"{path}?{field}={value}"), 400, "bad_field", f"'{field}'")
    refused(shared_world.get(f"{path}?page=0&Page=1"), 400, "repeated_field", "'Page'")


# --- order of lists ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [PLAYERS, f"{PLAYERS}/online"])
def test_players_are_sorted_by_name_ignoring_case(world: World, path: str) -> None:
    crowd(world)
    assert names(world.get(f"{path}?pageSize=100")) == BY_NAME
    assert names(world.post(path, {"count": 100})) == BY_NAME


def test_rank_sorts_by_level_exp_id_and_ascending_is_the_reverse(world: World) -> None:
    crowd(world)
    ranked = world.get(f"{PLAYERS}/rank?pageSize=100").json["Values"]
    keys = [(record["Level"], record["Exp"], record["Id"]) for record in ranked]
    assert [record["Name"] for record in ranked] == [
        "eve",
        "ann2",
        "aNN1",
        "Zoe",
        "Ann",
        "carl",
        "Bob",
        "BOBBY",
        "Dora",
    ]
    assert keys == sorted(keys, reverse=True)
    assert world.get(f"{PLAYERS}/rank?pageSize=100&sortDirection=Ascending").json["Values"] == ranked[::-1]


def test_sort_direction_is_accepted_in_any_case(shared_world: World, subtests: pytest.Subtests) -> None:
    best, worst = ["Zoe", "Ann", "Bob"], ["Bob", "Ann", "Zoe"]
    for direction, expected in (("descending", best), ("DESCENDING", best), ("ascending", worst), ("aScEnDiNg", worst)):
        with subtests.test(direction):
            assert names(shared_world.get(f"{PLAYERS}/rank?sortDirection={direction}")) == expected
    for direction in ("up", "", "Asc", "Ascending%20", "1"):
        with subtests.test(direction):
            answer = shared_world.get(f"{PLAYERS}/rank?sortDirection={direction}")
            refused(answer, 400, "bad_field", "'sortDirection'")


# --- operations 3 and 19: the legacy envelope ----------------------------------------------------------------------


@pytest.mark.parametrize("path", POST_LISTS)
def test_legacy_envelope_has_four_fields_in_the_specs_case(world: World, path: str) -> None:
    crowd(world)
    page = world.post(path, {"page": 1, "count": 4}).json
    assert list(page) == ["total", "Page", "count", "entries"]
    assert (page["total"], page["Page"], page["count"]) == (9, 1, 4)
    assert [record["Name"] for record in page["entries"]] == BY_NAME[4:8]
    assert [list(record) for record in page["entries"]] == [list(ANNS_RECORD)] * 4


@pytest.mark.parametrize("path", POST_LISTS)
def test_legacy_page_is_accepted_in_every_form(world: World, path: str, subtests: pytest.Subtests) -> None:
    crowd(world)
    form = "application/x-www-form-urlencoded"
    asked: list[tuple[bytes, str, list[str]]] = [
        (b"", "", BY_NAME[:5]),
        (b"", "application/json", BY_NAME[:5]),
        (b"{}", "application/json; charset=utf-8", BY_NAME[:5]),
        (b"[]", "application/json", BY_NAME[:5]),
        (b' {"Page": "1", "COUNT": "3"}', "application/json", BY_NAME[3:6]),
        (b'{"count": 5000}', "application/json", BY_NAME),
        (b'{"page": 9}', "application/json", []),
        (b'{"count": 1, "UserId": 7}', "", BY_NAME[:1]),
        (b'{"count": 1}', form, BY_NAME[:1]),
        (b"page=1&count=2", form, BY_NAME[2:4]),
        (b'{"count": 0}', "application/json", BY_NAME[:5]),
        (b'{"page": 1, "count": -1}', "application/json", BY_NAME[5:]),
        (b"count=-2147483648", form, BY_NAME[:5]),
    ]
    for body, content_type, expected in asked:
        with subtests.test(body.decode(), content_type=content_type):
            answer = world.call("POST", path, raw=body, headers={"Content-Type": content_type})
            assert names(answer) == expected
            assert (answer.json["total"], answer.json["count"]) == (9, len(expected))


@pytest.mark.parametrize("path", POST_LISTS)
def test_malformed_legacy_page_is_refused_and_names_the_field(
    shared_world: World, path: str, subtests: pytest.Subtests
) -> None:
    wrong = (
        "-2147483649",
        "1.0",
        "1e3",
        "true",
        '"five"',
        "[]",
        "{}",
        "2147483648",
        "9" * 5000,
        '"1.0"',
        '""',
        '"\\uff11"',
    )
    for field, value in [("page", "-1"), *((field, value) for field in ("page", "count") for value in wrong)]:
        with subtests.test(f"{field} {value[:12]}"):
            raw = f'{{"{field}": {value}}}'.encode()
            answer = shared_world.call("POST", path, raw=raw, headers={"Content-Type": "application/json"})
            refused(answer, 400, "bad_field", f"'{field}'")


def test_malformed_body_is_refused(shared_world: World, subtests: pytest.Subtests) -> None:
    json, text = "application/json", "text/plain"
    broken: list[tuple[bytes, str, int, str]] = [
        (b"{", json, 400, "malformed_body"),
        (b"[1]", json, 400, "malformed_body"),
        (b"7", json, 400, "malformed_body"),
        (b"null", json, 400, "malformed_body"),
        (b'"page"', json, 400, "malformed_body"),
        (b'{"page": NaN}', json, 400, "malformed_body"),
        ('{"page": 1}'.encode("utf-16"), json, 400, "malformed_body"),
        (b"\xff\xfe", json, 400, "malformed_body"),
        (b'{"page": 0, "Page": 0}', json, 400, "repeated_field"),
        (b'{"x":' + b"[" * 32 + b"]" * 32 + b"}", json, 400, "malformed_body"),
        (b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", json, 400, "malformed_body"),
        (b'{"page": 0}', text, 415, "unsupported_media_type"),
        (b"page=0", json, 400, "malformed_body"),
        (b"page=0", "", 415, "unsupported_media_type"),
        (b" " * 65_537, json, 413, "body_too_large"),
    ]
    for body, content_type, status, code in broken:
        with subtests.test(body[:30].decode("latin-1"), content_type=content_type):
            answer = shared_world.call("POST", PLAYERS, raw=body, headers={"Content-Type": content_type})
            refused(answer, status, code)


def test_body_of_the_largest_depth_and_size_is_read(shared_world: World) -> None:
    deep = b'{"x":' + b"[" * 31 + b"]" * 31 + b"}"
    headers = {"Content-Type": "application/json"}
    assert names(shared_world.call("POST", PLAYERS, raw=deep.ljust(65_536), headers=headers)) == ["Ann", "Bob", "Zoe"]


def test_deprecated_list_has_the_deprecation_headers(shared_world: World) -> None:
    answer = shared_world.post(PLAYERS)
    assert answer.headers["deprecation"].startswith("@")
    assert answer.headers["deprecation"][1:].isdigit()
    assert answer.headers["link"] == '</api/v1/players>; rel="successor-version"'
    others = [shared_world.get(PLAYERS), shared_world.post(f"{PLAYERS}/online")]
    assert not any({"deprecation", "link"} & other.headers.keys() for other in others)


# --- operations 3, 4 and GET online: online players ----------------------------------------------------------------


def test_no_player_is_online_before_a_game_server_reports(world: World) -> None:
    assert game_server.online(world) == []
    game_server.heartbeat(world)
    game_server.join(world, people.ZOE.id, people.ANN.id)
    assert game_server.online(world) == ["Ann", "Zoe"]
    assert world.get(f"{PLAYERS}/online/count", by="Shop").json == {"onlineCount": 2}
