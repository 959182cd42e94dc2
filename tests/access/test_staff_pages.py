"""Staff, roles, and what each permission opens and offers."""

import re
from functools import partial

import people
import staff
from gamekeeper.console.pages import PAGES
from gamekeeper.store.accounts import invitations
from keepers import ACT, Keeper, fill_path, open_staff, read_text
from world import World

SECRET = "ninety brown teapots"
CHOSEN = {"password.password": SECRET, "again.password": SECRET}


def test_staff_are_suspended_by_those_who_outrank_them(world: World, root: Keeper) -> None:
    staff.add_account(world, "Guard", "moderator")
    assert {"Guard", "Shop", "Root", "moderator"} <= set(root.page("/console/staff").links)
    shop = f"/api/keeper/v1/users/{people.USER_IDS['Shop']}"
    for method, act in (("DELETE", "sessions"), ("POST", "suspend"), ("POST", "resume")):
        preview = root.preview(method, f"{shop}/{act}", back="/console/staff")
        assert root.confirm(preview, "left the team").status == 303
        shown = root.page("/console/staff").text.partition("A suspended account")[0]
        assert ("suspended" in shown) == (act == "suspend")
    page = open_staff(world, ["users.query", "staff.manage"]).page("/console/staff")
    guard = world.get("/api/v1/users/Guard").json["Id"]
    assert "Guard" in page.links
    assert not [form for form in page.forms if guard in form.fields.get("path", "")]


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


def test_staff_account_is_added_once_with_its_role(world: World, root: Keeper) -> None:
    form = root.page("/console/staff").form(ACT, "Add the account")
    assert form.fields["then.role"] == ""  # no role is chosen at first
    typed = {"body.username": "Hilde", "body.email": "hilde@example.test", "then.role": "moderator"}
    shown = root.post(ACT, {**form.fields, **typed})
    assert "Role moderator" in read_text(shown)
    done = root.confirm(shown, "joined the team", **CHOSEN)
    new = world.get("/api/v1/users/Hilde").json["Id"]
    assert (done.status, done.headers["location"].partition("?")[0]) == (303, f"/console/accounts/{new}")
    made = world.ledger()
    kinds = [(each.kind, each.user_id, each.reason) for each in made[-2:]]
    assert kinds == [(kind, new, "joined the team") for kind in ("user_registered", "roles_changed")]
    again = root.confirm(shown, "joined the team", **CHOSEN)
    assert again.headers["location"].endswith("?done=already")
    assert world.ledger() == made
