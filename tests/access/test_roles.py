"""Roles and staff: who has which role, who may change or suspend whom, and what roles allow."""

from functools import partial
from typing import Any

import pytest

import people
import staff
from gamekeeper.game.access import roles, tokens
from gamekeeper.game.access.permissions import ALL
from gamekeeper.game.access.refusals import LastManager, RoleOutOfReach
from gamekeeper.game.access.roles import RoleRequest
from gamekeeper.game.accounts import erasures, moderation
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.core.change import Actor
from gamekeeper.game.core.refusals import Outranked
from gamekeeper.game.core.request import UNKNOWN_ORIGIN
from gamekeeper.game.core.writes import Decide
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access.roles import Powers
from proof import refused
from token_pairs import BY_PASSWORD, exchange, log_in
from world import CLI, SENT, TOKEN, Answer, World

ROLES = "/api/keeper/v1/roles"
PLAYER = "/api/v1/players/Ann"
MANAGER = Powers(api=True, users_query=True, users_manage=True)


def of(name: str) -> str:
    return f"/api/keeper/v1/users/{name}/roles"


def change(world: World, name: str, **wanted: list[str]) -> Answer:
    return world.post(of(name), wanted)


def test_moderator_finds_no_change_by_its_number(world: World) -> None:
    token = staff.add_account(world, "Guard", "moderator")
    assert world.get("/api/keeper/v1/search?q=%2316", token=token).json["Found"] == []


def test_viewer_can_use_a_granted_permission_and_a_plain_role_writes(world: World) -> None:
    token = staff.add_account(world, "Watcher", "viewer")
    assert change(world, "Watcher", grant=["moderation.mute"]).status == 200
    assert world.post("/api/v1/players/Bob/admin/mute", {}, token=token).status == 200
    site = staff.add_account(world, "Site", staff.save_role(world, "website", ["users.query"]))
    body = {"username": "New", "password": SENT, "email": "new@example.test"}
    assert world.post("/api/v1/users/register", body, token=site).status == 200


def test_staff_role_allows_log_in_sets_the_wire_flags_and_its_loss_ends_tokens(world: World) -> None:
    assert world.post(TOKEN, BY_PASSWORD | {"username": "Ann"}, by=None).status == 400
    assert change(world, "Ann", give=["moderator"]).status == 200
    token = log_in(world, "Ann").json["access_token"]
    power = world.get("/api/v1/users/Ann").json["Power"]
    assert {name for name, held in power.items() if held} == {"Ban", "Kick", "Mute", "Api", "PersonalInformation"}
    assert world.get(PLAYER, token=token).status == 200
    for changed in ({"take": ["moderator"]}, {"give": ["moderator"]}):  # a token that was revoked stays so
        assert change(world, "Ann", **changed).status == 200
        assert world.get(PLAYER, token=token).status == 401


def test_edited_role_takes_effect_at_once(world: World) -> None:
    token = staff.add_account(world, "Helper", staff.save_role(world, "helper", ["players.read"]))
    assert world.get(PLAYER, token=token).status == 200
    assert world.call("PUT", f"{ROLES}/helper", body={"permissions": ["moderation.mute"]}).status == 200
    refused(world.get(PLAYER, token=token), 400, "permission_missing")
    staff.save_role(world, "api", ["players.read"])
    assert world.get(PLAYER, by="Shop").status == 200
    refused(world.post(f"{PLAYER}/level", {"level": 9}, by="Shop"), 400, "permission_missing")


def test_answer_has_roles_granted_and_all_permissions_and_undo_takes_them(world: World) -> None:
    answer = change(world, "Ann", give=["shop"], grant=["moderation.mute", "audit.read"])
    held = {"Roles": ["shop"], "Granted": ["audit.read", "moderation.mute"], "WeakenedKeys": []}
    permissions = ["audit.read", "items.give", "moderation.mute", "players.read"]
    assert answer.json == {"Id": people.USER_IDS["Ann"], "Name": "Ann", **held, "Permissions": permissions}
    assert world.get(of("Ann")).json == answer.json
    assert change(world, "Bob", give=["moderator"], grant=["audit.read"]).status == 200
    row = world.ledger()[-1]
    assert (row.kind, row.user_id) == ("roles_changed", people.USER_IDS["Bob"])
    assert world.post(f"/api/keeper/v1/changes/{row.seq}/undo").status == 200
    assert world.get(of("Bob")).json["Permissions"] == []


