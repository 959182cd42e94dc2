"""The console offers what the account may do, and refuses the rest clearly."""

import re

import pytest
from keepers import Keeper, open_session
from markup import Page

import people
import staff
from gamekeeper.store import users
from world import World

ANN = f"/console/players/{people.ANN.id}"
ACCOUNT = f"/console/accounts/{people.USER_IDS['Ann']}"


def sign_in(world: World, role: str) -> Keeper:
    staff.add_account(world, "Staff", role)
    user = world.run(users.find_by_fold(world.keeper.store, "staff"))
    assert user
    return open_session(world, user.name, user.id)


def paths(page: Page) -> set[str]:
    """Return the ends of the operations' paths that the forms of a page send."""
    sent = [each for tag, each in page.tags if tag == "input" and each.get("name") == "path"]
    return {each["value"].rpartition("/")[2] for each in sent}


def links(page: Page) -> set[str]:
    return {each["href"] for tag, each in page.tags if tag == "a" and each.get("href", "").startswith("/console")}


def test_moderator_is_offered_moderation_only(world: World) -> None:
    keeper = sign_in(world, "moderator")
    assert paths(keeper.page(ANN)) == {"ban", "mute"}
    menu = links(keeper.page("/console"))
    assert "/console/accounts" in menu
    assert not {"/console/changes", "/console/mail", "/console/tokens"} & menu
    assert "History" not in keeper.get(ANN).raw.decode()


def test_viewer_is_offered_no_change(world: World) -> None:
    keeper = sign_in(world, "viewer")
    assert paths(keeper.page(ANN)) == set()
    assert paths(keeper.page("/console/accounts")) == set()
    assert "/console/changes" in links(keeper.page("/console"))


def test_game_master_is_offered_changes_of_players_but_no_deletion(world: World) -> None:
    keeper = sign_in(world, "game master")
    page = keeper.page(ANN)
    offered = paths(page) | paths(keeper.page(f"{ANN}?tab=variables")) | paths(keeper.page(f"{ANN}?slot=inventory-0"))
    assert offered >= {"name", "level", "class", "give", "teach", "forget", "ban", "mute", "take", "set", "move"}
    assert not [each for tag, each in page.tags if tag == "input" and each.get("value") == "DELETE"]


@pytest.mark.parametrize("path", ["/console/changes", "/console/changes/1", "/console/bulk", f"{ANN}?at=1"])
def test_page_that_needs_a_missing_permission_is_refused(world: World, path: str) -> None:
    answer = sign_in(world, "moderator").get(path)
    assert answer.status == 403
    assert "This needs the permission" in answer.raw.decode()


def test_deleted_player_is_not_shown_without_the_audit_log(world: World) -> None:
    assert world.call("DELETE", f"/api/v1/players/{people.ANN.id}").status == 200
    assert sign_in(world, "moderator").get(ANN).status == 404


def test_role_is_given_and_taken_on_the_page_of_the_account(world: World, root: Keeper) -> None:
    assert "roles" in paths(root.page(ACCOUNT))
    root.act("POST", f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/roles", {"give[]": "moderator"})
    user = world.run(users.find_by_fold(world.keeper.store, "ann"))
    assert user
    assert user.grants.roles == ("moderator",)
    assert "Role moderator" in root.get(ACCOUNT).raw.decode()


def test_roles_are_not_offered_without_staff_manage(world: World) -> None:
    assert "roles" not in paths(sign_in(world, "moderator").page(ACCOUNT))


def test_list_of_accounts_shows_roles(world: World, root: Keeper) -> None:
    staff.add_account(world, "Guard", "moderator")
    assert "moderator" in root.get("/console/accounts?state=powers").raw.decode()


def test_pages_have_no_links_to_changes_without_audit_read(world: World) -> None:
    keeper = sign_in(world, "moderator")
    done = keeper.act("POST", f"/api/v1/players/{people.ANN.id}/admin/ban", {"duration": 7, "reason": "Botting"})
    by = done.headers["location"].partition("done=")[2].partition("#")[0]
    pages = [f"/console/done/{by}", "/console/done/already", f"{ANN}?done={by}", ACCOUNT, "/console/catalogue"]
    shown = [keeper.page(each) for each in [*pages, f"/console/items/{people.SWORD.id}"]]
    assert re.search(r"Change \d+ ?:", shown[0].text)
    found = {link for each in shown for link in links(each)}
    assert not [each for each in found if each.startswith(("/console/changes", "/console/bulk")) or "?at=" in each]
