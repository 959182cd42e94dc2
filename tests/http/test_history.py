"""The audit log over HTTP: filters, cursor, CSV export, and the state of a player at an earlier time."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

import people
from expectations import refused
from game_server import newcomer, put_player, stack
from gamekeeper.game import history, retention
from gamekeeper.http.instants import format_instant
from gamekeeper.store import clock, ledger
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, SWORD, TUTORIAL, USER_IDS, ZOE
from tidying import tidy
from world import World

CHANGES = "/api/keeper/v1/changes"
THEN = "/api/keeper/v1/players"
PEOPLE = 16  # number of changes that filling the test world records
NO_ACCOUNTS = 8  # number of these changes that are not about accounts: five of the catalogue and three players
FAR, LONG_AGO = 4_000_000_000_000, 1_000_000_000_000


def give(world: World, quantity: int = 1, name: str = "Bob", item: str = COIN.id, **more: Any) -> int:
    """Give an item to a player and return the number of the change."""
    body = {"itemid": item, "quantity": quantity}
    assert world.post(f"/api/v1/players/{name}/items/give", body, **more).status == 200
    return last(world)


def last(world: World) -> int:
    return world.run(ledger.read_last(world.keeper.store))


def list_changes(world: World, query: str = "", **more: Any) -> list[Any]:
    answer = world.get(f"{CHANGES}?{query}", **more)
    assert answer.status == 200, answer.raw
    return answer.json["Changes"]


def numbers(world: World, query: str = "", **more: Any) -> list[int]:
    return [each["Seq"] for each in list_changes(world, query, **more)]


def test_change_names_actor_target_and_reason(world: World) -> None:
    seq = give(world, 3, by="Shop", headers={"X-Reason": "order 12"})
    change = list_changes(world)[0]
    assert (change["Seq"], change["Kind"], change["Reason"]) == (seq, "items_given", "order 12")
    assert (change["PlayerId"], change["Player"]) == (BOB.id, "Bob")
    assert (change["ActorId"], change["By"], change["OverLink"]) == (USER_IDS["Shop"], "Shop", False)
    assert [change["Before"]["Items"][0]["Quantity"], change["After"]["Items"][0]["Quantity"]] == [0, 3]
    assert (change["Undoes"], change["UndoneBy"], change["Undoable"]) == (None, None, True)


def test_history_needs_a_token(world: World) -> None:
    for path in (CHANGES, f"{THEN}/Ann/items", f"{THEN}/Ann/spells", f"{THEN}/Ann/variables"):
        refused(world.get(path, by=None), 401, "denied")


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
    assert numbers(world, f"player={BOB.id}&user={USER_IDS['Bob']}") == [15]
    assert numbers(world, f"kind=items_given&item={ARROW.id}&actor={USER_IDS['Root']}") == [to_ann]


def test_reason_filter_matches_a_substring(world: World) -> None:
    seq = give(world, headers={"X-Reason": "Order 50% of A_B! \u00c9tienne"})
    give(world, headers={"X-Reason": "Another offer"})
    for part in ("order", "ORDER", "50%25", "a_b!", "of a", "%C3%89tienne"):
        assert numbers(world, f"reason={part}") == [seq], part
    # no results: % and _ are literal, and case is ignored for A to Z only
    for part in ("o%25f", "_rder", "%25%25", "!!", "\\", "%C3%A9tienne"):
        assert numbers(world, f"reason={part}") == [], part


def test_from_and_to_limit_the_time(world: World) -> None:
    first, second, third = (give(world) for _ in range(3))
    for seq, at in ((first, 1_000), (second, 2_000), (third, 3_000)):
        world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", FAR + at, seq)
    assert numbers(world, "from=2096-10-02T07:06:42Z") == [third, second]
    assert numbers(world, "from=2096-10-02T07:06:42Z&to=2096-10-02T07:06:42Z") == [second]
    assert numbers(world, "to=2096-10-02T07:06:41.000Z&limit=1") == [first]
    assert numbers(world, "from=2096-10-02T07:06:42.001") == [third]  # a time without a zone in a query is UTC


def test_to_filter_skips_later_changes_without_reading_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "WINDOW_ROWS", 2)
    for _ in range(12):
        give(world)
    world.sql("UPDATE ledger SET at = 1000000 * seq")
    assert numbers(world, "to=1970-01-01T01:23:20Z&limit=3") == [5, 4, 3]


def test_cursor_visits_every_change_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "WINDOW_ROWS", 4)
    monkeypatch.setattr(history, "MOST_WINDOWS", 2)
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


def test_changes_made_while_paging_cause_no_duplicates(world: World) -> None:
    first = world.get(f"{CHANGES}?limit=5").json
    give(world)
    second = numbers(world, f"limit=5&before={first['Next']}")
    assert [each["Seq"] for each in first["Changes"]] + second == list(range(PEOPLE, PEOPLE - 10, -1))


def test_caller_without_the_role_sees_no_changes_of_accounts(world: World) -> None:
    world.post("/api/v1/users/Ann/admin/mute", {"reason": "spam"})
    seen = list_changes(world, "limit=1000", by="Shop")
    assert len(seen) == NO_ACCOUNTS
    assert {each["Kind"] for each in seen} == {"catalogue_put", "player_created"}
    assert {each["User"] for each in seen} == {None}
    assert "Ann" in {each["User"] for each in list_changes(world, "limit=1000", by="Clerk")}
    assert numbers(world, f"user={USER_IDS['Mona']}", by="Shop") == []
    assert numbers(world, f"user={USER_IDS['Mona']}", by="Clerk") == [13, 12]


def test_mute_of_an_online_player_counts_as_a_change_of_an_account(world: World) -> None:
    world.call("PUT", "/api/link/v1/servers/one", body={"Lease": 60}, by="Server")
    world.post("/api/link/v1/servers/one/joined", {"Players": [ANN.id]}, by="Server")
    world.post("/api/v1/users/Ann/admin/mute", {"reason": "spam"})
    assert [each["Kind"] for each in list_changes(world, f"player={ANN.id}", by="Clerk")] == [
        "user_muted",
        "player_created",
    ]
    assert [each["Kind"] for each in list_changes(world, f"player={ANN.id}", by="Shop")] == ["player_created"]


def test_csv_has_the_documented_columns(world: World) -> None:
    reasons = ["=1+1", "+1", "-1", "@x", 'a "quoted", one', "null"]
    for reason in reasons:
        give(world, headers={"X-Reason": reason})
    answer = world.get(f"{CHANGES}?format=csv&kind=items_given")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.raw.decode())))
    assert [row["Reason"] for row in rows] == ["null", 'a "quoted", one', "'@x", "'-1", "'+1", "'=1+1"]
    assert [row["UndoneBy"] for row in rows] == [""] * 6
    assert (rows[0]["Undoable"], rows[0]["Player"], rows[0]["By"]) == ("true", "Bob", "Root")
    assert rows[0]["Before"].startswith('{"Items":[')
    assert "x-next" not in answer.headers
    assert world.get(f"{CHANGES}?format=CSV&limit=2").headers["x-next"] == str(last(world) - 1)


BEYOND = "9999-12-31T23:59:59-23:59"  # time that falls into the year 10000 in UTC
BAD = {
    **dict.fromkeys(("player", "user", "actor", "item"), ("Ann", "%00", "1")),
    **dict.fromkeys(("from", "to"), ("yesterday", "%00", "0000-01-01", "0001-01-01T00:00:00+23:59", BEYOND)),
    **dict.fromkeys(("kind", "request", "reason"), ("%00", "a%0ab")),
    "before": ("0", "-1", "x", "9223372036854775808"),
    "limit": ("0", "-1", "1.5"),
    "format": ("xml", "%00"),
}


def test_malformed_filter_is_400(world: World) -> None:
    for field, values in BAD.items():
        for value in values:
            refused(world.get(f"{CHANGES}?{field}={value}"), 400, "bad_field", field)


# --- earlier state of a player -------------------------------------------------------------------------------------


def occupied_slots(slots: list[Any]) -> dict[int, tuple[str, int]]:
    return {each["Slot"]: (each["ItemId"], each["Quantity"]) for each in slots if each["Quantity"]}


def items(world: World, at: object = "", name: str = "Ann") -> Any:
    answer = world.get(f"{THEN}/{name}/items?at={at}")
    assert answer.status == 200, answer.raw
    return answer.json


def test_current_items_equal_those_of_the_api(world: World) -> None:
    def drop_names(slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: value for name, value in each.items() if name != "ItemName"} for each in slots]

    now, known = items(world), world.get("/api/v1/players/Ann/items").json
    assert (now["inventory"], now["bank"]) == (drop_names(known["inventory"]), drop_names(known["bank"]))
    bag = world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json
    assert now["bags"] == [bag | {"Slots": drop_names(bag["Slots"])}]
    assert world.get(f"{THEN}/Ann/spells").json == world.get("/api/v1/players/Ann/spells").json
    assert world.get(f"{THEN}/Ann/variables").json == world.get("/api/v1/players/Ann/variables").json


def test_items_at_each_change_and_time_are_reconstructed(world: World) -> None:
    start = last(world)
    wanted = {start: items(world)}
    acts: list[Callable[[], object]] = [
        lambda: give(world, 40, "Ann", ARROW.id),
        lambda: give(world, 1, "Ann", people.POUCH.id),
        lambda: world.post("/api/v1/players/Ann/items/take", {"itemid": SWORD.id, "quantity": 1}),
        lambda: put_player(world, ANN.id, {"Bags": [{"Id": ANNS_POUCH, "SlotCount": 8, "Slots": [{"Slot": 1}]}]}),
        lambda: put_player(world, ANN.id, {"Items": [{"Slot": 3}]}),
        lambda: put_player(world, ANN.id, {"Bank": [stack(5, COIN.id, 9)]}),
    ]
    for act in acts:
        act()
        wanted[last(world)] = items(world)
    world.sql("UPDATE ledger SET at = $1 + 1000 * (seq - $2)", LONG_AGO, start)
    seconds = {seq: f"2001-09-09T01:46:{40 + seq - start}.500Z" for seq in wanted}
    assert {seq: items(world, seq) for seq in wanted} == wanted
    assert {seq: items(world, at) for seq, at in seconds.items()} == {seq: wanted[seq] for seq in seconds}


def test_spells_and_variables_at_a_time_are_reconstructed(world: World) -> None:
    start = last(world)
    world.post("/api/v1/players/Ann/spells/forget", {"spellid": FIREBALL.id})
    world.post("/api/v1/players/Ann/spells/teach", {"spellid": HEAL.id})
    world.post(f"/api/v1/players/Ann/variables/{KILLS.id}", {"value": 8})
    world.post(f"/api/v1/players/Bob/variables/{TUTORIAL.id}", {"value": True})

    def spells(at: int) -> list[tuple[int, str]]:
        return [(each["Slot"], each["SpellId"]) for each in world.get(f"{THEN}/Ann/spells?at={at}").json]

    def values(name: str, at: int) -> dict[str, Any]:
        return {each["VariableId"]: each["Value"] for each in world.get(f"{THEN}/{name}/variables?at={at}").json}

    assert [spells(start + step) for step in range(3)] == [[(0, FIREBALL.id)], [], [(0, HEAL.id)]]
    assert values("Ann", start + 2) == {KILLS.id: 7, TUTORIAL.id: True}
    assert values("Ann", start + 3) == {KILLS.id: 8, TUTORIAL.id: True}
    assert (values("Bob", start + 3), values("Bob", start + 4)) == ({}, {TUTORIAL.id: True})


def test_history_of_a_deleted_player_is_found_by_id(world: World) -> None:
    before = last(world)
    wanted = items(world)
    assert world.call("DELETE", "/api/v1/players/Ann").status == 200
    assert items(world, before, ANN.id) == wanted
    refused(world.get(f"{THEN}/{ANN.id}/items?at={last(world)}"), 404, "not_there_then")
    refused(world.get(f"{THEN}/{ANN.id}/items"), 404, "not_there_then")
    refused(world.get(f"{THEN}/Ann/items?at={before}"), 404, "no_such_player")
    refused(world.get(f"{THEN}/{people.NOBODY_ID}/items?at=1"), 404, "no_such_player")


def test_player_did_not_exist_before_its_creation(world: World) -> None:
    player_id, body = newcomer(1, Items=[stack(0, COIN.id, 5)])
    put_player(world, player_id, body)
    made = last(world)
    assert occupied_slots(items(world, made, "New1")["inventory"]) == {0: (COIN.id, 5)}
    for what in ("items", "spells", "variables"):
        refused(world.get(f"{THEN}/New1/{what}?at={made - 1}"), 404, "not_there_then")
        refused(world.get(f"{THEN}/New1/{what}?at=2001-01-01"), 404, "not_there_then")


def test_state_before_the_retained_history_is_refused(make_world: Callable[..., World]) -> None:
    world = make_world(ledger_days=8)
    for _ in range(3):
        give(world, 5)
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    seq = give(world, 5)
    tidy(world)
    trimmed = seq - 1
    assert occupied_slots(items(world, seq, "Bob")["inventory"]) == {0: (COIN.id, 20)}
    assert occupied_slots(items(world, trimmed, "Bob")["inventory"]) == {0: (COIN.id, 15)}
    refused(world.get(f"{THEN}/Bob/items?at={trimmed - 1}"), 409, "history_trimmed")
    refused(world.get(f"{THEN}/Bob/items?at=2001-01-01"), 409, "history_trimmed")


def test_state_behind_too_many_changes_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "REWIND_BATCH_ROWS", 2)
    monkeypatch.setattr(history, "MOST_REWOUND", 4)
    start = last(world)
    for _ in range(7):
        give(world)
    assert occupied_slots(items(world, start + 3, "Bob")["inventory"]) == {0: (COIN.id, 3)}
    refused(world.get(f"{THEN}/Bob/items?at={start + 2}"), 409, "history_too_long")
    refused(world.get(f"{THEN}/Bob/items?at=2001-01-01"), 409, "history_too_long")


def test_changes_without_items_are_skipped_for_items(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_REWOUND", 2)
    start = give(world)
    for level in range(3, 20):
        world.post("/api/v1/players/Bob/level", {"level": level})
    give(world)
    assert occupied_slots(items(world, start, "Bob")["inventory"]) == {0: (COIN.id, 1)}
    for level in range(3, 6):
        world.post("/api/v1/players/Bob/level", {"level": level})
    refused(world.get(f"{THEN}/Bob/items?at={start}"), 409, "history_too_long")


def test_imported_player_did_not_exist_before_its_import(world: World) -> None:
    """Imported players have no change of their own: one change describes the whole batch."""
    world.sql("DELETE FROM ledger WHERE player_id = $1", BOB.id)
    kept = "INSERT INTO imports (source, stage, last, report, listed, counts, started_at, finished_at)"
    world.sql(f"{kept} VALUES ('x', 'done', '', '', 0, '{{}}', $1, $1)", LONG_AGO)
    world.sql("UPDATE ledger SET at = $1 WHERE seq <= 14", LONG_AGO - 1000)
    world.sql("UPDATE ledger SET at = $1 WHERE seq > 14", LONG_AGO + 1000)
    seq = give(world)
    world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", LONG_AGO + 2000, seq)
    for at in (5, 13, "2001-09-09T01:46:39Z"):
        refused(world.get(f"{THEN}/Bob/items?at={at}"), 404, "not_there_then", "import")
    for at in (14, 16, "2001-09-09T01:46:41Z"):
        assert occupied_slots(items(world, at, "Bob")["inventory"]) == {}
    assert occupied_slots(items(world, seq, "Bob")["inventory"]) == {0: (COIN.id, 1)}
    # Ann has changes of her own, so her items are known even at a time before the import
    assert items(world, "2001-09-09T01:46:39Z")["bags"]


# --- page limits of the audit log ----------------------------------------------------------------------------------


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


def test_item_filter_reads_fewer_windows_per_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "WINDOW_ROWS", 4)
    monkeypatch.setattr(history, "MOST_ITEM_WINDOWS", 1)
    answer = world.get(f"{CHANGES}?item={ARROW.id}").json
    assert (answer["Next"], [each["Seq"] for each in answer["Changes"]]) == (PEOPLE - 3, [14])


def test_change_with_a_wrong_clock_does_not_end_a_search(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "WINDOW_ROWS", 4)
    first = give(world, headers={"X-Reason": "wanted"})
    for _ in range(6):
        give(world)
    world.sql("UPDATE ledger SET at = $1", FAR)
    world.sql("UPDATE ledger SET at = 0 WHERE seq = $1", last(world) - 1)
    assert numbers(world, "from=2096-10-02T07:06:40Z&reason=wanted") == [first]


# --- the field Undoable of a change --------------------------------------------------------------------------------


def test_undoable_depends_on_the_callers_role(world: World) -> None:
    given = give(world)
    put_player(world, BOB.id, {"Level": 9})
    world.post("/api/v1/users/Bob/name", {"name": "Bobby"})

    def undoable(by: str, query: str = "") -> dict[int, bool]:
        return {each["Seq"]: each["Undoable"] for each in list_changes(world, f"limit=3{query}", by=by)}

    assert undoable("Root") == {given: True, given + 1: True, given + 2: True}
    assert undoable("Clerk") == {given: True, given + 1: False, given + 2: False}
    rows = csv.DictReader(io.StringIO(world.get(f"{CHANGES}?format=csv&limit=3", by="Clerk").raw.decode()))
    assert [row["Undoable"] for row in rows] == ["false", "false", "true"]
    world.sql("UPDATE tokens SET read_only = (SELECT api FROM users WHERE name = 'Root')")
    assert undoable("Shop") == {given: False, given + 1: False, 16: False}


def test_malformed_or_future_time_is_refused(world: World) -> None:
    newest, now = last(world), world.run(clock.now(world.keeper.store))
    soon, later = (format_instant(now + ahead) for ahead in (30_000, 90_000))
    for what in ("items", "spells", "variables"):
        for at in ("yesterday", "-1", "1.5", "9" * 19, "%00", "2026-13-01", BEYOND, newest + 1, later):
            refused(world.get(f"{THEN}/Ann/{what}?at={at}"), 400, "bad_field")
        for at in (newest, soon):  # a time slightly in the future means now, because clocks differ
            assert world.get(f"{THEN}/Ann/{what}?at={at}").json == world.get(f"{THEN}/Ann/{what}").json


def test_player_without_items_has_empty_slots_at_any_time(world: World) -> None:
    assert (occupied_slots(items(world, "", ZOE.id)["inventory"]), items(world, "", "zoe")["bags"]) == ({}, [])
