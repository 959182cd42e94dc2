"""Boards, guilds, server variables, the catalogue, pictures of items, and the economy."""

import base64
import unicodedata
from urllib.parse import quote

import pytest
from keepers import Keeper, open_staff
from markup import Page
from test_player import find_form, submit

import boarding
import guild_rows
import guild_values
import people
from boarding import BOARDS, create, read
from economics import catch_up, give
from game_server import LINK, put_catalogue
from gamekeeper.http import samples
from guild_rows import GUILD_ID
from loops import over
from people import ANN, ARROW, BOB, COIN, DOUBLE_XP, HARBOUR, KILLS, MOTD, ZOE, guid
from world import World

LIST, LEVELS = "/console/boards", "/console/boards/levels"


def test_board_is_created_shown_and_deleted(root: Keeper, world: World) -> None:
    assert "No boards yet." in root.page(LIST).text
    form = find_form(root.page(LIST), BOARDS)
    form.fields |= {"body.Name": "levels", "body.Title": "Highest <b>levels</b>", "body.Ranks": "level"}
    shown = root.post("/console/act", form.fields)
    assert "Create the board levels" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "for the website").status == 303
    boarding.catch_up(world)
    assert root.page(LIST).links["Highest <b>levels</b>"] == LEVELS
    page = root.page(LEVELS)
    page.assert_shown("Highest <b>levels</b>", "Running", "Zoe", "Ann", "Bob")
    [delete] = [each for each in page.forms if each.fields.get("method") == "DELETE"]
    shown = root.post("/console/act", delete.fields)
    assert "Delete the board levels with all its seasons" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "not needed").status == 303
    assert world.get(BOARDS).json["Boards"] == []


def test_board_has_seasons_and_a_reader_gets_no_forms(root: Keeper, world: World) -> None:
    create(world)
    boarding.catch_up(world)
    [end] = [each for each in root.page(LEVELS).forms if each.fields.get("body.flag.EndNow")]
    assert root.confirm(root.post("/console/act", end.fields), "over").status == 303
    assert read(world)["Season"]["State"] == "ended"
    submit(root, find_form(root.page(LEVELS), f"{BOARDS}/levels/seasons"), Title="Second")
    assert [each["Title"] for each in world.get(BOARDS).json["Boards"][0]["Seasons"]] == ["Second", ""]
    assert "Second" in root.page(LEVELS).text
    assert "Season 1" in root.page(f"{LEVELS}?season=1").text
    reader = open_staff(world, "viewer")
    for path in (LIST, LEVELS):
        forms = [each for each in reader.page(path).forms if each.fields.get("path", "").startswith(BOARDS)]
        assert forms == []


def test_account_is_hidden_on_its_page_and_seen_with_permission_only(root: Keeper, world: World) -> None:
    create(world)
    boarding.catch_up(world)
    path = f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/boards"
    page = root.page(f"/console/accounts/{people.USER_IDS['Ann']}")
    shown = root.post("/console/act", find_form(page, path).fields)
    assert "Hide Ann from all boards" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "a tester").status == 303
    assert [each["Name"] for each in read(world)["Values"]] == ["Bob"]
    shown = root.post("/console/act", find_form(root.page(LIST), path).fields)
    assert "Show Ann on boards again" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "no tester any more").status == 303
    assert len(read(world)["Values"]) == 3


def test_reader_without_accounts_sees_no_hidden_accounts(world: World, root: Keeper) -> None:
    assert world.post("/api/keeper/v1/users/Ann/boards", {"Hidden": True}).status == 200
    page = open_staff(world, ["players.read"]).page(LIST).text
    assert "Boards" in page
    assert "Ann" not in page
    assert "Show Ann again" in root.page(LIST).html


PAGE = "/console/guilds"


def fill(world: World) -> None:
    guild_rows.insert(world, {ZOE.id: 0, ANN.id: 2})
    guild_rows.insert(world, {BOB.id: 7}, guid(72), "Amber & <b>", guild_rows.FOUNDED_AT + 1)


