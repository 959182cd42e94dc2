"""Duplicate names and addresses that an import leaves: their owners are found by id and can claim them later."""

from typing import Any

import pytest

import people
from gamekeeper.game.access import passwords
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts.changes import UsersLoaded
from gamekeeper.game.core.player import Player
from gamekeeper.game.players.changes import PlayersLoaded
from gamekeeper.game.players.changes import PlayerState as Belongings
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts.users import User
from proof import refused
from world import PLAYERS, TOKEN, USERS, Answer, MakeWorld, World

FIRST, SECOND = people.guid(0x501), people.guid(0x502)  # ids of the accounts Zed and ZED
KNIGHT, OTHER = people.guid(0x503), people.guid(0x504)  # ids of the players Knight and KNIGHT
ADDRESS = "zed@example.test"


def old_password(name: str) -> str:
    return hash_for_wire(f"{name}'s own")


def make_user(user_id: str, name: str, email: str = ADDRESS) -> User:
    stored = passwords.format_imported("5E88", passwords.hash_as_intersect(old_password(name), "5E88"))
    return User(user_id, name, email, stored, Powers(api=True), 1_700_000_000_000, None, None)


@pytest.fixture
def clashing(world: World) -> World:
    """Import Zed and then ZED, who gets neither the name nor the address; likewise players Knight and KNIGHT."""
    knights = [Player(KNIGHT, FIRST, "Knight"), Player(OTHER, SECOND, "KNIGHT")]
    accounts = [make_user(FIRST, "Zed"), make_user(SECOND, "ZED")]
    world.make(
        UsersLoaded(accounts, taken_name_ids={SECOND}, bad_email_ids={SECOND}),
        PlayersLoaded([(each, Belongings()) for each in knights], taken_name_ids={OTHER}),
    )
    return world


def log_in(world: World, username: str, sent: str) -> Answer:
    return world.post(TOKEN, {"grant_type": "password", "username": username, "password": sent}, by=None)


def token_of(world: World, username: str, name: str) -> str:
    return log_in(world, username, old_password(name)).accepted().json["access_token"]


def works(world: World, token: str) -> bool:
    return world.get(PLAYERS, token=token).status == 200


def folds(world: World, table: str, row_id: str) -> tuple[Any, ...]:
    columns = "fold, email_fold" if table == "users" else "fold"
    return world.sql(f"SELECT {columns} FROM {table} WHERE id = $1", row_id)[0]  # noqa: S608 - our own tables


@pytest.mark.both_engines
def test_both_accounts_log_in_with_their_old_passwords(clashing: World) -> None:
    """The first account logs in by name, the second by its id in any spelling or its exact name."""
    assert works(clashing, token_of(clashing, "zed", "Zed"))
    assert works(clashing, token_of(clashing, "{" + SECOND.upper() + "}", "ZED"))
    assert log_in(clashing, "zed", old_password("ZED")).json["error"] == "invalid_grant"
    for name, user_id in (("Zed", FIRST), ("ZED", SECOND)):
        token = token_of(clashing, name, name)
        assert clashing.call("DELETE", f"{TOKEN}/{user_id}", token=token).status == 200
    assert log_in(clashing, "ZED", old_password("Zed")).json["error"] == "invalid_grant"


def test_failed_log_ins_by_id_are_limited(make_world: MakeWorld) -> None:
    """Log-in attempts by id and by name share one limit; unknown ids are answered like unknown names."""
    world = make_world(guesses_per_caller=2)
    shop = people.USER_IDS["Shop"]
    for tried in (("Shop", shop, shop.upper()), (people.NOBODY_ID, people.NOBODY_ID.replace("-", ""), "Nobody")):
        first, second, third = (log_in(world, each, hash_for_wire("not it")) for each in tried)
        assert first.json["error"] == second.json["error"] == "invalid_grant"
        assert first.message == second.message
        if tried[0] == "Shop":
            assert third.status == 429
    assert log_in(world, people.NOBODY_ID.upper(), hash_for_wire("not it")).status == 429


def test_account_cannot_revoke_tokens_of_its_namesake(clashing: World) -> None:
    first, second = token_of(clashing, FIRST, "Zed"), token_of(clashing, SECOND, "ZED")
    for rest in (f"/{people.guid(0x505)}", ""):
        for key in ("zed", "Zed", FIRST):
            refused(clashing.call("DELETE", f"{TOKEN}/{key}{rest}", token=second), 403, "role_missing")
        refused(clashing.call("DELETE", f"{TOKEN}/ZED{rest}", token=first), 403, "role_missing")


@pytest.mark.both_engines
def test_account_claims_name_and_address_after_the_other_gave_them_up(clashing: World) -> None:
    """After the first account is renamed, the second is found by its exact name only, until it claims the name."""
    path, body = f"{USERS}/{SECOND}/name", {"name": "ZED"}
    refused(clashing.post(path, body), 409, "username_taken")
    assert clashing.post(f"{USERS}/zed/name", {"name": "Zack"}).status == 200
    assert clashing.get(f"{USERS}/ZED").json["Id"] == SECOND
    refused(clashing.get(f"{USERS}/zed"), 404, "no_such_user")
    before = len(clashing.ledger())
    for _ in range(2):
        assert clashing.post(path, body).status == 200
    assert folds(clashing, "users", SECOND)[0] == "zed"
    assert clashing.get(f"{USERS}/zed").json["Id"] == SECOND
    [row] = clashing.ledger()[before:]
    assert (row.kind, row.user_id) == ("user_renamed", SECOND)

    body = {"new": ADDRESS, "authorization": old_password("ZED")}
    path = f"{USERS}/{SECOND}/email/change"
    refused(clashing.post(path, body), 409, "email_taken")
    assert clashing.post(f"{USERS}/Zack/manage/email/change", {"new": "zack@example.test"}).status == 200
    before = len(clashing.ledger())
    for _ in range(2):
        assert clashing.post(path, body).status == 200
    assert folds(clashing, "users", SECOND)[1] == ADDRESS
    assert [row.kind for row in clashing.ledger()[before:]] == ["email_changed"]
    thief = {"username": "Thief", "email": ADDRESS, "password": hash_for_wire("x")}
    refused(clashing.post(f"{USERS}/register", thief), 409, "email_taken")
