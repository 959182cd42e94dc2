"""The list of accounts with its filters, and the page of an account with its forms and their permissions."""

import people
import staff
from gamekeeper.game.core.lookup import new_guid
from keepers import ACT, Keeper, OpenKeeper, open_staff
from markup import Page
from proof import reset_code
from world import World

PAGE = "/console/accounts"
ANN, ROOT = people.USER_IDS["Ann"], people.USER_IDS["Root"]
HOME = f"{PAGE}/{ANN}"
MANAGING = {
    *("Rename the account", "Change the email", "Set a new password", "Send a reset mail"),
    *("Erase the account", "Change permissions"),
}


def list_names(root: Keeper, path: str) -> list[str]:
    """List the names of the accounts in the order of the page."""
    return [name for name, to in root.page(path).links.items() if to.startswith(f"{PAGE}/")]


def list_buttons(page: Page) -> set[str]:
    return {each for form in page.forms for each in form.buttons}


def press(keeper: Keeper, page: Page, button: str, **typed: str) -> None:
    """Send both steps of the form with this button."""
    form = page.form(ACT, button)
    shown = keeper.post(ACT, {**form.fields, **typed}, csrf=form.fields["csrf"]).accepted()
    assert keeper.confirm(shown, "a test").status == 303


def test_list_is_filtered_by_role_and_sign_in_with_permission(world: World, root: Keeper) -> None:
    for name in ("Mod", "Late"):
        staff.add_account(world, name, "moderator")
    event = (
        "INSERT INTO security_events (id, at, kind, user_id) SELECT $1, $2, 'sign_in', id FROM users WHERE name = $3"
    )
    for name, at in (("Mod", 86_400_000), ("Late", 864_000_000), ("Ann", 864_000_001)):
        world.sql(event, new_guid(), at, name)
    assert list_names(root, f"{PAGE}?role=moderator") == ["Late", "Mod"]
    page = root.page(f"{PAGE}?role=moderator&signedinto=1970-01-05")
    assert {"Late", "Mod"} & page.links.keys() == {"Mod"}
    assert list_names(root, f"{PAGE}?signedinfrom=1970-01-03")[-2:] == ["Ann", "Late"]  # newest first
    reader = open_staff(world, ["users.query"], "Reader")
    assert "Last sign-in" not in reader.page(PAGE).text
    assert reader.get(f"{PAGE}?signedinfrom=1970-01-03").status == 403


def test_page_shows_the_account_and_its_data_only_with_permission(
    world: World, root: Keeper, keeper: OpenKeeper
) -> None:
    code = reset_code(world, "Ann")
    page = root.page(f"{PAGE}/aNN")
    page.assert_shown(
        "ann@example.test", ANN, "1 h 0 min", "Warrior", "Not banned and not muted.", "Account registered"
    )
    assert code not in page.html
    places = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {f"/console/players/{each.id}" for each in (people.ANN, people.ZOE)} | {f"{HOME}/file"} <= places
    assert root.get(f"{PAGE}/Nobody").status == root.get(f"{PAGE}/Nobody/file").status == 404
    file = root.get(f"{HOME}/file")
    assert (file.status, file.json["account"]["Name"]) == (200, "Ann")
    assert file.headers["content-disposition"].startswith("attachment;")
    assert not any(each.get("href") == f"{HOME}/file" for _, each in keeper("Clerk").page(HOME).tags)
    assert keeper("Clerk").get(f"{HOME}/file").status == 403


def test_permission_decides_which_forms_the_page_offers(world: World, keeper: OpenKeeper, root: Keeper) -> None:
    assert keeper("Shop").get(HOME).status == 403
    page = keeper("Clerk").page(HOME)
    assert list_buttons(page).isdisjoint({*MANAGING, "Ban", "Mute", "Revoke all tokens"})
    assert "Tokens" not in page.text
    assert world.post("/api/keeper/v1/users/Clerk/powers", {"users.manage": True}).status == 200
    page = keeper("Clerk").page(HOME)
    assert list_buttons(page) & {*MANAGING, "Ban", "Mute"} == MANAGING
    higher = keeper("Clerk").page(f"{PAGE}/{ROOT}")
    assert list_buttons(higher).isdisjoint({"Ban", "Change permissions"})
    own = f"{PAGE}/{ROOT}"
    assert root.get("/console/me").headers["location"] == own
    assert list_buttons(root.page(own)).isdisjoint({"Ban", "Mute", "Change permissions", "Erase the account"})
    page = keeper("Shop").page("/console/me")
    page.assert_shown("My tokens", "this session")
    assert {"Revoke", "Revoke all my tokens"} <= list_buttons(page)


def read_permission_fields(page: Page) -> dict[str, str]:
    """Return the fields that an account's permissions form would send unchanged."""
    fields = page.form(ACT, "Change permissions").fields
    return {name: value for name, value in fields.items() if name.startswith("body.")}


def test_form_grants_and_revokes_permissions(root: Keeper) -> None:
    assert read_permission_fields(root.page(HOME)) == {}
    press(root, root.page(HOME), "Change permissions", **{"body.ban": "true", "body.users.manage": "true"})
    managing = {"body.users.query": "true", "body.users.manage": "true"}  # users.manage includes users.query
    assert read_permission_fields(root.page(HOME)) == {"body.ban": "true"} | managing
    press(root, root.page(HOME), "Change permissions", **{"body.ban": "false"})
    assert read_permission_fields(root.page(HOME)) == managing
