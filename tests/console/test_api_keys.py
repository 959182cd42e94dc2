"""The page of API keys: its list and forms, and the text of a key, which it shows once."""

import re
from collections.abc import Callable

import pytest
from keepers import Keeper, open_session
from markup import Page

import people
import staff
from api_keys import KEYS, create, use
from world import Answer, World

OpenKeeper = Callable[[str], Keeper]
PAGE = "/console/keys"
SECRET = re.compile(r"gkk_[\w-]{40,}")


def read_secret(shown: Answer) -> str:
    """Return the text of the key on the page that follows its creation or rotation."""
    assert shown.status == 200, shown.raw
    assert "It will not be shown again." in shown.raw.decode()
    assert "location" not in shown.headers
    assert shown.headers["cache-control"] == "no-store"
    [text] = SECRET.findall(shown.raw.decode())
    return text


def test_page_needs_keys_manage(world: World, root: Keeper) -> None:
    staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    staff.add_account(world, "Smith", staff.save_role(world, "smith", ["keys.manage", "players.read"]))
    chief, smith = (
        open_session(world, name, world.get(f"/api/v1/users/{name}").json["Id"]) for name in ("Chief", "Smith")
    )
    assert chief.get(PAGE).status == 403
    assert "API keys" not in chief.page("/console").links
    assert chief.preview("POST", KEYS, {"Name": "bot", "Role": "viewer"}).status == 403
    create(world, Name="strong key", Role="api")
    assert smith.page("/console").links["API keys"] == PAGE
    shown = smith.page(PAGE)
    # without users.query the owner is no link; without the key's permissions there is only Revoke
    assert "strong key" in shown.text
    assert "Shop" not in shown.links
    assert [form.buttons for form in shown.forms if KEYS in form.fields.get("path", "")] == [
        ["Revoke"],
        ["Create the key"],
    ]
    assert {"Rotate", "Suspend"} <= {button for form in root.page(PAGE).forms for button in form.buttons}


def test_page_names_permissions_that_the_owner_does_not_have(world: World, root: Keeper) -> None:
    create(world, Permissions=["players.read", "users.query"])
    assert "The owner does not have users.query, so the key cannot use it." in root.page(PAGE).text


def test_created_key_works_and_its_text_is_shown_once(world: World, root: Keeper) -> None:
    body = {
        "Name": "web shop",
        "Owner": "Shop",
        "Role": "api",
        "time.ExpiresAt": "2999-01-31T12:00",
        "lines.Addresses": "127.0.0.0/8\r\n\r\n 192.0.2.7 \r\n",
        "PerMinute": "90",
        "lines.Items": people.COIN.id,
        "MostPerRequest": "5",
        "MostPerDay": "1500",
        "lines.Servers": "",
    }
    preview = root.preview("POST", KEYS, body, back=PAGE)
    shown = Page(preview.raw.decode()).text
    assert "Create the API key web shop" in shown
    assert "127.0.0.0/8, 192.0.2.7/32" in shown
    assert "Gold Coin" in shown
    assert not SECRET.search(preview.raw.decode())
    issued = root.confirm(preview, "")
    text = read_secret(issued)
    assert use(world, text).status == 200
    again = root.confirm(preview, "")
    assert (again.status, "rotate the key" in again.raw.decode()) == (200, True)
    page = root.page(PAGE)
    assert text not in page.html + again.raw.decode()
    for fact in ("active", "2999-01-31 12:00:00 UTC", "127.0.0.0/8, 192.0.2.7/32", "90", "Gold Coin", "1,500"):
        assert fact in page.text, fact
    assert "Give items to players." in page.text
    [key] = world.get(KEYS).json["Keys"]
    assert (key["Owner"], key["MostPerRequest"], key["Servers"]) == ("Shop", 5, None)


def test_dialog_names_whose_idempotency_keys_a_new_key_continues(world: World, root: Keeper) -> None:
    old, body = create(world, Name="old shop"), {"Name": "new shop", "Owner": "Shop", "Role": "api"}
    for replaced, shown in ((old["Id"], "API key old shop of Shop"), ("shop", "account Shop")):
        preview = root.preview("POST", KEYS, body | {"Replaces": replaced}, back=PAGE)
        assert f"Continues the Idempotency-Keys of {shown}" in Page(preview.raw.decode()).text
    assert "Continues" not in Page(root.preview("POST", KEYS, body, back=PAGE).raw.decode()).text


