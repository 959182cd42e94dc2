"""Undo after later changes: it never creates items and is never applied in part."""

import pytest

import people
from expectations import refused, unchanged
from findings import errors
from game_server import heartbeat, join, put_player, stack
from gamekeeper.game.audit import retention
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.players import undo_items
from gamekeeper.store.access.roles import Powers
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, USER_IDS, ZOE
from tidying import tidy
from undos import ACTS, BAG, EMPTY, conflict, grant, items, last, moderate, number_of, read_slot, row, undone
from world import MakeWorld, World


def test_undo_changes_a_stack_by_the_difference_within_its_limits(world: World) -> None:
    seq = number_of(world, items(world, "give", COIN.id, 100))
    items(world, "give", COIN.id, 7)
    assert undone(world, seq).status == 200
    assert read_slot(world, "inventory", 0) == (COIN.id, 257)
    seq = number_of(world, items(world, "take", COIN.id, 100))
    items(world, "take", COIN.id, 57)
    assert undone(world, seq).status == 200
    assert read_slot(world, "inventory", 0) == (COIN.id, 200)
    assert errors(world) == []
    seq = number_of(world, items(world, "give", COIN.id, 5, "Bob"))
    items(world, "take", COIN.id, 2, "Bob")
    conflict(world, seq, "slot 0 of the inventory has 3 left of 5")
    items(world, "take", COIN.id, 3, "Bob")
    conflict(world, seq, "has 0 left of 5")
    seq = number_of(world, items(world, "take", ARROW.id, 60))
    put_player(world, ANN.id, {"Items": [stack(1, ARROW.id, 50)]})
    conflict(world, seq, "cannot hold 110")
    seq = number_of(world, items(world, "take", SWORD.id)) - 1
    put_player(world, ANN.id, {"Items": [stack(2, SWORD.id, 1, StatBuffs=[1, 2, 3, 4, 5])]})
    conflict(world, seq, "cannot hold 2")


def test_undo_is_refused_when_the_slot_or_bag_has_other_items(world: World) -> None:
    seq = number_of(world, items(world, "take", SWORD.id)) - 1
    put_player(world, ANN.id, {"Items": [stack(2, ARROW.id, 3)]})
    conflict(world, seq, "slot 2 of the inventory holds something else")
    # the game server puts a new sword into the slot: it is not the sword that was taken, so the undo is still refused
    put_player(world, ANN.id, {"Items": [stack(2, SWORD.id)]})
    conflict(world, seq, "slot 2 of the inventory holds something else")
    seq = number_of(world, items(world, "give", POUCH.id, 1, "Bob"))
    bag = world.get("/api/v1/players/Bob/items/inventory").json[0]["BagId"]
    put_player(world, BOB.id, {"Bags": [{"Id": bag, "SlotCount": 8, "Slots": [stack(0, COIN.id, 3)]}]})
    conflict(world, seq, "a bag of this change holds other items")
    put_player(world, BOB.id, {"Bags": [{"Id": bag, "SlotCount": 8, "Slots": [{"Slot": 0}]}]})
    put_player(world, BOB.id, {"Items": [{"Slot": 0}, stack(5, POUCH.id, BagId=bag)]})
    conflict(world, seq, "slot 0 of the inventory")
    seq = number_of(world, items(world, "give", POUCH.id, 1, "Bob"))
    bag = world.get("/api/v1/players/Bob/items/inventory").json[0]["BagId"]
    put_player(world, BOB.id, {"Bags": [{**EMPTY, "Id": bag, "SlotCount": 20}]})
    conflict(world, seq, "another size")
    put_player(world, BOB.id, {"Bags": [{**EMPTY, "Id": bag}]})
    assert undone(world, seq).status == 200
    assert [each["SlotCount"] for each in row(world, last(world))["Before"]["Bags"]] == [8]


@pytest.mark.parametrize("deleted", [False, True])
def test_undo_is_refused_when_another_player_has_the_bag(world: World, deleted: bool) -> None:  # noqa: FBT001 - a case
    if deleted:
        world.call("DELETE", "/api/v1/players/Ann")
    else:
        put_player(world, ANN.id, {"Items": [{"Slot": 3}]})
    seq = last(world)
    put_player(world, BOB.id, {"Items": [stack(0, POUCH.id, BagId=ANNS_POUCH)], "Bags": [EMPTY]})
    conflict(world, seq, "a bag of this change belongs to a player")
    world.call("DELETE", "/api/v1/players/Bob")
    # the undo needs force although Bob is deleted: Bob gained Ann's bag, and restoring Bob would duplicate it
    assert undone(world, seq, "?force=true").status == 200
    assert errors(world) == []


