"""Names in the previews of dialogs."""

from collections import Counter
from typing import Any

import pytest
from dialog_parts import PLAYER, read_text
from keepers import Keeper

import people
from game_server import put_player
from gamekeeper.store import catalogue
from world import World


def test_equipment_is_shown_by_item_names(world: World, root: Keeper) -> None:
    take = root.preview("POST", f"{PLAYER}/items/take", {"itemid": people.SWORD.id, "quantity": 1})
    assert "Weapon Sword \u2014" in read_text(take)
    assert root.confirm(take, "a test").status == 303
    page = root.page(f"/console/done/{world.ledger()[-1].request_id}")
    assert "Weapon Sword \u2014" in page.text
    seq = next(each.seq for each in world.ledger()[::-1] if each.kind == "items_taken")
    assert root.act("POST", f"/api/keeper/v1/changes/{seq}/undo").status == 303
    unequip = {"Slot": 2, "ItemId": people.SWORD.id}
    assert world.post(f"/api/keeper/v1/players/{people.ANN.id}/items/slots/unequip", unequip).status == 200
    seq = world.ledger()[-1].seq
    shown = root.preview("POST", f"/api/keeper/v1/changes/{seq}/undo")
    # the undo of the take equipped the sword again, and its change has only the slot: the preview takes the item's name
    # from the inventory
    assert "Weapon \u2014 Sword" in read_text(shown)


def test_slot_stands_for_an_item_that_is_not_known_any_more(world: World, root: Keeper) -> None:
    assert put_player(world, people.ANN.id, {"Equipment": [-1, -1, -1, 2, -1]}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Weapon the item in inventory slot 2 \u2014 Shield \u2014 the item in inventory slot 2" in page.text


def test_numbers_of_a_player_are_shown_in_words(shared_root: Keeper) -> None:
    shown = read_text(shared_root.preview("DELETE", PLAYER))
    for each in (
        "Gender Female \u2014",
        "Vitals Health: 100, Mana: 40 \u2014",
        "Maximum vitals Health: 120, Mana: 40 \u2014",
        "Base stats Attack: 5, Ability power: 6, Defense: 7, Magic resist: 8, Speed: 9 \u2014",
        "Equipment Weapon: Sword \u2014",
        "Class Warrior \u2014",
        "Map Meadow \u2014",
        "Account Ann \u2014",
        "Time played 1 h 0 min \u2014",
        "Spell slot 0 Fireball \u2014",
        "Kills 7 \u2014",
        "Pouch (Inventory, slot 3), slot 1 7 \u00d7 Arrow \u2014",
    ):
        assert each in shown, each
    assert people.ANN.user_id not in shown
    assert people.ANN.id not in shown


def test_changed_vitals_are_shown_one_by_one(world: World, root: Keeper) -> None:
    assert put_player(world, people.ANN.id, {"Vitals": [64, 40], "Gender": 0}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Gender Female Male" in page.text
    assert "Health 100 64" in page.text
    assert "Mana" not in page.text.partition("Details")[0]


def test_owner_is_not_named_without_permission(world: World, keeper: Any) -> None:
    world.sql("UPDATE users SET name = 'Secret' WHERE id = $1", people.USER_IDS["Ann"])
    shown = read_text(keeper("Shop").preview("DELETE", PLAYER))
    assert "Secret" not in shown
    assert f"Account {people.USER_IDS['Ann']}" in shown


def test_names_are_loaded_with_one_query_per_kind(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()
    by_id: Any = catalogue.find_by_ids

    async def count(tx: Any, kind: str, ids: Any) -> Any:
        asked[kind] += 1
        return await by_id(tx, kind, ids)

    monkeypatch.setattr(catalogue, "find_by_ids", count)
    root.preview("DELETE", PLAYER)
    assert asked == dict.fromkeys(("items", "spells", "variables", "classes", "maps"), 1)
