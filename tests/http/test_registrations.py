"""The rate limit on registrations per caller and hour, counted in the database for all instances."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import people
from command_line import CommandLine
from expectations import everything
from gamekeeper.game import registrations as rule
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.passwords import NO_PASSWORD
from gamekeeper.game.refusals import TooManyRegistrations
from gamekeeper.store import clock
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User
from proof import refused, rows
from world import SENT, Answer, World

REGISTER = "/api/v1/users/register"


@pytest.fixture
def three(make_world: Callable[..., World]) -> World:
    return make_world(registrations_per_caller=3)


def body(number: int) -> dict[str, str]:
    return {"username": f"New{number}", "password": SENT, "email": f"new{number}@example.test"}


def register(world: World, *numbers: int, **more: Any) -> list[int]:
    return [world.post(REGISTER, body(number), **more).status for number in numbers]


def require_limit(answer: Answer) -> int:
    """Require a 429 and return its Retry-After in seconds."""
    refused(answer, 429, "too_many_registrations")
    seconds = int(answer.headers["retry-after"])
    assert answer.message == f"Too many accounts were registered; wait {seconds} seconds."
    return seconds


def age(world: World, minutes: int) -> None:
    world.sql("UPDATE registrations SET at = at - $1", minutes * 60_000)


def test_registrations_per_caller_and_hour_are_limited(three: World) -> None:
    assert register(three, 1, 2, 3, by="Clerk") == [200] * 3
    before = everything(three)
    assert 3590 <= require_limit(three.post(REGISTER, body(4), by="Clerk")) <= 3600
    assert everything(three) == before
    log_in = {"grant_type": "password", "username": "Clerk", "password": SENT}
    token = three.post("/api/oauth/token", log_in, by=None).json["access_token"]
    assert register(three, 4, token=token) == [429]  # another token of the account shares the limit
    assert register(three, 4, by="Root") == [200]
    refused(three.post(REGISTER, body(5), by="Shop"), 403, "role_missing")  # learns nothing of the limit


def test_registration_limit_is_a_thousand_by_default(world: World) -> None:
    now = world.run(clock.now(world.keeper.store))
    values = "INSERT INTO registrations (caller_id, at, user_id) VALUES ($1, $2, $3)"
    for _ in range(999):
        world.sql(values, people.USER_IDS["Clerk"], now, new_guid())
    assert register(world, 1, 2, by="Clerk") == [200, 429]


def test_registration_limit_uses_a_sliding_hour_and_deletes_old_counts(three: World) -> None:
    register(three, 1)
    age(three, 40)
    register(three, 2, 3)
    assert 1190 <= require_limit(three.post(REGISTER, body(4))) <= 1200
    age(three, 19)
    assert register(three, 4) == [429]
    age(three, 1)
    assert register(three, 4, 5) == [200, 429]
    age(three, 60)
    register(three, 5)
    assert len(rows(three, "registrations")) == 1


def test_refused_dry_and_replayed_registrations_are_not_counted(three: World) -> None:
    before = everything(three)
    tried = f"{REGISTER}?dryRun=true"
    for bad, status in (("Ann", 409), ("rank", 400), ("x", 400)):
        assert three.post(REGISTER, body(1) | {"username": bad}).status == status
    refused(three.post(REGISTER, body(1), by="Shop"), 403, "role_missing")
    assert {three.post(tried, body(number)).status for number in range(4)} == {200}
    assert everything(three) == before
    key = {"Idempotency-Key": "once"}
    assert register(three, 1, 1, 1, headers=key) == [200] * 3
    assert register(three, 2, 3, 4) == [200, 200, 429]
    assert three.post(REGISTER, body(1), headers=key).headers["idempotent-replay"] == "true"
    require_limit(three.post(tried, body(4)))


def test_command_line_is_not_limited(three: World) -> None:
    command = CommandLine(three.url)
    for number in range(4):
        command.run(
            *("users", "add", f"New{number}", "--email", f"new{number}@example.test", "--password-stdin"),
            typed=f"{people.PASSWORD}\n",
            GAMEKEEPER_REGISTRATIONS_PER_CALLER="1",
        )
    assert rows(three, "registrations") == []


@pytest.mark.both_engines
def test_concurrent_registrations_on_two_instances_keep_the_limit(make_world: Callable[..., World]) -> None:
    """Call the rate limit directly: over HTTP the slow password hashes would serialise the registrations."""
    worlds = [make_world(registrations_per_caller=5) for _ in range(2)]

    async def one(world: World, number: int) -> bool:
        caller, name = people.USER_IDS["Clerk"], f"New{number}"
        email, settings = f"{name}@example.test", world.keeper.settings

        def decide(tx: Reading) -> Coroutine[Any, Any, Decision[User]]:
            return rule.register(tx, caller, settings, name, email, NO_PASSWORD)

        try:
            await world.keeper.changes.apply(Intent(name, caller), decide, lambda _: b"null")
        except TooManyRegistrations:
            return False
        return True

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*[one(each, number) for number, each in enumerate(worlds * 8)])

    done = worlds[0].run(all_of_them())
    assert (done.count(True), done.count(False)) == (5, 11)
    assert len(rows(worlds[0], "registrations")) == 5
    assert worlds[0].sql("SELECT COUNT(*) FROM users WHERE name LIKE 'New%'") == [(5,)]