def test_nobody_gives_or_takes_a_role_with_a_permission_they_lack(world: World) -> None:
    token = staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    refused(world.post(of("Ann"), {"give": ["moderator"]}, token=token), 403, "role_out_of_reach")
    assert change(world, "Ann", give=["shop"]).status == 200
    refused(world.post(of("Ann"), {"take": ["shop"]}, token=token), 403, "role_out_of_reach")
    refused(world.post(of("Ann"), {"grant": ["items.give"]}, token=token), 403, "outranked")


def test_nobody_gives_takes_or_edits_a_role_they_have(world: World) -> None:
    token = staff.add_account(world, "Boss", "admin")
    refused(world.post(of("Ann"), {"give": ["admin"]}, token=token), 409, "own_role")
    assert world.post(of("Boss"), {"give": ["chief"]}, token=token).status == 400
    staff.save_role(world, "chief", ["players.read"])
    refused(world.post(of("Boss"), {"give": ["chief"]}, token=token), 409, "own_powers")
    other = staff.add_account(world, "Chief", staff.save_role(world, "lead", ["users.query", "staff.manage"]))
    refused(world.call("PUT", f"{ROLES}/lead", body={"about": "x"}, token=other), 409, "own_role")
    refused(world.call("PUT", f"{ROLES}/api", body={"permissions": []}), 409, "own_role")


def test_power_of_a_role_is_not_revoked_and_put_back_without_a_change(world: World) -> None:
    assert change(world, "Ann", give=["moderator"]).status == 200
    answer = world.post("/api/keeper/v1/users/Ann/powers", {"kick": False})
    refused(answer, 409, "held_by_role")
    assert "'moderator'" in answer.message
    refused(change(world, "Ann", revoke=["moderation.kick"]), 409, "held_by_role")
    held = world.post("/api/keeper/v1/users/Ann/powers", {"mute": True}).json
    with world.nothing_recorded():
        assert world.post("/api/keeper/v1/users/Ann/powers", held).json == held


def test_role_is_created_edited_listed_and_deleted_unless_built_in_or_in_use(world: World) -> None:
    watch = {"Name": "night watch", "About": "At night.", "Permissions": ["players.read"]}
    made = world.post(ROLES, watch)
    assert made.json == watch | {"ReadOnly": False, "BuiltIn": False, "Quotas": []}
    refused(world.post(ROLES, {"name": "night watch"}), 409, "role_exists")
    edited = world.call("PUT", f"{ROLES}/night%20watch", body=made.json | {"ReadOnly": True})
    assert edited.json == made.json | {"ReadOnly": True}
    assert edited.json in world.get(ROLES).json["Roles"]
    assert world.call("DELETE", f"{ROLES}/night%20watch").status == 200
    refused(world.call("DELETE", f"{ROLES}/night%20watch"), 404, "no_such_role")
    assert [row.kind for row in world.ledger()[-3:]] == ["role_saved", "role_saved", "role_deleted"]
    refused(world.call("DELETE", f"{ROLES}/viewer"), 409, "builtin_role")
    refused(world.call("PUT", f"{ROLES}/admin", body={"permissions": []}), 409, "builtin_role")
    assert world.call("PUT", f"{ROLES}/viewer", body={"permissions": ["players.read"]}).status == 200
    staff.add_account(world, "Helper", staff.save_role(world, "helper", ["players.read"]))
    refused(world.call("DELETE", f"{ROLES}/helper"), 409, "role_in_use")


