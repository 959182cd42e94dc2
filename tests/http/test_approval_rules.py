"""Rules for approval: which changes each of them holds, and limits that hold besides."""

from collections.abc import Callable
from typing import Any

import pytest

import api_keys
import described
import factors
import people
from approving import count_coins, decide, give, make_strict
from gamekeeper.http import operation_refusals
from proof import refused
from world import World

USERS = "/api/keeper/v1/users"
STAFF_CHANGES: list[tuple[str, str, Any]] = [
    ("POST", f"{USERS}/Mona/suspend", None),
    ("POST", f"{USERS}/Mona/roles", {"give": ["moderator"]}),
    ("POST", f"{USERS}/Mona/powers", {"kick": True}),
    ("POST", "/api/keeper/v1/invitations", {"email": "new@example.test", "roles": ["moderator"]}),
]


def is_called(operation: described.Operation, method: str, path: str) -> bool:
    pattern = operation.route.path.replace("[lookupKey]", "Mona")
    return (operation.route.method, pattern) == (method, path)


@pytest.mark.parametrize(("method", "path", "body"), STAFF_CHANGES)
def test_staff_rule_holds_every_change_of_staff(
    make_world: Callable[..., World], method: str, path: str, body: object
) -> None:
    strict = make_strict(make_world, public_url="https://keeper.example")
    held = strict.call(method, path, body=body)
    described.hold(next(each for each in described.OPERATIONS if is_called(each, method, path)), held, 202)
    assert decide(strict, held.json["ApprovalId"]).status == 200
    assert strict.sql("SELECT state FROM approvals") == [("done",)]


def test_resumption_is_held_like_the_suspension(make_world: Callable[..., World]) -> None:
    strict = make_strict(make_world)
    for act in ("suspend", "resume"):
        held = strict.post(f"{USERS}/Mona/{act}")
        assert held.status == 202, held.raw
        assert decide(strict, held.json["ApprovalId"]).status == 200


def test_reset_of_second_factors_is_held(make_world: Callable[..., World]) -> None:
    strict = make_strict(make_world)
    factors.add_totp(strict, people.USER_IDS["Mona"])
    held = strict.call("DELETE", f"{USERS}/Mona/second-factors")
    assert held.status == 202, held.raw
    assert strict.sql("SELECT COUNT(*) FROM second_factors") == [(1,)]


def test_gift_beyond_a_limit_of_its_key_is_refused_and_not_held(make_world: Callable[..., World]) -> None:
    strict = make_strict(make_world)
    key = api_keys.create(strict, Permissions=["items.give"], MostPerDay=15_000)["Key"]
    refused(give(strict, 20_000, token=key), 409, "quota_reached")
    assert strict.sql("SELECT COUNT(*) FROM approvals") == [(0,)]
    first, second = (give(strict, 12_000, token=key) for _ in range(2))  # what waits does not count
    for each in (first, second):
        refused(each, 409, "approval_required")
    assert decide(strict, first.json["ApprovalId"]).status == 200
    refused(give(strict, 12_000, token=key), 409, "quota_reached")
    decide(strict, second.json["ApprovalId"])  # renews the preview
    refused(decide(strict, second.json["ApprovalId"]), 409, "quota_reached")
    assert count_coins(strict) == 12_000


@described.each_operation
def test_documents_say_which_operations_can_be_held(operation: described.Operation) -> None:
    about, holdable = operation.about["responses"], operation_refusals.can_be_held(operation.route)
    refused = "approval_required" in str(about.get("409", {}).get("description"))
    is_keepers = not operation.route.path.startswith("/api/v1/")
    assert ("202" in about, refused) == (holdable and is_keepers, holdable and not is_keepers)
    assert ("X-Approval-Required" in about["200"]["headers"]) == holdable


def test_approved_gift_counts_for_its_day(make_world: Callable[..., World]) -> None:
    strict = make_strict(make_world)
    held = give(strict, 12_000)
    assert decide(strict, held.json["ApprovalId"]).status == 200
    refused(give(strict, 1), 409, "approval_required")


NAME, LEVEL = ("/api/v1/players/Bob/name", {"name": "Robert"}), ("/api/v1/players/Bob/level", {"level": 9})


@pytest.mark.parametrize(("rule", "held", "free"), [("players.rename", NAME, LEVEL), ("players.progress", LEVEL, NAME)])
def test_rename_and_progress_have_rules_of_their_own(
    make_world: Callable[..., World], rule: str, held: tuple[str, Any], free: tuple[str, Any]
) -> None:
    strict = make_strict(make_world, approvals=rule)
    refused(strict.post(*held), 409, "approval_required")
    assert strict.post(*free).status == 200


@pytest.mark.parametrize("path", [f"/api/v1/variables/global/{people.TAX.id}", f"/api/v1/variables/{people.TAX.id}"])
def test_rule_of_the_world_holds_variables_of_the_server(make_world: Callable[..., World], path: str) -> None:
    strict = make_strict(make_world, approvals="world.write")
    before = strict.get(f"/api/v1/variables/global/{people.TAX.id}/value").json
    held = strict.post(path, {"value": 7})
    refused(held, 409, "approval_required")
    assert strict.get(f"/api/v1/variables/global/{people.TAX.id}/value").json == before
    assert decide(strict, held.json["ApprovalId"]).status == 200
    assert strict.get(f"/api/v1/variables/global/{people.TAX.id}/value").json["value"] == 7
