"""The page of an account: its content, the permissions that its actions need, and the operations that they call."""

from keepers import ACT, Keeper, OpenKeeper
from markup import Page

import people
from loops import over
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


def test_page_shows_the_account_and_its_data_only_with_permission(root: Keeper, keeper: OpenKeeper) -> None:
    page = root.page("/console/accounts/aNN")
    page.assert_shown("ann@example.test", ANN, "1 h 0 min", "Warrior", "Not banned and not muted.")
    places = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {f"/console/players/{each.id}" for each in (people.ANN, people.ZOE)} <= places
    page.assert_shown("Account registered", "No tokens. This account has no role, so it cannot get one.")
    assert "No players yet." in root.page(f"/console/accounts/{CLERK}").text
    assert root.get("/console/accounts/Nobody").status == 404
    assert any(each.get("href") == f"{HOME}/file" for _, each in root.page(HOME).tags)
    file = root.get(f"{HOME}/file")
    assert (file.status, file.json["account"]["Name"]) == (200, "Ann")
    assert file.headers["content-disposition"].startswith("attachment;")
    assert not any(each.get("href") == f"{HOME}/file" for _, each in keeper("Clerk").page(HOME).tags)
    assert keeper("Clerk").get(f"{HOME}/file").status == 403
    assert root.get("/console/accounts/Nobody/file").status == 404


def test_permission_decides_what_the_page_shows(world: World, keeper: OpenKeeper, root: Keeper) -> None:
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
    own = f"/console/accounts/{people.USER_IDS['Root']}"
    assert root.get("/console/me").headers["location"] == own
    page = root.page(own)
    page.assert_shown("You cannot change your own permissions.", "this session")
    assert list_buttons(page).isdisjoint({"Ban", "Mute", "Change permissions", "Erase the account"})
    assert "Tokens" in keeper("Clerk").page(f"/console/accounts/{CLERK}").text
    page = keeper("Shop").page("/console/me")
    page.assert_shown("My tokens", "this session")
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


def test_permission_that_the_caller_lacks_cannot_be_granted(world: World, keeper: OpenKeeper) -> None:
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


@over("what", ["Ban", "Mute"])
def test_ban_and_mute_are_imposed_and_ended(world: World, root: Keeper, what: str) -> None:
    press(root, root.page(HOME), what, **{"body.minutes": "4320", "body.reason": "selling gold"})
    page = root.page(HOME)
    assert f"Reason of the {what.lower()} selling gold Moderator Root Until 20" in page.text
    assert what not in list_buttons(page)
    press(root, page, f"End the {what.lower()}")
    assert "Not banned and not muted." in root.page(HOME).text
    press(root, root.page(HOME), what, **{"body.minutes": "0"})
    assert "Until permanent" in root.page(HOME).text
    world.sql(f"UPDATE {what.lower()}s SET ends_at = 1")  # noqa: S608 - the test chooses the name
    assert "Not banned and not muted." in root.page(HOME).text


def test_reset_mail_is_queued_and_tokens_are_revoked(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    page = root.page(HOME)
    assert "Mail is not configured" in page.text
    press(root, page, "Send a reset mail")
    assert world.sql("SELECT COUNT(*) FROM mails") == [(1,)]
    code = reset_code(world, "Ann")
    assert code not in root.page(HOME).html
    clerk, home = keeper("Clerk"), f"/console/accounts/{CLERK}"
    page = root.page(home)
    page.assert_shown("service", "console session")
    assert page.text.count("Revoke all tokens") == 1
    press(root, page, "Revoke")  # revokes the newest token, which is Clerk's console session
    assert clerk.get("/console/me").headers["location"].startswith("/console/sign-in")
    press(root, root.page(home), "Revoke all tokens")
    assert "No active tokens." in root.page(home).text
    assert world.get("/api/v1/players", by="Clerk").status == 401
