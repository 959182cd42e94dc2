"""The page of approvals: a second person sees the preview and approves or denies."""

from collections.abc import Callable

from keepers import Keeper

import people
from people import COIN
from world import World


def make_held(make_world: Callable[..., World]) -> tuple[World, str]:
    world = make_world(approvals="items.give")
    grant = "INSERT INTO user_permissions (user_id, permission, given_at) VALUES ($1, 'approvals.decide', 1)"
    world.sql(grant, people.USER_IDS["Clerk"])
    held = world.post("/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": 5})
    assert held.status == 409
    return world, held.json["ApprovalId"]


def sign_in(world: World, name: str) -> Keeper:
    found = Keeper(world)
    assert found.sign_in(name).status == 303
    return found


def count_coins(world: World) -> int:
    slots = world.get("/api/v1/players/Bob/items/inventory").json
    return sum(each["Quantity"] for each in slots if each.get("ItemId") == COIN.id)


def test_second_person_sees_the_preview_and_approves(make_world: Callable[..., World]) -> None:
    world, approval = make_held(make_world)
    assert "another account must decide" in sign_in(world, "Root").page("/console/approvals").text
    clerk = sign_in(world, "Clerk")
    assert "Gold Coin" in clerk.page("/console/approvals").text
    done = clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/approve", reason="checked")
    assert done.status == 303, done.raw
    assert count_coins(world) == 5
    assert "Decided by" in clerk.page("/console/approvals").text


def test_held_change_is_explained_in_the_console(make_world: Callable[..., World]) -> None:
    world, approval = make_held(make_world)
    clerk = sign_in(world, "Clerk")
    held = clerk.act("POST", "/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": "5"})
    assert (held.status, b"must approve this change" in held.raw) == (409, True)
    denied = clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/deny", reason="too much")
    assert denied.status == 303, denied.raw
    assert count_coins(world) == 0
