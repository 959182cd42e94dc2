"""Count the economy and a board of a benchmark database once, as the background jobs of a server would do it."""

import asyncio
from functools import partial

from benchmarks import copies
from benchmarks.worlds import BenchWorld
from gamekeeper.demo.world import COIN
from gamekeeper.game.core.writes import Intent
from gamekeeper.game.insight import boards
from gamekeeper.game.insight.boards import CreateBoard
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.http import keeper_builder
from gamekeeper.store.insight import boards as board_rows

# every player of the demo's loader has this item
BOARD = CreateBoard("bench", "Silver", "item", COIN.id, HideStaff=False)
RANKED = f"item:{COIN.id}"
ENVIRONMENT = {"GAMEKEEPER_RANKED": RANKED}  # of a server that keeps the ranked list
# the demo's own boards are not counted: one board is measured
ONE_BOARD = f"UPDATE seasons SET final = TRUE WHERE board_id NOT IN (SELECT id FROM boards WHERE name = '{BOARD.Name}')"  # noqa: S608 - our own names
# 1: all changes are counted, by the economy and by all seasons that are not final
UP_TO_DATE = (
    "SELECT CASE WHEN (SELECT seq FROM economy) >= (SELECT MAX(seq) FROM ledger) AND NOT EXISTS ("
    "SELECT 1 FROM seasons WHERE NOT final AND seq < (SELECT MAX(seq) FROM ledger)) THEN 1 ELSE 0 END"
)


def count(world: BenchWorld) -> None:
    """Count all that is not counted yet: holdings, a ranked list of an item, and a board of the same item."""
    copies.execute(world, ONE_BOARD)
    loaded = settings.load({}, database=world.url, ranked=RANKED)
    asyncio.run(keeper_builder.run_with_keeper(loaded, _catch_up))


def is_up_to_date(world: BenchWorld) -> bool:
    return bool(copies.execute(world, UP_TO_DATE)[0][0])


async def _catch_up(keeper: Keeper) -> None:
    await keeper.economy.follow(0)  # not `catch_up`, which does not choose the ranked lists
    if await board_rows.find(keeper.store, BOARD.Name) is None:
        decide = partial(boards.create, draft=BOARD)
        await keeper.changes.apply(Intent(request_id="bench"), decide, lambda _: b"")
    await keeper.economy.follow(0)
    await keeper.boards.catch_up()
