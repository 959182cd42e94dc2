"""The state of a player at an earlier time."""

from typing import Any

import pytest

from audit_log import BEYOND, LONG_AGO, THEN, give, last
from expectations import refused
from game_server import newcomer, put_player, stack
from gamekeeper.game.audit import history, retention
from gamekeeper.ground.instants import format_instant
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, TUTORIAL
from tidying import tidy
from world import MakeWorld, World


def occupied_slots(slots: list[Any]) -> dict[int, tuple[str, int]]:
    return {each["Slot"]: (each["ItemId"], each["Quantity"]) for each in slots if each["Quantity"]}


def items(world: World, at: object = "", name: str = "Ann") -> Any:
    return world.get(f"{THEN}/{name}/items?at={at}").accepted().json


def test_current_items_equal_those_of_the_api(shared_world: World) -> None:
    def drop_names(slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: value for name, value in each.items() if name != "ItemName"} for each in slots]

    now, known = items(shared_world), shared_world.get("/api/v1/players/Ann/items").json
    assert (now["inventory"], now["bank"]) == (drop_names(known["inventory"]), drop_names(known["bank"]))
    bag = shared_world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json
    assert now["bags"] == [bag | {"Slots": drop_names(bag["Slots"])}]
    assert shared_world.get(f"{THEN}/Ann/spells").json == shared_world.get("/api/v1/players/Ann/spells").json
    assert shared_world.get(f"{THEN}/Ann/variables").json == shared_world.get("/api/v1/players/Ann/variables").json


def test_items_at_each_change_and_time_are_reconstructed(world: World) -> None:
    start = last(world)
    wanted = {start: items(world)}
    acts = [
        lambda: give(world, 40, "Ann", ARROW.id),
        lambda: give(world, 1, "Ann", POUCH.id),
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


def test_player_has_no_state_before_its_creation_and_after_its_deletion(world: World) -> None:
    player_id, body = newcomer(1, Items=[stack(0, COIN.id, 5)])
    put_player(world, player_id, body)
    made = last(world)
    assert occupied_slots(items(world, made, "New1")["inventory"]) == {0: (COIN.id, 5)}
    for what in ("items", "spells", "variables"):
        refused(world.get(f"{THEN}/New1/{what}?at={made - 1}"), 404, "not_there_then")
        refused(world.get(f"{THEN}/New1/{what}?at=2001-01-01"), 404, "not_there_then")
    wanted = items(world)
    assert world.call("DELETE", "/api/v1/players/Ann").status == 200
    assert items(world, made, ANN.id) == wanted  # by id only
    refused(world.get(f"{THEN}/{ANN.id}/items?at={last(world)}"), 404, "not_there_then")
    refused(world.get(f"{THEN}/Ann/items?at={made}"), 404, "no_such_player")


def test_state_before_the_retained_history_is_refused(make_world: MakeWorld) -> None:
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
    monkeypatch.setattr(history, "MAX_REWOUND", 4)
    start = last(world)
    for _ in range(7):
        give(world)
    assert occupied_slots(items(world, start + 3, "Bob")["inventory"]) == {0: (COIN.id, 3)}
    refused(world.get(f"{THEN}/Bob/items?at={start + 2}"), 409, "history_too_long")
    refused(world.get(f"{THEN}/Bob/items?at=2001-01-01"), 409, "history_too_long")


def test_changes_without_items_are_skipped_for_items(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_REWOUND", 2)
    start = give(world)
    for level in range(3, 20):
        world.post("/api/v1/players/Bob/level", {"level": level})
    give(world)
    assert occupied_slots(items(world, start, "Bob")["inventory"]) == {0: (COIN.id, 1)}


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


def test_malformed_or_future_time_is_refused(world: World) -> None:
    newest, now = last(world), world.now()
    soon, later = (format_instant(now + ahead) for ahead in (30_000, 90_000))
    for at in ("yesterday", "-1", "1.5", "2026-13-01", BEYOND, newest + 1, later):
        refused(world.get(f"{THEN}/Ann/items?at={at}"), 400, "bad_field")
    for at in (newest, soon):  # a time slightly in the future means now, because clocks differ
        assert items(world, at) == items(world)
