"""Approval: held changes, their repetition in each state, and decisions by a second person."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import people
from approving import DECIDER, ROOT, RULES, count_coins, decide, give, hold, let_decide, make_strict
from expectations import everything
from gamekeeper.game import approvals
from gamekeeper.settings import BadSetting
from people import COIN
from proof import refused
from world import Answer, World


@pytest.fixture
def strict(make_world: Callable[..., World]) -> World:
    return make_strict(make_world)


def test_gift_is_held_approved_once_and_both_are_named(strict: World) -> None:
    approval = hold(strict, "k1")
    assert count_coins(strict) == 0
    assert give(strict, key="k1").json["ApprovalId"] == approval  # a repetition gets the same id
    shown = strict.get(f"{ROOT}/{approval}", by=DECIDER).json
    assert (shown["State"], shown["Requester"], shown["Rule"]) == ("waiting", "Shop", "items.give>10000")
    assert shown["Preview"][0]["Kind"] == "items_given"
    assert len(strict.get(f"{ROOT}?state=waiting", by=DECIDER).json["Approvals"]) == 1
    tried = decide(strict, approval, query="?dryRun=true")
    assert (tried.status, tried.json["State"], count_coins(strict)) == (200, "waiting", 0)
    done = decide(strict, approval)
    assert (done.status, done.json["State"]) == (200, "done"), done.raw
    assert count_coins(strict) == 12_000
    refused(decide(strict, approval), 409, "approval_decided")
    again = give(strict, key="k1")
    assert (again.status, again.raw.decode()) == (200, done.json["Answer"])
    assert count_coins(strict) == 12_000
    rows = strict.ledger()[-2:]
    assert [(row.kind, row.actor_id) for row in rows] == [
        ("items_given", people.USER_IDS["Shop"]),
        ("change_approved", people.USER_IDS[DECIDER]),
    ]
    assert rows[0].reason == "order 7"
    kinds = [each["Kind"] for each in strict.get("/api/keeper/v1/security").json["Events"]]
    assert {"approval_requested", "approval_granted"} <= {*kinds}


def test_gifts_of_a_day_count_together_and_dry_runs_say_so(strict: World) -> None:
    assert give(strict, 6_000).status == 200
    tried = give(strict, 6_000, query="?dryRun=true")
    assert (tried.status, tried.headers.get("x-approval-required")) == (200, "true")
    assert give(strict, 4_000, query="?dryRun=true").headers.get("x-approval-required") is None
    refused(give(strict, 6_000), 409, "approval_required")
    assert give(strict, 4_000).status == 200
    assert give(strict, 6_000, by="Root").status == 200  # another account
    assert count_coins(strict) == 16_000


def test_denial_is_the_answer_afterwards(strict: World) -> None:
    approval = hold(strict, "k2")
    denied = decide(strict, approval, "deny")
    assert (denied.status, denied.json["State"], denied.json["Decider"]) == (200, "denied", DECIDER)
    refused(give(strict, key="k2"), 409, "approval_denied")
    refused(decide(strict, approval), 409, "approval_decided")
    assert count_coins(strict) == 0


def test_own_approval_is_refused(strict: World) -> None:
    approval = give(strict, by="Root", key="own").json["ApprovalId"]
    for act in ("approve", "deny"):
        refused(decide(strict, approval, act, by="Root"), 403, "own_approval")
    refused(decide(strict, approval, by="Shop"), 403, "permission_missing")
    refused(decide(strict, people.NOBODY_ID), 404, "no_such_approval")
    assert count_coins(strict) == 0


def test_requester_who_lost_the_permission_is_refused(strict: World) -> None:
    approval = hold(strict)
    strict.sql("DELETE FROM role_permissions WHERE role = 'api' AND permission = 'items.give'")
    refused(decide(strict, approval), 409, "requester_lost_access")
    refused(decide(strict, approval, query="?dryRun=true"), 409, "requester_lost_access")
    strict.sql("UPDATE users SET api = {false} WHERE id = $1", people.USER_IDS["Shop"])
    refused(decide(strict, approval), 409, "requester_lost_access")
    assert count_coins(strict) == 0


def test_changed_state_is_refused_and_shown_anew(strict: World) -> None:
    approval = hold(strict)
    assert give(strict, 5).status == 200
    refused(decide(strict, approval), 409, "changed_meanwhile")
    assert count_coins(strict) == 5
    assert decide(strict, approval).status == 200  # the preview was renewed
    assert count_coins(strict) == 12_005


def test_expired_approval_is_not_carried_out(strict: World) -> None:
    approval = hold(strict, "k3")
    strict.sql("UPDATE approvals SET expires_at = 1")
    for act in ("approve", "deny"):
        refused(decide(strict, approval, act), 409, "approval_expired")
    refused(give(strict, key="k3"), 409, "approval_expired")
    assert strict.get(f"{ROOT}/{approval}", by=DECIDER).json["State"] == "expired"


def test_keeper_operation_is_accepted_and_undo_counts_like_its_change(strict: World) -> None:
    held = strict.post("/api/keeper/v1/users/Bob/roles", {"give": ["moderator"]})
    assert held.status == 202
    assert decide(strict, held.json["ApprovalId"]).status == 200, held.raw
    taken = strict.post("/api/v1/players/Ann/items/take", {"itemid": COIN.id, "quantity": 1})
    assert taken.status == 200
    assert give(strict, 9_999, by="Root").status == 200
    assert strict.post("/api/v1/players/Bob/items/take", {"itemid": COIN.id, "quantity": 2}).status == 200
    undone = strict.post(f"/api/keeper/v1/changes/{strict.ledger()[-1].seq}/undo")
    assert (undone.status, "ApprovalId" in undone.json) == (202, True)


def test_erasure_is_held_and_leaves_nothing_of_the_person(strict: World) -> None:
    answer = strict.call("DELETE", "/api/v1/users/Mona", headers={"X-Reason": "asked by Mona", "Idempotency-Key": "e"})
    refused(answer, 409, "approval_required")
    assert decide(strict, answer.json["ApprovalId"]).status == 200
    assert strict.get("/api/v1/users/Mona").status == 404
    rows = [str(row) for row in everything(strict)["approvals"]]
    assert len(rows) == 1
    assert "Mona" not in rows[0]
    assert strict.sql("SELECT state FROM approvals") == [("done",)]


def test_parallel_approvals_carry_out_once(make_world: Callable[..., World]) -> None:
    first = let_decide(make_world(approvals=RULES))
    worlds = [first, make_world(approvals=RULES)]
    approval = hold(first, "k4")

    async def approve_all() -> list[Answer]:
        sends = (worlds[number % 2].send("POST", f"{ROOT}/{approval}/approve", by=DECIDER) for number in range(20))
        return await asyncio.gather(*sends)

    answers = first.run(approve_all())
    assert sorted(each.status for each in answers) == [200, *[409] * 19]
    assert count_coins(first) == 12_000


def test_parallel_approvals_of_a_change_that_could_be_repeated_carry_out_once(
    make_world: Callable[..., World],
) -> None:
    """The state that an invitation starts from stays the same, so only the approval itself can stop a second one."""
    worlds = [make_strict(make_world, public_url="https://keeper.example")]
    worlds.append(make_world(approvals=RULES, public_url="https://keeper.example"))
    held = worlds[0].post("/api/keeper/v1/invitations", {"email": "new@example.test", "roles": ["moderator"]})
    path = f"{ROOT}/{held.json['ApprovalId']}/approve"

    async def approve_all() -> list[Answer]:
        return await asyncio.gather(*(worlds[number % 2].send("POST", path, by=DECIDER) for number in range(20)))

    answers = worlds[0].run(approve_all())
    assert sorted(each.status for each in answers) == [200, *[409] * 19]
    kinds = [row.kind for row in worlds[0].ledger()]
    assert (kinds.count("invitation_sent"), kinds.count("change_approved")) == (1, 1)


def test_without_rules_nothing_is_held(world: World) -> None:
    assert give(world, 1_000_000).headers.get("x-approval-required") is None
    assert world.sql("SELECT COUNT(*) FROM approval_gifts") == [(0,)]


@pytest.mark.parametrize("text", ["nonsense", "users.manage", "people.erase>5", "items.give>many"])
def test_unknown_rule_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(BadSetting, match=f"'{text}'"):
        approvals.parse_rules(f"items.give, {text}")


def test_rules_are_parsed() -> None:
    found: Any = approvals.parse_rules(" items.give > 10 ,people.erase,")
    assert found == {"items.give": 10, "people.erase": None}
