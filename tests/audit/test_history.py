"""The audit log over HTTP: filters, times, cursor, CSV, and what may be seen."""

import csv
import io
from typing import Any
from urllib.parse import quote

import pytest

from audit_log import LONG_AGO, give, last
from game_server import put_player
from gamekeeper.game.audit import history
from gamekeeper.http.contract.shapes import LIMITS
from people import ANN, ARROW, BOB, COIN, USER_IDS
from undos import CHANGES, items, number_of
from world import World

PEOPLE = 16  # number of changes that filling the test world records
NO_ACCOUNTS = 8  # number of these changes that are not about accounts: five of the catalogue and three players


def list_changes(world: World, query: str = "", **more: Any) -> list[Any]:
    return world.get(f"{CHANGES}?{query}", **more).accepted().json["Changes"]


def numbers(world: World, query: str = "", **more: Any) -> list[int]:
    return [each["Seq"] for each in list_changes(world, query, **more)]


def test_each_filter_selects_its_changes(world: World) -> None:
    by_shop = give(world, 1, by="Shop", headers={"X-Reason": "Order 50% of A_B!"})
    to_ann = give(world, 2, "Ann", ARROW.id)
    by_server = number_of(world, put_player(world, BOB.id, {"Level": 9}))
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


def test_caller_without_the_role_sees_no_changes_of_accounts(world: World) -> None:
    world.post("/api/v1/users/Ann/admin/mute", {"reason": "spam"})
    seen = list_changes(world, "limit=1000", by="Shop")
    assert len(seen) == NO_ACCOUNTS
    assert {each["Kind"] for each in seen} == {"catalogue_put", "player_created"}
    assert {each["User"] for each in seen} == {None}
    assert "Ann" in {each["User"] for each in list_changes(world, "limit=1000", by="Clerk")}
    assert numbers(world, f"user={USER_IDS['Mona']}", by="Shop") == []
    assert numbers(world, f"user={USER_IDS['Mona']}", by="Clerk") == [13, 12]


def test_search_in_windows_visits_every_change_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
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


BEGUN = "2001-09-09T01:46:40"
BOBS_ITEMS = f"/api/keeper/v1/players/{BOB.id}/items"
# By time in the query: how many of four changes, made 0, 73, 20,999 and 21,000 ms after BEGUN, it includes
NAMED = {
    f"{BEGUN}Z": 2,
    "2001-09-09 01:46:40 UTC": 2,
    f"{BEGUN},072": 1,
    "2001-09-09T01:47": 3,
    "2001-09-08T21:17-04:30": 3,
    "2001-09-09": 0,
}


def give_coins(world: World, *after_ms: int) -> list[int]:
    """Give Bob a coin at each of these offsets from LONG_AGO, and date all earlier changes a day before LONG_AGO."""
    world.sql("UPDATE ledger SET at = $1", LONG_AGO - 86_400_000)
    made: list[int] = []
    for each in after_ms:
        assert items(world, "give", COIN.id, 1, "Bob").status == 200
        made.append(last(world))
        world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", LONG_AGO + each, made[-1])
    return made


def list_gifts(world: World, query: str) -> list[int]:
    return numbers(world, f"kind=items_given&{query}")[::-1]


def test_from_and_to_include_the_whole_named_unit_of_time(world: World) -> None:
    made = give_coins(world, 0, 73, 20_999, 21_000)
    for to, found in NAMED.items():
        assert list_gifts(world, f"from=2001-09-09&to={quote(to)}") == made[:found], to
        slots = world.get(f"{BOBS_ITEMS}?at={quote(to)}").json["inventory"]
        assert sum(each["Quantity"] for each in slots if each["ItemId"] == COIN.id) == found, to
    assert list_gifts(world, f"from={BEGUN}Z&to={BEGUN}Z") == made[:2]


def table(world: World, query: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(world.get(f"{CHANGES}?format=csv&{query}").raw.decode())))


def test_csv_has_the_changes_of_the_json_page_and_no_formula(world: World) -> None:
    items(world, "give", COIN.id)
    listed = world.get(f"{CHANGES}?limit=1000").json["Changes"]
    assert [int(row["Seq"]) for row in table(world, "limit=1000")] == [each["Seq"] for each in listed]
    for reason, cell in [
        *((f"{sign}1", f"'{sign}1") for sign in "=+-@\uff1d\uff0b\uff0d\uff20"),
        ("it's; a-b = c,=d", "it's; a-b = c,=d"),
    ]:
        items(world, "give", COIN.id, headers={"X-Reason": reason})
        assert table(world, "limit=1")[0]["Reason"] == cell


def test_csv_is_longer_than_a_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "json", (3, 5))
    monkeypatch.setitem(LIMITS, "csv", (5, 12))
    assert (len(numbers(world)), len(numbers(world, "limit=500"))) == (3, 5)
    assert (len(table(world, "")), len(table(world, "limit=2")), len(table(world, "limit=500"))) == (5, 2, 12)


def test_account_names_in_history_need_the_role(world: World) -> None:
    for name in ("Root", "Shop"):
        items(world, "give", COIN.id, 1, "Bob", by=name)
    put_player(world, BOB.id, {"Level": 9})

    def list_names(by: str) -> list[tuple[str, str | None]]:
        return [(each["ActorId"], each["By"]) for each in world.get(f"{CHANGES}?limit=3", by=by).json["Changes"]][::-1]

    ids = [USER_IDS[name] for name in ("Root", "Shop", "Server")]
    assert list_names("Clerk") == list(zip(ids, ("Root", "Shop", "Server"), strict=True))
    assert list_names("Shop") == list(zip(ids, (None, "Shop", None), strict=True))
