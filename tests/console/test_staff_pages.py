"""Staff, roles, and what each permission opens and offers."""

import re
from functools import partial

from keepers import ACT, Keeper, fill_path, open_session, open_staff
from markup import Page

import people
import staff
from gamekeeper.console.routes import PAGES
from gamekeeper.store import invitations, users
from world import Answer, World

SECRET = "ninety brown teapots"
CHOSEN = {"password.password": SECRET, "again.password": SECRET}


def test_staff_are_suspended_by_those_who_outrank_them(world: World, root: Keeper) -> None:
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
    page = open_staff(world, ["users.query", "staff.manage"]).page("/console/staff")
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


def add_staff(root: Keeper, role: str = "moderator") -> Answer:
    form = root.page("/console/staff").form(ACT, "Add the account")
    assert form.fields["then.role"] == ""  # no role is chosen at first
    typed = {"body.username": "Hilde", "body.email": "hilde@example.test", "then.role": role}
    shown = root.post(ACT, {**form.fields, **typed})
    text = Page(shown.raw.decode()).text
    assert f"Role {role}" in text
    assert "Permission: " not in text  # those of the role are meant
    return shown


def test_staff_account_is_added_once_with_its_role(world: World, root: Keeper) -> None:
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


ANN = f"/console/players/{people.ANN.id}"
ACCOUNT = f"/console/accounts/{people.USER_IDS['Ann']}"
# permissions that pages need, besides those that every session may open
NEEDED = {
    "players.read": """pictures/[picture] live/characters players/[lookupKey] players/[lookupKey]/version suggest/[kind]
        search characters ranking online boards boards/[board] guilds guilds/[guild] catalogue activity economy
        economy/variables/[variableId] items/[itemId] variables""",
    "users.query": "live/accounts accounts accounts/[lookupKey]",
    "users.manage users.query": "tokens mail",
    "audit.read": "changes changes/file changes/[seq] signals signals/[signal]",
    "audit.read users.query": "deliveries security",
    "audit.read players.read": "economy/gifts",
    "bulk.run players.read": "bulk bulk/[job] bulk/[job]/file",
    "approvals.decide": "approvals",
    "people.export": "accounts/[lookupKey]/file",
    "staff.manage users.query": "staff roles roles/[role]",
    "keys.manage": "keys",
    "notes.write": "notes",
}
OPEN = """console console/events console/health console/sign-out console/done/[requestId] console/documents
    console/documents/[document] console/explorer console/invitation"""


def test_page_is_refused_without_its_permissions(world: World) -> None:
    """Each account has the permissions of one row only."""
    needed = {f"/console/{page}": set(held.split()) for held, pages in NEEDED.items() for page in pages.split()}
    routes = [each for each in PAGES if each.method == "GET" and not re.search("/(me|static|sign-in)\\b", each.path)]
    assert {each.path for each in routes} - {"/", *(f"/{each}" for each in OPEN.split())} == needed.keys()
    keepers = [(set(held.split()), open_staff(world, held.split(), f"Staff{at}")) for at, held in enumerate(NEEDED)]
    for route in routes:
        for held, keeper in keepers if route.path in needed else []:
            if needed[route.path] <= held or "users.manage" not in held:  # which includes others
                refused = keeper.get(fill_path(route)).status == 403
                assert refused != (needed[route.path] <= held), (route.path, held)


def paths(page: Page) -> set[str]:
    """Return the ends of the operations' paths that the forms of a page send."""
    sent = [each for tag, each in page.tags if tag == "input" and each.get("name") == "path"]
    return {each["value"].rpartition("/")[2] for each in sent}


def links(page: Page) -> set[str]:
    return {each["href"] for tag, each in page.tags if tag == "a" and each.get("href", "").startswith("/console")}


def test_moderator_is_offered_moderation_only(world: World) -> None:
    keeper = open_staff(world, "moderator")
    assert paths(keeper.page(ANN)) == {"ban", "mute"}
    menu = links(keeper.page("/console"))
    assert "/console/accounts" in menu
    assert not {"/console/changes", "/console/mail", "/console/tokens"} & menu
    assert "History" not in keeper.get(ANN).raw.decode()


def test_viewer_sees_no_change(world: World) -> None:
    keeper = open_staff(world, "viewer")
    assert paths(keeper.page(ANN)) == set()
    assert paths(keeper.page("/console/accounts")) == set()
    assert "/console/changes" in links(keeper.page("/console"))


def test_game_master_is_offered_changes_of_players_but_no_deletion(world: World) -> None:
    keeper = open_staff(world, "game master")
    page = keeper.page(ANN)
    offered = paths(page) | paths(keeper.page(f"{ANN}?tab=variables")) | paths(keeper.page(f"{ANN}?slot=inventory-0"))
    assert offered >= {"name", "level", "class", "give", "teach", "forget", "ban", "mute", "take", "set", "move"}
    assert not [each for tag, each in page.tags if tag == "input" and each.get("value") == "DELETE"]


def test_deleted_player_is_not_shown_without_the_audit_log(world: World) -> None:
    assert world.call("DELETE", f"/api/v1/players/{people.ANN.id}").status == 200
    assert open_staff(world, "moderator").get(ANN).status == 404


def test_role_is_given_and_taken_with_staff_manage(world: World, root: Keeper) -> None:
    assert "roles" in paths(root.page(ACCOUNT))
    root.act("POST", f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/roles", {"give[]": "moderator"})
    user = world.run(users.find_by_fold(world.keeper.store, "ann"))
    assert user
    assert user.grants.roles == ("moderator",)
    assert "Role moderator" in root.get(ACCOUNT).raw.decode()
    assert "roles" not in paths(open_staff(world, "moderator").page(ACCOUNT))


def test_pages_have_no_links_to_changes_without_audit_read(world: World) -> None:
    keeper = open_staff(world, "moderator")
    done = keeper.act("POST", f"/api/v1/players/{people.ANN.id}/admin/ban", {"duration": 7, "reason": "Botting"})
    by = done.headers["location"].partition("done=")[2].partition("#")[0]
    pages = [f"/console/done/{by}", "/console/done/already", f"{ANN}?done={by}", ACCOUNT, "/console/catalogue"]
    shown = [keeper.page(each) for each in [*pages, f"/console/items/{people.SWORD.id}"]]
    assert re.search(r"Change \d+ ?:", shown[0].text)
    found = {link for each in shown for link in links(each)}
    assert not [each for each in found if each.startswith(("/console/changes", "/console/bulk")) or "?at=" in each]