def test_malformed_role_is_refused(shared_world: World) -> None:
    refused(change(shared_world, "Ann", give=["boss"]), 400, "unknown_role")
    refused(change(shared_world, "Ann", grant=["items.mint"]), 400, "unknown_permission")
    refused(shared_world.post(ROLES, {"name": "mint", "permissions": ["items.mint"]}), 400, "unknown_permission")
    odd = {"name": "odd", "permissions": ["items.give"], "readonly": True}
    refused(shared_world.post(ROLES, odd), 400, "bad_field")
    for name in ("x", "Night", "night ", "a,b", "a" * 41):
        assert shared_world.post(ROLES, {"name": name}).status == 400


def test_credential_gives_no_more_than_its_own_permissions(world: World) -> None:
    """Root has every permission of an account manager; the credential of this actor has only two of them."""
    staff.save_role(world, "chief", ["users.manage"])
    held = frozenset({"users.query", "staff.manage"})
    limited = Actor(people.USER_IDS["Root"], "Root", held, list[frozenset[str]]().append)
    whole = limited._replace(permissions=ALL)

    def give(role: str, actor: Actor) -> None:
        wanted = RoleRequest(give=[role])
        world.apply(partial(roles.change_account, key="Clerk", wanted=wanted, actor=actor))

    with pytest.raises(RoleOutOfReach):
        give("chief", limited)
    with pytest.raises(RoleOutOfReach):
        world.apply(partial(roles.delete, name="chief", actor=limited))
    with pytest.raises(Outranked):
        world.apply(partial(roles.change_powers, key="Clerk", given={"users.manage": True}, actor=limited))
    give("chief", whole)
    with pytest.raises(Outranked):
        world.apply(partial(moderation.ban, order=ModerationRequest("Clerk", actor=limited)))


def test_last_manager_keeps_the_permission(world: World) -> None:
    token = staff.add_account(world, "Boss", "admin")
    assert change(world, "Clerk", give=["viewer"]).status == 200
    world.post("/api/keeper/v1/users/Root/powers", {"usersmanage": False}, token=token).accepted()
    for decide in (
        partial(roles.change_account, key="Boss", wanted=RoleRequest(take=["admin"]), actor=None),
        partial(moderation.ban, order=ModerationRequest("Boss")),
        partial(moderation.suspend, key="Boss", actor=None),
        partial(erasures.erase, key="Boss", codec=world.keeper.changes.codec, actor=None),
    ):
        with pytest.raises(LastManager):
            world.apply(decide)
    assert world.get(ROLES, token=token).status == 200


def test_role_of_the_last_manager_keeps_the_permission(world: World) -> None:
    staff.save_role(world, "chief", ["users.query", "staff.manage"])
    staff.add_account(world, "Chief", "chief")
    for permissions in (["users.query"], ["users.query", "staff.manage"]):
        assert world.call("PUT", f"{ROLES}/chief", body={"permissions": permissions}).status == 200
    world.apply(partial(roles.change_account, key="Root", wanted=RoleRequest(revoke=["users.manage"]), actor=None))
    with pytest.raises(LastManager):
        staff.save_role(world, "chief", ["users.query"])
    world.sql("UPDATE users SET users_manage = (1 = 0)")  # a database without a manager works
    world.sql("DELETE FROM user_roles")
    world.apply(partial(roles.change_account, key="Clerk", wanted=RoleRequest(take=["api"]), actor=None))
    world.apply(partial(moderation.ban, order=ModerationRequest("Root")))


