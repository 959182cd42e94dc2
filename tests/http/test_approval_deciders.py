"""Deciding on approvals: API keys, the approver's Idempotency-Key, and what is left afterwards."""

import asyncio
from collections.abc import Callable

import pytest

import api_keys
import people
from approving import DECIDER, ROOT, count_coins, decide, give, hold, make_strict
from people import COIN
from proof import refused
from world import Answer, World

WITH_KEY = {"Permissions": ["approvals.decide"]}


@pytest.fixture
def strict(make_world: Callable[..., World]) -> World:
    return make_strict(make_world)


@pytest.mark.parametrize("owner", ["Root", DECIDER])
def test_api_key_decides_nothing(strict: World, owner: str) -> None:
    key = api_keys.create(strict, Owner=owner, **WITH_KEY)["Key"]  # Root makes it, and knows its secret
    approval = hold(strict, by="Root")
    for act in ("approve", "deny"):
        refused(decide(strict, approval, act, token=key), 403, "key_cannot_decide")
    assert count_coins(strict) == 0
    assert len(strict.get(f"{ROOT}?state=waiting", token=key).json["Approvals"]) == 1


def test_request_of_a_key_that_got_another_owner_gives_nothing(strict: World) -> None:
    made = api_keys.create(strict, Owner="Root", Permissions=["items.give"])
    approval = hold(strict, token=made["Key"])
    strict.sql("UPDATE api_keys SET user_id = $1", people.USER_IDS[DECIDER])
    strict.asgi.services.callers.clear_cache()
    refused(decide(strict, approval), 409, "requester_lost_access")
    assert count_coins(strict) == 0


def test_approver_and_token_are_in_the_audit_log(strict: World) -> None:
    assert decide(strict, hold(strict)).status == 200
    token = strict.sql("SELECT token_id FROM ledger WHERE kind = 'change_approved'")
    assert token == strict.sql("SELECT id FROM tokens WHERE user_id = $1", people.USER_IDS[DECIDER])


def test_denial_says_when(strict: World) -> None:
    denied = decide(strict, hold(strict), "deny")
    shown = strict.get(f"{ROOT}/{denied.json['Id']}", by=DECIDER)
    assert denied.json["DecidedAt"][:10] == shown.json["DecidedAt"][:10]


def test_revoked_key_of_the_requester_gives_nothing(strict: World) -> None:
    made = api_keys.create(strict, Owner="Shop", Permissions=["items.give"])
    approval = hold(strict, token=made["Key"])
    assert strict.call("DELETE", f"{api_keys.KEYS}/{made['Id']}").status == 200
    refused(decide(strict, approval), 409, "requester_lost_access")
    assert count_coins(strict) == 0


def test_repeated_approval_with_a_key_gets_the_same_answer(strict: World) -> None:
    approval, again = hold(strict), hold(strict)
    done = decide(strict, approval, headers={"Idempotency-Key": "a1"})
    assert done.status == 200, done.raw
    repeated = decide(strict, approval, headers={"Idempotency-Key": "a1"})
    assert (repeated.status, repeated.raw, repeated.headers.get("idempotent-replay")) == (200, done.raw, "true")
    refused(decide(strict, again, headers={"Idempotency-Key": "a1"}), 422, "idempotency_key_reused")
    assert count_coins(strict) == 12_000


def test_parallel_approvals_with_one_key_all_succeed_or_are_told_to_wait(strict: World) -> None:
    approval = hold(strict)
    path, headers = f"{ROOT}/{approval}/approve", {"Idempotency-Key": "a1"}

    async def race() -> list[Answer]:
        sent = [strict.send("POST", path, by=DECIDER, headers=headers) for _ in range(8)]
        return await asyncio.gather(*sent)

    answers = strict.run(race())
    assert {(each.status, each.code if each.status == 409 else "") for each in answers} <= {
        (200, ""),
        (409, "idempotency_in_progress"),
    }
    assert len({each.raw for each in answers if each.status == 200}) == 1
    assert count_coins(strict) == 12_000


