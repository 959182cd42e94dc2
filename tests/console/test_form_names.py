"""Forms without JavaScript: names of items and spells instead of ids, and error messages with labels of the screen."""

import pytest
from keepers import Keeper, open_session
from markup import Page

import people
from world import World

GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
TEACH = f"/api/v1/players/{people.BOB.id}/spells/teach"
SET_SLOT = f"/api/keeper/v1/players/{people.ANN.id}/items/slots/set"
NAMED = {"container": "inventory", "slot": "7", "held": "0", "ItemId": "gold coin", "Quantity": "3"}


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (GIVE, {"itemid": " gold COIN ", "quantity": 5}, "Give 5 × Gold Coin to Ann"),  # noqa: RUF001 - the text of the page
        (SET_SLOT, NAMED, "Set Inventory, slot 7 of Ann to 3 × Gold Coin"),  # noqa: RUF001 - the text of the page
        (TEACH, {"spellid": "heal"}, "Teach Heal to Bob"),
    ],
)
def test_form_takes_the_name_of_an_item_or_spell(
    world: World, root: Keeper, path: str, body: dict[str, object], said: str
) -> None:
    shown = root.preview("POST", path, body)
    assert shown.status == 200, shown.raw
    assert said in Page(shown.raw.decode()).text
    assert root.confirm(shown, "a gift").status == 303
    assert world.ledger()[-1].reason == "a gift"


def test_unknown_names_are_refused_with_similar_ones(world: World, root: Keeper) -> None:
    for path, body, said in (
        (GIVE, {"itemid": "gold cion", "quantity": 5}, "no item with the name 'gold cion'. Similar names: Gold Coin."),
        (TEACH, {"spellid": "hael"}, "no spell with the name 'hael'."),
    ):
        refused = root.preview("POST", path, body)
        assert refused.status == 400
        assert said in Page(refused.raw.decode()).text
    # a caller who cannot give items learns no names
    root.act("POST", f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/roles", {"give[]": "moderator"})
    assert open_session(world, "Ann").preview("POST", GIVE, {"itemid": "gold cion"}).status == 403


def test_messages_name_fields_as_on_the_screen(shared_root: Keeper) -> None:
    wrong = shared_root.preview("POST", GIVE, {"itemid": people.COIN.id, "quantity": "many"})
    assert wrong.status == 400
    assert "The field 'Quantity' must be" in Page(wrong.raw.decode()).text
    missing = shared_root.preview("POST", GIVE, {"quantity": "1"})
    assert "The field 'Item' is missing." in Page(missing.raw.decode()).text


def test_equipped_item_has_its_name_in_the_preview_and_afterwards(root: Keeper) -> None:
    path = f"/api/keeper/v1/players/{people.ANN.id}/items/slots"
    shown = root.preview("POST", f"{path}/unequip", {"Slot": "2", "ItemId": people.SWORD.id})
    assert "Weapon Sword —" in Page(shown.raw.decode()).text
    done = root.confirm(shown, "to repair it").headers["location"].rpartition("done=")[2]
    assert "Weapon Sword —" in root.page(f"/console/done/{done}").text
    root.act("POST", f"{path}/equip", {"Slot": "2", "ItemId": people.SWORD.id, "Place": "weapon"})
    # the stored inventory is that after a swap: the names before it come from the change
    moved = {
        "Container": "inventory",
        "Slot": "2",
        "ItemId": people.SWORD.id,
        "ToContainer": "inventory",
        "ToSlot": "1",
    }
    done = root.act("POST", f"{path}/move", moved).headers["location"].rpartition("done=")[2]
    assert "Weapon Sword in slot 2 Sword in slot 1" in root.page(f"/console/done/{done}").text


def test_full_inventory_points_to_the_bank(shared_root: Keeper) -> None:
    swords = {"itemid": "Sword", "quantity": 40}
    refused = Page(shared_root.preview("POST", GIVE, swords).raw.decode()).text
    assert "there is room for 31 of 40" in refused
    assert "Tick “Put overflow into the bank” in the form" in refused
    assert shared_root.preview("POST", GIVE, {**swords, "bankoverflow": "true"}).status == 200
    both = shared_root.preview("POST", GIVE, {"itemid": "Sword", "quantity": 400, "bankoverflow": "true"})
    assert "Tick" not in Page(both.raw.decode()).text
