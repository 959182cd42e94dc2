"""What only a server with several connections can do wrong."""

import asyncio
import contextlib

import pytest

from gamekeeper.store import lists, players
from gamekeeper.store.engine import Store
from world import World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
MOST_STEPS = 40


def test_who_hangs_up_while_a_statement_is_prepared_spoils_the_connection_for_nobody(world: World) -> None:
    store = world.keeper.store

    async def hang_up(after: int) -> None:
        asking = asyncio.create_task(players.count(store))
        for _ in range(after):
            await asyncio.sleep(0)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking

    async def ask(store: Store) -> None:
        for after in range(MOST_STEPS):
            await store.close()  # the next connection has nothing prepared
            await hang_up(after)
            await players.count(store)
            await lists.checkpoint(store)

    world.run(ask(store))


def test_what_is_found_beside_something_keeps_its_order_and_may_be_nothing(world: World) -> None:
    async def ask(limit: int) -> list[str]:
        _, found = await players.records_from_name(world.keeper.store, "1:1:", "", limit, 0)
        return [record.id for record in found]

    wanted = [str(row[0]) for row in world.sql("SELECT id FROM players ORDER BY fold")]
    assert world.run(ask(100)) == wanted
    assert world.run(ask(0)) == []