def test_guild_has_its_members_and_its_changes_name_it(world: World, root: Keeper) -> None:
    fill(world)
    page = root.page(f"{PAGE}/{GUILD_ID}")
    assert page.text.index("Zoe Master") < page.text.index("Ann Member 12 Warrior")
    assert "Bank slots: 50." in page.text
    assert page.links["Ann"] == f"/console/players/{ANN.id}"
    assert "Bob Rank 7" in root.page(f"{PAGE}/{guid(72)}").text
    turned = root.page(f"{PAGE}/{GUILD_ID}?sortBy=name").text
    assert turned.index("Ann Member") < turned.index("Zoe Master")
    guild_rows.insert(world, {}, guid(73), "Empty")
    assert "This guild has no members." in root.page(f"{PAGE}/{guid(73)}").text
    fill(world)
    guild_values.insert(world)
    path = f"/api/v1/guilds/{GUILD_ID}/variables/{guild_values.FAME.id}"
    assert world.post(path, {"value": 12}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Fame of the guild Red Hand — 12" in page.text


SERVER_VARIABLES_PAGE, SET = "/console/variables", "/api/v1/variables/global"


def read_value(world: World, variable_id: str) -> object:
    return world.get(f"{SET}/{variable_id}/value").json["value"]


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
    page.assert_shown("Server variables set", "Double XP 10 1,500")
    undo = root.preview("POST", f"/api/keeper/v1/changes/{told.seq}/undo")
    assert f"Undo change {told.seq} of the server" in undo.raw.decode()
    assert "Undo: set Double XP of the server back to its former value" in undo.raw.decode()
    assert root.confirm(undo, "mistake").status == 303
    assert read_value(world, DOUBLE_XP.id) == 10


def test_flags_and_texts_are_sent_as_such_by_those_who_may(world: World, root: Keeper) -> None:
    assert f"{SET}/{DOUBLE_XP.id}" in root.page(SERVER_VARIABLES_PAGE).html
    viewer = open_staff(world, "viewer", "Viewer")
    assert "Double XP" in viewer.page(SERVER_VARIABLES_PAGE).text
    assert f"{SET}/{DOUBLE_XP.id}" not in viewer.page(SERVER_VARIABLES_PAGE).html
    assert root.act("POST", f"{SET}/{HARBOUR.id}", {"flag.value": "false"}).status == 303
    assert read_value(world, HARBOUR.id) is False
    assert root.act("POST", f"{SET}/{MOTD.id}", {"text.value": ""}).status == 303
    assert read_value(world, MOTD.id) == ""
    assert root.act("POST", f"{SET}/{MOTD.id}", {"text.value": "two\r\nlines"}).status == 303
    assert read_value(world, MOTD.id) == "two\nlines"
    undo = root.preview("POST", f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo")
    assert undo.status == 200


CATALOGUE_PAGE = "/console/catalogue"


def test_items_are_the_default_kind(shared_root: Keeper) -> None:
    page = shared_root.page(CATALOGUE_PAGE)
    page.assert_shown(f"Arrow up to 100 — {people.ARROW.id}", f"Pouch no 8 {people.POUCH.id}")
    assert page.links["Arrow"] == f"/console/items/{people.ARROW.id}"
    assert page.links["Changes with this item : Arrow"] == f"/console/changes?item={people.ARROW.id}"
    assert page.links["Give to several players : Arrow"] == f"/console/bulk?item={people.ARROW.id}"


NAMES = ("\u00c9p\u00e9e d'or", "\u041c\u0435\u0447 \u043e\u0433\u043d\u044f", "Grande \u00c9p\u00e9e")
EPEE, MECH, GRANDE = NAMES


@over(
    "text, names",
    [
        (EPEE[:4], [EPEE, GRANDE]),
        (EPEE[:4].lower(), [EPEE, GRANDE]),
        (EPEE.upper(), [EPEE]),
        (unicodedata.normalize("NFD", EPEE.lower()), [EPEE]),
        (MECH, [MECH]),
        (MECH[:2].lower(), [MECH]),
        (MECH.upper(), [MECH]),
        ("D'OR", [EPEE]),
        ("\u00f8", []),
    ],
)
def test_search_ignores_case_in_every_language(world: World, root: Keeper, text: str, names: list[str]) -> None:
    """Search of the catalogue page, form suggestions and search box; names that start with the text come first."""
    put_catalogue(world, "spells", [{"Id": people.guid(0x7100 + at), "Name": each} for at, each in enumerate(NAMES)])
    page = root.page(f"{CATALOGUE_PAGE}?kind=spells&search={quote(text)}")
    assert [each for each in NAMES if each in page.text] == [each for each in NAMES if each in names]
    json = {"accept": "application/json"}
    assert [each["label"] for each in root.get(f"/console/suggest/spells?q={quote(text)}").json["found"]] == names
    groups = root.post("/console/suggest", {"q": text}, headers=json).json["groups"]
    shown = [group for group in groups if group["title"] != "Search the audit log"]
    assert [each["name"] for group in shown for each in group["found"]] == names


ADDRESS = f"/console/pictures/{samples.PICTURE_HASH}.png"
PAGES = {
    "slots": "/console/players/Ann",
    "two moments": "/console/players/Ann?at=16&against=now",
    "catalogue": "/console/catalogue",
    "economy": "/console/economy",
    "item": f"/console/items/{ARROW.id}",
}


@pytest.fixture
def published(world: World) -> World:
    path = f"{LINK}/items/{ARROW.id}/picture"
    assert world.call("PUT", path, body={"Picture": samples.PICTURE}, by="Server").status == 200
    world.run(world.keeper.economy.follow())
    return world


def list_pictures(root: Keeper, path: str) -> list[dict[str, str]]:
    return [each for tag, each in root.page(path).tags if tag == "img" and each.get("class") == "icon"]


@over("name", PAGES)
def test_page_shows_picture_without_alternative_text(published: World, root: Keeper, name: str) -> None:
    _ = published
    found = list_pictures(root, PAGES[name])
    assert found
    assert {(each["src"], each["alt"]) for each in found} == {(ADDRESS, "")}


def test_picture_is_served_to_staff_until_it_is_removed(published: World, root: Keeper) -> None:
    _ = published
    answer = root.get(ADDRESS)
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    ((stored,),) = published.sql("SELECT content FROM item_pictures")
    assert answer.raw == base64.b64decode(stored)
    answer = Keeper(published).get(ADDRESS)
    assert answer.status == 303
    assert b"PNG" not in answer.raw
    published.call("DELETE", f"{LINK}/items/{ARROW.id}/picture", by="Server")
    assert root.get(ADDRESS).status == 404
    assert list_pictures(root, PAGES["slots"]) == []


ECONOMY_PAGES_PAGE = "/console/economy"
ITEM = f"/console/items/{COIN.id}"
VARIABLE = f"{ECONOMY_PAGES_PAGE}/variables/{KILLS.id}"


def test_economy_and_item_pages_have_totals_and_gifts(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 2, what="take")
    catch_up(world)
    page = root.page(ECONOMY_PAGES_PAGE)
    assert "Gold Coin 1,253 2 1,255 2 Staff +1,253" in page.text
    assert page.links["Gold Coin"] == ITEM
    assert page.links["Economy"] == ECONOMY_PAGES_PAGE
    page.assert_shown(
        "Shop 1 5 2", "Command line", f"Counted up to change {world.ledger()[-1].seq}.", "1 to 4 of 4 items"
    )
    assert "1 to 4 of 4 items" in root.page(f"{ECONOMY_PAGES_PAGE}?days=90").text
