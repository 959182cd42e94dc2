"""The security log: which events it has, who reads it, its pages, and its end with a person."""

import csv
import io
import json
from typing import Any

import pytest

import people
from api_keys import KEYS, create
from expectations import everything
from gamekeeper.game.accounts import erasures
from tidying import tidy
from world import SENT, Answer, World

LOG = "/api/keeper/v1/security"
DAY = 24 * 60 * 60 * 1000
ANN, ROOT, SHOP = (people.USER_IDS[name] for name in ("Ann", "Root", "Shop"))
BROWSER = {"User-Agent": "Mozilla/5.0 (X11)" + "x" * 500}


@pytest.fixture(autouse=True)
def empty_log(world: World) -> None:
    """Delete the events of the test data."""
    world.sql("DELETE FROM security_events")


def log_in(world: World, name: str, password: str = SENT, address: str = "192.0.2.7") -> Answer:
    body = {"grant_type": "password", "username": name, "password": password}
    return world.post("/api/oauth/token", body, by=None, headers=BROWSER, address=address)


def events(world: World, query: str = "", **more: Any) -> list[dict[str, Any]]:
    world.run(world.keeper.failed_guesses.flush())
    return world.get(LOG + query, **more).accepted().json["Events"]


def note_uses(world: World) -> None:
    world.run(world.asgi.services.callers.note_use())


def test_sign_in_has_the_exact_body(world: World) -> None:
    assert log_in(world, "Shop").status == 200
    [event] = events(world)
    [(token,)] = world.sql("SELECT id FROM tokens ORDER BY issued_at DESC LIMIT 1")
    user = {"UserId": SHOP, "User": "Shop", "ActorId": SHOP, "By": "Shop"}
    origin = {"Address": "192.0.2.7", "Browser": BROWSER["User-Agent"][:200], "CredentialId": token}
    details = {"Session": False, "ReadOnly": False, "SecondFactor": False}
    assert event == {"Id": event["Id"], "At": event["At"], "Kind": "sign_in", **user, **origin, "Details": details}


def test_failed_guesses_are_added_up_and_bounded(world: World) -> None:
    for _ in range(3):
        assert log_in(world, "Shop", "00" * 32).status == 400
    assert log_in(world, "Nobody", "00" * 32).status == 400
    assert world.sql("SELECT COUNT(*) FROM security_events") == [(0,)]  # a failed guess writes nothing by itself
    found = {(each["User"], each["Address"]): each["Details"] for each in events(world, "?kind=guess_failed")}
    assert found == {("Shop", "192.0.2.7"): {"Count": 3}, (None, "192.0.2.7"): {"Count": 1}}
    for number in range(150):
        world.keeper.failed_guesses.add("guess_refused", None, None, f"192.0.2.{number}")
    many = events(world, "?kind=guess_refused&limit=200")
    assert len(many) == 101
    assert sum(each["Details"]["Count"] for each in many) == 150


def test_credentials_and_roles_are_recorded_with_their_actor(world: World) -> None:
    pair = log_in(world, "Shop").json
    world.post("/api/oauth/token", {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}, by=None)
    assert world.call("DELETE", f"/api/oauth/token/Shop/{pair['refresh_token']}", headers=BROWSER).status == 200
    assert world.call("DELETE", "/api/oauth/token/Shop?dryRun=true").status == 200
    assert world.call("DELETE", "/api/oauth/token/Shop").status == 200
    assert world.post("/api/keeper/v1/users/Shop/roles", {"give": ["moderator"]}).status == 200
    assert world.post("/api/keeper/v1/users/Shop/powers", {"editor": True}).status == 200
    assert world.post("/api/v1/users/Shop/manage/password/change", {"new": SENT}).status == 200
    assert world.post("/api/keeper/v1/roles", {"name": "helper", "permissions": ["players.read"]}).status == 200
    found = events(world)[::-1]
    roots = ("token_revoked", "tokens_revoked", "roles_changed", "roles_changed", "password_changed", "role_edited")
    expected = [("sign_in", "Shop"), ("token_issued", "Shop"), *((kind, "Root") for kind in roots)]
    assert sorted((each["Kind"], each["By"]) for each in found) == sorted(expected)
    details = [(each["Kind"], each["Details"]) for each in found]
    assert ("token_issued", {"By": "refresh token"}) in details
    for role in ("moderator", "game.editor"):
        assert ("roles_changed", {"Given": [role], "Taken": []}) in details


