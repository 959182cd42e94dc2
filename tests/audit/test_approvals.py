"""Approval: held changes, their repetition in each state, and decisions by a second person."""

import json
from typing import Any

import pytest

import api_keys
from approving import DECIDER, GIVE, ROOT, RULES, decide, give, hold, make_strict
from expectations import everything
from gamekeeper.game.audit import approvals
from gamekeeper.ground.settings import BadSetting
from gamekeeper.store.audit import approvals as approval_rows
from people import COIN, NOBODY_ID, USER_IDS
from proof import refused
from world import Answer, MakeWorld, World

KEY = {"Idempotency-Key": "a1"}


@pytest.fixture
def strict(make_world: MakeWorld) -> World:
    return make_strict(make_world)


def test_gift_is_held_approved_once_and_both_are_named(strict: World) -> None:
    approval = hold(strict, "k1")
    assert strict.count_coins() == 0
    assert give(strict, key="k1").json["ApprovalId"] == approval  # a repetition gets the same id
    shown = strict.get(f"{ROOT}/{approval}", by=DECIDER).json
    assert (shown["State"], shown["Requester"], shown["Rule"]) == ("waiting", "Shop", "items.give>10000")
    assert shown["Preview"][0]["Kind"] == "items_given"
    tried = decide(strict, approval, query="?dryRun=true")
    assert (tried.status, tried.json["State"], strict.count_coins()) == (200, "waiting", 0)
    done = decide(strict, approval, headers={"X-Reason": "Ann Smith asked by mail"})
    assert (done.status, done.json["State"]) == (200, "done"), done.raw
    assert strict.count_coins() == 12_000
    refused(decide(strict, approval), 409, "approval_decided")
    again = give(strict, key="k1")
    assert (again.status, again.raw.decode()) == (200, done.json["Answer"])
    assert strict.count_coins() == 12_000
    rows = strict.ledger()[-2:]
    assert [(row.kind, row.actor_id) for row in rows] == [
        ("items_given", USER_IDS["Shop"]),
        ("change_approved", USER_IDS[DECIDER]),
    ]
    # the reason of an approver is only in the approval
    assert [row.reason for row in rows] == ["order 7", None]
    assert strict.get(f"{ROOT}/{approval}", by=DECIDER).json["DecisionReason"] == "Ann Smith asked by mail"
    token = strict.sql("SELECT id FROM tokens WHERE user_id = $1", USER_IDS[DECIDER])
    assert strict.sql("SELECT token_id FROM ledger WHERE kind = 'change_approved'") == token
    events = {each["Kind"]: each["Details"] for each in strict.get("/api/keeper/v1/security").json["Events"]}
    assert events["approval_requested"] == {"ApprovalId": approval, "Rule": "items.give>10000"}
    assert "approval_granted" in events


def test_gifts_of_a_day_count_together_and_dry_runs_say_so(strict: World) -> None:
    assert give(strict, 6_000).status == 200
    tried = give(strict, 6_000, query="?dryRun=true")
    assert (tried.status, tried.headers.get("x-approval-required")) == (200, "true")
    assert give(strict, 4_000, query="?dryRun=true").headers.get("x-approval-required") is None
    held = give(strict, 6_000)
    refused(held, 409, "approval_required")
    assert give(strict, 4_000).status == 200
    assert give(strict, 6_000, by="Root").status == 200  # another account
    assert strict.count_coins() == 16_000
    refused(decide(strict, held.json["ApprovalId"]), 409, "changed_meanwhile")
    assert decide(strict, held.json["ApprovalId"]).status == 200  # the preview was renewed; the gift counts for its day
    assert strict.count_coins() == 22_000
    refused(give(strict, 1), 409, "approval_required")


def test_denied_and_expired_requests_are_not_carried_out(strict: World) -> None:
    approval = hold(strict, "k2", query="?dryRun=false")
    denied = decide(strict, approval, "deny")
    assert (denied.status, denied.json["State"], denied.json["Decider"]) == (200, "denied", DECIDER)
    assert strict.sql("SELECT query, body FROM approvals") == [("", "")]
    refused(give(strict, key="k2", query="?dryRun=false"), 409, "approval_denied")
    refused(decide(strict, approval), 409, "approval_decided")

    approval = hold(strict, "k3")
    strict.sql("UPDATE approvals SET expires_at = 1")
    for act in ("approve", "deny"):
        refused(decide(strict, approval, act), 409, "approval_expired")
    refused(give(strict, key="k3"), 409, "approval_expired")
    assert strict.get(f"{ROOT}/{approval}", by=DECIDER).json["State"] == "expired"
    assert strict.get(f"{ROOT}?state=waiting", by=DECIDER).json["Approvals"] == []
    assert strict.get(ROOT, by=DECIDER).json["Approvals"][0]["Id"] == approval
    assert strict.count_coins() == 0


