"""The preview of a change: undo titles, differences only, and names of bags."""

import re

from explorer import run
from keepers import Keeper

import people
from game_server import put_player, stack
from gamekeeper.console.differences import TIMES_SIGN
from world import Answer, World


def preview_undo(keeper: Keeper, world: World) -> Answer:
    """Preview the undo of the newest change."""
    return keeper.preview("POST", f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo")


def read_title(shown: Answer) -> str:
    return shown.raw.decode().partition("<h1>")[2].partition("</h1>")[0]


def read_button_class(shown: Answer) -> str:
    """Return the CSS class of the preview's confirm button."""
    return shown.raw.decode().rpartition('<button class="')[2].partition('"')[0]


def test_undo_that_deletes_or_restores_a_player_says_so(world: World, root: Keeper) -> None:
    assert root.act("DELETE", f"/api/v1/players/{people.ANN.id}").status == 303
    deletion, shown = world.ledger()[-1].seq, preview_undo(root, world)
    assert read_title(shown) == f"Undo change {deletion} of Ann"
    assert read_button_class(shown) == "main"
    assert "Undo: restore Ann" in shown.raw.decode()
    assert root.confirm(shown, "by mistake").status == 303
    creation, shown = world.ledger()[-1].seq, preview_undo(root, world)
    assert read_title(shown) == f"Undo change {creation} of Ann"
    assert read_button_class(shown) == "danger"
    assert "Undo: delete Ann with everything it owns" in shown.raw.decode()


def test_undo_title_names_change_and_player(world: World, root: Keeper) -> None:
    assert world.post("/api/v1/players/Ann/level", {"level": 13}).status == 200
    shown = preview_undo(root, world)
    assert read_title(shown) == f"Undo change {world.ledger()[-1].seq} of Ann"
    assert read_button_class(shown) == "main"


def test_equal_values_are_not_listed_as_differences(world: World, root: Keeper) -> None:
    bought = {"itemid": people.COIN.id, "quantity": 1}
    assert world.post("/api/v1/players/Ann/items/give", bought).status == 200
    world.sql("UPDATE ledger SET after = before WHERE seq = $1", world.ledger()[-1].seq)
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert f"{TIMES_SIGN} Gold Coin" not in page.text
    assert "No values to compare." in page.text


def test_stack_with_other_buffs_is_marked_as_changed(world: World, root: Keeper) -> None:
    for buffs in ([1, 0, 0, 0, 0], [2, 0, 0, 0, 0]):
        put_player(world, people.BOB.id, {"Items": [{**stack(7, people.SWORD.id, 1), "StatBuffs": buffs}]})
    told = f"Inventory, slot 7 1 {TIMES_SIGN} Sword 1 {TIMES_SIGN} Sword, changed"
    assert told in root.page(f"/console/changes/{world.ledger()[-1].seq}").text


def test_new_bag_is_named_by_its_item_and_slot(world: World, root: Keeper) -> None:
    give = f"/api/v1/players/{people.ANN.id}/items/give"
    one, two = (root.preview("POST", give, {"itemid": people.POUCH.id, "quantity": count}) for count in (1, 2))
    assert re.findall(r">(Pouch \(.*?)<", one.raw.decode()) == ["Pouch (Inventory, slot 4)"]
    wanted = ["Pouch (Inventory, slot 4)", "Pouch (Inventory, slot 5)"]
    assert sorted(re.findall(r">(Pouch \(.*?)<", two.raw.decode())) == wanted
    assert ">Bag " not in one.raw.decode() + two.raw.decode()
    assert root.confirm(one, "a gift").status == 303
    assert ">Pouch (Inventory, slot 4)<" in root.get(f"/console/changes/{world.ledger()[-1].seq}").raw.decode()


def test_restored_bag_is_named_by_its_item_and_slot(world: World, root: Keeper) -> None:
    assert root.act("DELETE", f"/api/v1/players/{people.ANN.id}").status == 303
    shown = preview_undo(root, world).raw.decode()
    assert ">Pouch (Inventory, slot 3)<" in shown
    assert ">Bag " not in shown


def test_explorer_shows_no_id_of_a_bag_that_will_be_made(root: Keeper) -> None:
    shown = run(root, "POST", "/api/v1/players/Ann/items/give", {"itemid": people.POUCH.id, "quantity": 1})
    assert "Pouch (Inventory, slot 4)" in [line["what"] for each in shown["changes"] for line in each]
