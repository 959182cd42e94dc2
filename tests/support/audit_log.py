"""Reads of the audit log for tests."""

from typing import Any

from gamekeeper.store.core import ledger
from people import COIN
from world import World

THEN = "/api/keeper/v1/players"
FAR, LONG_AGO = 4_000_000_000_000, 1_000_000_000_000
BEYOND = "9999-12-31T23:59:59-23:59"  # time that falls into the year 10000 in UTC


def give(world: World, quantity: int = 1, name: str = "Bob", item: str = COIN.id, **more: Any) -> int:
    """Give an item to a player and return the number of the change."""
    world.give(name, quantity, item, **more).accepted()
    return last(world)


def last(world: World) -> int:
    return world.run(ledger.read_last(world.keeper.store))
