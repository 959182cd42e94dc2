"""The page of an account: its content, the permissions that its actions need, and the operations that they call."""

from collections.abc import Callable

import pytest
from keepers import ACT, Keeper
from markup import Page

import people
from game_server import LINK
from gamekeeper.console import tokens
from gamekeeper.game.passwords import hash_for_wire
from proof import reset_code
from world import World

ANN, CLERK = people.USER_IDS["Ann"], people.USER_IDS["Clerk"]
HOME = f"/console/accounts/{ANN}"
POWERS = f"/api/keeper/v1/users/{ANN}/powers"
MANAGING = (
    "Rename the account",
    "Change the email",
    "Set a new password",
    "Send a reset mail",
    "Erase the account",
    "Change permissions",
)


def list_buttons(page: Page) -> set[str]:
    return {each for form in page.forms for each in form.buttons}


def grant_manage(world: World, name: str) -> None:
    """Grant users.manage to an account."""
    assert world.post(f"/api/keeper/v1/users/{name}/powers", {"users.manage": True}).status == 200


def press(keeper: Keeper, page: Page, button: str, **typed: str) -> str:
    """Send both steps of the form with this button; return the text of the preview dialog."""
    form = page.form(ACT, button)
    shown = keeper.post(ACT, {**form.fields, **typed}, csrf=form.fields["csrf"])
    assert shown.status == 200, shown.raw
    done = keeper.confirm(shown, "a test")
    assert done.status == 303, done.raw
    return Page(shown.raw.decode()).text


def test_page_shows_email_times_and_history(root: Keeper) -> None:
    page = root.page("/console/accounts/aNN")
    for words in ("ann@example.test", ANN, "1 h 0 min", "Warrior", "Not banned and not muted."):
        assert words in page.text
    places = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {f"/console/players/{each.id}" for each in (people.ANN, people.ZOE)} <= places
    assert "Account registered" in page.text
    assert "No tokens. This account has no role, so it cannot get one." in page.text
    assert "No players yet." in root.page(f"/console/accounts/{CLERK}").text
    assert root.get("/console/accounts/Nobody").status == 404


def test_markup_is_shown_as_text(world: World, root: Keeper) -> None:
    world.post("/api/v1/users/Ann/admin/ban", {"reason": "<script>alert(1)</script>", "moderator": "<b>me</b>"})
    page = root.page(HOME)
    assert "<script>alert(1)</script>" in page.text
    assert "<b>me</b>" in page.text
    assert not any(tag == "b" or (tag == "script" and not each.get("src")) for tag, each in page.tags)


def test_permission_decides_what_the_page_shows(world: World, keeper: Callable[[str], Keeper]) -> None:
    assert keeper("Shop").get(HOME).status == 403
    page = keeper("Clerk").page(HOME)
    assert list_buttons(page).isdisjoint({*MANAGING, "Ban", "Mute", "Revoke all tokens"})
    assert "Tokens" not in page.text
    grant_manage(world, "Clerk")
    page = keeper("Clerk").page(HOME)
    assert set(MANAGING) <= list_buttons(page)
    assert list_buttons(page).isdisjoint({"Ban", "Mute"})
    ours = keeper("Clerk").page(f"/console/accounts/{people.USER_IDS['Root']}")
    assert "This account has permissions that you do not have" in ours.text
    assert list_buttons(ours).isdisjoint({"Ban", "Change permissions"})


