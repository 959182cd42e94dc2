"""The page of approvals: a second person sees the preview and approves or denies."""

from collections.abc import Callable

from keepers import Keeper

import people
from people import COIN
from world import World


def make_held(make_world: Callable[..., World]) -> tuple[World, str]:
    world = make_world(approvals="items.give")
    grant = "INSERT INTO user_permissions (user_id, permission, given_at) VALUES ($1, 'approvals.decide', 1)"
    for name in ("Clerk", "Root"):
        world.sql(grant, people.USER_IDS[name])
    held = world.post("/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": 5})
    assert held.status == 409
    return world, held.json["ApprovalId"]


def test_second_person_approves_on_the_page(make_world: Callable[..., World]) -> None:
    world, approval = make_held(make_world)
    own = Keeper(world).signed_in("Root").page("/console/approvals").text
    assert "another account must decide" in own
    clerk = Keeper(world).signed_in("Clerk")
    page = clerk.page("/console/approvals").text
    assert "Gold Coin" in page
    assert f"/api/keeper/v1/approvals/{approval}/approve" in page
