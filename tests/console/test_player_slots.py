"""The slots on the page of a player: what they show, and the forms that change them."""

from keepers import Keeper, open_staff
from player_pages import ANN, GIVE, HISTORY, OPERATIONS, SLOTS, find_form, list_items, list_paths, read_text, submit

import people
from gamekeeper.game.lookup import ZERO_GUID
from world import World


def test_slots_show_items_buffs_and_equipment(shared_root: Keeper) -> None:
    page = shared_root.page(ANN)
    page.assert_shown(
        "Inventory 4 of 35 slots used",
        "Bank 1 of 100 slots used",
        "… and 65 more empty slots.",
        "Pouch (Inventory, slot 3) 1 of 8 slots used",
        "0 250 GC Gold Coin",
        "2 weapon Sw Sword",
        "Empty slot 4",
    )
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


def test_item_is_given_taken_and_moved(root: Keeper, world: World) -> None:
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
    world.post(GIVE, {"itemid": people.SWORD.id, "quantity": 1})
    sent = find_form(root.page(f"{ANN}?slot=inventory-4"), f"{SLOTS}/take")
    assert sent.fields["body.Quantity"] == "1"
    answer = submit(root, sent)
    assert answer.headers["location"].startswith(f"{ANN}?done=")
    assert answer.headers["location"].endswith("#grid-inventory")
    held = {each["Slot"]: each["ItemId"] for each in world.get(f"{OPERATIONS}/items/inventory").json}
    assert (held[2], held[4]) == (people.SWORD.id, ZERO_GUID)  # the sword of another slot stays
    sent = find_form(root.page(f"{ANN}?slot=inventory-0"), f"{SLOTS}/move")
    shown = root.post("/console/act", {**sent.fields, "body.ToContainer": people.ANNS_POUCH, "body.ToSlot": "4"})
    assert "Move Gold Coin of Ann from Inventory, slot 0 to Bag" in read_text(shown)
    assert root.confirm(shown, "sorted").status == 303
    assert (people.COIN.id, 250) not in list_items(world)
    assert world.get(f"/api/v1/players/bag/{people.ANNS_POUCH}").json["Slots"][4]["Quantity"] == 250


def test_slots_are_changed_where_permitted(root: Keeper, world: World) -> None:
    sent = find_form(root.page(ANN), GIVE, quantity="1")
    assert "body.bankoverflow" not in sent.fields
    submit(root, sent, itemid=people.SWORD.id, quantity="40", bankoverflow="true")
    assert list_items(world, "bank").count((people.SWORD.id, 1)) == 40 - (35 - 4)
    page = open_staff(world, ["players.read", "items.take"], "Taker").page(f"{ANN}?slot=inventory-0")
    found = {path for path in list_paths(page) if path.startswith(SLOTS)}
    assert found == {f"{SLOTS}/take"}


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
