"""Databases with the demo's data."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

import world as worlds
from databases import find_day
from gamekeeper.demo import loader
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.core import ledger

T = TypeVar("T")
Work = Callable[[Keeper], Coroutine[Any, Any, T]]
PASSWORD = "correct horse battery staple"  # that of scripts/contract_fuzz.py: the OpenAPI examples have its hash


def at_work(url: str, work: Work[T]) -> T:
    return asyncio.run(worlds.at_work(url, work))


async def filled(keeper: Keeper) -> loader.DemoAccess:
    return await loader.fill(keeper, PASSWORD)


async def trace(keeper: Keeper) -> list[tuple[object, ...]]:
    """Return all changes of the demo's audit log without their times."""
    rows = await ledger.read_after(keeper.store, 0, 10_000)
    return [(row.kind, row.player_id, row.user_id, row.before, row.after) for row in rows]


def find_hour() -> int:
    find_day()  # waits for the next day just before midnight
    return int(time.time()) // 3600


@cache
def fill_template(databases: Any, _hour: int) -> str:
    url: str = databases.empty()
    at_work(url, filled)
    return url
