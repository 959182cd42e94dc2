"""The slots on the page of a player: what they show, and the forms that change them."""

from urllib.parse import quote

import pytest
from keepers import Keeper, open_session
from player_pages import (
    ANN,
    GIVE,
    HISTORY,
    OPERATIONS,
    SLOTS,
    find_form,
    list_items,
    list_paths,
    read_text,
    submit,
)

import people
import staff
from gamekeeper.game.equipment import PLACES
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import users
from world import World


def test_slots_show_items_buffs_and_equipment(shared_root: Keeper) -> None:
    page = shared_root.page(ANN)
    for seen in (
        "Inventory 4 of 35 slots used",
        "Bank 1 of 100 slots used",
        "… and 65 more empty slots.",
        "Pouch (Inventory, slot 3) 1 of 8 slots used",
        "0 250 GC Gold Coin",
        "2 weapon Sw Sword",
        "Empty slot 4",
    ):
        assert seen in page.text, seen
    for slot, seen in {
        "inventory-0": f"Gold Coin Close Inventory, slot 0 Quantity 250 Icon coin.png Id {people.COIN.id}",
        "inventory-2": "Inventory, slot 2, equipped as weapon",
        "bank-0": "Gold Coin Close Bank, slot 0 Quantity 1,000",
        f"{people.ANNS_POUCH}-1": "Arrow Close Pouch (Inventory, slot 3), slot 1",
        "bank-99": "Empty slot Close Bank, slot 99",
    }.items():
        assert seen in shared_root.page(f"{ANN}?slot={slot}").text, slot
    assert (
        "Attack +1 Ability power +2 Defense +3 Magic resist +4 Speed +5"
        in shared_root.page(f"{ANN}?slot=inventory-2").text
    )
    bag = shared_root.page(f"{ANN}?slot=inventory-3")
    assert bag.links["Contents of Pouch"] == f"#grid-{people.ANNS_POUCH}"
    linked = {attributes["href"] for _, attributes in page.tags if "data-slot" in attributes}
    assert f"{ANN}?slot={people.ANNS_POUCH}-1#slot" in linked
    assert len(linked) == 35 + 35 + 8


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ({}, []),
        ({"ItemType": "a hat", "EquipmentSlot": 9}, []),
        ({"ItemType": 1, "EquipmentSlot": 3}, ["shield"]),
        ({"EquipmentSlot": 4}, ["boots"]),
        ({"ItemType": 2, "EquipmentSlot": 0}, None),  # the engine has place 0 for items of any type
    ],
)
def test_slot_offers_the_place_that_fits_its_item(
    root: Keeper, world: World, fields: dict[str, object], selected: list[str] | None
) -> None:
    entry = {"Id": people.ARROW.id, "Name": "Arrow", "Stackable": True, "MaxStack": 100, **fields}
    assert world.call("PUT", "/api/link/v1/catalogue/items", body=[entry]).status == 200
    page = root.page(f"{ANN}?slot=inventory-1")
    assert (f"{SLOTS}/equip" in list_paths(page)) is (selected is not None)
    chosen = [each["value"] for tag, each in page.tags if tag == "option" and "selected" in each]
    assert [each for each in chosen if each in PLACES] == (selected or [])


@pytest.mark.parametrize(
    "slot", ["inventory-35", "bank-100", "pocket-1", "inventory", "inventory-x", "-", "bank-²", "bank--1"]
)
def test_unknown_slot_opens_no_form(shared_root: Keeper, slot: str) -> None:
    page = shared_root.page(f"{ANN}?slot={quote(slot)}")
    assert not any(path.startswith(SLOTS) for path in list_paths(page))


def test_player_without_items_has_empty_grids(shared_root: Keeper) -> None:
    page = shared_root.page("/console/players/Bob")
    assert "Inventory 0 of 35 slots used" in page.text
    other = shared_root.page("/console/players/Bob?tab=variables")
    assert "No spells. Teach one below." in other.text
    assert "No variables are set. Set one below." in other.text


