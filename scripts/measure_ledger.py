"""Measure the disk space of changes: give items through the write path, each with a key, and read the size.

    .venv/bin/python scripts/measure_ledger.py --database sqlite:///ledger.db --gives 100000

Prints bytes on disk per change for the audit log, for the answers stored under keys and for the rest, and how long one
step of the retention job takes at that size. The database must be empty before.
"""

import argparse
import asyncio
import time
from functools import partial

from crash_gives import COIN, prepare
from gamekeeper import app
from gamekeeper.game.audit import retention
from gamekeeper.game.core import lookup
from gamekeeper.game.core.writes import Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players import items
from gamekeeper.game.players.inventory import read_capacity
from gamekeeper.ground import settings
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.statements import Statement

ANSWER = b'{"id":"c0ffee00-0000-4000-8000-000000000001","quantity":{"total":12345,"bank":0,"inventory":12345}}'
TABLES = ("ledger", "idempotency_keys")
AT_ONCE = 64
SQLITE = Statement(
    "size", {"": "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = $1)"}
)
POSTGRES = Statement("size", {"": "SELECT pg_total_relation_size(CAST(CAST($1 AS text) AS regclass))"})


async def give(keeper: Keeper, actor: str, player: str, number: int) -> None:
    decide = partial(
        items.give, key=player, item_id=COIN.id, quantity=1, room=read_capacity(keeper.settings), overflow=True
    )
    intent = Intent(
        request_id=f"{number:024x}",
        actor_id=actor,
        token_id=actor,
        reason="Shop order 12345",
        key=lookup.new_guid(),
        fingerprint="f" * 64,
    )
    await keeper.changes.apply(intent, decide, lambda _: ANSWER)


async def size(keeper: Keeper, table: str) -> int:
    row = await keeper.store.one(SQLITE if keeper.store.engine == "sqlite" else POSTGRES, table)
    return int(row[0]) if row else 0


async def measure(database: str, gives: int) -> None:
    _, players = await prepare(database, 1)
    keeper = app.build_keeper(settings.load({}, database=database))
    await keeper.store.open()
    before = {table: await size(keeper, table) for table in TABLES}
    started = time.monotonic()
    for first in range(0, gives, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, gives))
        await asyncio.gather(*(give(keeper, players[0], players[each % len(players)], each) for each in numbers))
    print(f"{gives} gives in {time.monotonic() - started:.0f} s")
    for table in TABLES:
        grown = await size(keeper, table) - before[table]
        print(f"{table}: {grown / gives:.0f} bytes per change, {grown / gives * 1e6 / 2**20:.0f} MiB per million")
    started = time.monotonic()
    await retention.trim(keeper, await clock.now(keeper.store) + retention.DAY_MS)
    print(f"a step of trimming ({retention.BATCH_CHANGES} changes): {(time.monotonic() - started) * 1000:.0f} ms")
    await keeper.store.close()
    keeper.passwords.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="sqlite:///path/to/file.db or postgresql://…")
    parser.add_argument("--gives", type=int, default=100_000)
    given = parser.parse_args()
    asyncio.run(measure(given.database, given.gives))


if __name__ == "__main__":
    main()
