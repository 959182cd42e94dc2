"""Permissions and roles over the API: who may grant and revoke them, and the effects."""

from typing import Any

import pytest

import api_keys
import people
from expectations import everything, unchanged
from gamekeeper.game.access import tokens
from gamekeeper.game.core import lookup
from gamekeeper.game.core.request import Origin
from loops import over
from proof import refused, spelt
from token_pairs import BY_PASSWORD, exchange, log_in, require_oauth_error, works
from world import PLAYERS, SENT, TOKEN, Answer, MakeWorld, World

NOTHING = dict.fromkeys(("Editor", "Ban", "Kick", "Mute", "Api", "UsersQuery", "UsersManage", "GameLink"), False)
HELD = ("editor", "ban", "kick", "mute", "users_query", "users_manage", "game_link")


def change(world: World, name: str, body: object, **more: Any) -> Answer:
    return world.post(f"/api/keeper/v1/users/{name}/powers", body, **more)


def empower(world: World, name: str, *powers: str) -> None:
    """Set exactly these permissions plus API access by SQL, without the checks of the write path."""
    held = ", ".join(f"{each} = {'NOT ' * (each in powers)}(id <> id)" for each in HELD)
    world.sql(f"UPDATE users SET {held} WHERE name = $1", name)  # noqa: S608 - ours
    world.call("DELETE", "/api/oauth/token/Ann")  # this call clears the server's cache of callers


def test_answer_has_the_exact_body_and_other_permissions_keep_tokens(world: World) -> None:
    pair = log_in(world, "Clerk")
    answer = change(world, "ann", {"ban": True, "Mute": "true"})
    flags = NOTHING | {"Ban": True, "Mute": True}
    told: dict[str, object] = {"Id": people.USER_IDS["Ann"], "Name": "Ann", **flags, "WeakenedKeys": []}
    assert (answer.status, answer.raw) == (200, spelt(told))
    assert world.ledger()[-1].kind == "powers_changed"
    assert change(world, people.USER_IDS["Ann"], {"ban": False}).json == told | {"Ban": False}
    assert change(world, "Clerk", {"users.query": False}).status == 200
    assert works(world, pair)


def test_every_name_of_a_permission_is_accepted(world: World) -> None:
    """Granting users.manage includes users.query, and revoking users.query revokes users.manage."""
    for body, held in (
        ({"Users.Manage": True}, {"UsersQuery", "UsersManage"}),
        ({"users.query": False}, set[str]()),
        ({"usersmanage": True, "usersquery": True}, {"UsersQuery", "UsersManage"}),
        ({"usersmanage": False}, {"UsersQuery"}),
        ({"usersquery": False, "game.link": True, "api": True, "editor": True}, {"GameLink", "Api", "Editor"}),
        ({"GameLink": True, "api": False, "editor": False, "kick": False}, {"GameLink"}),
    ):
        answer = change(world, "Ann", body).accepted()
        assert {name for name, flag in answer.json.items() if flag is True} == held
    refused(change(world, "Ann", {"users.query": False, "users.manage": True}), 400, "bad_field")
    with pytest.raises(Exception, match=r"(?i)check"):  # the database keeps the rule too
        world.sql("UPDATE users SET users_manage = (1 = 1) WHERE name = 'Bob'")


@over(
    "own, theirs, body, fine",
    ((), (), {"ban": True}, False),  # the caller lacks the permission that the request grants
    ((), (), {"ban": False}, True),  # allowed: Ann does not have the permission, so revoking it changes nothing
    (("mute",), ("editor",), {"editor": False}, False),  # the caller lacks the permission that the request revokes
    (("mute",), ("kick",), {"mute": True}, False),  # refused: the account has a permission that the caller lacks
    (("ban",), ("game_link",), {"ban": True}, False),
    (("ban", "game_link"), ("game_link",), {"game.link": False}, True),
    # caller and account have the same permissions
    ((), ("users_query", "users_manage"), {"users.manage": False}, True),
)
def test_caller_grants_and_revokes_only_own_permissions(
    world: World, own: tuple[str, ...], theirs: tuple[str, ...], body: object, *, fine: bool
) -> None:
    empower(world, "Clerk", "users_query", "users_manage", *own)
    empower(world, "Ann", *theirs)
    before = everything(world)
    answer = change(world, "Ann", body, by="Clerk")
    if fine:
        assert answer.status == 200, answer.raw
    else:
        refused(answer, 403, "outranked")
        assert everything(world) == before


