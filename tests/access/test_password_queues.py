"""Fifty parallel log-ins with one password: all succeed after one check, and no guess is free."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from argon2 import PasswordHasher

import people
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.core.refusals import TooManyGuesses
from guessing import earlier
from proof import rows
from world import SENT, TOKEN, Answer, MakeWorld, World

WRONG = [hash_for_wire(f"not it {number}") for number in range(5)]


class Checks(list[str]):
    """Return a list with one entry for every argon2 check; the checks wait until the test lets them start."""

    def __init__(self) -> None:
        super().__init__()
        self.may_begin = threading.Event()
        self.may_begin.set()


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Checks:
    found = Checks()
    real = PasswordHasher.verify

    def counted(hasher: PasswordHasher, stored: str, sent: str) -> bool:
        found.append(stored)
        assert found.may_begin.wait(60)
        return real(hasher, stored, sent)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    return found


Calls = Sequence[Coroutine[Any, Any, Answer]]


def one_behind_the_other(world: World, hashed: Checks, calls: Calls, meanwhile: Calls = ()) -> list[Answer]:
    """Send log-ins in this order, and let the first password check start when all have arrived."""

    async def stand() -> list[Answer]:
        coming: list[asyncio.Task[Answer]] = []
        try:
            async with asyncio.timeout(50):
                for call in calls:
                    coming.append(asyncio.ensure_future(call))
                    while not hashed or world.keeper.password_queues.waiting < len(coming) - 1:  # noqa: ASYNC110 - there is no event for this
                        await asyncio.sleep(0.001)
                beside = [await call for call in meanwhile]
        finally:
            hashed.may_begin.set()
        return [*await asyncio.gather(*coming), *beside]

    hashed.may_begin.clear()
    return world.run(stand())


def log_in(world: World, password: str = SENT, **more: Any) -> Coroutine[Any, Any, Answer]:
    body = {"grant_type": "password", "username": "Shop", "password": password}
    return world.send("POST", TOKEN, body=body, by=None, **more)


def statuses(answers: Sequence[Answer]) -> list[int]:
    return [answer.status for answer in answers]


@pytest.mark.parametrize("wrong_before", [0, 9])
def test_fifty_parallel_log_ins_need_one_check(world: World, hashed: Checks, wrong_before: int) -> None:
    earlier(world, people.USER_IDS["Shop"], "127.0.0.1", wrong_before)
    answers = world.at_once([log_in(world) for _ in range(50)])
    assert statuses(answers) == [200] * 50
    assert len({answer.json["access_token"] for answer in answers}) == 50
    assert len(hashed) == 1
    assert len(rows(world, "guesses")) == wrong_before


@pytest.mark.both_engines
def test_fifty_parallel_log_ins_over_two_instances_succeed(make_world: MakeWorld, hashed: Checks) -> None:
    first, second = make_world(), make_world()
    assert statuses(first.at_once([log_in(world) for world in (first, second) * 25])) == [200] * 50
    assert len(hashed) == 2


def test_request_behind_another_password_uses_its_own_guess(world: World, hashed: Checks) -> None:
    """One guess is left. A right log-in in front gives requests with another password no free check."""
    earlier(world, people.USER_IDS["Shop"], "127.0.0.1", 9)
    line = (SENT, SENT, WRONG[0], SENT, *WRONG[1:])
    answers = one_behind_the_other(world, hashed, [log_in(world, sent) for sent in line])
    assert statuses(answers) == [200, 200, 400] + [429] * 5
    assert len(hashed) == 2
    assert len(rows(world, "guesses")) == 10


def test_same_wrong_password_counts_each_time(world: World, hashed: Checks) -> None:
    earlier(world, people.USER_IDS["Shop"], "127.0.0.1", 7)
    answers = world.at_once([log_in(world, WRONG[0]) for _ in range(8)])
    assert sorted(statuses(answers)) == [400] * 3 + [429] * 5
    assert len(hashed) == 3


def test_result_is_reused_only_by_requests_that_were_already_waiting(world: World) -> None:
    """Requests that arrive later need a new check, even while the queue is busy."""
    turns = world.keeper.password_queues

    async def crowd() -> list[bool]:
        told: list[bool] = []

        async def one(number: int) -> None:
            async with turns.enter("account", "caller") as turn:
                told.append(turn.result is not None)
                if number == 0:
                    await asyncio.sleep(0)  # two more log-ins arrive during the password check, and one after it
                    turn.set_result(TooManyGuesses(1))
                    asyncio.get_running_loop().call_soon(late)

        def late() -> None:
            coming.append(asyncio.ensure_future(one(3)))

        coming = [asyncio.ensure_future(one(number)) for number in range(3)]
        await asyncio.gather(*coming)
        await asyncio.gather(*coming)
        return told

    assert world.run(crowd()) == [False, True, True, False]


def test_one_queue_takes_at_most_half_of_the_places(make_world: MakeWorld, hashed: Checks) -> None:
    world = make_world(requests_in_flight=8)
    meanwhile = [log_in(world), world.send("GET", "/api/v1/players/Ann")]
    *served, turned_away, read = one_behind_the_other(world, hashed, [log_in(world) for _ in range(5)], meanwhile)
    assert statuses([*served, read]) == [200] * 6
    assert (turned_away.status, turned_away.headers["retry-after"]) == (503, "1")


def test_cancelled_request_does_not_block_the_queue(world: World) -> None:
    async def crowd() -> list[int]:
        first, second, third = (asyncio.ensure_future(log_in(world)) for _ in range(3))
        await asyncio.sleep(0.01)
        first.cancel()
        second.cancel()
        async with asyncio.timeout(50):
            return [(await third).status, (await log_in(world)).status]

    assert world.run(crowd()) == [200, 200]
