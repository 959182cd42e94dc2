"""Boards, guilds, server variables, pictures of items, and the economy."""

import base64

import boarding
import guild_values
from boarding import BOARDS
from economics import catch_up, give
from game_server import LINK
from gamekeeper.http.contract import examples
from guild_rows import FOUNDED_AT, GUILD_ID, insert
from keepers import Keeper, open_staff, read_text
from people import ANN, ARROW, BOB, COIN, DOUBLE_XP, USER_IDS, ZOE, guid
from player_pages import find_form, submit
from world import World

BOARD_PAGE, LEVELS = "/console/boards", "/console/boards/levels"


def test_board_is_created_shown_and_deleted(root: Keeper, world: World) -> None:
    form = find_form(root.page(BOARD_PAGE), BOARDS)
    submit(root, form, Name="levels", Title="Highest <b>levels</b>", Ranks="level")
    boarding.catch_up(world)
    assert root.page(BOARD_PAGE).links["Highest <b>levels</b>"] == LEVELS
    page = root.page(LEVELS)
    page.assert_shown("Highest <b>levels</b>", "Running", "Zoe", "Ann", "Bob")
    [end] = [each for each in page.forms if each.fields.get("body.flag.EndNow")]
    submit(root, end)
    submit(root, find_form(root.page(LEVELS), f"{BOARDS}/levels/seasons"), Title="Second")
    assert [each["Title"] for each in world.get(BOARDS).json["Boards"][0]["Seasons"]] == ["Second", ""]
    [delete] = [each for each in root.page(LEVELS).forms if each.fields.get("method") == "DELETE"]
    submit(root, delete)
    assert world.get(BOARDS).json["Boards"] == []


def test_reader_of_boards_gets_no_forms_and_no_hidden_accounts(root: Keeper, world: World) -> None:
    boarding.create(world)
    boarding.catch_up(world)
    hide = find_form(root.page(f"/console/accounts/{USER_IDS['Ann']}"), f"/api/keeper/v1/users/{ANN.user_id}/boards")
    submit(root, hide)
    assert "Show Ann again" in root.page(BOARD_PAGE).html
    reader = open_staff(world, ["players.read"])
    for path in (BOARD_PAGE, LEVELS):
        page = reader.page(path)
        assert [each for each in page.forms if each.fields.get("path", "").startswith(BOARDS)] == []
        assert "Ann" not in page.text


def test_guild_has_its_members_and_its_changes_name_it(world: World, root: Keeper) -> None:
    insert(world, {ZOE.id: 0, ANN.id: 2})
    insert(world, {BOB.id: 7}, guid(72), "Amber & <b>", FOUNDED_AT + 1)
    page = root.page(f"/console/guilds/{GUILD_ID}")
    assert page.text.index("Zoe Master") < page.text.index("Ann Member 12 Warrior")
    assert page.links["Ann"] == f"/console/players/{ANN.id}"
    assert "Bob Rank 7" in root.page(f"/console/guilds/{guid(72)}").text
    guild_values.insert(world)
    path = f"/api/v1/guilds/{GUILD_ID}/variables/{guild_values.FAME.id}"
    assert world.post(path, {"value": 12}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Fame of the guild Red Hand — 12" in page.text


def test_change_of_a_server_variable_is_previewed_and_shown(world: World, root: Keeper) -> None:
    shown = root.preview("POST", f"/api/v1/variables/global/{DOUBLE_XP.id}", {"value": 1500})
    assert "Set Double XP of the server to 1,500" in read_text(shown)
    assert root.confirm(shown, "weekend").status == 303
    change = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    change.assert_shown("Server variables set", "Double XP 10 1,500")


def test_picture_is_shown_and_served_to_staff_until_it_is_removed(world: World, root: Keeper) -> None:
    address, publishing = f"/console/pictures/{examples.PICTURE_HASH}.png", f"{LINK}/items/{ARROW.id}/picture"
    assert world.call("PUT", publishing, body={"Picture": examples.PICTURE}, by="Server").status == 200
    for path in ("/console/players/Ann", "/console/catalogue", f"/console/items/{ARROW.id}"):
        assert address in {each.get("src") for _, each in root.page(path).tags}, path
    answer = root.get(address)
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    ((stored,),) = world.sql("SELECT content FROM item_pictures")
    assert answer.raw == base64.b64decode(stored)
    answer = Keeper(world).get(address)
    assert (answer.status, b"PNG" in answer.raw) == (303, False)
    world.call("DELETE", publishing, by="Server")
    assert root.get(address).status == 404


def test_economy_page_has_totals_and_gifts(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 2, what="take")
    catch_up(world)
    page = root.page("/console/economy")
    assert page.links["Gold Coin"] == f"/console/items/{COIN.id}"
    counted = f"Counted up to change {world.ledger()[-1].seq}."
    page.assert_shown("Gold Coin 1,253 2 1,255 2 Staff +1,253", "Shop 1 5 2", "Command line", counted)
