"""Bulk loads with `Writing.load`, on both engines."""

import pytest

import people
from gamekeeper.store.engine import Writing
from gamekeeper.store.statements import Statement
from world import World

pytestmark = pytest.mark.both_engines

LOAD = Statement("load", {"": "INSERT INTO maps (id, name) VALUES ($1, $2)"})
RENAME = Statement("rename", {"": "UPDATE maps SET name = $1 WHERE id = $2"})
NAMES = Statement("names", {"": "SELECT name FROM maps WHERE id <> $1 ORDER BY name"})
ROWS = [(people.guid(0x1000 + number), f"map {number:04}") for number in range(500)]


async def names(tx: Writing) -> list[str]:
    return [row[0] for row in await tx.all(NAMES, people.MEADOW.id)]


def test_loaded_rows_are_visible_at_once_and_after_commit(world: World) -> None:
    async def work(tx: Writing) -> list[str]:
        tx.load(LOAD, ROWS)
        return await names(tx)

    wanted = [name for _, name in ROWS]
    assert world.run(world.keeper.store.write(work)) == wanted
    assert world.run(world.keeper.store.write(names)) == wanted


def test_deferred_statement_sees_loaded_rows(world: World) -> None:
    async def work(tx: Writing) -> None:
        tx.load(LOAD, ROWS[:1])
        tx.defer(RENAME, "renamed", ROWS[0][0])

    world.run(world.keeper.store.write(work))
    assert world.run(world.keeper.store.write(names)) == ["renamed"]


def test_rolled_back_load_is_discarded(world: World) -> None:
    async def broken(tx: Writing) -> None:
        tx.load(LOAD, ROWS)
        raise LookupError

    with pytest.raises(LookupError):
        world.run(world.keeper.store.write(broken))
    assert world.run(world.keeper.store.write(names)) == []
