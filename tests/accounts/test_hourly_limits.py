"""The hourly limits on registrations and reset mails, counted in the database for all instances."""

from collections.abc import Coroutine
from typing import Any

import pytest

import people
from command_line import CommandLine
from expectations import everything, unchanged
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core.refusals import TooManyRegistrations
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from outbox import age, ask, list_mails
from proof import refused, rows
from world import SENT, USERS, Answer, MakeWorld, World

REGISTER = f"{USERS}/register"
PEOPLE = ("Ann", "Bob", "Mona", "Shop")


def require_limit(answer: Answer, code: str, least: int = 3590, most: int = 3600) -> None:
    """Require a 429 with a Retry-After between these seconds, which its message names."""
    refused(answer, 429, code)
    seconds = answer.headers["retry-after"]
    assert least <= int(seconds) <= most
    assert f"wait {seconds} seconds" in answer.message


# --- registrations per caller --------------------------------------------------------------------------------------


@pytest.fixture
def three(make_world: MakeWorld) -> World:
    return make_world(registrations_per_caller=3)


def body(number: int) -> dict[str, str]:
    return {"username": f"New{number}", "password": SENT, "email": f"new{number}@example.test"}


def register(world: World, *numbers: int, **more: Any) -> list[int]:
    return [world.post(REGISTER, body(number), **more).status for number in numbers]


def test_registrations_per_caller_and_sliding_hour_are_limited(three: World) -> None:
    assert register(three, 1, by="Clerk") == [200]
    three.sql("UPDATE registrations SET at = at - $1", 40 * 60_000)
    assert register(three, 2, 3, by="Clerk") == [200] * 2
    with unchanged(three):
        require_limit(three.post(REGISTER, body(4), by="Clerk"), "too_many_registrations", 1190, 1200)
    log_in = {"grant_type": "password", "username": "Clerk", "password": SENT}
    token = three.post("/api/oauth/token", log_in, by=None).json["access_token"]
    assert register(three, 4, token=token) == [429]  # another token of the account shares the limit
    assert register(three, 4, by="Root") == [200]
    refused(three.post(REGISTER, body(5), by="Shop"), 403, "role_missing")  # learns nothing of the limit
    three.sql("UPDATE registrations SET at = at - $1", 20 * 60_000)
    assert register(three, 5, 6, by="Clerk") == [200, 429]
    three.sql("UPDATE registrations SET at = at - $1", 60 * 60_000)
    assert register(three, 6, by="Clerk") == [200]
    assert three.sql("SELECT COUNT(*) FROM registrations WHERE caller_id = $1", people.USER_IDS["Clerk"]) == [(1,)]


def test_refused_dry_and_replayed_registrations_and_the_command_line_are_not_counted(three: World) -> None:
    with unchanged(three):
        tried = f"{REGISTER}?dryRun=true"
        for bad, status in (("Ann", 409), ("rank", 400)):
            assert three.post(REGISTER, body(1) | {"username": bad}).status == status
        assert {three.post(tried, body(number)).status for number in range(4)} == {200}
    key = {"Idempotency-Key": "once"}
    assert register(three, 1, 1, 1, headers=key) == [200] * 3
    assert register(three, 2, 3, 4) == [200, 200, 429]
    assert three.post(REGISTER, body(1), headers=key).headers["idempotent-replay"] == "true"
    require_limit(three.post(tried, body(4)), "too_many_registrations")
    add = ("users", "add", "New5", "--email", "new5@example.test", "--password-stdin")
    CommandLine(three.url).run(*add, typed=f"{people.PASSWORD}\n", GAMEKEEPER_REGISTRATIONS_PER_CALLER="1")
    assert len(rows(three, "registrations")) == 3


@pytest.mark.both_engines
def test_concurrent_registrations_on_two_instances_keep_the_limit(make_world: MakeWorld) -> None:
    """Call the rate limit directly: over HTTP the slow password hashes would serialise the registrations."""
    worlds = [make_world(registrations_per_caller=5) for _ in range(2)]

    async def one(world: World, number: int) -> bool:
        caller, name = people.USER_IDS["Clerk"], f"New{number}"
        email, settings = f"{name}@example.test", world.keeper.settings

        def decide(tx: Reading) -> Coroutine[Any, Any, Decision[User]]:
            return accounts.register_counted(tx, caller, settings, name, email, NO_PASSWORD)

        try:
            await world.keeper.changes.apply(Intent(name, caller), decide, lambda _: b"null")
        except TooManyRegistrations:
            return False
        return True

    done = worlds[0].at_once(one(each, number) for number, each in enumerate(worlds * 8))
    assert (done.count(True), done.count(False)) == (5, 11)
    assert len(rows(worlds[0], "registrations")) == 5
    assert worlds[0].sql("SELECT COUNT(*) FROM users WHERE name LIKE 'New%'") == [(5,)]


# --- reset mails per account and caller ----------------------------------------------------------------------------


def reset(world: World, name: str = "Ann", query: str = "", **more: object) -> Answer:
    return world.get(f"{USERS}/{name}/password/reset{query}", **more)


def test_account_gets_three_reset_mails_in_a_sliding_hour(world: World) -> None:
    with unchanged(world):
        for _ in range(4):
            assert reset(world, query="?dryRun=true").status == 200
    ask(world)
    age(world, 40)
    codes = [ask(world) for _ in range(2)]
    before = everything(world)
    require_limit(reset(world), "too_many_mails", 1190, 1200)
    require_limit(reset(world, query="?dryRun=true"), "too_many_mails", 1190, 1200)
    refused(reset(world, by="Clerk"), 429, "too_many_mails")  # Ann's mail limit holds for every caller
    refused(reset(world, by="Shop"), 403, "role_missing")  # the role is checked before the limit
    assert everything(world) == before
    assert reset(world, "Bob").status == 200
    code = {"code": codes[-1], "new": "ab" * 32}
    assert world.post(f"{USERS}/Ann/password/reset", code).status == 200  # the code still works
    age(world, 20)
    key = {"Idempotency-Key": "once"}
    assert [reset(world, headers=key).status for _ in range(2)] == [200, 200]
    assert reset(world).status == 429


@pytest.mark.both_engines
def test_concurrent_resets_on_two_instances_keep_the_limit(make_world: MakeWorld) -> None:
    worlds = [make_world(resets_per_caller=8) for _ in range(2)]
    calls = [each.send("GET", f"{USERS}/{name}/password/reset") for name in PEOPLE for each in worlds for _ in range(4)]
    statuses = [answer.status for answer in worlds[0].at_once(calls)]
    assert (statuses.count(200), statuses.count(429)) == (8, 24)
    assert len(list_mails(worlds[0])) == 8
    counts = worlds[0].sql("SELECT COUNT(*) FROM mails GROUP BY user_id")
    assert max(count for (count,) in counts) <= 3


@pytest.mark.both_engines
def test_two_accounts_resetting_each_other_do_not_deadlock(make_world: MakeWorld) -> None:
    """Both reset requests lock both accounts in the same order, so that there is no deadlock."""
    worlds = [make_world(resets_per_account=50) for _ in range(2)]
    calls = [
        each.send("GET", f"{USERS}/{name}/password/reset", by=by)
        for each in worlds
        for name, by in (("Root", "Clerk"), ("Clerk", "Root"))
        for _ in range(5)
    ]
    assert {answer.status for answer in worlds[0].at_once(calls)} == {200}
