"""Approvals are decided by other people: makers of API keys, new deciders, and log-ins of deciders."""

import base64
from functools import partial
from typing import Any

import pytest

import api_keys
import bulking
import factors
import people
import staff
from approving import DECIDER, RULES, decide, hold, let_decide, make_strict
from credentials import MANAGE_EMAIL, MANAGE_PASSWORD, PASSWORD, opens, post, redeem
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.refusals import InvitationVoid
from gamekeeper.game.access.roles import RoleRequest, change_account
from gamekeeper.game.accounts import accounts
from gamekeeper.game.audit.approvals import parse_rules
from gamekeeper.store.accounts import invitations as invitation_rows
from proof import refused
from world import NEW, PUBLIC_URL, Answer, MakeWorld, World

pytestmark = pytest.mark.both_engines  # approvals are decided under locks

USERS, ROLES, APPROVALS = "/api/keeper/v1/users", "/api/keeper/v1/roles", "/api/keeper/v1/approvals"
GRANT = {"grant": ["approvals.decide"]}
COMMAND = "On the server: gamekeeper "


def make_guarded(make_world: MakeWorld, **settings: Any) -> tuple[World, str]:
    """Return a world in which Root, Clerk and Chief decide, and Chief's token."""
    world = make_strict(make_world, **{"approvals": "people.erase", "public_url": PUBLIC_URL} | settings)
    return world, staff.add_account(world, "Chief", "admin")


def find_held(answer: Answer) -> str:
    assert (answer.status, answer.json["Code"]) in {(202, "approval_required"), (409, "approval_required")}, answer.raw
    return answer.json["ApprovalId"]


def test_maker_of_a_key_cannot_decide_on_its_requests(make_world: MakeWorld) -> None:
    world = make_strict(make_world)
    chief = staff.add_account(world, "Chief", "admin")
    made = api_keys.create(world, Owner="Shop", Permissions=["items.give"])
    assert made["RotatedBy"] is None
    asked_before = hold(world, token=made["Key"])
    rotated = world.post(f"{api_keys.KEYS}/{made['Id']}/rotate", {"GraceMinutes": 60}, token=chief).json
    rotator = rotated["RotatedBy"]
    assert (rotated["CreatedBy"], rotator) == (people.USER_IDS["Root"], world.get(f"{USERS}/Chief/roles").json["Id"])
    assert [each["RotatedBy"] for each in world.get(api_keys.KEYS).json["Keys"]] == [rotator]
    for approval in (asked_before, hold(world, token=rotated["Key"])):
        for act in ("approve", "deny"):
            refused(decide(world, approval, act, by="Root"), 403, "made_key_of_request")
            refused(decide(world, approval, act, token=chief), 403, "made_key_of_request")
        shown = world.get(f"{APPROVALS}/{approval}", by=DECIDER).json
        assert (shown["Requester"], shown["KeyId"], shown["Key"]) == ("Shop", made["Id"], "web shop")
        assert {each["Name"] for each in shown["KeyMakers"]} == {"Root", "Chief"}
    assert world.get(APPROVALS, by=DECIDER).json["Approvals"][0]["KeyMakers"] == shown["KeyMakers"]
    assert world.call("PUT", f"{api_keys.KEYS}/{made['Id']}", body={"Name": "other"}).status == 200
    assert world.count_coins() == 0
    assert decide(world, approval).status == 200
    assert world.count_coins() == 12_000
    of_token = hold(world)
    assert world.get(f"{APPROVALS}/{of_token}", by=DECIDER).json["KeyMakers"] == []
    assert decide(world, of_token, "deny", by="Root").status == 200


def test_maker_of_a_key_cannot_decide_on_a_job_in_which_the_key_has_a_part(make_world: MakeWorld) -> None:
    """A held start names the key that starts the job, a held change the one that created it: they must be one."""
    world = make_strict(make_world, approvals="people.erase")
    needed = ["items.give", "items.take", "bulk.run", "players.read", "audit.undo"]
    key, other = (api_keys.create(world, Owner="Shop", Permissions=needed)["Key"] for _ in range(2))
    callers: list[dict[str, Any]] = [{"token": key}, {"by": "Shop"}, {"token": other}]
    body = bulking.GIVE | {"Players": ["Ann"]}
    for mine, strange in ((callers[0], callers[1:]), (callers[1], callers[::2])):
        job = world.post(bulking.ROOT, body, **mine).json["Id"]
        for undone in (None, job):
            job = bulking.act(world, undone, "undo", **mine).json["Id"] if undone else job
            world.keeper.changes.gate.rules = parse_rules("bulk.run>0, items.take")
            for each in strange:
                refused(bulking.act(world, job, "start", **each), 403, "job_of_another_key")
            start = find_held(bulking.act(world, job, "start", **mine))
            world.keeper.changes.gate.rules = parse_rules("items.take")
            assert bulking.act(world, job, "start", **mine).status == 200
            assert bulking.act(world, job, "pause").status == 200
            refused(bulking.act(world, job, "start", **strange[0]), 403, "job_of_another_key")
            assert bulking.act(world, job, "start", **mine).status == 200
            bulking.work(world)
            change = bulking.list_targets(world, job)[0]["ApprovalId"]
            for approval in filter(None, (start, change)):
                assert decide(world, approval, "deny", by="Root").status == (403 if "token" in mine else 200)
        assert change  # of the undo: Root has made the key that asked for it