def test_key_management_is_recorded_with_its_actor_and_the_key(world: World) -> None:
    key = create(world)
    path = f"{KEYS}/{key['Id']}"
    assert key["CreatedBy"] == ROOT
    assert world.call("DELETE", f"{path}?dryRun=true").status == 200
    assert world.post(f"{path}/rotate", {}, headers=BROWSER).status == 200
    assert world.call("PUT", path, body={"Owner": "Clerk", "Suspended": True}).status == 200
    # a change that alters nothing is not recorded
    assert world.call("PUT", path, body={"Suspended": True}).status == 200
    assert [world.call("DELETE", path).status for _ in range(2)] == [200, 200]
    found = sorted((each["Kind"], each["User"], each["By"], each["CredentialId"]) for each in events(world))
    assert found == [
        ("key_changed", "Clerk", "Root", key["Id"]),
        ("key_created", "Shop", "Root", key["Id"]),
        ("key_revoked", "Clerk", "Root", key["Id"]),
        ("key_rotated", "Shop", "Root", key["Id"]),
    ]
    [changed] = events(world, "?kind=key_changed")
    assert changed["Details"] == {"Changed": ["Owner", "Suspended"]}


def test_use_from_a_new_address_is_recorded_once(world: World) -> None:
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"):
        world.asgi.services.callers.clear_cache()
        assert world.get("/api/v1/players", by="Shop", address=address).status == 200
        note_uses(world)
    found = events(world, f"?kind=new_address&user={SHOP}")
    assert sorted(each["Address"] for each in found) == ["192.0.2.1", "192.0.2.2", "2001:db8::1"]


def test_pages_and_tables_have_every_event_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.game.access.security_log.PIECE_ROWS", 40)
    monkeypatch.setattr("gamekeeper.http.server.paging.CSV_BATCH", 7)
    for number in range(90):
        world.keeper.failed_guesses.add("guess_failed", None, None, f"192.0.2.{number}")
    seen = [each["Id"] for each in events(world, "?limit=90")]
    assert len(set(seen)) == 90
    first = world.get(f"{LOG}?limit=80").json
    rest = world.get(f"{LOG}?limit=80&before={first['Next']}").json
    assert ([each["Id"] for each in first["Events"] + rest["Events"]], rest["Next"]) == (seen, None)
    whole, head = (world.get(f"{LOG}?format=csv{limit}") for limit in ("", "&limit=80"))
    tail = world.get(f"{LOG}?format=csv&limit=80&before={head.headers['x-next']}")
    assert [row["Id"] for row in read_table(whole)] == seen
    assert [row["Id"] for row in read_table(head) + read_table(tail)] == seen
    assert not {"x-next"} & {*whole.headers, *tail.headers}
    assert json.loads(read_table(whole)[0]["Details"]) == {"Count": 1}


def read_table(answer: Answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.raw.decode())))


def test_old_events_and_addresses_are_deleted(world: World) -> None:
    assert log_in(world, "Shop").status == 200
    note_uses(world)
    world.sql("UPDATE security_events SET at = at - $1", 179 * DAY)
    tidy(world)
    assert len(events(world, f"?user={SHOP}")) == 1
    world.sql("UPDATE security_events SET at = at - $1", 2 * DAY)
    world.sql("UPDATE known_addresses SET first_at = 1, used_at = NULL")
    tidy(world)
    assert world.sql("SELECT COUNT(*) FROM security_events") == [(0,)]
    assert world.sql("SELECT COUNT(*) FROM known_addresses") == [(0,)]


def test_erased_person_leaves_no_event_about_it_and_no_address(world: World) -> None:
    world.sql("UPDATE users SET api = {true}, users_manage = {true}, users_query = {true} WHERE id = $1", ANN)
    token = log_in(world, "Ann", address="198.51.100.99").json["access_token"]
    world.call("DELETE", "/api/oauth/token/Shop", token=token, address="198.51.100.99")
    note_uses(world)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    # masked at once, for the reader too
    assert [(each["User"], each["By"], each["Address"]) for each in events(world)] == [("Shop", None, None)]
    world.run(erasures.run_all_jobs(world.keeper.store))
    assert not [row for found in everything(world).values() for row in found if "198.51.100.99" in str(row)]
