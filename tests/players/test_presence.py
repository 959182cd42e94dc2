"""Presence of players during concurrent writes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from game_server import LINK, heartbeat
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import presence
from people import ANN, BOB
from postgres_sessions import connected
from world import World

pytestmark = pytest.mark.both_engines

Wait = Callable[[int, asyncio.Task[Any]], Coroutine[Any, Any, None]]
SERVER = "north"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
# For each act of moderation: its table, the field of the account's record that shows it, and the value it sets there.
ACTS = {"ban": ("bans", "IsBanned", True), "mute": ("mutes", "IsMuted", True), "unmute": ("mutes", "IsMuted", False)}


async def wait_for_locks(db: Any, sessions: int, task: asyncio.Task[Any]) -> None:
    """Return when so many sessions wait for a lock, or when `task` is done."""
    while not task.done() and await db.fetchval(WAITS) < sessions:
        await asyncio.sleep(0.01)
        # within a transaction PostgreSQL caches pg_stat_activity, which shows the waiting sessions: read it anew
        await db.execute("SELECT pg_stat_clear_snapshot()")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_player_renamed_during_join_is_listed_by_new_name(world: World) -> None:
    async def join(tx: Writing) -> None:
        presence.save_server(tx, SERVER, 60_000)
        await tx.flush()
        await presence.join(tx, SERVER, [BOB.id])

    async def meet() -> None:
        async with connected(world.url) as db:
            await db.execute("BEGIN")
            await db.execute("UPDATE players SET fold = 'zzz' WHERE id = $1", BOB.id)
            joining = asyncio.create_task(world.keeper.store.write(join))
            await wait_for_locks(db, 1, joining)
            await db.execute("COMMIT")
            await joining

    world.run(meet())
    assert world.sql("SELECT fold FROM presence") == [("zzz",)]


@pytest.mark.parametrize("what", ACTS)
def test_game_learns_of_moderation_beside_a_join(world: World, what: str) -> None:
    """A game server reports `joined` and reads the account: a ban or mute is in that answer or in the feed."""
    table, field, after = ACTS[what]
    if what == "unmute":
        assert world.post("/api/v1/users/Ann/admin/mute").status == 200
    heartbeat(world)
    start = world.get(f"{LINK}/changes?after=now").json["Next"]

    async def meet() -> bool:
        async with hold(world, table) as waiting:
            acting = asyncio.create_task(world.send("POST", f"/api/v1/users/Ann/admin/{what}"))
            await waiting(1, acting)
            joining = asyncio.create_task(join_and_ask())
            await waiting(2, joining)
        assert (await acting).status == 200
        return await joining

    async def join_and_ask() -> bool:
        (await world.send("POST", f"{LINK}/servers/one/joined", body={"Players": [ANN.id]}, by="Server")).accepted()
        return (await world.send("GET", "/api/v1/users/Ann")).json[field]

    seen = world.run(meet())
    told = [each["PlayerId"] for each in world.get(f"{LINK}/changes?after={start}").json["Changes"]]
    assert seen == after or told == [ANN.id]


@asynccontextmanager
async def hold(world: World, table: str) -> AsyncGenerator[Wait]:
    """Lock the table against writes of others; yield `wait_for_locks`.

    On SQLite lock nothing and do not wait, because it has one writer at a time.
    """

    async def continue_at_once(_: int, __: asyncio.Task[Any]) -> None:
        await asyncio.sleep(0)

    if world.keeper.store.engine == "sqlite":
        yield continue_at_once
        return
    async with connected(world.url) as db:
        await db.execute(f"BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE")
        yield partial(wait_for_locks, db)
