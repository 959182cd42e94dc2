"""The page of API keys: its list and forms, and the text of a key, which it shows once."""

import re

import people
from api_keys import KEYS, create, use
from keepers import Keeper, read_text
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
        "lines.Items": people.COIN.id,
        "MostPerDay": "1500",
        "lines.Servers": "",
    }
    preview = root.preview("POST", KEYS, body, back=PAGE)
    assert "Create the API key web shop" in read_text(preview)
    assert not SECRET.search(preview.raw.decode())
    text = read_secret(root.confirm(preview, ""))
    assert use(world, text).status == 200
    again = root.confirm(preview, "")
    assert (again.status, "rotate the key" in again.raw.decode()) == (200, True)
    page = root.page(PAGE)
    assert text not in page.html + again.raw.decode()
    page.assert_shown("active", "2999-01-31 12:00:00 UTC", "127.0.0.0/8, 192.0.2.7/32", "Gold Coin", "1,500")
    [key] = world.get(KEYS).json["Keys"]
    assert (key["Owner"], key["MostPerDay"], key["Servers"]) == ("Shop", 1500, None)
    assert root.preview("POST", KEYS, body | {"Permissions[players.read]": "yes"}).status == 400  # a role, too


def test_key_is_rotated_suspended_and_revoked(world: World, root: Keeper) -> None:
    made = create(world)
    path, old = f"{KEYS}/{made['Id']}", made["Key"]
    new = read_secret(root.act("POST", f"{path}/rotate", {"GraceMinutes": "0"}, back=PAGE))
    assert (use(world, old).status, use(world, new).status) == (401, 200)
    for wanted, state, status in (("true", "suspended", 401), ("false", "active", 200)):
        assert root.act("PUT", path, {"suspended": wanted}, back=PAGE).status == 303
        assert f"web shop {state}" in root.page(PAGE).text
        assert use(world, new).status == status
    preview = root.post("/console/act", root.page(PAGE).form("/console/act", "Revoke").fields)
    assert root.confirm(preview, "").status == 303
    assert use(world, new).status == 401
    page = root.page(PAGE)
    assert "1 revoked key" in page.text
    assert "Revoke" not in {button for form in page.forms for button in form.buttons}