def test_own_approval_and_those_of_api_keys_are_refused(strict: World) -> None:
    approval = give(strict, by="Root", key="own").json["ApprovalId"]
    for act in ("approve", "deny"):
        refused(decide(strict, approval, act, by="Root"), 403, "own_approval")
    refused(decide(strict, approval, by="Shop"), 403, "permission_missing")
    refused(decide(strict, NOBODY_ID), 404, "no_such_approval")
    for owner in ("Root", DECIDER):  # Root makes both keys, and knows their secrets
        key = api_keys.create(strict, Owner=owner, Permissions=["approvals.decide"])["Key"]
        for act in ("approve", "deny"):
            refused(decide(strict, approval, act, token=key), 403, "key_cannot_decide")
        assert len(strict.get(f"{ROOT}?state=waiting", token=key).json["Approvals"]) == 1
    assert strict.count_coins() == 0


def test_requester_who_lost_access_gets_nothing(strict: World) -> None:
    made = [api_keys.create(strict, Owner=owner, Permissions=["items.give"]) for owner in ("Root", "Shop")]
    moved, revoked = (hold(strict, token=each["Key"]) for each in made)
    strict.sql("UPDATE api_keys SET user_id = $1 WHERE id = $2", USER_IDS[DECIDER], made[0]["Id"])
    strict.asgi.services.callers.clear_cache()
    refused(decide(strict, moved), 409, "requester_lost_access")
    assert strict.call("DELETE", f"{api_keys.KEYS}/{made[1]['Id']}").status == 200
    refused(decide(strict, revoked), 409, "requester_lost_access")
    approval = hold(strict)
    strict.sql("DELETE FROM role_permissions WHERE role = 'api' AND permission = 'items.give'")
    refused(decide(strict, approval), 409, "requester_lost_access")
    refused(decide(strict, approval, query="?dryRun=true"), 409, "requester_lost_access")
    strict.sql("UPDATE users SET api = {false} WHERE id = $1", USER_IDS["Shop"])
    refused(decide(strict, approval), 409, "requester_lost_access")
    assert strict.count_coins() == 0


def test_keeper_operation_is_accepted_and_undo_counts_like_its_change(strict: World) -> None:
    held = strict.post("/api/keeper/v1/users/Bob/roles", {"give": ["moderator"]})
    assert held.status == 202
    assert decide(strict, held.json["ApprovalId"]).status == 200, held.raw
    strict.post("/api/v1/players/Ann/items/take", {"itemid": COIN.id, "quantity": 1}).accepted()
    assert give(strict, 9_999, by="Root").status == 200
    assert strict.post("/api/v1/players/Bob/items/take", {"itemid": COIN.id, "quantity": 2}).status == 200
    undone = strict.post(f"/api/keeper/v1/changes/{strict.ledger()[-1].seq}/undo")
    assert (undone.status, "ApprovalId" in undone.json) == (202, True)


def test_erasure_is_held_and_leaves_nothing_of_the_person(strict: World) -> None:
    answer = strict.call("DELETE", "/api/v1/users/Mona", headers={"X-Reason": "asked by Mona", "Idempotency-Key": "e"})
    refused(answer, 409, "approval_required")
    headers = {"Idempotency-Key": "erase", "X-Reason": "checked with Mona"}
    assert decide(strict, answer.json["ApprovalId"], headers=headers).status == 200
    assert strict.get("/api/v1/users/Mona").status == 404
    [row] = everything(strict)["approvals"]
    assert "Mona" not in row
    assert strict.sql("SELECT state FROM approvals") == [("done",)]
    for table, column in (("idempotency_keys", "answer"), ("ledger", "reason")):
        assert not any("Mona" in str(value) for (value,) in strict.sql(f"SELECT {column} FROM {table}"))  # noqa: S608 - names from above


# --- repetitions and races -------------------------------------------------------------------------------------------


