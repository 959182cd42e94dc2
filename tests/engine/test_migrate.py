"""Migrations are applied once, can be repeated after a crash, and refuse unknown databases."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest

from gamekeeper import app
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import UnusableDatabase, Writing
from gamekeeper.store.engine.migrate import (
    SQL,
    SQUASHED_CHECKSUM,
    Migration,
    SchemaMismatch,
    find_pending,
    load_migrations,
    migrate,
    require_ours,
)
from gamekeeper.store.engine.statements import Statement

pytestmark = pytest.mark.both_engines

FIRST = Migration(1, "first", "CREATE TABLE one (id INTEGER);\n")
SECOND = Migration(2, "second", "CREATE TABLE two (id INTEGER);\nCREATE TABLE three (id INTEGER);\n")
LATER = Migration(9000, "later", "CREATE TABLE later (id INTEGER);\n")
ROWS = Statement("rows", {"": "SELECT number, name, checksum, applied_at FROM migrations ORDER BY number"})
SQUASHED_ROWS = "UPDATE migrations SET name = 'erasures', checksum = $1 WHERE number = 18"
FIRST_ROW = "INSERT INTO migrations (number, name, checksum, applied_at) VALUES ($1, 'foundation', 'x', 0)"
BROKEN = SECOND._replace(text="CREATE TABLE two (id INTEGER);\nCREATE TABLE two (id INTEGER);\n")


Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture
def run(loop: asyncio.AbstractEventLoop) -> Run:
    return loop.run_until_complete


@pytest.fixture
def keeper(empty_database: str, loop: asyncio.AbstractEventLoop) -> Generator[Keeper]:
    keeper = app.build_keeper(settings.load({}, database=empty_database))
    loop.run_until_complete(keeper.store.open())
    yield keeper
    loop.run_until_complete(keeper.store.close())
    keeper.passwords.close()


def test_migration_is_applied_once(keeper: Keeper, run: Run) -> None:
    assert run(find_pending(keeper.store)) == load_migrations()
    assert run(migrate(keeper.store)) == load_migrations()
    assert run(migrate(keeper.store)) == []
    assert run(find_pending(keeper.store)) == []


def test_failed_migration_leaves_nothing_and_can_be_repeated(keeper: Keeper, run: Run) -> None:
    with pytest.raises(Exception, match="two"):
        run(migrate(keeper.store, [FIRST, BROKEN]))
    assert run(migrate(keeper.store, [FIRST, SECOND])) == [SECOND]


def test_two_processes_can_migrate_at_once(keeper: Keeper, empty_database: str, run: Run) -> None:
    other = app.build_keeper(settings.load({}, database=empty_database))

    async def both() -> tuple[list[Migration], list[Migration]]:
        await other.store.open()
        try:
            return await asyncio.gather(migrate(keeper.store), migrate(other.store))
        finally:
            await other.store.close()
            other.passwords.close()

    first, second = run(both())
    assert sorted(first + second) == load_migrations()


async def execute(keeper: Keeper, text: str, *values: str | int) -> None:
    statement = Statement("test", {"": text})
    await keeper.store.write(lambda tx: tx.returning(statement, *values))


def test_database_of_the_squashed_migrations_is_adopted_unchanged(keeper: Keeper, run: Run) -> None:
    """A database made by the old migrations, which one baseline replaced, keeps its migrations table as it is."""

    async def adopt() -> tuple[object, ...]:
        await migrate(keeper.store)
        await execute(keeper, SQUASHED_ROWS, SQUASHED_CHECKSUM)
        await execute(keeper, FIRST_ROW, 1)
        before = await keeper.store.all(ROWS)
        return await migrate(keeper.store), await find_pending(keeper.store), await keeper.store.all(ROWS) == before

    assert run(adopt()) == ([], [], True)


def test_database_older_than_baseline_is_refused_with_advice(keeper: Keeper, run: Run) -> None:
    async def age() -> None:
        await migrate(keeper.store)
        await execute(keeper, "DELETE FROM migrations")
        await execute(keeper, FIRST_ROW, 17)

    run(age())
    for work in (migrate(keeper.store), find_pending(keeper.store)):
        with pytest.raises(SchemaMismatch, match=r"ends with migration 0017 .* before 0\.1\.0.*`gamekeeper migrate`"):
            run(work)


def test_migration_works_while_bulk_load_has_dropped_indexes(keeper: Keeper, run: Run) -> None:
    run(migrate(keeper.store))
    run(keeper.store.write(database_checks.drop_indexes))
    assert run(migrate(keeper.store, [*load_migrations(), LATER])) == [LATER]
    assert "players_by_rank" in run(database_checks.create_missing_indexes(keeper.store))
    assert run(database_checks.find_missing_indexes(keeper.store, keeper.store.engine)) == []


def test_a_changed_migration_is_refused(keeper: Keeper, run: Run) -> None:
    run(migrate(keeper.store, [FIRST]))
    with pytest.raises(SchemaMismatch, match="is not the one that was applied"):
        run(migrate(keeper.store, [FIRST._replace(text="CREATE TABLE other (id INTEGER);\n")]))


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (["CREATE TABLE players (id INTEGER)"], "(players)"),
        (["CREATE TABLE migrations (id INTEGER, migration TEXT, batch INTEGER)"], "(migrations)"),
        ([SQL.create_migrations, "CREATE TABLE players (id INTEGER)"], "(players)"),
        (["CREATE VIEW players AS SELECT 1 AS id"], None),
        ([SQL.create_migrations], None),
    ],
    ids=["a table", "another's migrations", "looked at", "a view", "empty"],
)
def test_database_of_another_program_is_refused(
    keeper: Keeper, run: Run, made: list[str | Statement], named: str | None
) -> None:
    """The case "looked at" has our empty migrations table, which old versions created even when they only read."""

    async def make(tx: Writing) -> None:
        for each in made:
            await tx.returning(each if isinstance(each, Statement) else Statement("test", {"": each}))

    run(keeper.store.write(make))
    if named is None:
        run(require_ours(keeper.store))
        return
    with pytest.raises(
        UnusableDatabase, match=re.escape(f"tables that Gamekeeper did not make {named}: name an empty one.")
    ):
        run(require_ours(keeper.store))
