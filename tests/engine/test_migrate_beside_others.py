"""A migration on PostgreSQL does not block other sessions' reads and writes for long."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from findings import findings
from gamekeeper import app
from gamekeeper.ground import settings
from gamekeeper.store.engine import database_checks, migrate
from gamekeeper.store.engine.interface import Store
from gamekeeper.store.engine.migrate import Migration, load_migrations
from world import World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
FIRST = Migration(1, "first", "CREATE TABLE one (id INTEGER);\n")
ALTER = Migration(2, "alter", "ALTER TABLE one ADD COLUMN more INTEGER;\n")
INDEXES = Migration(
    9000,
    "indexes",
    "CREATE INDEX users_with_powers ON users (fold);\nCREATE INDEX mutes_by_end ON mutes (ends_at);\n"
    "CREATE INDEX bans_by_end ON bans (ends_at);\n",
)
WAITING = "SELECT count(*) FROM pg_locks WHERE relation = CAST('one' AS regclass) AND NOT granted"
BUILDING = "SELECT count(*) FROM pg_stat_progress_create_index WHERE datname = current_database()"
OLD_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM migrations"
INDEX = "SELECT CAST(indexrelid AS bigint), indisvalid FROM pg_index WHERE indexrelid = to_regclass('players_by_rank')"


@pytest.fixture
def store(empty_database: str, loop: asyncio.AbstractEventLoop) -> Generator[Store]:
    store = app.open_store(settings.load({}, database=empty_database))
    loop.run_until_complete(store.open())
    yield store
    loop.run_until_complete(store.close())


@asynccontextmanager
async def session(url: str) -> AsyncGenerator[Any]:
    """Open a database session with a lock timeout of thirty seconds."""
    driver: Any = asyncpg
    db = await driver.connect(url, server_settings={"lock_timeout": "30s"})
    try:
        yield db
    finally:
        db.terminate()


async def until(happens: Callable[[], Coroutine[Any, Any, object]], task: asyncio.Task[Any]) -> None:
    async with asyncio.timeout(60):
        while not await happens():
            assert not task.done(), "it was done before that happened"
            await asyncio.sleep(0.01)


def test_migration_beside_long_reader_does_not_block_others(
    store: Store, empty_database: str, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "RETRY_SECONDS", 0.1)

    async def read_meanwhile() -> list[Migration]:
        await migrate.migrate(store, [FIRST])
        async with session(empty_database) as reader, session(empty_database) as other:
            await reader.execute("BEGIN; SELECT FROM one")
            migrating = asyncio.create_task(migrate.migrate(store, [FIRST, ALTER]))
            for _ in range(3):
                await until(lambda: other.fetchval(WAITING), migrating)
                await other.fetch("SELECT FROM one")
            await reader.execute("COMMIT")
            return await migrating

    assert loop.run_until_complete(read_meanwhile()) == [ALTER]


def test_index_of_used_table_is_built_beside_writes(
    store: Store, empty_database: str, loop: asyncio.AbstractEventLoop
) -> None:
    async def write_meanwhile() -> list[str]:
        await migrate.migrate(store)
        async with session(empty_database) as owner:
            await owner.execute("DROP INDEX users_with_powers, mutes_by_end, bans_by_end")
        assert await migrate.migrate(store, [*load_migrations(), INDEXES]) == [INDEXES]
        async with session(empty_database) as reader, session(empty_database) as writer:
            await reader.execute(OLD_SNAPSHOT)  # this old transaction makes the index builds wait
            building = asyncio.create_task(database_checks.create_missing_indexes(store))
            await until(lambda: writer.fetchval(BUILDING), building)
            for table in ("users", "mutes", "bans"):
                await writer.execute(f"DELETE FROM {table}")  # noqa: S608 - the test's own words
            await reader.execute("COMMIT")
            return await building

    assert loop.run_until_complete(write_meanwhile()) == ["users_with_powers", "mutes_by_end", "bans_by_end"]
    assert loop.run_until_complete(database_checks.find_missing_indexes(store, store.engine)) == []


def test_invalid_index_is_dropped_and_built_again(world: World) -> None:
    world.sql("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = CAST('players_by_rank' AS regclass)")
    before = world.sql(INDEX)
    assert [each.check for each in findings(world, "indexes")] == ["indexes"]
    assert world.run(database_checks.create_missing_indexes(world.keeper.store)) == ["players_by_rank"]
    ((oid, valid),) = world.sql(INDEX)
    assert (valid, oid != before[0][0]) == (True, True)


def test_index_that_another_process_builds_is_waited_for(world: World) -> None:
    async def build_twice() -> tuple[list[str], Any, Any]:
        await store.write(database_checks.drop_indexes)
        for name in await database_checks.find_missing_indexes(store, store.engine):
            if name != "players_by_rank":
                await database_checks._build(store, name)  # noqa: SLF001 - the build of another process  # pyright: ignore[reportPrivateUsage] - the same
        async with session(world.url) as reader, session(world.url) as looking:
            await reader.execute(OLD_SNAPSHOT)
            other = asyncio.create_task(database_checks.create_missing_indexes(store))
            await until(lambda: looking.fetchrow(INDEX), other)
            before = await looking.fetchrow(INDEX)
            # drop_invalid must spare an index that another session is building: dropping it would wait for that build
            async with asyncio.timeout(30):
                await database_checks.drop_invalid_indexes(store, "players_by_rank")
            ours = asyncio.create_task(database_checks.create_missing_indexes(store))
            await asyncio.sleep(3 * database_checks.POLL_SECONDS)
            await reader.execute("COMMIT")
            await other
            return await ours, before, await looking.fetchrow(INDEX)

    store = world.keeper.store
    made, before, after = world.run(build_twice())
    assert (made, before[0], before[1], after[1]) == ([], after[0], False, True)