@pytest.mark.both_engines
def test_parallel_approvals_carry_out_once(make_world: MakeWorld) -> None:
    """The state that an invitation starts from stays the same, so only the approval itself can stop a second one."""
    worlds = [make_strict(make_world), make_world(approvals=RULES)]
    invitation = {"email": "new@example.test", "roles": ["moderator"]}
    invited = worlds[0].post("/api/keeper/v1/invitations", invitation).json["ApprovalId"]
    gift, repeated = hold(worlds[0], "k4"), hold(worlds[0])

    def approve_all(approval: str, headers: dict[str, str]) -> list[Answer]:
        path = f"{ROOT}/{approval}/approve"
        return worlds[0].at_once(each.send("POST", path, by=DECIDER, headers=headers) for each in worlds * 10)

    for approval in (invited, gift):
        answers = approve_all(approval, {})
        assert sorted(each.status for each in answers) == [200, *[409] * 19]
    assert worlds[0].count_coins() == 12_000
    kinds = [row.kind for row in worlds[0].ledger()]
    assert (kinds.count("invitation_sent"), kinds.count("change_approved")) == (1, 2)
    decide(worlds[0], repeated)  # renews the preview
    answers = approve_all(repeated, KEY)
    assert {(each.status, each.code if each.status == 409 else "") for each in answers} <= {
        (200, ""),
        (409, "idempotency_in_progress"),
    }
    assert len({each.raw for each in answers if each.status == 200}) == 1
    assert worlds[0].count_coins() == 24_000


@pytest.mark.both_engines
def test_repetitions_while_it_is_approved_get_the_id_or_the_real_answer(make_world: MakeWorld) -> None:
    first = make_strict(make_world)
    second = make_world(approvals="items.give>10000")
    key = api_keys.create(first, Owner="Shop", Permissions=["items.give"])["Key"]
    approval = hold(first, "k", token=key)
    body, headers = {"itemid": COIN.id, "quantity": 12_000}, {"Idempotency-Key": "k"}
    asked = [second.send("POST", GIVE, body=body, token=key, headers=headers) for _ in range(10)]
    approved, *repeated = first.at_once([first.send("POST", f"{ROOT}/{approval}/approve", by=DECIDER), *asked])
    assert approved.status == 200, approved.raw
    assert {each.status for each in repeated} <= {200, 409}
    assert {each.json["ApprovalId"] for each in repeated if each.status == 409} <= {approval}
    assert give(first, key="k", token=key).raw.decode() == approved.json["Answer"]
    assert first.count_coins() == 12_000


def test_answer_of_an_old_request_is_stored_from_its_approval_on(strict: World) -> None:
    approval = hold(strict, "old")
    strict.sql("UPDATE idempotency_keys SET at = 1")
    assert decide(strict, approval).status == 200
    assert strict.sql("SELECT COUNT(*) FROM idempotency_keys WHERE at = 1") == [(0,)]
    other = hold(strict, "gone")
    strict.sql("DELETE FROM idempotency_keys WHERE key = 'gone'")
    done = decide(strict, other)
    assert give(strict, key="gone").raw.decode() == done.json["Answer"]
    assert strict.count_coins() == 24_000


# --- rules -----------------------------------------------------------------------------------------------------------


def test_rules_are_parsed_and_unknown_ones_refused_with_their_name() -> None:
    found: object = approvals.parse_rules(" items.give > 10 ,people.erase,")
    assert found == {"items.give": 10, "people.erase": None}
    for text in ("nonsense", "users.manage", "people.erase>5", "items.give>many"):
        with pytest.raises(BadSetting, match=f"'{text}'"):
            approvals.parse_rules(f"items.give, {text}")


def test_list_reads_no_previews_and_stored_bodies_have_no_spaces(
    strict: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 waiting requests with 60,000 spaces each made every list of them read 40 MB."""
    padded = {"itemid": COIN.id, "quantity": 12_000}
    raw = json.dumps(padded).replace(" ", " " * 5_000).encode()
    answer = strict.call("POST", GIVE, raw=raw, by="Shop", headers={"Content-Type": "application/json"})
    approval = answer.json["ApprovalId"]
    assert strict.sql("SELECT length(body) < 200 FROM approvals") in ([(True,)], [(1,)])
    read, pages = approval_rows.read_page, list[approval_rows.Approval]()

    async def read_and_note(*given: Any, **more: Any) -> list[approval_rows.Approval]:
        found = await read(*given, **more)
        pages.extend(found)
        return found

    monkeypatch.setattr(approval_rows, "read_page", read_and_note)
    assert [each["Id"] for each in strict.get(ROOT, by=DECIDER).json["Approvals"]] == [approval]
    assert [(each.body, json.loads(each.preview)) for each in pages] == [("", [])]
    assert decide(strict, approval).status == 200
    assert strict.count_coins() == 12_000
