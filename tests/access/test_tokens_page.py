"""The console's page of active tokens: owner, kind and addresses."""

import people
from keepers import Keeper, OpenKeeper, open_staff
from world import SENT, World

LOG_IN = {"grant_type": "password", "username": "Shop", "password": SENT}
PAGE = "/console/tokens?account=Shop"


def list_ids(keeper: Keeper, path: str) -> list[str]:
    page = keeper.page(path)
    return [form.fields["path"].rpartition("/")[2] for form in page.forms if "Revoke" in form.buttons]


def test_list_shows_kind_and_owner_and_no_token(world: World, root: Keeper) -> None:
    world.post("/api/oauth/token", LOG_IN | {"scope": "read"}, by=None)
    page = root.page("/console/tokens")
    page.assert_shown("Shop log-in read-only", "Root console session this session", "Server service")
    assert "gka_" not in page.html


def test_addresses_are_shown_to_the_owner_and_with_permission(world: World, keeper: OpenKeeper, root: Keeper) -> None:
    browser, address = {"user-agent": "Firefox/1"}, "192.0.2.7"
    world.post("/api/oauth/token", LOG_IN, by=None, headers=browser, address=address)
    page = "/console/accounts/" + people.USER_IDS["Shop"]
    assert f"{address} Firefox/1" in keeper("Shop").page("/console/me").text
    assert address in root.page(page).text
    shown = open_staff(world, ["users.manage", "users.query"], "Manager").page(page)
    shown.assert_shown("Tokens")
    shown.assert_hidden(address)


def test_expired_tokens_are_not_listed(world: World, root: Keeper) -> None:
    pair = world.post("/api/oauth/token", LOG_IN, by=None).json
    first = list_ids(root, PAGE)
    assert len(first) == 2
    world.post("/api/oauth/token", {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}, by=None)
    assert len(list_ids(root, PAGE)) == 3  # after the refresh the old access token is still active
    world.sql("UPDATE tokens SET access_expires = 1 WHERE exchanged_at IS NOT NULL")
    assert first[0] not in list_ids(root, PAGE)
    world.sql("UPDATE tokens SET idle_ms = 1000, issued_at = 1 WHERE id = $1", first[1])
    assert first[1] not in list_ids(root, PAGE)
    world.call("DELETE", "/api/oauth/token/Shop")
    assert list_ids(root, PAGE) == []
