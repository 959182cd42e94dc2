"""`gamekeeper backup` slowed down, so that writes happen between any two tables; backups.py runs it as a program.

With the seeded fault `torn`, PostgreSQL reads each table in its own snapshot instead of one snapshot for all.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import asyncpg

from gamekeeper.cli.commands import gamekeeper
from gamekeeper.store.engine import copies
from gamekeeper.store.engine.copies import CopiedRow
from gamekeeper.store.engine.interface import Transaction

PAUSE_SECONDS = 0.05
AS_IT_IS, TORN = "as-it-is", "torn"

_rows = copies.read_rows
_driver: Any = asyncpg.Connection
_execute = _driver.execute


async def slow_rows(tx: Transaction, table: str, columns: Mapping[str, str]) -> AsyncGenerator[list[CopiedRow]]:
    loop = asyncio.get_running_loop()
    end = loop.time() + PAUSE_SECONDS
    while loop.time() < end:  # busy-wait: work in the store's `read` may await nothing but the store
        pass
    async for rows in _rows(tx, table, columns):
        yield rows


async def torn_execute(self: object, query: str, *values: object, **more: object) -> object:
    return await _execute(self, query.replace("REPEATABLE READ", "READ COMMITTED"), *values, **more)


if __name__ == "__main__":
    way, file, database = sys.argv[1:]
    copies.read_rows = slow_rows
    if way == TORN:
        _driver.execute = torn_execute
    gamekeeper(["backup", file, "--database", database])
