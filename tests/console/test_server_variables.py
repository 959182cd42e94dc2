"""The console's page of the server's variables."""

from keepers import Keeper, open_session

import staff
from gamekeeper.store import users
from people import DOUBLE_XP, HARBOUR, MOTD
from world import World

PAGE, SET = "/console/variables", "/api/v1/variables/global"


def read_value(world: World, variable_id: str) -> object:
    return world.get(f"{SET}/{variable_id}/value").json["value"]


def test_variables_are_listed_with_values(shared_root: Keeper) -> None:
    page = shared_root.page(PAGE)
    assert "Double XP whole number Events 10" in page.text
    assert "Harbour open yes or no — yes" in page.text
    assert "Message of the day text — never set" in page.text
    assert "1 to 4 of 4 variables" in page.text


def test_value_is_previewed_set_and_undone(world: World, root: Keeper) -> None:
    shown = root.preview("POST", f"{SET}/{DOUBLE_XP.id}", {"value": 1500})
    text = shown.raw.decode()
    assert "Set Double XP of the server to 1,500" in text
    assert read_value(world, DOUBLE_XP.id) == 10
    done = root.confirm(shown, "weekend")
    assert done.status == 303
    assert read_value(world, DOUBLE_XP.id) == 1500
    told = world.ledger()[-1]
    assert (told.kind, told.reason) == ("server_variables_set", "weekend")
    page = root.page(f"/console/changes/{told.seq}")
    assert "Server variables set" in page.text
    assert "Double XP 10 1,500" in page.text
    undo = root.preview("POST", f"/api/keeper/v1/changes/{told.seq}/undo")
    assert f"Undo change {told.seq} of the server" in undo.raw.decode()
    assert "Undo: set Double XP of the server back to its former value" in undo.raw.decode()
    assert root.confirm(undo, "mistake").status == 303
    assert read_value(world, DOUBLE_XP.id) == 10


def test_flags_and_empty_texts_are_sent_as_such(world: World, root: Keeper) -> None:
    assert root.act("POST", f"{SET}/{HARBOUR.id}", {"flag.value": "false"}).status == 303
    assert read_value(world, HARBOUR.id) is False
    assert root.act("POST", f"{SET}/{MOTD.id}", {"text.value": ""}).status == 303
    assert read_value(world, MOTD.id) == ""
    assert root.act("POST", f"{SET}/{MOTD.id}", {"text.value": "two\r\nlines"}).status == 303
    assert read_value(world, MOTD.id) == "two\nlines"
    undo = root.preview("POST", f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo")
    assert undo.status == 200


def test_long_text_is_shortened_on_the_button(shared_root: Keeper) -> None:
    shown = shared_root.preview("POST", f"{SET}/{MOTD.id}", {"text.value": "x" * 200})
    assert f"of the server to {'x' * 60}…" in shown.raw.decode()


def test_page_has_forms_only_for_those_who_may_set(world: World, root: Keeper) -> None:
    assert f"{SET}/{DOUBLE_XP.id}" in root.page(PAGE).html
    staff.add_account(world, "Viewer", "viewer")
    user = world.run(users.find_by_fold(world.keeper.store, "viewer"))
    assert user
    viewer = open_session(world, user.name, user.id)
    assert "Double XP" in viewer.page(PAGE).text
    assert f"{SET}/{DOUBLE_XP.id}" not in viewer.page(PAGE).html


def test_page_without_variables_says_who_publishes_them(world: World, root: Keeper) -> None:
    world.sql("DELETE FROM server_variables")
    assert "A game server publishes them over the game link." in root.page(PAGE).text