def test_users_manage_can_set_any_password(world: World) -> None:
    """By the spec users.manage may reset any password, so it amounts to every permission and is documented so."""
    empower(world, "Clerk", "users_query", "users_manage")
    new = "ab" * 32
    assert world.post("/api/v1/users/Root/manage/password/change", {"new": new}, by="Clerk").status == 200
    signed_in = world.post(TOKEN, {**BY_PASSWORD, "username": "Root", "password": new}, by=None)
    assert change(world, "Clerk", {"ban": True}, token=signed_in.json["access_token"]).status == 200


def test_key_and_undo_follow_the_same_permission_rules(world: World) -> None:
    change(world, "Shop", {"ban": True})
    number = world.ledger()[-1].seq
    empower(world, "Clerk", "users_query", "users_manage")
    undo = f"/api/keeper/v1/changes/{number}/undo"
    refused(world.post(undo, by="Clerk"), 403, "outranked")
    assert world.post(undo).status == 200
    named = ["users.manage", "audit.read", "audit.undo"]
    key = api_keys.create(world, Owner="Root", Permissions=named)["Key"]
    with unchanged(world):
        refused(change(world, "Ann", {"api": True, "usersmanage": True}, token=key), 403, "outranked")
    assert change(world, "Ann", {"api": True, "usersquery": True}, token=key).status == 200
    assert change(world, "Ann", {"usersmanage": True}).status == 200
    assert change(world, "Ann", {"usersmanage": False}).status == 200
    refused(world.post(f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo", token=key), 403, "outranked")


@pytest.mark.both_engines
def test_of_two_mutual_revocations_one_is_refused(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    body, users = {"users.manage": False}, "/api/keeper/v1/users"
    for _ in range(3):
        for name in ("Clerk", "Shop"):
            for each in (one, two):
                empower(each, name, "users_query", "users_manage")
        shops = one.send("POST", f"{users}/Shop/powers", body=body, by="Clerk")
        clerks = two.send("POST", f"{users}/Clerk/powers", body=body, by="Shop")
        assert sorted(each.status for each in one.at_once([shops, clerks])) == [200, 403]


def takes_by_api(world: World) -> None:
    assert change(world, "Shop", {"api": False}).status == 200


def takes_by_undo(world: World) -> None:
    """Undo the change that gave API access, which takes the access away."""
    given = max(each.seq for each in world.ledger() if each.kind == "powers_changed")
    assert world.post(f"/api/keeper/v1/changes/{given}/undo").status == 200


def takes_by_sql(world: World) -> None:
    world.sql("UPDATE users SET api = (1 = 0) WHERE name = 'Shop'")
    world.call("DELETE", "/api/oauth/token/Ann")


def test_restored_api_access_does_not_restore_tokens(world: World) -> None:
    for take in (takes_by_api, takes_by_undo, takes_by_sql):
        takes_by_sql(world)
        assert change(world, "Shop", {"api": True}).status == 200
        shop = world.run(lookup.find_user(world.keeper.store, "Shop"))
        service = world.run(tokens.issue_for_service(world.keeper, shop, 1, read_only=False)).access
        pair = log_in(world)
        session = world.run(tokens.log_in(world.keeper, "Shop", SENT, Origin("127.0.0.1"), session=True)).access
        access = (service, pair.json["access_token"], session)
        assert [world.get(PLAYERS, token=each).status for each in access] == [200] * 3

        take(world)
        assert [world.get(PLAYERS, token=each).status for each in access] == [401] * 3
        require_oauth_error(world.post(TOKEN, BY_PASSWORD, by=None), "unauthorized_client")

        assert change(world, "Shop", {"api": True}).status == 200
        assert [world.get(PLAYERS, token=each).status for each in access] == [401] * 3
        require_oauth_error(exchange(world, pair.json["refresh_token"]), "invalid_grant")
        assert works(world, log_in(world))
