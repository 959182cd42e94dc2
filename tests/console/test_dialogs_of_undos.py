"""The dialogs of an undo: what their button says, and what the undo also does."""

import re

import pytest
from dialog_parts import ACCOUNT, PLAYER, SIGN, read_button, read_text, read_title
from keepers import Keeper

import people
from game_server import put_player
from world import Answer, World


def preview_undo(world: World, root: Keeper) -> Answer:
    """Preview the undo of the first change of the newest request."""
    return root.preview("POST", f"/api/keeper/v1/changes/{find_first_change(world)}/undo")


def find_first_change(world: World) -> int:
    rows = world.ledger()
    return next(each.seq for each in rows if each.request_id == rows[-1].request_id)


def test_undo_of_a_gift_says_that_the_equipped_item_is_taken_off(root: Keeper, world: World) -> None:
    gift = {"itemid": people.SWORD.id, "quantity": 1}
    assert world.post(f"{PLAYER}/items/give", gift).status == 200
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    said = "Weapon Sword is equipped here. It will be taken off, and this place stays empty."
    assert said not in read_text(root.preview("POST", undo))
    put_player(world, people.ANN.id, {"Equipment": [-1, -1, 4, -1, -1]})  # in place of the sword of slot 2
    assert said in read_text(root.preview("POST", undo))
    off = {"slot": "4", "itemid": people.SWORD.id}
    unequip = root.preview("POST", f"/api/keeper/v1/players/{people.ANN.id}/items/slots/unequip", off)
    assert (unequip.status, said in read_text(unequip)) == (200, False)
    root.act("POST", undo)
    assert world.get(PLAYER).json["Equipment"] == [-1, -1, -1, -1, -1]


@pytest.mark.parametrize(
    ("method", "path", "body", "act"),
    [
        (
            "POST",
            f"{PLAYER}/items/give",
            {"itemid": people.COIN.id, "quantity": 5},
            f"Undo: take back 5 {SIGN} Gold Coin from Ann",
        ),
        (
            "POST",
            f"{PLAYER}/items/take",
            {"itemid": people.SWORD.id, "quantity": 1},
            f"Undo: give back 1 {SIGN} Sword to Ann",
        ),
        ("POST", f"{PLAYER}/spells/teach", {"spellid": people.HEAL.id}, "Undo: remove Heal from Ann"),
        ("POST", f"{PLAYER}/spells/forget", {"spellid": people.FIREBALL.id}, "Undo: teach Fireball to Ann again"),
        ("POST", f"{PLAYER}/variables/{people.KILLS.id}", {"value": 9}, "Undo: set Kills of Ann back to 7"),
        ("POST", f"{PLAYER}/variables/{people.UNSET.id}", {"value": 9}, "Undo: clear Never set of Ann"),
        ("POST", f"{PLAYER}/level", {"level": 9}, "Undo: set Ann back to level 12"),
        ("POST", f"{PLAYER}/name", {"name": "Anna"}, "Undo: rename Anna back to Ann"),
        ("DELETE", PLAYER, None, "Undo: restore Ann"),
        ("POST", f"{ACCOUNT}/admin/ban", {"duration": 7}, "Undo: end the ban of Ann"),
        ("POST", "/api/v1/users/Mona/admin/unmute", None, "Undo: mute Mona again"),
        ("POST", f"{ACCOUNT}/name", {"name": "Anna"}, "Undo: rename Anna back to Ann"),
        (
            "POST",
            f"{ACCOUNT}/manage/email/change",
            {"new": "a@example.test"},
            "Undo: change the email of Ann back to ann@example.test",
        ),
        (
            "POST",
            f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/powers",
            {"ban": "true"},
            "Undo: restore the permissions of Ann",
        ),
    ],
)
def test_button_names_what_an_undo_does(
    world: World, root: Keeper, method: str, path: str, body: dict[str, object] | None, act: str
) -> None:
    assert root.act(method, path, body).status == 303
    shown, seq = preview_undo(world, root), find_first_change(world)
    assert (read_title(shown), read_button(shown)) == (f"Undo change {seq} of {find_name(act)}", act)
    assert root.confirm(shown, "by mistake").status == 303


def test_undo_of_a_report_with_several_fields_names_none_of_them(world: World, root: Keeper) -> None:
    assert put_player(world, people.ANN.id, {"Level": 9, "X": 1}).status == 200
    assert read_button(preview_undo(world, root)) == "Undo: restore the values of Ann"


def test_switch_to_an_equal_item_shows_the_slots(world: World, root: Keeper) -> None:
    stacks = [{"Slot": slot, "ItemId": people.SWORD.id, "Quantity": 1} for slot in (3, 7)]
    assert put_player(world, people.ANN.id, {"Items": stacks, "Equipment": [-1, -1, 3, -1, -1]}).status == 200
    assert put_player(world, people.ANN.id, {"Equipment": [-1, -1, 7, -1, -1]}).status == 200
    shown = read_text(preview_undo(world, root))
    assert "Sword in slot 7" in shown
    assert "Sword in slot 3" in shown


def find_name(act: str) -> str:
    return next(name for name in ("Anna", "Ann", "Mona") if re.search(rf"\b{name}\b", act))
