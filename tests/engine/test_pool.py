"""A row locked by another session delays only requests for its own player."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

import people
from gamekeeper.store.engine import postgres_pool
from postgres_sessions import connected
from server import Server
from world import Answer, MakeWorld, World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
COIN = {"itemid": people.COIN.id, "quantity": 1}
HEALTH = "GET", "/health/ready"
GIVE = "/api/v1/players/{}/items/give"


@pytest.fixture(autouse=True)
def wait_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the timeout of locks and connections, so that it does not end a wait on a busy machine."""
    monkeypatch.setattr(postgres_pool, "LOCK_SECONDS", 30)


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not happens():  # noqa: ASYNC110 - the pool has no event for it
            await asyncio.sleep(0.01)


async def until_waiting(db: Any) -> None:
    async with asyncio.timeout(60):
        while not await db.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)


def at_work(world: World) -> int:
    """Count requests that use a database connection or wait for one."""
    figures = world.keeper.store.collect_stats().pool
    return figures["busy"] + figures["waiting"]


async def ask_beside(world: World, gives: list[str], *others: tuple[str, str]) -> tuple[list[Answer], list[Answer]]:
    """Give items to players whose rows are locked, and send other requests meanwhile; return both lists of answers."""
    # this request caches the caller's token, so that giving an item reads nothing before it locks the player
    await world.send("GET", "/api/v1/players/Ann")
    async with asyncio.TaskGroup() as group, connected(world.url) as db:
        await db.execute("BEGIN; SELECT FROM players WHERE name IN ('Bob', 'Zoe') FOR UPDATE")
        giving = [group.create_task(world.send("POST", GIVE.format(each), body=COIN)) for each in gives]
        await until(lambda: at_work(world) == len(gives))
        answers = [await world.send(method, path, body=COIN if method == "POST" else None) for method, path in others]
        beside = not any(each.done() for each in giving)
    assert beside, "the others waited for the gives"
    return [each.result() for each in giving], answers


def statuses(answers: list[Answer]) -> list[int]:
    return [each.status for each in answers]


def test_locked_player_leaves_connections_to_other_players(make_world: MakeWorld) -> None:
    world = make_world(connections=4)
    gives = ["Bob", "bob", people.BOB.id] * 7
    others = *(("GET", f"/api/v1/players/{name}") for name in ("Ann", "Bob")), ("POST", GIVE.format("Ann")), HEALTH
    given, answers = world.run(ask_beside(world, gives, *others))
    assert (statuses(answers), statuses(given)) == ([200] * 4, [200] * 21)
    assert world.count_coins() == 21


def test_paused_long_reads_leave_connections_to_others(make_world: MakeWorld) -> None:
    world = make_world(connections=4)
    store = world.keeper.store

    async def ask_beside_long_reads() -> list[Answer]:
        await world.send("GET", "/api/v1/players/Ann")  # the caller's token is cached from here on
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(store.read_in_pieces(lambda _: over.wait()))
            await until(lambda: at_work(world) == 4)
            answers = [
                await world.send("GET", "/api/v1/players/Ann"),
                await world.send("POST", GIVE.format("Ann"), body=COIN),
            ]
            over.set()
        return answers

    assert statuses(world.run(ask_beside_long_reads())) == [200, 200]


def test_more_changes_of_locked_player_than_may_wait_are_refused(make_world: MakeWorld) -> None:
    """When many changes wait for one player's lock, half of the request slots stay free for other requests."""
    world = make_world(connections=4, requests_in_flight=8)
    given, (refused, read) = world.run(
        ask_beside(world, ["Bob"] * 5, ("POST", GIVE.format("Bob")), ("GET", "/api/v1/players/Ann"))
    )
    assert (refused.status, refused.json["Code"], read.status) == (503, "database_away", 200)
    assert statuses(given) == [200] * 5


@pytest.mark.long_only
def test_transaction_of_frozen_instance_ends_before_others_give_up(
    world: World, known_tokens: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # this test needs the real timeout

    async def freeze_and_give(frozen: Server) -> Answer:
        headers = {"Authorization": f"Bearer {known_tokens['Root']}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as client, connected(world.url) as db:
            await db.execute("BEGIN; SELECT FROM players WHERE name = 'Bob' FOR UPDATE")
            stuck = asyncio.create_task(client.post(frozen.url + GIVE.format("Bob"), json=COIN))
            async with connected(world.url) as watching:
                await until_waiting(watching)
            os.killpg(frozen.pid, signal.SIGSTOP)
            await db.execute("ROLLBACK")  # the frozen instance's transaction gets the lock, and nothing releases it
            answer = await world.send("POST", GIVE.format("Bob"), body=COIN)
            os.killpg(frozen.pid, signal.SIGCONT)
            assert (await stuck).status_code == 200  # the stuck request's transaction was rolled back and retried
            return answer

    with Server(world.url) as frozen:
        assert world.run(freeze_and_give(frozen)).status == 200
