"""Boards in the console: the list, a board with its standings and seasons, and hidden accounts."""

from keepers import Keeper, open_session
from markup import Page
from test_player import find_form, submit

import people
import staff
from boarding import BOARDS, catch_up, create, read
from gamekeeper.store import users
from world import World

LIST, LEVELS = "/console/boards", "/console/boards/levels"


def test_board_is_created_shown_and_deleted(root: Keeper, world: World) -> None:
    assert "No boards yet." in root.page(LIST).text
    form = find_form(root.page(LIST), BOARDS)
    form.fields |= {"body.Name": "levels", "body.Title": "Highest <b>levels</b>", "body.Ranks": "level"}
    shown = root.post("/console/act", form.fields)
    assert "Create the board levels" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "for the website").status == 303
    catch_up(world)
    assert root.page(LIST).links["Highest <b>levels</b>"] == LEVELS
    page = root.page(LEVELS)
    for seen in ("Highest <b>levels</b>", "Running", "Zoe", "Ann", "Bob"):
        assert seen in page.text, seen
    [delete] = [each for each in page.forms if each.fields.get("method") == "DELETE"]
    shown = root.post("/console/act", delete.fields)
    assert "Delete the board levels with all its seasons" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "not needed").status == 303
    assert world.get(BOARDS).json["Boards"] == []


def test_season_is_ended_and_the_next_one_started(root: Keeper, world: World) -> None:
    create(world)
    catch_up(world)
    [end] = [each for each in root.page(LEVELS).forms if each.fields.get("body.flag.EndNow")]
    assert root.confirm(root.post("/console/act", end.fields), "over").status == 303
    assert read(world)["Season"]["State"] == "ended"
    submit(root, find_form(root.page(LEVELS), f"{BOARDS}/levels/seasons"), Title="Second")
    assert [each["Title"] for each in world.get(BOARDS).json["Boards"][0]["Seasons"]] == ["Second", ""]
    assert "Second" in root.page(LEVELS).text
    assert "Season 1" in root.page(f"{LEVELS}?season=1").text


def test_page_shows_the_neighbours_of_a_player(root: Keeper, world: World) -> None:
    create(world)
    catch_up(world)
    assert "Bob" in root.page(f"{LEVELS}?player=Bob").text
    assert root.get(f"{LEVELS}?player=Nobody").status == 404
    assert root.get(f"{LIST}/nothing").status == 404


def test_account_is_hidden_on_its_page_and_shown_again_on_that_of_boards(root: Keeper, world: World) -> None:
    create(world)
    catch_up(world)
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


def test_page_of_a_hidden_account_offers_to_show_it_again(root: Keeper, world: World) -> None:
    create(world)
    account = f"/console/accounts/{people.USER_IDS['Ann']}"
    for before, after in (("Hide from all boards", "Show on boards again"), ("Show on boards again", "Hide from")):
        page = root.page(account)
        assert after not in page.text
        assert root.confirm(root.post("/console/act", page.form("/console/act", before).fields), "a test").status == 303
        assert after in root.page(account).text


def test_reader_sees_boards_without_forms(world: World) -> None:
    create(world)
    staff.add_account(world, "Staff", "viewer")
    user = world.run(users.find_by_fold(world.keeper.store, "staff"))
    assert user
    reader = open_session(world, user.name, user.id)
    for path in (LIST, LEVELS):
        forms = [each for each in reader.page(path).forms if each.fields.get("path", "").startswith(BOARDS)]
        assert forms == []


def test_reader_without_accounts_sees_no_hidden_accounts(world: World, root: Keeper) -> None:
    assert world.post("/api/keeper/v1/users/Ann/boards", {"Hidden": True}).status == 200
    staff.save_role(world, "reader", ["players.read"])
    staff.add_account(world, "Staff", "reader")
    user = world.run(users.find_by_fold(world.keeper.store, "staff"))
    assert user
    page = open_session(world, user.name, user.id).page(LIST).text
    assert "Boards" in page
    assert "Ann" not in page
    assert "Show Ann again" in root.page(LIST).html
