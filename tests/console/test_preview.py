"""What is said before something is done: what it comes to, and nothing that stays as it is."""

import re

from explorer import run
from keepers import Keeper

import people
from game_server import put_player, stack
from gamekeeper.console.differences import MANY
from world import Answer, World


def undone(keeper: Keeper, world: World) -> Answer:
    """What the undo of the newest change would do."""
    return keeper.preview("POST", f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo")


def heading(shown: Answer) -> str:
    return shown.raw.decode().partition("<h1>")[2].partition("</h1>")[0]


def the_button(shown: Answer) -> str:
    """How the button that does it looks."""
    return shown.raw.decode().partition('">Do it</button>')[0].rpartition('<button class="')[2]


def test_an_undo_that_deletes_a_character_or_brings_it_back_says_so(world: World, root: Keeper) -> None:
    assert root.act("DELETE", f"/api/v1/players/{people.ANN.id}").status == 303
    deletion, shown = world.ledger()[-1].seq, undone(root, world)
    assert heading(shown) == f"Undo change {deletion}: this brings Ann back"
    assert the_button(shown) == "main"
    assert root.confirm(shown, "by mistake").status == 303
    creation, shown = world.ledger()[-1].seq, undone(root, world)
    assert heading(shown) == f"Undo change {creation}: this deletes Ann with all it holds"
    assert the_button(shown) == "danger"


def test_any_other_undo_is_called_what_it_is(world: World, root: Keeper) -> None:
    assert world.post("/api/v1/players/Ann/level", {"level": 13}).status == 200
    shown = undone(root, world)
    assert heading(shown) == "Take a change back, if what it changed is still as it left it"
    assert the_button(shown) == "main"


def test_what_stays_as_it_is_is_not_among_what_changes(world: World, root: Keeper) -> None:
    bought = {"itemid": people.COIN.id, "quantity": 1}
    assert world.post("/api/v1/players/Ann/items/give", bought).status == 200
    world.sql("UPDATE ledger SET after = before WHERE seq = $1", world.ledger()[-1].seq)
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert f"{MANY} Gold Coin" not in page.text
    assert "Nothing that can be shown side by side." in page.text


def test_as_many_with_other_buffs_are_others(world: World, root: Keeper) -> None:
    for buffs in ([1, 0, 0, 0, 0], [2, 0, 0, 0, 0]):
        put_player(world, people.BOB.id, {"Items": [{**stack(7, people.SWORD.id, 1), "StatBuffs": buffs}]})
    told = f"Inventory, slot 7 1 {MANY} Sword 1 {MANY} Sword, changed"
    assert told in root.page(f"/console/changes/{world.ledger()[-1].seq}").text


def test_a_bag_that_will_be_made_has_no_id_yet(world: World, root: Keeper) -> None:
    give = f"/api/v1/players/{people.ANN.id}/items/give"
    one, two = (root.preview("POST", give, {"itemid": people.POUCH.id, "quantity": count}) for count in (1, 2))
    assert re.findall(r"A new bag(?: \(\d\))?", one.raw.decode()) == ["A new bag"]
    assert re.findall(r"A new bag(?: \(\d\))?", two.raw.decode()) == ["A new bag (1)", "A new bag (2)"]
    assert ">Bag " not in one.raw.decode() + two.raw.decode()
    assert root.confirm(one, "a gift").status == 303
    assert ">Bag " in root.get(f"/console/changes/{world.ledger()[-1].seq}").raw.decode()


def test_a_bag_that_comes_back_keeps_its_id(world: World, root: Keeper) -> None:
    assert root.act("DELETE", f"/api/v1/players/{people.ANN.id}").status == 303
    shown = undone(root, world).raw.decode()
    assert f">Bag {people.ANNS_POUCH[:8]}<" in shown
    assert "A new bag" not in shown


def test_explorer_shows_no_id_of_a_bag_that_will_be_made(root: Keeper) -> None:
    shown = run(root, "POST", "/api/v1/players/Ann/items/give", {"itemid": people.POUCH.id, "quantity": 1})
    assert "A new bag" in [line["what"] for each in shown["changes"] for line in each]