def test_own_account_page_offers_tokens_but_no_moderation(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    own = f"/console/accounts/{people.USER_IDS['Root']}"
    assert root.get("/console/me").headers["location"] == own
    page = root.page(own)
    assert "You cannot change your own permissions." in page.text
    assert "this session" in page.text
    assert list_buttons(page).isdisjoint({"Ban", "Mute", "Change permissions", "Erase the account"})
    assert "Tokens" in keeper("Clerk").page(f"/console/accounts/{CLERK}").text
    page = keeper("Shop").page("/console/me")
    assert "My tokens" in page.text
    assert "this session" in page.text
    assert {"Revoke", "Revoke all my tokens"} <= list_buttons(page)


def read_permission_fields(page: Page) -> dict[str, str]:
    """Return the fields that an account's permissions form would send unchanged."""
    fields = page.form(ACT, "Change permissions").fields
    return {name: value for name, value in fields.items() if name.startswith("body.")}


def test_form_grants_and_revokes_permissions(world: World, root: Keeper) -> None:
    page = root.page(HOME)
    assert read_permission_fields(page) == {}
    shown = press(root, page, "Change permissions", **{"body.ban": "true", "body.users.manage": "true"})
    assert "Permission: ban no yes" in shown
    assert "Permission: users.query no yes" in shown  # users.manage includes users.query
    page = root.page(HOME)
    assert read_permission_fields(page) == {"body.ban": "true", "body.users.query": "true", "body.users.manage": "true"}
    hidden = [each for tag, each in page.tags if tag == "input" and each.get("name") == "body.ban"]
    assert [(each["type"], each["value"]) for each in hidden] == [("hidden", "false"), ("checkbox", "true")]
    press(root, page, "Change permissions", **{"body.ban": "false"})
    assert read_permission_fields(root.page(HOME)) == {"body.users.query": "true", "body.users.manage": "true"}
    assert [row.kind for row in world.ledger()[-2:]] == ["powers_changed"] * 2
    assert f"Undo change {world.ledger()[-1].seq}" in list_buttons(root.page(HOME))


def test_meaning_of_users_manage_is_explained(root: Keeper) -> None:
    assert "signing in as anyone by setting a password" in root.page("/console/accounts/Ann").text


def test_permission_that_the_caller_lacks_cannot_be_granted(world: World, keeper: Callable[[str], Keeper]) -> None:
    grant_manage(world, "Clerk")
    # Clerk has the permission mute, besides its roles, and so can grant it
    assert world.post("/api/keeper/v1/users/Clerk/powers", {"mute": True}).status == 200
    assert world.post(POWERS, {"editor": True, "api": True}).status == 200
    clerk = keeper("Clerk")
    page = clerk.page(HOME)
    boxes = {each["name"]: each for tag, each in page.tags if tag == "input" and each.get("type") == "checkbox"}
    assert {name for name, each in boxes.items() if "disabled" not in each} == {
        "body.api",
        "body.users.query",
        "body.users.manage",
        "body.mute",
        "body.flag.Warning",  # of the form for notes
    }
    assert "checked" in boxes["body.editor"]
    assert "; you cannot grant it" in page.text
    assert read_permission_fields(page)["body.api"] == "true"
    press(clerk, page, "Change permissions", **{"body.editor": "", "body.users.query": "true"})
    forged = clerk.preview("POST", POWERS, {"ban": "true"})
    assert (forged.status, "You do not have the permission" in forged.raw.decode()) == (403, True)


@pytest.mark.parametrize("what", ["Ban", "Mute"])
def test_ban_and_mute_are_imposed_and_ended(world: World, root: Keeper, what: str) -> None:
    press(root, root.page(HOME), what, **{"body.duration": "3", "body.reason": "selling gold"})
    page = root.page(HOME)
    assert f"Reason of the {what.lower()} selling gold Moderator Root Until 20" in page.text
    assert what not in list_buttons(page)
    press(root, page, f"End the {what.lower()}")
    assert "Not banned and not muted." in root.page(HOME).text
    press(root, root.page(HOME), what, **{"body.duration": "0"})
    assert "Until permanent" in root.page(HOME).text
    world.sql(f"UPDATE {what.lower()}s SET ends_at = 1")  # noqa: S608 - the test chooses the name
    assert "Not banned and not muted." in root.page(HOME).text


@pytest.mark.parametrize("page", [HOME, f"/console/players/{people.ANN.id}"])
def test_permanent_ban_is_not_the_default(root: Keeper, page: str) -> None:
    shown = root.page(page)
    assert [shown.form(ACT, what).fields["body.duration"] for what in ("Ban", "Mute")] == ["7", "7"]


def test_page_links_to_changes_of_and_by_the_account(root: Keeper) -> None:
    me = people.USER_IDS["Root"]
    links = root.page(f"/console/accounts/{me}").links
    assert links["Changes made by Root"] == f"/console/changes?actor={me}"
    assert links["Filter and export changes"] == f"/console/changes?user={me}"
    assert "Changes made by Ann" not in root.page(HOME).links


def test_kick_is_offered_only_for_online_accounts(world: World, root: Keeper) -> None:
    assert "Kick from the game" not in list_buttons(root.page(HOME))
    world.call("PUT", f"{LINK}/servers/s1", body={"Lease": 600})
    world.post(f"{LINK}/servers/s1/joined", {"Players": [people.ANN.id]})
    page = root.page(HOME)
    assert "online" in page.text
    assert "body.reason" in page.form(ACT, "Kick from the game").fields
    press(root, page, "Kick from the game", **{"body.reason": "maintenance"})
    assert world.ledger()[-1].kind == "user_kicked"
    assert "maintenance" in root.page(HOME).text


def test_name_and_email_are_changed_and_undone(world: World, root: Keeper) -> None:
    press(root, root.page(HOME), "Rename the account", **{"body.name": "Anna"})
    shown = press(root, root.page(HOME), "Change the email", **{"body.new": "anna@example.test"})
    assert "ann@example.test anna@example.test" in shown
    user = world.get("/api/v1/users/Anna").json
    assert (user["Id"], user["Email"]) == (ANN, "anna@example.test")
    page = root.page(HOME)
    # the page shows the reason "a test" of both the renaming and the new email address
    assert page.text.count("a test") >= 2
    press(root, page, f"Undo change {world.ledger()[-1].seq}")
    assert world.get("/api/v1/users/Anna").json["Email"] == "ann@example.test"


def test_password_is_typed_in_the_dialog(world: World, root: Keeper) -> None:
    form = root.page(HOME).form(ACT, "Set a new password")
    shown = root.post(ACT, form.fields, csrf=form.fields["csrf"])
    again = Page(shown.raw.decode()).confirmation()
    assert again.fields["password.new"] == ""
    typed = {"password.new": "moss and lanterns", "again.new": "moss and lanterns"}
    assert root.confirm(shown, "she forgot it", **typed).status == 303
    sent = {"password": hash_for_wire("moss and lanterns")}
    assert world.post("/api/v1/users/Ann/password/validate", sent).status == 200


def test_reset_mail_is_queued(world: World, root: Keeper) -> None:
    page = root.page(HOME)
    assert "Mail is not configured" in page.text
    press(root, page, "Send a reset mail")
    assert world.sql("SELECT COUNT(*) FROM mails") == [(1,)]
    code = reset_code(world, "Ann")
    assert code not in root.page(HOME).html


def test_tokens_are_revoked_singly_and_all_at_once(world: World, root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    clerk, home = keeper("Clerk"), f"/console/accounts/{CLERK}"
    page = root.page(home)
    assert "service" in page.text
    assert "console session" in page.text
    assert page.text.count("Revoke all tokens") == 1
    press(root, page, "Revoke")  # revokes the newest token, which is Clerk's console session
    assert clerk.get("/console/me").headers["location"].startswith("/console/sign-in")
    press(root, root.page(home), "Revoke all tokens")
    assert "No active tokens." in root.page(home).text
    assert world.get("/api/v1/players", by="Clerk").status == 401


def test_link_to_older_tokens_needs_permission(
    world: World, root: Keeper, keeper: Callable[[str], Keeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the newest tokens, which the page reads, have expired, it says so; Root also gets a link to the older ones."""
    monkeypatch.setattr(tokens, "SCAN_SIZE", 1)
    monkeypatch.setattr(tokens, "MAX_SCANS", 1)
    clerk, home = keeper("Clerk"), f"/console/accounts/{CLERK}"
    world.sql("UPDATE tokens SET issued_at = issued_at - 1000")
    assert keeper("Clerk").post("/console/sign-out").status == 303
    assert root.page(home).links["Show older tokens"] == f"/console/tokens?account={CLERK}"
    page = clerk.page(home)
    assert "The newest tokens have expired." in page.text
    assert "/console/tokens" not in page.html


def test_older_changes_continue_the_history(world: World, root: Keeper) -> None:
    for number in range(25):
        world.post(f"/api/v1/users/{ANN}/name", {"name": f"Ann{number:02}"})
    page = root.page(HOME)
    assert "Ann24" in page.text
    assert "Ann02" not in page.text
    rest = root.page(page.links["Older"].partition("#")[0])
    assert "Ann02" in rest.text
    assert rest.links["Newest"].startswith(HOME)
    assert "Older" not in rest.links
    assert root.get(f"{HOME}?before=x").status == 400


def test_data_of_a_person_is_downloaded_only_with_permission(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    assert any(each.get("href") == f"{HOME}/file" for _, each in root.page(HOME).tags)
    file = root.get(f"{HOME}/file")
    assert (file.status, file.json["account"]["Name"]) == (200, "Ann")
    assert file.headers["content-disposition"].startswith("attachment;")
    assert not any(each.get("href") == f"{HOME}/file" for _, each in keeper("Clerk").page(HOME).tags)
    assert keeper("Clerk").get(f"{HOME}/file").status == 403
    assert root.get("/console/accounts/Nobody/file").status == 404