def test_item_is_given_and_undone(root: Keeper, world: World) -> None:
    sent = find_form(root.page(ANN), GIVE, quantity="1")
    answer = submit(root, sent, itemid=people.COIN.id, quantity="7", reason="a refund")
    assert list_items(world)[0] == (people.COIN.id, 257)
    assert answer.headers["location"].startswith(f"{ANN}?done=")
    page = root.page(HISTORY)
    change = world.ledger()[-1].seq
    assert "Inventory, slot 0 250 × Gold Coin 257 × Gold Coin" in page.text  # noqa: RUF001 - the text of the page
    submit(root, find_form(page, f"/api/keeper/v1/changes/{change}/undo"))
    assert list_items(world)[0] == (people.COIN.id, 250)
    assert f"undone by {world.ledger()[-1].seq}" in root.page(HISTORY).text


def test_overflow_goes_to_the_bank_if_ticked(root: Keeper, world: World) -> None:
    sent = find_form(root.page(ANN), GIVE, quantity="1")
    assert "body.bankoverflow" not in sent.fields
    submit(root, sent, itemid=people.SWORD.id, quantity="40", bankoverflow="true")
    assert list_items(world, "bank").count((people.SWORD.id, 1)) == 40 - (35 - 4)


def test_item_is_taken_from_its_slot(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.SWORD.id, "quantity": 1})
    sent = find_form(root.page(f"{ANN}?slot=inventory-4"), f"{SLOTS}/take")
    assert sent.fields["body.Quantity"] == "1"
    answer = submit(root, sent)
    assert answer.headers["location"].startswith(f"{ANN}?done=")
    assert answer.headers["location"].endswith("#grid-inventory")
    held = {each["Slot"]: each["ItemId"] for each in world.get(f"{OPERATIONS}/items/inventory").json}
    assert (held[2], held[4]) == (people.SWORD.id, ZERO_GUID)  # the sword of another slot stays


def test_quantity_of_a_slot_is_set_and_a_stale_page_is_refused(root: Keeper, world: World) -> None:
    page = root.page(f"{ANN}?slot=bank-0")
    submit(root, find_form(page, f"{SLOTS}/set"), Quantity="1200")
    assert list_items(world, "bank") == [(people.COIN.id, 1200)]
    stale = find_form(page, f"{SLOTS}/set")
    refused = root.post("/console/act", {**stale.fields, "body.Quantity": "5"})
    assert refused.status == 409
    said = "Bank, slot 0 was changed after you opened the page. It holds 1,200 \N{MULTIPLICATION SIGN} Gold Coin now."
    assert said in read_text(refused)
    submit(root, find_form(root.page(f"{ANN}?slot=bank-0"), f"{SLOTS}/take"), Quantity="1200")
    assert "It is empty now." in read_text(root.post("/console/act", {**stale.fields, "body.Quantity": "5"}))


def test_items_are_moved_between_slots(root: Keeper, world: World) -> None:
    sent = find_form(root.page(f"{ANN}?slot=inventory-0"), f"{SLOTS}/move")
    shown = root.post("/console/act", {**sent.fields, "body.ToContainer": people.ANNS_POUCH, "body.ToSlot": "4"})
    assert "Move Gold Coin of Ann from Inventory, slot 0 to Bag" in read_text(shown)
    assert root.confirm(shown, "sorted").status == 303
    assert (people.COIN.id, 250) not in list_items(world)
    assert world.get(f"/api/v1/players/bag/{people.ANNS_POUCH}").json["Slots"][4]["Quantity"] == 250


def test_item_is_put_into_an_empty_slot(root: Keeper, world: World) -> None:
    sent = find_form(root.page(f"{ANN}?slot=bank-77"), f"{SLOTS}/set")
    submit(root, sent, ItemId=people.ARROW.id, Quantity="3")
    assert world.get(f"{OPERATIONS}/items/bank").json[77]["Quantity"] == 3


def test_forms_of_a_slot_are_those_that_the_viewer_may_send(world: World) -> None:
    staff.add_account(world, "Taker", staff.save_role(world, "taker", ["players.read", "items.take"]))
    user = world.run(users.find_by_fold(world.keeper.store, "taker"))
    assert user
    page = open_session(world, user.name, user.id).page(f"{ANN}?slot=inventory-0")
    found = {path for path in list_paths(page) if path.startswith(SLOTS)}
    assert found == {f"{SLOTS}/take"}
