"""Taking changes back: every kind there is, what has moved on since, and who may."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import people
from expectations import everything, refused
from game_server import heartbeat, join, newcomer, put_player, stack
from gamekeeper import doctor
from gamekeeper.doctor import ERROR
from gamekeeper.game import accounts, effects, retention, undo
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.inventory import sizes
from gamekeeper.game.lookup import ZERO
from gamekeeper.game.undoing import Actor
from gamekeeper.store import history, ledger
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import Powers, User
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, USER_IDS, ZOE
from world import Answer, World

CHANGES = "/api/keeper/v1/changes"
LEFT_ALONE = {"ledger", "epoch", "list_changes", "list_blocks", "lists", "tokens", "token_rounds", "idempotency_keys"}
Act = Callable[[World], Answer]


def undone(world: World, seq: int, query: str = "", **more: Any) -> Answer:
    return world.post(f"{CHANGES}/{seq}/undo{query}", **more)


def last(world: World) -> int:
    return world.run(ledger.last(world.keeper.store))


def row(world: World, seq: int) -> Any:
    return world.get(f"{CHANGES}?before={seq + 1}&limit=1").json["Changes"][0]


def state(world: World) -> Mapping[str, list[str]]:
    """What a change changes: the record, what it holds, the accounts."""
    return {table: rows for table, rows in everything(world).items() if table not in LEFT_ALONE}


def conflict(world: World, seq: int, part: str) -> None:
    before = everything(world)
    refused(undone(world, seq), 409, "undo_conflict", part)
    assert everything(world) == before


def items(world: World, what: str, item: str, quantity: int = 1, name: str = "Ann", **more: Any) -> Answer:
    body = {"itemid": item, "quantity": quantity, "bankoverflow": True}
    return world.post(f"/api/v1/players/{name}/items/{what}", body, **more)


def held(world: World, place: str, slot: int, name: str = "Ann") -> tuple[str, int]:
    found = world.get(f"/api/v1/players/{name}/items/{place}").json[slot]
    return found["ItemId"], found["Quantity"]


def unseen(what: str, done: int, total: int) -> None:
    del what, done, total


def wrong(world: World) -> list[str]:
    found = world.run(doctor.examine(world.keeper, unseen))
    return [each.message for each in found if each.level == ERROR]


def granted(world: World, name: str, powers: Powers) -> Answer:
    """By the command line, which asks nobody."""

    async def decide(tx: Reading) -> Decision[User]:
        return await accounts.change_powers(tx, USER_IDS[name], powers)

    world.run(world.keeper.changes.apply(Intent("test"), decide, lambda _: b"{}"))
    return Answer(200, {}, b"{}")


def moderate(world: World, act: str) -> Answer:
    return world.post(f"/api/v1/users/Bob/admin/{act}", {"reason": "rude", "duration": 3, "moderator": "Root"})


BAG: Mapping[str, object] = {"Id": ANNS_POUCH, "SlotCount": 9, "Slots": [stack(8, ARROW.id, 3)]}
EMPTY: Mapping[str, object] = {"Id": ANNS_POUCH, "SlotCount": 8, "Slots": []}
ACTS: Mapping[str, Act] = {
    "items_given": lambda world: items(world, "give", ARROW.id, 60),
    "items_given of a bag": lambda world: items(world, "give", POUCH.id, 2),
    "items_taken": lambda world: items(world, "take", COIN.id, 250),
    "items_taken in part": lambda world: items(world, "take", ARROW.id, 6),
    "items_set": lambda world: put_player(world, ANN.id, {"Items": [stack(0, SWORD.id), stack(7, COIN.id, 4)]}),
    "items_set of a bag": lambda world: put_player(world, ANN.id, {"Items": [{"Slot": 3}]}),
    "items_set of a larger bag": lambda world: put_player(world, ANN.id, {"Bags": [BAG]}),
    "items_set by moving a bag": lambda world: put_player(
        world, ANN.id, {"Items": [{"Slot": 3}, stack(9, POUCH.id, BagId=ANNS_POUCH)]}
    ),
    "spell_taught": lambda world: world.post("/api/v1/players/Ann/spells/teach", {"spellid": HEAL.id}),
    "spell_forgotten": lambda world: world.post("/api/v1/players/Ann/spells/forget", {"spellid": FIREBALL.id}),
    "spells_set": lambda world: put_player(
        world, ANN.id, {"Spells": [{"Slot": 0, "SpellId": HEAL.id}, {"Slot": 3, "SpellId": FIREBALL.id}]}
    ),
    "variables_set": lambda world: world.post(f"/api/v1/players/Ann/variables/{KILLS.id}", {"value": 8}),
    "variables_set for the first time": lambda world: world.post(
        f"/api/v1/players/Bob/variables/{KILLS.id}", {"value": 0}
    ),
    "player_changed": lambda world: world.post("/api/v1/players/Ann/level", {"level": 20}),
    "player_changed by name": lambda world: world.post("/api/v1/players/Ann/name", {"name": "Anna"}),
    "player_changed by a game": lambda world: put_player(
        world, ANN.id, {"UserId": USER_IDS["Bob"], "Vitals": [1, 2], "Equipment": [-1, -1, -1, -1, -1], "X": 9}
    ),
    "player_created": lambda world: put_player(
        world, *newcomer(1, Items=[stack(1, COIN.id, 5), stack(0, POUCH.id)], CreationDate="2026-01-31T12:00:00Z")
    ),
    "player_deleted": lambda world: world.call("DELETE", "/api/v1/players/Ann"),
    "email_changed": lambda world: world.post("/api/v1/users/Ann/manage/email/change", {"new": "other@example.test"}),
    "user_renamed": lambda world: world.post("/api/v1/users/Ann/name", {"name": "Annabel"}),
    "powers_changed": lambda world: granted(world, "Ann", Powers(api=True, users_query=True)),
    "user_banned": lambda world: moderate(world, "ban"),
    "user_unbanned": lambda world: moderate(world, "unban"),
    "user_muted": lambda world: moderate(world, "mute"),
    "user_unmuted": lambda world: moderate(world, "unmute"),
}
EARLIER: Mapping[str, Act] = {
    "user_unbanned": lambda world: moderate(world, "ban"),
    "user_unmuted": lambda world: moderate(world, "mute"),
}


def test_every_rule_is_tried() -> None:
    assert {name.partition(" ")[0] for name in ACTS} == set(undo.RULES)


@pytest.mark.parametrize("name", ACTS)
def test_there_and_back_and_there_again(world: World, name: str) -> None:
    if name in EARLIER:
        assert EARLIER[name](world).status == 200
    start, kind = state(world), name.partition(" ")[0]
    assert ACTS[name](world).status == 200
    done = state(world)
    seq = max(each.seq for each in world.ledger() if each.kind == kind)
    assert row(world, seq)["Undoable"]
    assert done != start

    answer = undone(world, seq, headers={"X-Reason": "a mistake"})
    assert answer.status == 200, answer.raw
    assert (answer.json["Undoes"], answer.json["Kind"]) == (seq, kind)
    taken = next(each for each in reversed(world.ledger()) if each.kind == answer.json["Changes"][0]["Kind"])
    assert (row(world, taken.seq)["Undoes"], row(world, seq)["UndoneBy"]) == (seq, taken.seq)
    assert (row(world, taken.seq)["Reason"], row(world, seq)["Undoable"]) == ("a mistake", False)
    settled(start, state(world))
    assert wrong(world) == []
    refused(undone(world, seq), 409, "already_undone", str(taken.seq))

    assert undone(world, taken.seq).status == 200
    settled(done, state(world))
    assert (row(world, seq)["UndoneBy"], row(world, seq)["Undoable"]) == (None, True)
    assert wrong(world) == []


def settled(wanted: Mapping[str, list[str]], found: Mapping[str, list[str]]) -> None:
    """A ban that came back begins anew; all else is as it was."""
    for table, rows in wanted.items():
        if table in {"bans", "mutes"}:
            assert [each.split(",")[:3] for each in found[table]] == [each.split(",")[:3] for each in rows]
        else:
            assert found[table] == rows, table


def test_what_was_worn_is_put_on_by_its_own_line(world: World) -> None:
    items(world, "take", SWORD.id)
    taken, off = last(world) - 1, last(world)
    refused(undone(world, off), 409, "undo_conflict", "what it wore")
    assert undone(world, taken).status == undone(world, off).status == 200
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, 2, -1, -1]


def test_nobody_wears_what_an_undo_takes(world: World) -> None:
    items(world, "give", SWORD.id)
    seq = last(world)
    put_player(world, ANN.id, {"Equipment": [-1, -1, 4, -1, -1]})
    assert [each["Kind"] for each in undone(world, seq).json["Changes"]] == ["items_set", "player_changed"]
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, -1, -1, -1]
    assert row(world, seq)["UndoneBy"] == last(world) - 1


# --- what has moved on -----------------------------------------------------------------------------------------------


def test_a_stack_that_grew_or_shrank_gives_back_the_difference(world: World) -> None:
    items(world, "give", COIN.id, 100)
    seq = last(world)
    items(world, "give", COIN.id, 7)
    assert undone(world, seq).status == 200
    assert held(world, "inventory", 0) == (COIN.id, 257)
    items(world, "take", COIN.id, 100)
    seq = last(world)
    items(world, "take", COIN.id, 57)
    assert undone(world, seq).status == 200
    assert held(world, "inventory", 0) == (COIN.id, 200)
    assert wrong(world) == []


def test_a_stack_that_is_too_small_by_now(world: World) -> None:
    items(world, "give", COIN.id, 5, "Bob")
    seq = last(world)
    items(world, "take", COIN.id, 2, "Bob")
    conflict(world, seq, "slot 0 of the inventory has 3 left of 5")
    items(world, "take", COIN.id, 3, "Bob")
    conflict(world, seq, "has 0 left of 5")


def test_a_stack_that_would_be_too_large(world: World) -> None:
    items(world, "take", ARROW.id, 60)
    seq = last(world)
    put_player(world, ANN.id, {"Items": [stack(1, ARROW.id, 50)]})
    conflict(world, seq, "cannot hold 110")
    items(world, "take", SWORD.id)
    seq = last(world) - 1
    put_player(world, ANN.id, {"Items": [stack(2, SWORD.id, 1, StatBuffs=[1, 2, 3, 4, 5])]})
    conflict(world, seq, "cannot hold 2")


def test_another_item_in_the_slot(world: World) -> None:
    items(world, "take", SWORD.id)
    seq = last(world) - 1
    put_player(world, ANN.id, {"Items": [stack(2, ARROW.id, 3)]})
    conflict(world, seq, "slot 2 of the inventory holds something else")
    put_player(world, ANN.id, {"Items": [stack(2, SWORD.id)]})  # a sword, and not the one that was taken
    conflict(world, seq, "slot 2 of the inventory holds something else")


def test_a_bag_that_was_filled_or_moved(world: World) -> None:
    items(world, "give", POUCH.id, 1, "Bob")
    seq = last(world)
    bag = world.get("/api/v1/players/Bob/items/inventory").json[0]["BagId"]
    put_player(world, BOB.id, {"Bags": [{"Id": bag, "SlotCount": 8, "Slots": [stack(0, COIN.id, 3)]}]})
    conflict(world, seq, "a bag of it holds other things")
    put_player(world, BOB.id, {"Bags": [{"Id": bag, "SlotCount": 8, "Slots": [{"Slot": 0}]}]})
    put_player(world, BOB.id, {"Items": [{"Slot": 0}, stack(5, POUCH.id, BagId=bag)]})
    conflict(world, seq, "slot 0 of the inventory")


def test_a_bag_that_somebody_else_has(world: World) -> None:
    put_player(world, ANN.id, {"Items": [{"Slot": 3}]})
    seq = last(world)
    put_player(world, BOB.id, {"Items": [stack(0, POUCH.id, BagId=ANNS_POUCH)], "Bags": [EMPTY]})
    conflict(world, seq, "a bag of it is with somebody")
    world.call("DELETE", "/api/v1/players/Bob")
    assert undone(world, seq).status == 200
    assert wrong(world) == []


def test_a_deleted_characters_bag_that_somebody_else_has(world: World) -> None:
    world.call("DELETE", "/api/v1/players/Ann")
    seq = last(world)
    put_player(world, BOB.id, {"Items": [stack(0, POUCH.id, BagId=ANNS_POUCH)], "Bags": [EMPTY]})
    conflict(world, seq, "a bag of it is with somebody")


def test_two_bags_do_not_end_up_in_each_other(world: World) -> None:
    other = people.guid(0x52)
    outer = {"Id": other, "SlotCount": 8, "Slots": [stack(0, POUCH.id, BagId=ANNS_POUCH)]}
    put_player(world, ANN.id, {"Items": [{"Slot": 3}, stack(9, POUCH.id, BagId=other)], "Bags": [outer]})
    emptied = {"Id": other, "SlotCount": 8, "Slots": [{"Slot": 0}]}
    put_player(world, ANN.id, {"Items": [stack(3, POUCH.id, BagId=ANNS_POUCH)], "Bags": [emptied]})
    seq = last(world)
    inner = {"Id": ANNS_POUCH, "SlotCount": 8, "Slots": [stack(0, POUCH.id, BagId=other)]}
    put_player(world, ANN.id, {"Items": [{"Slot": 9}], "Bags": [inner]})
    conflict(world, seq, "a bag of it")


def test_a_bag_that_was_made_larger_and_is_filled(world: World) -> None:
    put_player(world, ANN.id, {"Bags": [{**EMPTY, "SlotCount": 9}]})
    seq = last(world)
    put_player(world, ANN.id, {"Bags": [BAG]})
    conflict(world, seq, "a bag of it holds other things")


def test_spells_and_variables_that_moved_on(world: World) -> None:
    ann = "/api/v1/players/Ann"
    world.post(f"{ann}/spells/teach", {"spellid": HEAL.id})
    taught = last(world)
    put_player(world, ANN.id, {"Spells": [{"Slot": 1, "SpellId": ZERO}]})
    conflict(world, taught, "slot holds something else")
    world.post(f"{ann}/spells/forget", {"spellid": FIREBALL.id})
    forgotten = last(world)
    put_player(world, ANN.id, {"Spells": [{"Slot": 5, "SpellId": FIREBALL.id}]})
    conflict(world, forgotten, "learnt the spell again")
    world.post(f"{ann}/variables/{KILLS.id}", {"value": 8})
    seq = last(world)
    world.post(f"{ann}/variables/{KILLS.id}", {"value": 9})
    conflict(world, seq, "another value")
    world.post(f"{ann}/variables/{KILLS.id}", {"value": 8})
    assert undone(world, seq).status == 200


def test_names_and_addresses_that_are_taken(world: World) -> None:
    renamed, accounts_name, address = (
        ("/api/v1/players/Ann/name", {"name": "Anna"}),
        ("/api/v1/users/Ann/name", {"name": "Anna"}),
        ("/api/v1/users/Anna/manage/email/change", {"new": "other@example.test"}),
    )
    numbers: list[int] = []
    for path, body in (renamed, accounts_name, address):
        assert world.post(path, body).status == 200
        numbers.append(last(world))
    world.post("/api/v1/players/Bob/name", {"name": "ANN"})
    world.post("/api/v1/users/Bob/name", {"name": "ann"})
    world.post("/api/v1/users/Mona/manage/email/change", {"new": "ANN@example.test"})
    before = everything(world)
    for seq, code in zip(numbers, ("name_taken", "username_taken", "email_taken"), strict=True):
        refused(undone(world, seq), 409, code)
    assert everything(world) == before


def test_records_and_accounts_that_moved_on(world: World) -> None:
    numbers: list[int] = []
    for path, body in (
        ("/api/v1/players/Ann/level", {"level": 20}),
        ("/api/v1/users/Ann/name", {"name": "Anna"}),
        ("/api/v1/users/Anna/manage/email/change", {"new": "other@example.test"}),
    ):
        world.post(path, body)
        numbers.append(last(world))
    world.post("/api/v1/players/Ann/level", {"level": 21})
    world.post("/api/v1/users/Anna/manage/email/change", {"new": "third@example.test"})
    world.post("/api/v1/users/Anna/name", {"name": "Annie"})
    for seq, part in zip(numbers, ("level", "name", "address"), strict=True):
        conflict(world, seq, f"another {part}" if part != "level" else "its level is another")
    granted(world, "Ann", Powers(api=True, users_query=True))
    seq = last(world)
    world.sql("UPDATE users SET kick = mute WHERE name = 'Annie'")
    world.sql("UPDATE users SET api = (SELECT ban FROM users WHERE name = 'Bob') WHERE name = 'Annie'")
    conflict(world, seq, "other powers")


def test_owners_that_are_gone(world: World) -> None:
    put_player(world, ZOE.id, {"UserId": USER_IDS["Bob"]})
    moved = last(world)
    put_player(world, BOB.id, {"UserId": USER_IDS["Mona"]})
    world.call("DELETE", "/api/v1/players/Ann")
    deleted = last(world)
    items(world, "give", COIN.id, 1, "Bob")
    given_ = last(world)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    conflict(world, moved, "not there any more")
    conflict(world, deleted, "")
    world.call("DELETE", "/api/v1/players/Bob")
    conflict(world, given_, "the player is not there any more")
    conflict(world, 14, "the player is not there any more")


def test_what_was_made_and_has_changed_since_is_not_deleted(world: World) -> None:
    seq = 15  # Bob was made
    items(world, "give", COIN.id, 1, "Bob")
    conflict(world, seq, "has changed since")
    items(world, "take", COIN.id, 1, "Bob")
    heartbeat(world)
    join(world, BOB.id)
    refused(undone(world, seq), 409, "player_online")
    world.call("DELETE", "/api/link/v1/servers/one", by="Server")
    assert undone(world, seq).status == 200


def test_a_character_that_is_there_again_or_whose_name_is_taken(world: World) -> None:
    world.call("DELETE", "/api/v1/players/Bob")
    seq = last(world)
    put_player(world, BOB.id, {"Name": "Bob", "UserId": USER_IDS["Bob"]})
    conflict(world, seq, "there again")
    world.call("DELETE", "/api/v1/players/Bob")
    world.post("/api/v1/players/Zoe/name", {"name": "BOB"})
    refused(undone(world, seq), 409, "name_taken")


def test_penalties_that_ended_or_are_others(world: World) -> None:
    bob = "/api/v1/users/Bob/admin"
    world.post(f"{bob}/ban", {"reason": "rude", "duration": 3})
    banned = last(world)
    world.post(f"{bob}/unban", {})
    lifted = last(world)
    conflict(world, banned, "it ended")
    world.post(f"{bob}/ban", {"reason": "worse"})
    conflict(world, banned, "another took its place")
    refused(undone(world, lifted), 409, "already_banned")
    world.post(f"{bob}/unban", {})
    world.sql(
        "UPDATE ledger SET before = $1 WHERE seq = $2", '{"BanReason":"rude","EndsAt":"2001-01-01T00:00:00Z"}', lifted
    )
    conflict(world, lifted, "ended by itself")


def test_a_bag_that_has_another_size_by_now(world: World) -> None:
    items(world, "give", POUCH.id, 1, "Bob")
    seq = last(world)
    bag = world.get("/api/v1/players/Bob/items/inventory").json[0]["BagId"]
    put_player(world, BOB.id, {"Bags": [{**EMPTY, "Id": bag, "SlotCount": 20}]})
    conflict(world, seq, "another size")
    put_player(world, BOB.id, {"Bags": [{**EMPTY, "Id": bag}]})
    assert undone(world, seq).status == 200
    assert [each["SlotCount"] for each in row(world, last(world))["Before"]["Bags"]] == [8]


def test_a_bag_that_was_resized_twice(world: World) -> None:
    put_player(world, ANN.id, {"Bags": [{**EMPTY, "SlotCount": 9}]})
    seq = last(world)
    put_player(world, ANN.id, {"Bags": [{**EMPTY, "SlotCount": 12}]})
    conflict(world, seq, "another size")


def test_what_was_dropped_and_picked_up_again_is_not_given_twice(world: World) -> None:
    put_player(world, ANN.id, {"Items": [{"Slot": 0}]})  # the coins
    dropped = last(world)
    put_player(world, ANN.id, {"Items": [stack(9, COIN.id, 250)]})
    conflict(world, dropped, f"again since, by change {dropped + 1}")


def test_what_a_game_moved_can_be_moved_back_and_forth(world: World) -> None:
    put_player(world, ANN.id, {"Items": [{"Slot": 0}]})
    dropped = last(world)
    items(world, "give", ARROW.id, 1)  # other items are no matter
    for _ in range(2):
        assert undone(world, dropped).status == 200
        assert undone(world, last(world)).status == 200
    assert undone(world, dropped).status == 200
    assert held(world, "inventory", 0) == (COIN.id, 250)


def test_too_much_has_happened_to_know(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "LATER", 2)
    put_player(world, ANN.id, {"Items": [{"Slot": 0}]})
    dropped = last(world)
    for _ in range(3):
        items(world, "give", ARROW.id, 1)
    conflict(world, dropped, "more than 2 times")


def test_an_item_that_the_catalogue_has_no_more(world: World) -> None:
    items(world, "take", ARROW.id, 6)
    taken = last(world)
    items(world, "give", ARROW.id, 6)
    given_ = last(world)
    items(world, "take", ARROW.id, 1)
    world.sql("DELETE FROM items WHERE id = $1", ARROW.id)
    conflict(world, taken, "the catalogue")
    assert undone(world, given_, "?dryRun=true").status == 200  # less of it is no matter


def test_a_slot_that_is_not_there_any_more(make_world: Callable[..., World]) -> None:
    world = make_world()
    put_player(world, BOB.id, {"Items": [stack(30, COIN.id, 5), stack(31, COIN.id, 5)]})
    items(world, "take", COIN.id, 8, "Bob")
    seq = last(world)
    world.call("DELETE", "/api/v1/players/Bob")
    deleted = last(world)
    smaller = make_world(inventory_slots=20)
    assert undone(smaller, deleted).status == 200
    conflict(smaller, seq, "there is no slot 30 of the inventory any more")
    assert undone(world, seq).status == 200


def test_what_is_worn_is_what_was_worn_then(world: World) -> None:
    put_player(world, ANN.id, {"Equipment": [-1, -1, -1, -1, -1]})
    off = last(world)
    put_player(world, ANN.id, {"Items": [stack(2, ARROW.id, 3)]})
    conflict(world, off, "what it wore")
    put_player(world, ANN.id, {"Items": [stack(2, SWORD.id, 1, StatBuffs=[9, 9, 9, 9, 9])]})
    conflict(world, off, "what it wore")
    assert undone(world, last(world)).status == 200
    assert held(world, "inventory", 2) == (ARROW.id, 3)
    conflict(world, off, "what it wore")


def test_another_item_in_its_slot_is_not_worn(world: World) -> None:
    put_player(world, ANN.id, {"Items": [stack(2, ARROW.id, 3)]})
    seq = last(world)
    put_player(world, ANN.id, {"Equipment": [-1, -1, 2, -1, -1]})
    assert undone(world, seq).status == 200
    assert held(world, "inventory", 2) == (SWORD.id, 1)
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, -1, -1, -1]


@pytest.mark.parametrize(("act", "back"), [("ban", "unban"), ("mute", "unmute")])
def test_a_newer_penalty_that_looks_the_same(world: World, act: str, back: str) -> None:
    path = "/api/v1/users/Bob/admin"
    world.post(f"{path}/{act}", {"reason": "rude", "moderator": "Root"})
    first = last(world)
    world.post(f"{path}/{back}", {})
    world.post(f"{path}/{act}", {"reason": "rude", "moderator": "Root"})
    second = last(world)
    conflict(world, first, "another took its place")
    world.sql(f"UPDATE {act}s SET moderator = 'Mona'")  # noqa: S608 - a name of the test's own
    conflict(world, second, "another took its place")
    world.sql(f"UPDATE {act}s SET moderator = ''")  # noqa: S608 - a name of the test's own
    for _ in range(2):  # there and back again
        assert undone(world, second).status == 200
        assert undone(world, last(world)).status == 200


@pytest.mark.parametrize("name", EARLIER)
def test_a_penalty_whose_end_is_not_known(world: World, name: str) -> None:
    EARLIER[name](world)
    ACTS[name](world)
    reason = "BanReason" if "ban" in name else "MuteReason"
    world.sql("UPDATE ledger SET before = $1 WHERE seq = $2", f'{{"{reason}":"rude"}}', last(world))
    conflict(world, last(world), "does not say")


def test_an_erased_moderator_stays_erased(world: World) -> None:
    world.post("/api/v1/users/Bob/admin/ban", {"reason": "rude", "moderator": "mona"})
    moderate(world, "unban")
    seq = last(world)
    assert world.call("DELETE", "/api/v1/users/Mona").status == 200
    assert undone(world, seq).status == 200
    assert world.sql("SELECT moderator FROM bans") == [("",)]
    assert b"mona" not in bytes(str(world.ledger()[-1].after), "utf-8").lower()


def test_what_was_no_address_does_not_come_back(world: World) -> None:
    world.sql("UPDATE users SET email = 'nowhere' WHERE name = 'Ann'")
    ACTS["email_changed"](world)
    conflict(world, last(world), "no address")


def test_what_a_trim_has_passed_cannot_be_undone(make_world: Callable[..., World]) -> None:
    """What took it back may be gone: items would be invented."""
    world = make_world(ledger_days=8)
    put_player(world, ANN.id, {"Items": [{"Slot": 0}]})
    dropped = last(world)
    assert undone(world, dropped).status == 200
    items(world, "take", COIN.id, 250)
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    world.run(retention.tidy(world.keeper))
    assert dropped in [each.seq for each in world.ledger()]
    assert dropped + 1 not in [each.seq for each in world.ledger()]
    before = everything(world)
    refused(undone(world, dropped), 409, "history_trimmed")
    assert everything(world) == before
    assert not row(world, dropped)["Undoable"]


# --- who may ---------------------------------------------------------------------------------------------------------


def test_an_undo_of_an_undo_takes_what_the_first_took(world: World) -> None:
    put_player(world, ANN.id, {"X": 9})
    for _ in range(3):
        seq = last(world)
        refused(undone(world, seq, by="Shop"), 403, "role_missing", "game.link")
        assert undone(world, seq).status == 200
    world.sql("DELETE FROM ledger WHERE seq = $1", last(world) - 3)  # nobody knows any more who was first
    refused(undone(world, last(world), by="Shop"), 403, "role_missing", "game.link")


def test_it_takes_what_the_operation_took(world: World) -> None:
    items(world, "give", COIN.id)
    assert undone(world, last(world), by="Shop").status == 200
    put_player(world, ANN.id, {"X": 9})
    refused(undone(world, last(world), by="Shop"), 403, "role_missing", "game.link")
    assert undone(world, last(world), by="Server").status == 200
    world.post("/api/v1/users/Ann/name", {"name": "Anna"})
    refused(undone(world, last(world), by="Clerk"), 403, "role_missing", "users.manage")
    moderate(world, "ban")
    refused(undone(world, last(world), by="Clerk"), 403, "power_missing", "Ban")
    moderate(world, "mute")
    refused(undone(world, last(world), by="Clerk"), 403, "power_missing", "Mute")
    refused(undone(world, last(world), by=None), 401, "denied")


def test_nobody_takes_back_what_outranks_them(world: World) -> None:
    granted(world, "Ann", Powers(*[True] * 8))
    seq = last(world)
    granted(world, "Clerk", Powers(api=True, users_query=True, users_manage=True))
    refused(undone(world, seq, by="Clerk"), 403, "outranked")
    own = last(world)
    refused(undone(world, own, by="Clerk"), 409, "own_powers")
    assert undone(world, own, by="Root").status == 200


def test_a_change_about_an_account_is_nobodys_business_without_the_role(world: World) -> None:
    """Also not of which kind it is, nor why it cannot be undone."""
    world.post("/api/v1/users/Ann/manage/password/change", {"new": "ab" * 32})
    for seq in (last(world), 8, 13):
        refused(undone(world, seq, by="Shop"), 403, "role_missing", "users.query")
    refused(undone(world, last(world), by="Clerk"), 409, "not_undoable")


def test_a_read_only_token_undoes_nothing(world: World) -> None:
    items(world, "give", COIN.id)
    world.sql("UPDATE tokens SET read_only = (SELECT api FROM users WHERE name = 'Root')")
    refused(undone(world, last(world), by="Shop"), 403, "read_only_token")


# --- what cannot be undone -------------------------------------------------------------------------------------------


def test_what_has_no_way_back_says_why(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    world.post("/api/v1/users/Ann/manage/password/change", {"new": "ab" * 32})
    world.get("/api/v1/users/Ann/password/reset")
    world.post("/api/v1/users/Ann/admin/mute", {})
    world.post("/api/v1/users/Ann/admin/kick", {})
    world.call("DELETE", "/api/v1/users/Mona")
    why = {
        "catalogue_put": "let the game send",
        "user_registered": "delete the account",
        "password_changed": "kept nowhere",
        "reset_requested": "runs out by itself",
        "user_kicked": "come back since",
        "user_deleted": "kept nowhere",
    }
    found = {each.kind: each.seq for each in world.ledger() if each.kind in why}
    assert found.keys() == why.keys()
    for kind, seq in found.items():
        refused(undone(world, seq), 409, "not_undoable", why[kind])
        assert not row(world, seq)["Undoable"]
    told = max(each.seq for each in world.ledger() if each.kind == "user_muted")
    refused(undone(world, told), 409, "not_undoable", "undo that change")


def test_every_kind_can_be_undone_or_says_why_not() -> None:
    kinds = {each.kind for each in vars(effects).values() if isinstance(getattr(each, "kind", None), str)}
    loaded = {"players_loaded", "users_loaded", "ledger_trimmed"}
    assert kinds - loaded == (set(undo.RULES) | set(undo.WHY_NOT)) & kinds
    assert not set(undo.RULES) & set(undo.WHY_NOT)


def test_no_such_change(world: World) -> None:
    for unknown in ("0", "999999999"):
        refused(world.post(f"{CHANGES}/{unknown}/undo"), 404, "no_such_change")
    for bad in ("x", "-1", "1.5", "9" * 19, "%00"):
        refused(world.post(f"{CHANGES}/{bad}/undo"), 400, "bad_field", "seq")


def test_undos_of_undos_come_to_an_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "DEEPEST", 3)
    items(world, "give", COIN.id, 5)
    for _ in range(3):
        assert undone(world, last(world)).status == 200
    conflict(world, last(world), "3 times")
    assert not row(world, last(world))["Undoable"]


# --- once ------------------------------------------------------------------------------------------------------------


def test_a_key_tells_what_was_done_when_the_change_is_gone(world: World) -> None:
    items(world, "give", COIN.id, 5)
    seq, key = last(world), {"Idempotency-Key": "undo-1"}
    first = undone(world, seq, headers=key)
    world.sql("DELETE FROM ledger WHERE seq = $1", seq)
    again = undone(world, seq, headers=key)
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
    refused(undone(world, seq), 404, "no_such_change")


def test_the_rule_itself_asks_for_the_rights(world: World) -> None:
    """A change may come to be between the look at it and the undo."""
    put_player(world, ANN.id, {"X": 9})
    asked: list[frozenset[str]] = []
    by = Actor(USER_IDS["Shop"], "Shop", asked.append)
    spelling, room = world.keeper.changes.spelling, sizes(world.keeper.settings)
    decide = partial(undo.undo, seq=last(world), actor=by, spelling=spelling, room=room)
    world.run(world.keeper.store.write(decide))
    assert asked == [undo.LINK]


def test_a_dry_run_tells_and_changes_nothing(world: World) -> None:
    items(world, "give", COIN.id, 5)
    seq, before = last(world), everything(world)
    tried = undone(world, seq, "?dryRun=true")
    assert everything(world) == before
    assert (tried.status, tried.raw) == (200, undone(world, seq).raw)
    assert [tried.json["Changes"][0][side]["Items"][0]["Quantity"] for side in ("Before", "After")] == [255, 250]


def test_a_key_makes_it_once(world: World) -> None:
    items(world, "give", COIN.id, 5)
    seq, key = last(world), {"Idempotency-Key": "undo-1"}
    first, again = (undone(world, seq, headers=key) for _ in range(2))
    assert (first.status, again.status, again.raw) == (200, 200, first.raw)
    assert again.headers["idempotent-replay"] == "true"
    refused(undone(world, seq - 1, headers=key), 422, "idempotency_key_reused")
    assert held(world, "inventory", 0) == (COIN.id, 250)


@pytest.mark.parametrize("name", ["items_given", "player_deleted", "user_renamed"])
def test_two_at_once_undo_it_once(make_world: Callable[..., World], name: str) -> None:
    one, two = make_world(), make_world()
    ACTS[name](one)
    seq = last(one)

    async def together() -> list[Answer]:
        return await asyncio.gather(*[each.send("POST", f"{CHANGES}/{seq}/undo") for each in [one, two] * 2])

    answers = one.run(together())
    assert sorted(each.status for each in answers) == [200, 409, 409, 409]
    assert {each.code for each in answers if each.status == 409} == {"already_undone"}
    assert len([each for each in one.ledger() if each.seq > seq]) == 1


def test_a_long_row_of_undos_is_told_apart(world: World) -> None:
    items(world, "give", COIN.id, 5)
    first = last(world)
    for _ in range(30):
        assert undone(world, last(world)).status == 200
    assert (row(world, first)["UndoneBy"], row(world, first + 1)["UndoneBy"]) == (None, first + 2)
    assert held(world, "inventory", 0) == (COIN.id, 255)
    world.sql("UPDATE ledger SET undoes = seq - 1 WHERE seq > 1")  # a row of two thousand would look like that
    assert world.get(f"{CHANGES}?limit=1000").status == 200
    chain = world.run(history.undoing(world.keeper.store, range(1, last(world) + 1)))
    assert chain == {seq: [seq + 1] for seq in range(1, last(world))}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["give", "take", "undo"]), st.sampled_from([COIN, ARROW, SWORD, POUCH]), st.integers(1, 70)
    ),
    min_size=5,
    max_size=15,
)


@given(steps=STEPS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_ledger_adds_up_after_anything(world: World, steps: list[tuple[str, Any, int]]) -> None:
    for what, item, number in steps:
        if what == "undo":
            seq = last(world) - number % 8
            answer = undone(world, seq)
            assert answer.status in {200, 404, 409}, answer.raw
        else:
            quantity = number if item.stackable else 1 + number % 3
            assert items(world, what, item.id, quantity, "Ann").status in {200, 409}
    assert wrong(world) == []
