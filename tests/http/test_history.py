"""The audit log over HTTP: filters, cursor, CSV export, and the state of a player at an earlier time."""

import csv
import io
from typing import Any

import pytest

from audit_log import BEYOND, FAR, give, last
from expectations import refused
from game_server import put_player
from gamekeeper.game import history
from people import ANN, ARROW, BOB, USER_IDS
from world import World

CHANGES = "/api/keeper/v1/changes"
PEOPLE = 16  # number of changes that filling the test world records
NO_ACCOUNTS = 8  # number of these changes that are not about accounts: five of the catalogue and three players


def list_changes(world: World, query: str = "", **more: Any) -> list[Any]:
    answer = world.get(f"{CHANGES}?{query}", **more)
    assert answer.status == 200, answer.raw
    return answer.json["Changes"]


def numbers(world: World, query: str = "", **more: Any) -> list[int]:
    return [each["Seq"] for each in list_changes(world, query, **more)]


def test_each_filter_selects_its_changes(world: World) -> None:
    by_shop = give(world, 1, by="Shop", headers={"X-Reason": "Order 50% of A_B!"})
    to_ann = give(world, 2, "Ann", ARROW.id)
    put_player(world, BOB.id, {"Level": 9})
    by_server = last(world)
    renamed = world.post("/api/v1/users/Bob/name", {"name": "Bobby"})
    account = last(world)
    request_id = renamed.headers["x-request-id"]
    assert numbers(world, f"player={BOB.id}") == [by_server, by_shop, 15]
    assert numbers(world, f"user={USER_IDS['Bob']}") == [account, 15, 11]
    assert numbers(world, f"actor={USER_IDS['Shop']}") == [by_shop]
    assert numbers(world, f"actor={USER_IDS['Server']}") == []  # reports of a game server have no actor
    assert numbers(world, "kind=items_given") == [to_ann, by_shop]
    assert numbers(world, f"item={ARROW.id}") == [to_ann, 14, 1]
    assert numbers(world, f"request={request_id}") == [account]
    assert numbers(world, f"player={BOB.id}&actor={USER_IDS['Shop']}") == [by_shop]
    assert numbers(world, f"kind=items_given&item={ARROW.id}&actor={USER_IDS['Root']}") == [to_ann]


def test_change_is_found_by_reason_time_and_page(world: World) -> None:
    first = world.get(f"{CHANGES}?limit=5").json
    give(world)
    second = numbers(world, f"limit=5&before={first['Next']}")
    assert [each["Seq"] for each in first["Changes"]] + second == list(range(PEOPLE, PEOPLE - 10, -1))
    seq = give(world, headers={"X-Reason": "Order 50% of A_B! \u00c9tienne"})
    give(world, headers={"X-Reason": "Another offer"})
    for part in ("order", "ORDER", "50%25", "a_b!", "of a", "%C3%89tienne"):
        assert numbers(world, f"reason={part}") == [seq], part
    # no results: % and _ are literal, and case is ignored for A to Z only
    for part in ("o%25f", "_rder", "%25%25", "!!", "\\", "%C3%A9tienne"):
        assert numbers(world, f"reason={part}") == [], part
    first, second, third = (give(world) for _ in range(3))
    for seq, at in ((first, 1_000), (second, 2_000), (third, 3_000)):
        world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", FAR + at, seq)
    assert numbers(world, "from=2096-10-02T07:06:42Z") == [third, second]
    assert numbers(world, "from=2096-10-02T07:06:42Z&to=2096-10-02T07:06:42Z") == [second]
    assert numbers(world, "to=2096-10-02T07:06:41.000Z&limit=1") == [first]
    assert numbers(world, "from=2096-10-02T07:06:42.001") == [third]  # a time without a zone in a query is UTC


def test_caller_without_the_role_sees_no_changes_of_accounts(world: World) -> None:
    world.post("/api/v1/users/Ann/admin/mute", {"reason": "spam"})
    seen = list_changes(world, "limit=1000", by="Shop")
    assert len(seen) == NO_ACCOUNTS
    assert {each["Kind"] for each in seen} == {"catalogue_put", "player_created"}
    assert {each["User"] for each in seen} == {None}
    assert "Ann" in {each["User"] for each in list_changes(world, "limit=1000", by="Clerk")}
    assert numbers(world, f"user={USER_IDS['Mona']}", by="Shop") == []
    assert numbers(world, f"user={USER_IDS['Mona']}", by="Clerk") == [13, 12]


