"""A weak `synchronous_commit` of the database does not make Gamekeeper's commits less durable."""

import asyncio
from collections.abc import Callable, Generator
from urllib.parse import urlsplit

import pytest

import pgbouncer
from findings import findings
from gamekeeper import app, settings
from gamekeeper.doctor import NOTE
from gamekeeper.store.engine import Writing
from gamekeeper.store.statements import Statement
from world import World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
SHOW = Statement("show", {"": "SELECT current_setting('synchronous_commit')"})


@pytest.fixture
def set_level(world: World) -> Generator[Callable[[str], None]]:
    """Set synchronous_commit for new sessions of this database."""
    name = urlsplit(world.url).path[1:]

    def set_level(level: str) -> None:
        world.sql(f'ALTER DATABASE "{name}" SET synchronous_commit = {level}')
        world.run(world.keeper.store.close())

    yield set_level
    world.sql(f'ALTER DATABASE "{name}" RESET synchronous_commit')


async def level_in_write(url: str) -> str:
    store = app.open_store(settings.load({}, database=url, connections=1))

    async def ask(tx: Writing) -> str:
        return (await tx.returning(SHOW))[0][0]

    await store.open()
    try:
        outside = await store.all(SHOW)
        inside = await store.write(ask)
        # the store raises synchronous_commit only within its write, not for later reads on the same connection
        assert await store.all(SHOW) == outside
        return inside
    finally:
        await store.close()


def test_write_raises_weak_synchronous_commit_also_behind_pgbouncer(
    world: World, set_level: Callable[[str], None]
) -> None:
    for level, wanted in (("off", "on"), ("remote_write", "on"), ("on", "on"), ("remote_apply", "remote_apply")):
        set_level(level)
        assert asyncio.run(level_in_write(world.url)) == wanted
    for level, wanted in (("off", "on"), ("remote_apply", "remote_apply")):
        set_level(level)
        with pgbouncer.running(world.url) as url:
            assert asyncio.run(level_in_write(url)) == wanted


@pytest.mark.parametrize(("level", "is_weak"), [("off", True), ("remote_write", True), ("on", False)])
def test_doctor_notes_weak_synchronous_commit(
    world: World, set_level: Callable[[str], None], level: str, *, is_weak: bool
) -> None:
    set_level(level)
    assert [each.level for each in findings(world, "durability")] == [NOTE] * is_weak
