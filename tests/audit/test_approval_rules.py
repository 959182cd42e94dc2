"""Rules for approval: which changes each of them holds, and limits that hold besides."""

from typing import Any

import api_keys
import described
import factors
import people
from approving import decide, give, hold, make_strict
from gamekeeper.demo.world import make_numbered_id
from gamekeeper.game.audit import approvals
from gamekeeper.http.contract import operation_refusals
from gamekeeper.store.engine.statements import as_table
from proof import refused
from world import Answer, MakeWorld

USERS = "/api/keeper/v1/users"
STAFF_CHANGES: list[tuple[str, str, Any]] = [
    ("POST", f"{USERS}/Mona/suspend", None),
    ("POST", f"{USERS}/Mona/resume", None),
    ("POST", f"{USERS}/Mona/powers", {"kick": True}),
    ("POST", f"{USERS}/Mona/roles", {"give": ["moderator"]}),
    ("POST", "/api/keeper/v1/invitations", {"email": "new@example.test", "roles": ["moderator"]}),
    ("DELETE", f"{USERS}/Mona/second-factors", None),
]


def is_called(operation: described.Operation, method: str, path: str) -> bool:
    pattern = operation.route.path.replace("[lookupKey]", "Mona")
    return (operation.route.method, pattern) == (method, path)


def test_staff_rule_holds_every_change_of_staff(make_world: MakeWorld) -> None:
    strict = make_strict(make_world)
    factors.add_totp(strict, people.USER_IDS["Mona"])
    for method, path, body in STAFF_CHANGES:
        held = strict.call(method, path, body=body)
        described.hold(next(each for each in described.OPERATIONS if is_called(each, method, path)), held, 202)
        assert strict.sql("SELECT COUNT(*) FROM second_factors") == [(1,)]
        assert decide(strict, held.json["ApprovalId"]).status == 200, path
    assert strict.sql("SELECT DISTINCT state FROM approvals") == [("done",)]
    assert strict.sql("SELECT COUNT(*) FROM second_factors") == [(0,)]


def test_gift_beyond_a_limit_of_its_key_is_refused_and_not_held(make_world: MakeWorld) -> None:
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
    assert strict.count_coins() == 12_000


def test_rules_of_players_and_of_the_world_hold_their_changes_only(make_world: MakeWorld) -> None:
    name, level = ("/api/v1/players/Bob/name", {"name": "Robert"}), ("/api/v1/players/Bob/level", {"level": 9})
    variables = [(f"/api/v1/variables/{each}{people.TAX.id}", {"value": 7}) for each in ("global/", "")]
    strict = make_strict(make_world, approvals="players.rename,world.write")

    def read() -> Answer:
        return strict.get(f"/api/v1/variables/global/{people.TAX.id}/value")

    before, held = read().raw, [strict.post(*each) for each in (*variables, name)]
    for each in held:
        refused(each, 409, "approval_required")
    assert read().raw == before
    assert decide(strict, held[1].json["ApprovalId"]).status == 200
    assert read().json["value"] == 7
    assert strict.post(*level).status == 200
    other = make_world(approvals="players.progress")
    refused(other.post(level[0], {"level": 8}), 409, "approval_required")
    assert other.post(*name).status == 200


def test_rule_for_deleted_players_holds_the_erasure_of_their_account(make_world: MakeWorld) -> None:
    strict = make_strict(make_world, approvals="players.delete")
    held = strict.call("DELETE", "/api/v1/users/Bob")
    refused(held, 409, "approval_required")
    assert strict.get("/api/v1/players/Bob").status == 200
    assert decide(strict, held.json["ApprovalId"]).status == 200
    assert strict.get("/api/v1/players/Bob").status == 404
    assert strict.call("DELETE", "/api/v1/users/Mona").status == 200  # has no players


def test_few_changes_of_an_account_wait(make_world: MakeWorld) -> None:
    strict = make_strict(make_world)
    first = hold(strict, "w0")
    columns = "state, rule, requested_at, expires_at, actor_id, scope_id, method, path, query, content_type, body"
    rest = "state_fingerprint, preview, epoch"
    made = "(SELECT CAST(value->>'id' AS {guid}) AS copy FROM json_each($1)) AS made"
    copies = f"INSERT INTO approvals (id, {columns}, {rest}) SELECT copy, {columns}, {rest} FROM approvals, {made}"  # noqa: S608 - ours
    ids = as_table({"id": make_numbered_id("user", number)} for number in range(1, approvals.MOST_WAITING))
    strict.sql(copies, ids)
    refused(give(strict, key="w1"), 409, "too_many_waiting_approvals")
    assert give(strict, key="w0").json["ApprovalId"] == first  # a repetition asks for nothing new
    assert give(strict, 5).status == 200  # what needs no approval
    refused(give(strict, by="Root"), 409, "approval_required")
    assert decide(strict, first, "deny").status == 200
    hold(strict, "w1")


@described.each_operation
def test_documents_say_which_operations_can_be_held(operation: described.Operation) -> None:
    about, holdable = operation.about["responses"], operation_refusals.can_be_held(operation.route)
    refused = "approval_required" in str(about.get("409", {}).get("description"))
    is_keepers = not operation.route.path.startswith("/api/v1/")
    assert ("202" in about, refused) == (holdable and is_keepers, holdable and not is_keepers)
    assert ("X-Approval-Required" in about["200"]["headers"]) == holdable