def test_whatever_makes_somebody_decide_is_held_without_a_rule(make_world: MakeWorld) -> None:
    world, _ = make_guarded(make_world)
    staff.save_role(world, "judge", ["approvals.decide"])
    staff.save_role(world, "helper", ["players.read"])
    let_decide(world, "Bob")  # without a role Bob cannot log in yet
    staff.add_account(world, "Ida", "judge")
    assert world.post(f"{USERS}/Ida/roles", {"take": ["judge"]}).status == 200
    taken = world.ledger()[-1].seq
    staff.add_account(world, "Ivo", "judge")
    world.apply(partial(change_account, key="Mona", wanted=RoleRequest(give=["judge"]), actor=None))
    ban = {"reason": "x", "duration": 1, "moderator": "Root", "ip": False}
    assert world.post("/api/v1/users/Mona/admin/ban", ban).status == 200
    attempts: list[tuple[str, str, Any]] = [
        ("POST", f"{USERS}/Ann/roles", GRANT),
        ("POST", f"{USERS}/Ann/roles", {"grant": ["users.manage"]}),
        ("POST", f"{USERS}/Ann/roles", {"give": ["judge"]}),
        ("POST", f"{USERS}/Ann/roles", {"give": ["admin"]}),
        ("POST", f"{USERS}/Bob/roles", {"give": ["helper"]}),
        ("POST", f"{USERS}/Bob/powers", {"api": True}),
        ("POST", f"{USERS}/Ann/powers", {"usersmanage": True}),
        ("PUT", f"{ROLES}/helper", {"permissions": ["approvals.decide"]}),
        ("PUT", f"{ROLES}/helper", {"permissions": ["users.query", "users.manage"]}),
        ("POST", ROLES, {"name": "new", "about": "", "permissions": ["approvals.decide"]}),
        ("POST", "/api/keeper/v1/invitations", {"email": "new@example.test", "roles": ["judge"]}),
        ("POST", f"/api/keeper/v1/changes/{taken}/undo", None),
        ("POST", f"{USERS}/Ivo/suspend", None),
        ("POST", "/api/v1/users/Mona/admin/unban", None),
    ]
    with world.nothing_recorded():
        held = [find_held(world.call(method, path, body=body)) for method, path, body in attempts]
    assert {each["Rule"] for each in world.get(APPROVALS).json["Approvals"]} == {"approvals.decide"}
    tried = world.post(f"{USERS}/Ann/roles?dryRun=true", GRANT)
    assert (tried.status, tried.headers.get("x-approval-required")) == (200, "true")
    refused(decide(world, held[0], by="Root"), 403, "own_approval")
    assert decide(world, held[0]).status == 200
    assert "approvals.decide" in world.get(f"{USERS}/Ann/roles").json["Permissions"]
    for role in ("helper", "moderator"):  # others need no approval, nor does a role that loses the permission
        assert world.post(f"{USERS}/Clerk/roles", {"give": [role]}).status == 200
    assert world.call("PUT", f"{ROLES}/judge", body={"permissions": ["players.read"]}).status == 200


def test_log_in_of_a_decider_is_changed_by_others_with_an_approval_only(make_world: MakeWorld) -> None:
    world, chief = make_guarded(make_world)
    factors.add_totp(world, people.USER_IDS[DECIDER])
    password = find_held(post(world, MANAGE_PASSWORD, user=DECIDER))
    email = find_held(post(world, MANAGE_EMAIL, {"new": "x@example.test"}, user=DECIDER))
    find_held(world.call("DELETE", f"{USERS}/{DECIDER}/second-factors"))
    staff.link_identity(world, DECIDER, "clerk-at-work")
    find_held(world.call("DELETE", f"{USERS}/{DECIDER}/second-factors"))
    suspension = find_held(world.post(f"{USERS}/{DECIDER}/suspend"))
    key = api_keys.create(world, Owner="Chief", Permissions=["users.query", "users.manage"])["Key"]
    for operation in (MANAGE_PASSWORD, MANAGE_EMAIL):  # the key is its owner's, but Root knows its text
        find_held(post(world, operation, user="Chief", token=key))
    rename = f"/api/v1/users/{DECIDER}/name"
    find_held(world.post(rename, {"name": "Scribe"}))  # else another account could take the name
    assert not opens(world, NEW, DECIDER)
    assert world.get(f"/api/v1/users/{DECIDER}").json["Email"] == "clerk@example.test"
    bodies = world.sql("SELECT body FROM approvals")
    assert not any(NEW.encode() in base64.b64decode(body) for (body,) in bodies)
    for approval in (password, email, suspension):
        assert decide(world, approval, token=chief).status == 200
    assert opens(world, NEW, DECIDER)
    assert world.get(f"/api/v1/users/{DECIDER}").json["Email"] == "x@example.test"
    changed = next(each.seq for each in world.ledger() if each.kind == "email_changed")
    find_held(world.post(f"/api/keeper/v1/changes/{changed}/undo"))
    find_held(world.post(f"{USERS}/{DECIDER}/resume"))
    assert post(world, MANAGE_PASSWORD, user="Ann").status == 200  # Ann does not decide
    assert post(world, MANAGE_PASSWORD, user="Chief", token=chief).status == 200  # their own account


