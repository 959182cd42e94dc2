"""The page of API keys: its list and forms, and the text of a key, which it shows once."""

import re

from keepers import Keeper
from markup import Page

import people
from api_keys import KEYS, create, use
from loops import over
from world import Answer, World

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
    page.assert_shown("active", "2999-01-31 12:00:00 UTC", "127.0.0.0/8, 192.0.2.7/32", "90", "Gold Coin", "1,500")
    assert "Give items to players." in page.text
    [key] = world.get(KEYS).json["Keys"]
    assert (key["Owner"], key["MostPerRequest"], key["Servers"]) == ("Shop", 5, None)


@over(
    "path, body, effect",
    [
        ("/api/keeper/v1/users/Shop/roles", {"take[]": "api"}, "loses players.read"),
        ("/api/keeper/v1/users/Shop/powers", {"api": "false"}, "loses players.read"),
        ("/api/keeper/v1/users/Shop/suspend", {}, "stops working"),
        ("/api/v1/users/Shop/admin/ban", {"duration": "1"}, "stops working"),
    ],
)
def test_dialog_lists_the_keys_that_lose_something(
    world: World, root: Keeper, path: str, body: dict[str, str], effect: str
) -> None:
    create(world, Name="bot", Permissions=["players.read"])
    create(world, Name="key of another account", Permissions=["players.read"], Owner="Clerk")
    shown = Page(root.preview("POST", path, body).raw.decode()).text
    assert f"API key bot {effect}" in shown
    assert "another account" not in shown


def test_key_has_single_permissions_and_not_a_role_too(world: World, root: Keeper) -> None:
    body = {"Name": "leaderboard", "Owner": "Shop", "Permissions[players.read]": "yes"}
    assert root.preview("POST", KEYS, body | {"Role": "api"}).status == 400
    assert use(world, read_secret(root.act("POST", KEYS, body, back=PAGE))).status == 200
    assert world.get(KEYS).json["Keys"][0]["Permissions"] == ["players.read"]
    refused = root.preview("POST", KEYS, body | {"time.ExpiresAt": "soon"})
    assert (refused.status, "ExpiresAt" in refused.raw.decode()) == (400, True)


def test_key_has_single_permissions_and_is_rotated_suspended_and_revoked(world: World, root: Keeper) -> None:
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
