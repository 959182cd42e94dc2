"""Worlds with rules for approval, held gifts and decisions on them, for tests."""

from typing import Any

from people import COIN, USER_IDS
from proof import refused
from world import Answer, MakeWorld, World

ROOT = "/api/keeper/v1/approvals"
GIVE = "/api/v1/players/Bob/items/give"
RULES = "items.give>10000, people.erase, spells.write, staff.manage"
DECIDER = "Clerk"


def make_strict(make_world: MakeWorld, **settings: Any) -> World:
    """Return a world with rules, in which Clerk decides on approvals."""
    return let_decide(make_world(**{"approvals": RULES} | settings))


def let_decide(world: World, name: str = DECIDER) -> World:
    world.insert("user_permissions", user_id=USER_IDS[name], permission="approvals.decide", given_at=1)
    return world


def give(
    world: World, quantity: int = 12_000, key: str | None = None, by: str = "Shop", query: str = "", **more: Any
) -> Answer:
    headers = {"X-Reason": "order 7"} | ({"Idempotency-Key": key} if key else {})
    return world.post(GIVE + query, {"itemid": COIN.id, "quantity": quantity}, by=by, headers=headers, **more)


def hold(world: World, key: str | None = None, **more: Any) -> str:
    answer = give(world, key=key, **more)
    refused(answer, 409, "approval_required")
    return answer.json["ApprovalId"]


def decide(
    world: World, approval: str, act: str = "approve", by: str = DECIDER, query: str = "", **more: Any
) -> Answer:
    headers = {"X-Reason": "checked"} | more.pop("headers", {})
    return world.post(f"{ROOT}/{approval}/{act}{query}", by=by, headers=headers, **more)
