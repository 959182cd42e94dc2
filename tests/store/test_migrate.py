"""Migrations: applied once, safe to run again after a crash, and polite to what they do not know."""

import asyncio
from collections.abc import Generator

import pytest

from gamekeeper import app, settings
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.migrate import Migration, SchemaMismatch, known, migrate, pending, split

FIRST = Migration(1, "first", "CREATE TABLE one (id INTEGER);\n")
SECOND = Migration(2, "second", "CREATE TABLE two (id INTEGER);\nCREATE TABLE three (id INTEGER);\n")
BROKEN = SECOND._replace(text="CREATE TABLE two (id INTEGER);\nCREATE TABLE two (id INTEGER);\n")


@pytest.fixture
def keeper(empty_database: str, loop: asyncio.AbstractEventLoop) -> Generator[Keeper]:
    keeper = app.build_keeper(settings.load({}, database=empty_database))
    loop.run_until_complete(keeper.store.open())
    yield keeper
    loop.run_until_complete(keeper.store.close())
    keeper.passwords.close()


def test_applied_once(keeper: Keeper, loop: asyncio.AbstractEventLoop) -> None:
    assert loop.run_until_complete(pending(keeper.store)) == known()
    assert loop.run_until_complete(migrate(keeper.store)) == known()
    assert loop.run_until_complete(migrate(keeper.store)) == []
    assert loop.run_until_complete(pending(keeper.store)) == []


def test_one_that_fails_half_way_leaves_nothing_and_runs_again(keeper: Keeper, loop: asyncio.AbstractEventLoop) -> None:
    with pytest.raises(Exception, match="two"):
        loop.run_until_complete(migrate(keeper.store, [FIRST, BROKEN]))
    assert loop.run_until_complete(migrate(keeper.store, [FIRST, SECOND])) == [SECOND]


def test_two_processes_at_once(keeper: Keeper, empty_database: str, loop: asyncio.AbstractEventLoop) -> None:
    other = app.build_keeper(settings.load({}, database=empty_database))

    async def both() -> tuple[list[Migration], list[Migration]]:
        await other.store.open()
        try:
            return await asyncio.gather(migrate(keeper.store), migrate(other.store))
        finally:
            await other.store.close()
            other.passwords.close()

    first, second = loop.run_until_complete(both())
    assert sorted(first + second) == known()


def test_a_newer_schema_is_refused_with_what_to_do(keeper: Keeper, loop: asyncio.AbstractEventLoop) -> None:
    loop.run_until_complete(migrate(keeper.store, [FIRST, SECOND]))
    with pytest.raises(SchemaMismatch, match="newer Gamekeeper"):
        loop.run_until_complete(migrate(keeper.store, [FIRST]))


def test_a_changed_migration_is_refused(keeper: Keeper, loop: asyncio.AbstractEventLoop) -> None:
    loop.run_until_complete(migrate(keeper.store, [FIRST]))
    with pytest.raises(SchemaMismatch, match="is not the one that was applied"):
        loop.run_until_complete(migrate(keeper.store, [FIRST._replace(text="CREATE TABLE other (id INTEGER);\n")]))


def test_statements_for_one_engine_only() -> None:
    script = "CREATE TABLE a (x TEXT); -- done\n-- only: postgres\nCREATE SEQUENCE s;\nCREATE TABLE b (y TEXT);\n"
    assert len(split(script.replace(" -- done", ""), "postgres")) == 3
    assert len(split(script.replace(" -- done", ""), "sqlite")) == 2
