"""Guesses in parallel, over several instances and a full queue."""

import asyncio
from collections.abc import Callable

import pytest

import people
from gamekeeper.game import guesses
from gamekeeper.game.refusals import Overloaded
from gamekeeper.store import pool
from gamekeeper.store.engine import Writing
from guessing import PROVING, TOKEN, USERS, WRONG
from proof import at_once, refused
from world import SENT, Answer, World

pytestmark = pytest.mark.both_engines


def test_thirty_parallel_guesses_over_two_instances_check_ten(
    make_world: Callable[..., World], hashed: list[str]
) -> None:
    first, second = make_world(), make_world()
    body = {"grant_type": "password", "username": "Root", "password": WRONG}
    answers = at_once(first, [world.send("POST", TOKEN, body=body, by=None) for world in (first, second) * 15])
    assert sorted(answer.status for answer in answers) == [400] * 10 + [429] * 20
    assert len(hashed) == 10


def test_thirty_parallel_guesses_at_thirty_names_check_ten(make_world: Callable[..., World], hashed: list[str]) -> None:
    first, second = make_world(guesses_per_address=10), make_world(guesses_per_address=10)
    bodies = [{"grant_type": "password", "username": f"Name{number}", "password": WRONG} for number in range(30)]
    pairs = zip((first, second) * 15, bodies, strict=True)
    answers = at_once(first, [world.send("POST", TOKEN, body=body, by=None) for world, body in pairs])
    assert sorted(answer.status for answer in answers) == [400] * 10 + [429] * 20
    assert len(hashed) == 10


def test_thirty_parallel_guesses_over_the_api_check_ten(make_world: Callable[..., World], hashed: list[str]) -> None:
    first, second = make_world(), make_world()
    path = f"{USERS}/Ann/password/change?dryRun=true"
    body = PROVING["password/change"]
    answers = at_once(first, [world.send("POST", path, body=body, by="Clerk") for world in (first, second) * 15])
    assert sorted(answer.status for answer in answers) == [400] * 10 + [429] * 20
    assert len(hashed) == 10


# PostgreSQL only: SQLite has one writer, so no request waits for a claim
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_count_that_takes_too_long_is_an_overload(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "LOCK_SECONDS", 1)
    slow, world = make_world(), make_world()

    async def one_counts_on_and_on() -> Answer:
        begun, answered = asyncio.Event(), asyncio.Event()

        async def count(tx: Writing) -> None:
            await tx.flush()  # sends BEGIN with the claim
            begun.set()
            await answered.wait()

        counting = asyncio.ensure_future(slow.keeper.store.write(count, guesses.claim_number(people.USER_IDS["Root"])))
        await asyncio.wait_for(begun.wait(), 60)
        body = {"grant_type": "password", "username": "Root", "password": SENT}
        answer = await world.send("POST", TOKEN, body=body, by=None)
        answered.set()
        await counting
        return answer

    refused(world.run(one_counts_on_and_on()), 503, "overloaded")


def test_full_queue_refuses_right_and_wrong_passwords_alike(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a full queue wrong guesses are not counted, so a cached right password must be refused too."""
    stored = world.run(world.keeper.passwords.hash_password(SENT))
    assert world.run(world.keeper.passwords.is_right(SENT, stored)) is True
    monkeypatch.setattr(world.keeper.passwords, "_queue_length", world.keeper.settings.hash_queue)
    with pytest.raises(Overloaded):
        world.run(world.keeper.passwords.is_right(SENT, stored))