def test_own_change_with_password_or_mailed_code_is_never_held(make_world: MakeWorld) -> None:
    world, chief = make_guarded(make_world)
    assert post(world, PASSWORD, user=DECIDER).status == 200
    assert world.get(f"/api/v1/users/{DECIDER}/password/reset", token=chief).status == 200
    ((code,),) = world.sql("SELECT code FROM resets WHERE user_id = $1", people.USER_IDS[DECIDER])
    again = hash_for_wire("staple battery")
    assert redeem(world, code, again, user=DECIDER, token=chief).status == 200
    assert opens(world, again, DECIDER)


def test_reset_code_of_a_decider_is_hidden_from_others(make_world: MakeWorld) -> None:
    world, chief = make_guarded(make_world)
    for name in (DECIDER, "Ann", "Root"):
        assert world.get(f"/api/v1/users/{name}/password/reset").status == 200

    def list_codes(**caller: Any) -> dict[str, bool]:
        users = world.get("/api/v1/users?pageSize=50", **caller).json["Values"]
        single = {each["Name"]: world.get(f"/api/v1/users/{each['Name']}", **caller).json for each in users}
        legacy = world.post("/api/v1/users", {"page": 0, "count": 50}, **caller).json["entries"]
        found = [
            {each["Name"]: bool(each["PasswordResetCode"]) for each in some}
            for some in (users, legacy, single.values())
        ]
        assert found[0] == found[1] == found[2]
        return {name: shown for name, shown in found[0].items() if name in {DECIDER, "Ann", "Root"}}

    assert list_codes() == {DECIDER: False, "Ann": True, "Root": True}
    assert list_codes(token=chief) == {DECIDER: False, "Ann": True, "Root": False}
    key = api_keys.create(world, Owner="Root", Permissions=["users.query", "users.manage"])["Key"]
    assert list_codes(token=key) == {DECIDER: False, "Ann": True, "Root": False}
    world.keeper.changes.gate.rules = {}
    assert list_codes() == {DECIDER: True, "Ann": True, "Root": True}


def test_without_another_decider_the_act_is_refused_with_its_command(make_world: MakeWorld) -> None:
    world = make_world(approvals=RULES, public_url=PUBLIC_URL)  # Root alone decides
    asked = "Another account with approvals.decide must approve this change, and there is none. "
    answer = world.post(f"{USERS}/Bob/roles", GRANT)
    refused(answer, 409, "nobody_can_decide", f"{asked}{COMMAND}users grant Bob approvals.decide")
    invitation = {"email": "new@example.test", "roles": ["admin"]}
    refused(world.post("/api/keeper/v1/invitations", invitation), 409, "nobody_can_decide")
    let_decide(world)  # Clerk decides too, but not on changes of the own account
    refused(post(world, MANAGE_PASSWORD, user=DECIDER), 409, "nobody_can_decide")
    refused(world.post(f"{USERS}/{DECIDER}/suspend"), 409, "nobody_can_decide")
    find_held(world.post(f"{USERS}/Bob/roles", GRANT))
    world.sql("UPDATE users SET api = {false} WHERE id = $1", people.USER_IDS[DECIDER])  # cannot log in any more
    refused(world.post(f"{USERS}/Bob/roles", GRANT), 409, "nobody_can_decide")
    assert world.sql("SELECT COUNT(*) FROM approvals") == [(1,)]
    assert post(world, MANAGE_PASSWORD, user="Root").status == 200  # an own change needs nobody


@pytest.mark.parametrize("rules", ["people.erase", ""])
def test_invitation_gives_no_decision_that_nobody_approved(make_world: MakeWorld, rules: str) -> None:
    world, _ = make_guarded(make_world, approvals=rules)
    staff.save_role(world, "helper", ["players.read"])
    secrets = dict[str, str]()
    for role in ("helper", "admin"):
        answer = world.post("/api/keeper/v1/invitations", {"email": f"{role}@example.test", "roles": [role]})
        if role == "admin" and rules:
            assert decide(world, find_held(answer)).status == 200
        taken = world.run(world.keeper.store.write(partial(invitation_rows.lease, lease_ms=60_000)))
        assert taken
        secrets[role] = taken.code
    staff.save_role(world, "helper", ["approvals.decide", "players.read"])

    def accept(role: str) -> None:
        accepted = partial(accounts.accept_invitation, secret=secrets[role], name=f"New{role}", password=staff.STORED)
        world.apply(partial(accepted, settings=world.keeper.settings))

    accept("admin")
    if rules:
        with pytest.raises(InvitationVoid):
            accept("helper")
    else:
        accept("helper")
