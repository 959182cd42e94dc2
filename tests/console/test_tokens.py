"""The console's page of active tokens: owner, kind, and pages without a total."""

from keepers import ACT, Keeper, OpenKeeper, open_session
from markup import Page

import people
import staff
from world import SENT, World

LOG_IN = {"grant_type": "password", "username": "Shop", "password": SENT}
COLUMNS = "id, family_id, user_id, access_hash, read_only, issued_at, access_expires, refresh_expires"
FAR = 4_000_000_000_000


def add(world: World, number: int, issued_at: int, ends_at: int = FAR) -> None:
    each = people.guid(0xA000 + number)
    values = f"'{each}', '{each}', '{people.USER_IDS['Shop']}', 'h{number}', id <> id, {issued_at}, {ends_at}, 0"
    world.sql(f"INSERT INTO tokens ({COLUMNS}) SELECT {values} FROM users WHERE name = 'Shop'")  # noqa: S608 - the test chooses the values


def list_ids(keeper: Keeper, path: str) -> list[str]:
    page = keeper.page(path)
    return [form.fields["path"].rpartition("/")[2] for form in page.forms if "Revoke" in form.buttons]


def test_list_shows_kind_and_owner(world: World, root: Keeper) -> None:
    world.post("/api/oauth/token", LOG_IN | {"scope": "read"}, by=None)
    page = root.page("/console/tokens")
    page.assert_shown("Shop log-in read-only", "Root console session this session", "Server service")
    assert page.links["Clerk"] == f"/console/accounts/{people.USER_IDS['Clerk']}"
    assert "never" in page.text
    assert "gka_" not in page.html


def test_addresses_are_shown_to_the_owner_and_with_permission(world: World, keeper: OpenKeeper, root: Keeper) -> None:
    here, there = ({"user-agent": f"Firefox/{number}"} for number in (1, 2))
    for headers, address in ((here, "192.0.2.7"), (there, "2001:db8::7")):
        world.post("/api/oauth/token", LOG_IN, by=None, headers=headers, address=address)
    shop = keeper("Shop").page("/console/me").text
    assert "192.0.2.7 Firefox/1" in shop
    assert "2001:db8::7 Firefox/2" in shop
    assert "console session this session unknown" in shop  # opened by the test, without a sign-in
    assert "192.0.2.7" not in keeper("Clerk").page("/console/accounts/" + people.USER_IDS["Clerk"]).text
    world.post("/api/oauth/token", LOG_IN, by=None, address="192.0.2.7")
    page = "/console/accounts/" + people.USER_IDS["Shop"]
    assert "192.0.2.7" in root.page(page).text
    manager = staff.save_role(world, "manager", ["users.manage", "users.query"])
    staff.add_account(world, "Manager", manager)
    shown = open_session(world, "Manager", world.get("/api/v1/users/Manager").json["Id"]).page(page).text
    assert "Tokens" in shown
    assert "192.0.2.7" not in shown


def test_expired_tokens_are_not_listed(world: World, root: Keeper) -> None:
    pair = world.post("/api/oauth/token", LOG_IN, by=None).json
    path = "/console/tokens?account=Shop"
    first = list_ids(root, path)
    assert len(first) == 2
    world.post("/api/oauth/token", {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}, by=None)
    assert len(list_ids(root, path)) == 3  # after the refresh the old access token is still active
    world.sql("UPDATE tokens SET access_expires = 1 WHERE exchanged_at IS NOT NULL")
    assert first[0] not in list_ids(root, path)
    add(world, 1, FAR, ends_at=1)
    assert people.guid(0xA001) not in list_ids(root, path)
    world.sql("UPDATE tokens SET idle_ms = 1000, issued_at = 1 WHERE id = $1", first[1])
    assert first[1] not in list_ids(root, path)
    world.call("DELETE", "/api/oauth/token/Shop")
    assert list_ids(root, path) == []


def test_dialog_describes_the_token_and_asks_no_reason(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    """The dialog shows owner, kind and last use. It asks for no reason: the audit log records no change."""
    path, before = "/console/tokens?account=Shop", world.ledger()
    world.sql("UPDATE tokens SET last_used = 1700000000000, read_only = id = id WHERE idle_ms IS NULL")
    world.sql("UPDATE users SET name = '<i>Shop' WHERE name = 'Shop'")
    form = root.page(path.replace("Shop", people.USER_IDS["Shop"])).form(ACT, "Revoke")
    preview = Page(root.post(ACT, form.fields).raw.decode())
    preview.assert_shown(
        "<i>Shop: service, read-only, last used 2023-11-14 22:13:20 UTC.",
        "The security log records who did this and when.",
        "It cannot be undone",
    )
    sent = preview.confirmation().fields
    assert "reason" not in sent
    assert root.post(ACT, sent).status == 303
    assert world.get("/api/v1/players", by="Shop").status == 401
    assert world.ledger() == before
    shop = keeper("Shop")
    mine = shop.page("/console/me").form(ACT, "Revoke all my tokens")
    assert "All tokens of <i>Shop" in Page(shop.post(ACT, mine.fields).raw.decode()).text
    own = root.page("/console/tokens?account=Root").form(ACT, "Revoke")
    assert "This is your current session: you will be signed out." in Page(root.post(ACT, own.fields).raw.decode()).text
    theirs = root.page(f"/console/accounts/{people.USER_IDS['Clerk']}").form(ACT, "Revoke all tokens")
    assert "All tokens of Clerk" in Page(root.post(ACT, theirs.fields).raw.decode()).text
