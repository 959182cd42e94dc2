"""Who is online, when others write at the same time."""

import asyncio
from typing import Any

import asyncpg
import pytest

from gamekeeper.store import presence
from gamekeeper.store.engine import Writing
from people import BOB
from world import World

SERVER = "north"
WAITS = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_who_joins_while_being_renamed_is_listed_under_the_new_name(world: World) -> None:
    async def join(tx: Writing) -> None:
        presence.save_server(tx, SERVER, 60_000)
        await tx.flush()
        await presence.join(tx, SERVER, [BOB.id])

    async def meet() -> None:
        driver: Any = asyncpg
        db = await driver.connect(world.url)
        await db.execute("BEGIN")
        await db.execute("UPDATE players SET fold = 'zzz' WHERE id = $1", BOB.id)
        joining = asyncio.create_task(world.keeper.store.write(join))
        while not joining.done() and not await db.fetchval(WAITS):  # noqa: ASYNC110 - another process waits, not a task
            await asyncio.sleep(0.01)
        await db.execute("COMMIT")
        await joining
        await db.close()

    world.run(meet())
    assert world.sql("SELECT fold FROM presence") == [("zzz",)]