def test_approved_erasure_keeps_no_name_of_the_person(make_world: Callable[..., World]) -> None:
    world = make_strict(make_world)
    held = world.call("DELETE", "/api/v1/users/Ann", by="Root")
    headers = {"Idempotency-Key": "erase", "X-Reason": "checked with Ann"}
    done = decide(world, held.json["ApprovalId"], headers=headers)
    assert done.status == 200, done.raw
    for table, column in (("idempotency_keys", "answer"), ("ledger", "reason"), ("approvals", "decision_reason")):
        assert not any("Ann" in str(value) for (value,) in world.sql(f"SELECT {column} FROM {table}"))  # noqa: S608 - names from above


def test_reason_of_an_approver_is_only_in_the_approval(strict: World) -> None:
    approval = hold(strict)
    assert decide(strict, approval, headers={"X-Reason": "Ann Smith asked by mail"}).status == 200
    assert strict.sql("SELECT reason FROM ledger WHERE kind = 'change_approved'") == [(None,)]
    assert strict.get(f"{ROOT}/{approval}", by=DECIDER).json["DecisionReason"] == "Ann Smith asked by mail"


def test_repetitions_while_it_is_approved_get_the_id_or_the_real_answer(make_world: Callable[..., World]) -> None:
    first = make_strict(make_world)
    second = make_world(approvals="items.give>10000")
    key = api_keys.create(first, Owner="Shop", Permissions=["items.give"])["Key"]
    approval = hold(first, "k", token=key)
    body, headers = {"itemid": COIN.id, "quantity": 12_000}, {"Idempotency-Key": "k"}

    async def race() -> list[Answer]:
        path = "/api/v1/players/Bob/items/give"
        asked = [second.send("POST", path, body=body, token=key, headers=headers) for _ in range(10)]
        return await asyncio.gather(first.send("POST", f"{ROOT}/{approval}/approve", by=DECIDER), *asked)

    approved, *repeated = first.run(race())
    assert approved.status == 200, approved.raw
    assert {each.status for each in repeated} <= {200, 409}
    assert {each.json["ApprovalId"] for each in repeated if each.status == 409} <= {approval}
    assert give(first, key="k", token=key).raw.decode() == approved.json["Answer"]
    assert count_coins(first) == 12_000


def test_answer_of_an_old_request_is_stored_from_its_approval_on(strict: World) -> None:
    approval = hold(strict, "old")
    strict.sql("UPDATE idempotency_keys SET at = 1")
    assert decide(strict, approval).status == 200
    assert strict.sql("SELECT COUNT(*) FROM idempotency_keys WHERE at = 1") == [(0,)]
    other = hold(strict, "gone")
    strict.sql("DELETE FROM idempotency_keys WHERE key = 'gone'")
    done = decide(strict, other)
    assert give(strict, key="gone").raw.decode() == done.json["Answer"]
    assert count_coins(strict) == 24_000


@pytest.mark.parametrize("act", ["approve", "deny"])
def test_decided_request_keeps_no_body(strict: World, act: str) -> None:
    assert decide(strict, hold(strict, query="?dryRun=false"), act).status == 200
    assert strict.sql("SELECT query, body FROM approvals") == [("", "")]


def test_approval_of_a_request_that_says_it_is_no_dry_run_can_be_tried(strict: World) -> None:
    approval = hold(strict, query="?dryRun=false")
    assert decide(strict, approval, query="?dryRun=true").status == 200
    assert count_coins(strict) == 0
    assert decide(strict, approval).status == 200


def test_waiting_list_has_no_expired_request(strict: World) -> None:
    approval = hold(strict)
    assert len(strict.get(f"{ROOT}?state=waiting", by=DECIDER).json["Approvals"]) == 1
    strict.sql("UPDATE approvals SET expires_at = 1")
    assert strict.get(f"{ROOT}?state=waiting", by=DECIDER).json["Approvals"] == []
    assert strict.get(ROOT, by=DECIDER).json["Approvals"][0]["Id"] == approval
