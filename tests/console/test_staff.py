"""The pages of staff and of roles: what they show, and the forms that a viewer may send."""

from collections.abc import Callable
from functools import partial

from keepers import ACT, Keeper, open_session
from markup import Page

import people
import staff
from gamekeeper.store import invitations
from world import Answer, World

SECRET = "ninety brown teapots"
CHOSEN = {"password.password": SECRET, "again.password": SECRET}


def test_pages_need_staff_manage(keeper: Callable[[str], Keeper]) -> None:
    for page in ("/console/staff", "/console/roles", "/console/roles/shop"):
        assert keeper("Clerk").get(page).status == 403
    assert "Staff" not in keeper("Clerk").page("/console").links


def test_staff_are_listed_suspended_and_resumed(world: World, root: Keeper) -> None:
    staff.add_account(world, "Guard", "moderator")
    open_session(world, "Shop")
    page = root.page("/console/staff")
    assert {"Guard", "Shop", "Root", "moderator"} <= set(page.links)
    shop = f"/api/keeper/v1/users/{people.USER_IDS['Shop']}"
    assert f"{shop}/sessions" in {form.fields.get("path", "") for form in page.forms}
    for method, act in (("DELETE", "sessions"), ("POST", "suspend"), ("POST", "resume")):
        preview = root.preview(method, f"{shop}/{act}", back="/console/staff")
        assert root.confirm(preview, "left the team").status == 303
        shown = root.page("/console/staff").text.partition("A suspended account")[0]
        assert ("suspended" in shown) == (act == "suspend")


def test_viewer_gets_no_forms_for_accounts_that_outrank_them(world: World) -> None:
    staff.add_account(world, "Guard", "moderator")
    staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    chief = world.get("/api/v1/users/Chief").json["Id"]
    page = open_session(world, "Chief", chief).page("/console/staff")
    guard = world.get("/api/v1/users/Guard").json["Id"]
    assert "Guard" in page.links
    assert not [form for form in page.forms if guard in form.fields.get("path", "")]


def test_role_is_made_edited_and_deleted(world: World, root: Keeper) -> None:
    body = {"name": "night watch", "about": "At night.", "permissions[]": "", "permissions[players.read]": "yes"}
    made = root.preview("POST", "/api/keeper/v1/roles", body)
    assert "Create the role night watch" in made.raw.decode()
    assert root.confirm(made, "new shift").status == 303
    assert "players.read" in root.page("/console/roles/night%20watch").text
    edited = root.preview("PUT", "/api/keeper/v1/roles/night watch", {"about": "x", "permissions[]": ""})
    assert root.confirm(edited, "nothing to do").status == 303
    roles = {each["Name"]: each for each in world.get("/api/keeper/v1/roles").json["Roles"]}
    assert (roles["night watch"]["About"], roles["night watch"]["Permissions"]) == ("x", [])
    assert root.confirm(root.preview("DELETE", "/api/keeper/v1/roles/night watch"), "no shift").status == 303
    assert root.get("/console/roles/night%20watch").status == 404


def test_roles_are_shown_in_plain_words(shared_root: Keeper) -> None:
    assert "Give items to players." in shared_root.page("/console/roles").text
    admin = shared_root.page("/console/roles/admin")
    assert "This role always has every permission." in admin.text
    assert not [form for form in admin.forms if "roles" in form.fields.get("path", "")]


# --- invitations ---------------------------------------------------------------------------------------------------


def test_invitation_is_sent_and_accepted(world: World, root: Keeper) -> None:
    body = {"email": "sunniva@example.test", "roles[shop]": "yes"}
    assert root.act("POST", "/api/keeper/v1/invitations", body).status == 303
    assert "sunniva@example.test" in root.page("/console/staff").text
    taken = world.run(world.keeper.store.write(partial(invitations.lease, lease_ms=1)))
    assert taken
    guest, link = Keeper(world), f"/console/invitation?code={taken.code}"
    assert "Root invites sunniva@example.test. Your roles: shop." in guest.page(link).text
    form = {"code": taken.code, "name": "Sunniva", "password.new": SECRET, "again.new": SECRET}
    for wrong in ({"again.new": "x"}, {"password.new": "password", "again.new": "password"}, {"name": "Ann"}):
        answer = guest.post("/console/invitation", form | wrong, csrf="")
        assert answer.status in {400, 409}
        assert "Create my account" in answer.raw.decode()
    assert guest.post("/console/invitation", form, csrf="", headers={"sec-fetch-site": "cross-site"}).status == 403
    assert guest.post("/console/invitation", form, csrf="").headers["location"] == "/console/sign-in?ended=invited"
    assert guest.sign_in("Sunniva", SECRET).status == 303
    assert guest.get(link).status == guest.post("/console/invitation", form, csrf="").status == 409
    assert world.ledger()[-1].actor_id == people.USER_IDS["Root"]


def test_page_says_which_setting_invitations_need(make_world: Callable[..., World]) -> None:
    root = open_session(make_world(public_url=""), "Root")
    assert "GAMEKEEPER_PUBLIC_URL" in root.page("/console/staff").text


def test_page_says_what_to_do_without_mail(make_world: Callable[..., World]) -> None:
    root = open_session(make_world(public_url="https://keeper.example"), "Root")
    assert "gamekeeper users add NAME --email ADDRESS --staff ROLE" in root.page("/console/staff").text


# --- A new staff account ---------------------------------------------------------------------------------------------


def add_staff(root: Keeper, role: str = "moderator") -> Answer:
    form = root.page("/console/staff").form(ACT, "Add the account")
    assert form.fields["then.role"] == ""  # no role is chosen at first
    typed = {"body.username": "Hilde", "body.email": "hilde@example.test", "then.role": role}
    shown = root.post(ACT, {**form.fields, **typed})
    text = Page(shown.raw.decode()).text
    assert f"Role {role}" in text
    assert "Permission: " not in text  # those of the role are meant
    return shown


def test_staff_account_is_added_with_its_role(world: World, root: Keeper) -> None:
    done = root.confirm(add_staff(root), "joined the team", **CHOSEN)
    new = world.get("/api/v1/users/Hilde").json["Id"]
    assert (done.status, done.headers["location"].partition("?")[0]) == (303, f"/console/accounts/{new}")
    made = world.ledger()[-2:]
    assert [(each.kind, each.user_id) for each in made] == [("user_registered", new), ("roles_changed", new)]
    assert {each.reason for each in made} == {"joined the team"}
    notice = root.page(f"/console/done/{done.headers['location'].partition('=')[2]}").text
    assert "Account registered" in notice
    assert "moderator" in root.page(f"/console/accounts/{new}").text


def test_repeated_form_adds_staff_account_once(world: World, root: Keeper) -> None:
    shown = add_staff(root)
    assert root.confirm(shown, "joined", **CHOSEN).status == 303
    before = world.ledger()
    again = root.confirm(shown, "joined", **CHOSEN)
    assert again.headers["location"].endswith("?done=already")
    assert world.ledger() == before


def test_role_that_is_missing_by_now_is_said_after_registration(world: World, root: Keeper) -> None:
    staff.save_role(world, "helper", ["players.read"])
    shown = add_staff(root, "helper")
    assert world.call("DELETE", "/api/keeper/v1/roles/helper").status == 200
    refused = root.confirm(shown, "joined", **CHOSEN)
    text = Page(refused.raw.decode()).text
    assert refused.status == 409
    assert "The account 'Hilde' is registered, but did not get the role 'helper'" in text
    assert "Nothing was changed" not in text
    assert world.get("/api/v1/users/Hilde").status == 200