def test_undo_does_not_nest_two_bags_in_each_other(world: World) -> None:
    other = people.guid(0x52)
    outer = {"Id": other, "SlotCount": 8, "Slots": [stack(0, POUCH.id, BagId=ANNS_POUCH)]}
    put_player(world, ANN.id, {"Items": [{"Slot": 3}, stack(9, POUCH.id, BagId=other)], "Bags": [outer]})
    emptied = {"Id": other, "SlotCount": 8, "Slots": [{"Slot": 0}]}
    put_player(world, ANN.id, {"Items": [stack(3, POUCH.id, BagId=ANNS_POUCH)], "Bags": [emptied]})
    seq = last(world)
    inner = {"Id": ANNS_POUCH, "SlotCount": 8, "Slots": [stack(0, POUCH.id, BagId=other)]}
    put_player(world, ANN.id, {"Items": [{"Slot": 9}], "Bags": [inner]})
    conflict(world, seq, "a bag of this change")


def test_undo_is_refused_when_spells_variables_names_or_emails_changed_since(world: World) -> None:
    ann = "/api/v1/players/Ann"
    taught = number_of(world, world.post(f"{ann}/spells/teach", {"spellid": HEAL.id}))
    put_player(world, ANN.id, {"Spells": [{"Slot": 1, "SpellId": ZERO_GUID}]})
    conflict(world, taught, "slot holds something else")
    forgotten = number_of(world, world.post(f"{ann}/spells/forget", {"spellid": FIREBALL.id}))
    put_player(world, ANN.id, {"Spells": [{"Slot": 5, "SpellId": FIREBALL.id}]})
    conflict(world, forgotten, "learnt the spell again")
    seq = number_of(world, world.post(f"{ann}/variables/{KILLS.id}", {"value": 8}))
    world.post(f"{ann}/variables/{KILLS.id}", {"value": 9})
    conflict(world, seq, "another value")
    world.post(f"{ann}/variables/{KILLS.id}", {"value": 8})
    assert undone(world, seq).status == 200
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
    with unchanged(world):
        for seq, code in zip(numbers, ("name_taken", "username_taken", "email_taken"), strict=True):
            refused(undone(world, seq), 409, code)


def test_undo_is_refused_when_the_record_or_account_changed_since(world: World) -> None:
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
    parts = ("its level was changed again", "was renamed again", "email was changed again")
    for seq, part in zip(numbers, parts, strict=True):
        conflict(world, seq, part)
    seq = number_of(world, grant(world, "Ann", Powers(api=True, users_query=True)))
    world.sql("UPDATE users SET kick = mute WHERE name = 'Annie'")
    world.sql("UPDATE users SET api = (SELECT ban FROM users WHERE name = 'Bob') WHERE name = 'Annie'")
    conflict(world, seq, "powers were changed again")


def test_undo_is_refused_when_the_owner_was_deleted(world: World) -> None:
    moved = number_of(world, put_player(world, ZOE.id, {"UserId": USER_IDS["Bob"]}))
    put_player(world, BOB.id, {"UserId": USER_IDS["Mona"]})
    deleted = number_of(world, world.call("DELETE", "/api/v1/players/Ann"))
    given_ = number_of(world, items(world, "give", COIN.id, 1, "Bob"))
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    conflict(world, moved, "was deleted since")
    conflict(world, deleted, "")
    world.call("DELETE", "/api/v1/players/Bob")
    conflict(world, given_, "the player was deleted since")
    conflict(world, 14, "the player was deleted since")


def test_undo_of_a_creation_is_refused_when_the_player_changed_since(world: World) -> None:
    seq = 15  # number of the change that created Bob
    items(world, "give", COIN.id, 1, "Bob")
    conflict(world, seq, "has changed since")
    items(world, "take", COIN.id, 1, "Bob")
    heartbeat(world)
    join(world, BOB.id)
    refused(undone(world, seq), 409, "player_online")
    world.call("DELETE", "/api/link/v1/servers/one", by="Server")
    assert undone(world, seq).status == 200


def test_undo_of_a_deletion_is_refused_when_the_player_or_name_exists(world: World) -> None:
    seq = number_of(world, world.call("DELETE", "/api/v1/players/Bob"))
    put_player(world, BOB.id, {"Name": "Bob", "UserId": USER_IDS["Bob"]})
    conflict(world, seq, "exists again")
    world.call("DELETE", "/api/v1/players/Bob")
    conflict(world, seq, "undo its last deletion")
    world.post("/api/v1/players/Zoe/name", {"name": "BOB"})
    refused(undone(world, last(world) - 1), 409, "name_taken")


def test_undo_is_refused_when_the_ban_ended_or_was_replaced(world: World) -> None:
    bob = "/api/v1/users/Bob/admin"
    banned = number_of(world, world.post(f"{bob}/ban", {"reason": "rude"}))
    lifted = number_of(world, world.post(f"{bob}/unban", {}))
    conflict(world, banned, "it has ended")
    world.post(f"{bob}/ban", {"reason": "rude"})  # looks the same, but is another ban
    conflict(world, banned, "replaced by another")
    refused(undone(world, lifted), 409, "already_banned")
    world.post(f"{bob}/unban", {})
    world.sql(
        "UPDATE ledger SET before = $1 WHERE seq = $2", '{"BanReason":"rude","EndsAt":"2001-01-01T00:00:00Z"}', lifted
    )
    conflict(world, lifted, "its end has passed")