@pytest.mark.parametrize(
    ("path", "body", "effect"),
    [
        ("/api/keeper/v1/users/Shop/roles", {"take[]": "api"}, "loses players.read"),
        ("/api/keeper/v1/users/Shop/powers", {"api": "false"}, "loses players.read"),
        ("/api/keeper/v1/users/Shop/suspend", {}, "stops working"),
        ("/api/v1/users/Shop/admin/ban", {"duration": "1"}, "stops working"),
    ],
    ids=["roles", "powers", "suspension", "ban"],
)
def test_dialog_lists_the_keys_that_lose_something(
    world: World, root: Keeper, path: str, body: dict[str, str], effect: str
) -> None:
    create(world, Name="bot", Permissions=["players.read"])
    create(world, Name="key of another account", Permissions=["players.read"], Owner="Clerk")
    shown = Page(root.preview("POST", path, body).raw.decode()).text
    assert f"API key bot {effect}" in shown
    assert "another account" not in shown


def test_items_of_a_new_key_are_written_as_names_or_ids(world: World, root: Keeper) -> None:
    body = {"Name": "shop", "Owner": "Shop", "Role": "shop", "lines.Items": f"gold coin\r\n{people.ARROW.id}"}
    assert 'placeholder="' in root.page(PAGE).html
    preview = root.preview("POST", KEYS, body, back=PAGE)
    assert "Items Gold Coin, Arrow" in Page(preview.raw.decode()).text
    read_secret(root.confirm(preview, ""))
    assert world.get(KEYS).json["Keys"][0]["Items"] == [people.COIN.id, people.ARROW.id]


def test_unknown_and_ambiguous_names_of_items_are_refused(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    twins = [{"Id": people.guid(each), "Name": "Twin", "Stackable": True, "BagSlots": 0} for each in (901, 902)]
    assert world.call("PUT", "/api/link/v1/catalogue/items", body=twins).status == 200
    body = {"Name": "shop", "Owner": "Shop", "Role": "shop"}
    for items, said in (
        ("gold cion", "no item with the name 'gold cion'. Similar names: Gold Coin."),
        ("Twin", f"Write the id of one of them: {people.guid(901)}, {people.guid(902)}."),
        ("\r\n".join(f"name {each}" for each in range(51)), "more than 50 names"),
    ):
        refused = root.preview("POST", KEYS, body | {"lines.Items": items}, back=PAGE)
        assert refused.status == 400
        assert said in Page(refused.raw.decode()).text
    # a caller who cannot create keys learns no names
    assert keeper("Clerk").preview("POST", KEYS, body | {"lines.Items": "Twin"}).status == 403


def test_key_has_single_permissions_and_not_a_role_too(world: World, root: Keeper) -> None:
    body = {"Name": "leaderboard", "Owner": "Shop", "Permissions[players.read]": "yes"}
    assert root.preview("POST", KEYS, body | {"Role": "api"}).status == 400
    assert use(world, read_secret(root.act("POST", KEYS, body, back=PAGE))).status == 200
    assert world.get(KEYS).json["Keys"][0]["Permissions"] == ["players.read"]
    refused = root.preview("POST", KEYS, body | {"time.ExpiresAt": "soon"})
    assert (refused.status, "ExpiresAt" in refused.raw.decode()) == (400, True)


def test_key_is_rotated_suspended_resumed_and_revoked(world: World, root: Keeper) -> None:
    made = create(world)
    path, old = f"{KEYS}/{made['Id']}", made["Key"]
    new = read_secret(root.act("POST", f"{path}/rotate", {"GraceMinutes": "0"}, back=PAGE))
    assert (use(world, old).status, use(world, new).status) == (401, 200)
    for wanted, title, state, status in (
        ("true", "Suspend the API key web shop", "suspended", 401),
        ("false", "Let the API key web shop work again", "active", 200),
    ):
        preview = root.preview("PUT", path, {"suspended": wanted}, back=PAGE)
        assert title in preview.raw.decode()
        assert root.confirm(preview, "").status == 303
        assert f"web shop {state}" in root.page(PAGE).text
        assert use(world, new).status == status
    root.act("PUT", path, {"Owner": "Clerk"}, back=PAGE)
    assert "Clerk" in root.page(PAGE).links
    root.act("PUT", path, {"Owner": "Shop"}, back=PAGE)
    form = root.page(PAGE).form("/console/act", "Revoke")
    preview = root.post("/console/act", form.fields)
    assert "Revoke the API key web shop" in preview.raw.decode()
    assert root.confirm(preview, "").status == 303
    assert use(world, new).status == 401
    page = root.page(PAGE)
    assert "1 revoked key" in page.text
    assert "Revoke" not in {button for form in page.forms for button in form.buttons}