@pytest.mark.both_engines
def test_parallel_changes_leave_one_manager(world: World, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    staff.slow_down_manager_check(engine, monkeypatch)
    for name in ("First", "Second", "Third"):
        staff.add_account(world, name, powers=MANAGER)
    staff.add_account(world, "Fourth", "admin")
    staff.add_account(world, "Fifth", "admin")

    def take(key: str, wanted: RoleRequest) -> Decide[Any]:
        return partial(roles.change_account, key=key, wanted=wanted, actor=None)

    changes = [
        take("Root", RoleRequest(revoke=["users.manage"])),
        take("First", RoleRequest(take=["api"])),
        partial(moderation.ban, order=ModerationRequest("Second")),
        partial(erasures.erase, key="Third", codec=world.keeper.changes.codec, actor=None),
        take("Fourth", RoleRequest(take=["admin"])),
        partial(moderation.suspend, key="Fifth", actor=None),
    ]
    done = world.try_at_once(world.keeper.changes.apply(CLI, each, lambda _: b"null") for each in changes)
    failed = [each for each in done if isinstance(each, BaseException)]
    assert [type(each) for each in failed] == [LastManager]
    assert world.run(role_rows.has_another_manager(world.keeper.store, None))


# --- staff: suspended accounts, sessions, the list ------------------------------------------------------------------


def act(world: World, what: str, name: str, **more: str) -> Answer:
    return world.post(f"/api/keeper/v1/users/{name}/{what}", **more)


def test_suspended_account_has_no_token_and_gets_none_until_resumed(world: World) -> None:
    pair = log_in(world).json
    token, refresh = pair["access_token"], pair["refresh_token"]
    assert world.get(PLAYER, token=token).status == 200
    shop = people.USER_IDS["Shop"]
    assert act(world, "suspend", "Shop").json == {"Id": shop, "Name": "Shop", "Suspended": True, "WeakenedKeys": []}
    assert world.get(PLAYER, token=token).status == 401
    answer = world.post(TOKEN, BY_PASSWORD, by=None)
    assert (answer.status, answer.json["error"]) == (400, "unauthorized_client")
    assert exchange(world, refresh).json["error"] == "invalid_grant"
    assert act(world, "resume", "Shop").json["Suspended"] is False
    assert world.get(PLAYER, token=token).status == 401
    world.sql("UPDATE users SET suspended = (1 = 1) WHERE name = 'Clerk'")
    assert world.get(PLAYER, by="Clerk").status == 401


def test_suspended_account_is_unaffected_in_the_game(world: World) -> None:
    assert act(world, "suspend", "Ann").status == 200
    assert world.get("/api/v1/users/Ann").json["IsBanned"] is False
    assert world.post("/api/v1/users/Ann/password/validate", {"password": SENT}).status == 200
    assert [row.kind for row in world.ledger()[-1:]] == ["user_suspended"]
    event = world.get("/api/keeper/v1/security").json["Events"][0]
    assert (event["Kind"], event["User"], event["Details"]) == ("tokens_revoked", "Ann", {"By": "suspension"})


def test_repeated_suspension_changes_nothing_and_an_older_one_is_not_undone(world: World) -> None:
    assert act(world, "suspend", "Shop").status == act(world, "suspend", "Shop").status == 200
    assert act(world, "resume", "Shop").status == act(world, "resume", "Shop").status == 200
    assert [row.kind for row in world.ledger()[-2:]] == ["user_suspended", "user_resumed"]
    for what in ("suspend", "resume", "suspend"):
        assert act(world, what, "Ann").status == 200
    first = [row.seq for row in world.ledger() if row.kind == "user_suspended"][1]
    refused(world.post(f"/api/keeper/v1/changes/{first}/undo"), 409, "undo_conflict")


def test_nobody_suspends_themselves_or_an_account_that_outranks_them(world: World) -> None:
    chief = staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    refused(act(world, "suspend", "Chief", token=chief), 409, "own_account")
    refused(act(world, "suspend", "Root", token=chief), 403, "outranked")
    refused(act(world, "resume", "Root", token=chief), 403, "outranked")


def test_ended_sessions_leave_tokens_of_programs(world: World) -> None:
    token = staff.add_account(world, "Guard", "moderator")
    pair = world.run(tokens.log_in(world.keeper, "Guard", SENT, UNKNOWN_ORIGIN, session=True))
    assert world.get(PLAYER, token=pair.access).status == 200
    assert world.call("DELETE", "/api/keeper/v1/users/Guard/sessions").json["Name"] == "Guard"
    assert world.get(PLAYER, token=pair.access).status == 401
    assert world.get(PLAYER, token=token).status == 200
    chief = staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    refused(world.call("DELETE", "/api/keeper/v1/users/Root/sessions", token=chief), 403, "outranked")
    assert world.call("DELETE", "/api/keeper/v1/users/Chief/sessions", token=chief).status == 200