def test_undo_is_refused_after_another_resize_or_filling_of_the_bag_or_return_by_the_game(world: World) -> None:
    seq = number_of(world, put_player(world, ANN.id, {"Bags": [{**EMPTY, "SlotCount": 9}]}))
    put_player(world, ANN.id, {"Bags": [BAG]})
    conflict(world, seq, "a bag of this change holds other items")
    put_player(world, ANN.id, {"Bags": [{**EMPTY, "SlotCount": 12}]})
    conflict(world, seq, "another size")
    put_player(world, ANN.id, {"Items": [{"Slot": 0}]})  # the game server reports slot 0, which had the coins, as empty
    dropped = last(world)
    put_player(world, ANN.id, {"Items": [stack(9, COIN.id, 250)]})
    conflict(world, dropped, f"again since, by change {dropped + 1}")


def test_undo_is_refused_when_too_many_changes_followed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_items, "MOST_LATER", 2)
    dropped = number_of(world, put_player(world, ANN.id, {"Items": [{"Slot": 0}]}))
    items(world, "give", ARROW.id, 1)  # arrows do not affect the undo of a change of coins
    assert undone(world, dropped, "?dryRun=true").status == 200
    for _ in range(2):
        items(world, "give", ARROW.id, 1)
    conflict(world, dropped, "more than 2 times")


def test_undo_does_not_give_an_item_missing_from_the_catalogue(world: World) -> None:
    taken = number_of(world, items(world, "take", ARROW.id, 6))
    given_ = number_of(world, items(world, "give", ARROW.id, 6))
    items(world, "take", ARROW.id, 1)
    world.sql("DELETE FROM items WHERE id = $1", ARROW.id)
    conflict(world, taken, "the catalogue")
    # undoing a gift takes the item away, which is possible although the catalogue lacks it
    assert undone(world, given_, "?dryRun=true").status == 200


def test_undo_is_refused_when_the_slot_no_longer_exists(make_world: MakeWorld) -> None:
    world = make_world()
    put_player(world, BOB.id, {"Items": [stack(30, COIN.id, 5), stack(31, COIN.id, 5)]})
    seq = number_of(world, items(world, "take", COIN.id, 8, "Bob"))
    deleted = number_of(world, world.call("DELETE", "/api/v1/players/Bob"))
    smaller = make_world(inventory_slots=20)
    assert undone(smaller, deleted).status == 200
    conflict(smaller, seq, "slot 30 of the inventory no longer exists")
    assert undone(world, seq).status == 200


def test_undo_restores_equipment_slot(world: World) -> None:
    off = number_of(world, put_player(world, ANN.id, {"Equipment": [-1, -1, -1, -1, -1]}))
    put_player(world, ANN.id, {"Items": [stack(2, ARROW.id, 3)]})
    conflict(world, off, "the equipped item")
    put_player(world, ANN.id, {"Items": [stack(2, SWORD.id, 1, StatBuffs=[9, 9, 9, 9, 9])]})
    conflict(world, off, "the equipped item")
    assert undone(world, last(world)).status == 200
    assert read_slot(world, "inventory", 2) == (ARROW.id, 3)
    conflict(world, off, "the equipped item")


def test_undo_does_not_equip_another_item_in_the_slot(world: World) -> None:
    seq = number_of(world, put_player(world, ANN.id, {"Items": [stack(2, ARROW.id, 3)]}))
    put_player(world, ANN.id, {"Equipment": [-1, -1, 2, -1, -1]})
    assert undone(world, seq).status == 200
    assert read_slot(world, "inventory", 2) == (SWORD.id, 1)
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, -1, -1, -1]


def test_undo_does_not_restore_an_erased_moderator_or_invalid_email(world: World) -> None:
    world.post("/api/v1/users/Bob/admin/ban", {"reason": "rude", "moderator": "mona"})
    seq = number_of(world, moderate(world, "unban"))
    assert world.call("DELETE", "/api/v1/users/Mona").status == 200
    assert undone(world, seq).status == 200
    assert world.sql("SELECT moderator FROM bans") == [("",)]
    assert b"mona" not in bytes(str(world.ledger()[-1].after), "utf-8").lower()
    world.sql("UPDATE users SET email = 'nowhere' WHERE name = 'Ann'")
    ACTS["email_changed"](world)
    conflict(world, last(world), "not a valid address")


def test_change_older_than_the_retention_cannot_be_undone(make_world: MakeWorld) -> None:
    """Retention may have deleted the change's earlier undo, and a second undo would create items."""
    world = make_world(ledger_days=8)
    dropped = number_of(world, put_player(world, ANN.id, {"Items": [{"Slot": 0}]}))
    assert undone(world, dropped).status == 200
    items(world, "take", COIN.id, 250)
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    tidy(world)
    assert dropped in [each.seq for each in world.ledger()]
    assert dropped + 1 not in [each.seq for each in world.ledger()]
    with unchanged(world):
        refused(undone(world, dropped), 409, "history_trimmed")
    assert not row(world, dropped)["Undoable"]