BAD = {
    "player": ("Ann",),
    "item": ("1",),
    **dict.fromkeys(("from", "to"), ("yesterday", "0000-01-01", "0001-01-01T00:00:00+23:59", BEYOND)),
    "reason": ("a%0ab",),
    "before": ("0", "9223372036854775808"),
    "limit": ("0",),
    "format": ("xml",),
}


def test_malformed_filter_is_400(shared_world: World) -> None:
    for field, values in BAD.items():
        for value in values:
            refused(shared_world.get(f"{CHANGES}?{field}={value}"), 400, "bad_field", field)


def test_long_page_ends_early_with_a_cursor(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = numbers(world, "limit=1000")
    monkeypatch.setattr(history, "PAGE_LETTERS", 400)
    for query, header in (("", ""), ("&kind=catalogue_put", ""), ("&format=csv", "x-next")):
        seen: list[int] = []
        following, pages = None, 0
        while pages == 0 or following:
            cursor = f"&before={following}" if following else ""
            answer = world.get(f"{CHANGES}?limit=1000{query}{cursor}")
            if header:
                found = list(csv.DictReader(io.StringIO(answer.raw.decode())))
                following = answer.headers.get(header)
            else:
                found, following = answer.json["Changes"], answer.json["Next"]
            seen += [int(each["Seq"]) for each in found]
            assert sum(len(str(each["Before"])) + len(str(each["After"])) for each in found[:-1]) < 800
            pages += 1
        assert pages > 1, query
        assert seen == ([seq for seq in wanted if seq <= 5] if "kind" in query else wanted)


def test_search_in_windows_visits_every_change_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "WINDOW_ROWS", 4)
    monkeypatch.setattr(history, "MAX_ITEM_WINDOWS", 1)
    answer = world.get(f"{CHANGES}?item={ARROW.id}").json
    assert (answer["Next"], [each["Seq"] for each in answer["Changes"]]) == (PEOPLE - 3, [14])
    monkeypatch.setattr(history, "WINDOW_ROWS", 4)
    monkeypatch.setattr(history, "MAX_WINDOWS", 2)
    for number in range(11):
        give(world, name=("Ann", "Bob")[number % 2])
    wanted = {"": 27, f"player={ANN.id}": 7, "kind=items_given": 11, "kind=player_created": 3, "reason=x": 0}
    for query, count in wanted.items():
        for limit in (1, 3, 100):
            seen: list[int] = []
            following, pages = None, 0
            while pages == 0 or following is not None:
                cursor = f"&before={following}" if following else ""
                answer = world.get(f"{CHANGES}?{query}&limit={limit}{cursor}").json
                assert len(answer["Changes"]) <= limit
                seen += [each["Seq"] for each in answer["Changes"]]
                following, pages = answer["Next"], pages + 1
                assert pages < 100
            assert len(seen) == count
            assert seen == sorted(set(seen), reverse=True)
    monkeypatch.setattr(history, "WINDOW_ROWS", 4)
    first = give(world, headers={"X-Reason": "wanted"})
    for _ in range(6):
        give(world)
    world.sql("UPDATE ledger SET at = $1", FAR)
    world.sql("UPDATE ledger SET at = 0 WHERE seq = $1", last(world) - 1)
    assert numbers(world, "from=2096-10-02T07:06:40Z&reason=wanted") == [first]


def test_undoable_depends_on_the_callers_role(world: World) -> None:
    given = give(world)
    put_player(world, BOB.id, {"Level": 9})
    world.post("/api/v1/users/Bob/name", {"name": "Bobby"})

    def undoable(by: str, query: str = "") -> dict[int, bool]:
        return {each["Seq"]: each["Undoable"] for each in list_changes(world, f"limit=3{query}", by=by)}

    assert undoable("Root") == {given: True, given + 1: True, given + 2: True}
    assert undoable("Clerk") == {given: True, given + 1: False, given + 2: False}
    world.sql("UPDATE tokens SET read_only = (SELECT api FROM users WHERE name = 'Root')")
    assert undoable("Shop") == {given: False, given + 1: False, 16: False}
