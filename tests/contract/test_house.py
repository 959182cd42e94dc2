"""The architecture's rules hold for the sources."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import catalogues
import house
import pytest

import mutate
from gamekeeper import app, settings
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors
from gamekeeper.store import postgres_connection, sqlite
from gamekeeper.store.engine import Store, Writing
from gamekeeper.store.migrate import migrate, split_script
from gamekeeper.store.statements import FOLDER, Statement, Statements
from loops import over

PACKAGE = house.sources(house.PACKAGE)
STORE = house.sources(house.PACKAGE / "store")
ENGINE_FILES = {"engine.py", "sqlite.py", "postgres.py", "migrate.py", "statements.py"}
NOUNS = sorted(path.stem for path in FOLDER.glob("*.sql") if path.stem != "schema")
STATEMENTS = {noun: Statements(noun).named for noun in NOUNS}


# --- rules for SQL -------------------------------------------------------------------------------------------------


def test_sql_is_in_sql_files() -> None:
    assert house.sql_in_python(PACKAGE) == []


def list_statements() -> Iterator[tuple[str, Statement]]:
    return ((f"{noun}.{name}", each) for noun in NOUNS for name, each in STATEMENTS[noun].items())


def fail_to_prepare_on_sqlite(path: Path, statements: Iterator[tuple[str, Statement]]) -> list[str]:
    db = apsw.Connection(str(path))
    faults: list[str] = []
    for name, statement in statements:
        text = statement.render("sqlite", sqlite.PLACEHOLDERS).replace("$", "?")
        count = max((int(number) for number in re.findall(r"\?(\d+)", text)), default=0)
        try:
            db.execute(f"EXPLAIN {text}", [None] * count)
        except apsw.Error as error:
            faults.append(f"{name}: {error}")
    db.close()
    return faults


async def fail_to_prepare_on_postgres(url: str, statements: Iterator[tuple[str, Statement]]) -> list[str]:
    driver: Any = asyncpg
    db = await driver.connect(url)
    faults: list[str] = []
    for name, statement in statements:
        try:
            await db.prepare(statement.render("postgres", postgres_connection.PLACEHOLDERS))
        except asyncpg.PostgresError as error:
            faults.append(f"{name}: {error}")
    await db.close()
    return faults


def fail_to_prepare(engine: str, url: str, statements: Iterator[tuple[str, Statement]]) -> list[str]:
    if engine == "sqlite":
        return fail_to_prepare_on_sqlite(Path(url.removeprefix("sqlite:///")), statements)
    return asyncio.run(fail_to_prepare_on_postgres(url, statements))


@pytest.mark.both_engines
def test_every_statement_prepares(engine: str, database: str) -> None:
    assert len(list(list_statements())) > 50
    assert fail_to_prepare(engine, database, list_statements()) == []


@over("noun", NOUNS)
def test_statements_and_their_uses_match(noun: str) -> None:
    assert house.statement_faults(noun, STATEMENTS[noun], STORE[f"{noun}.py"]) == []


def test_statements_are_only_used_beside_their_file() -> None:
    users = [path for path, text in PACKAGE.items() if re.search(r'Statements\("\w+"\)', text)]
    assert users == [f"store/{noun}.py" for noun in NOUNS]


def writes(noun: str, name: str) -> bool:
    return STATEMENTS[noun][name].is_write


def test_store_functions_take_the_transaction_they_need() -> None:
    assert house.wrong_transaction({k: v for k, v in STORE.items() if k not in ENGINE_FILES}, writes) == []


async def build_from_schema(store: Store) -> None:
    async def apply(tx: Writing) -> None:
        for text in split_script((FOLDER / "schema.sql").read_text(encoding="utf-8"), store.engine):
            await tx.returning(Statement("schema", {"": text}))

    await store.write(apply)


async def build_schema(url: str, *, by_migrations: bool) -> None:
    store = app.open_store(settings.load({}, database=url))
    await store.open()
    try:
        await (migrate(store) if by_migrations else build_from_schema(store))
    finally:
        await store.close()


def schema_of(engine: str, url: str) -> catalogues.Schema:
    if engine == "sqlite":
        return catalogues.of_sqlite(Path(url.removeprefix("sqlite:///")))
    return asyncio.run(catalogues.of_postgres(url))


@pytest.fixture
def two_schemas(databases: Any) -> Iterator[tuple[str, str]]:
    """Return the URLs of a database made by the migrations and of one made from schema.sql."""
    urls = databases.empty(), databases.empty()
    for url, by_migrations in zip(urls, (True, False), strict=True):
        asyncio.run(build_schema(url, by_migrations=by_migrations))
    yield urls
    for url in urls:
        databases.drop(url)


@pytest.mark.both_engines
def test_migrations_build_exactly_the_schema(engine: str, two_schemas: tuple[str, str]) -> None:
    ours, theirs = (schema_of(engine, url) for url in two_schemas)
    assert len(ours) > 20
    assert catalogues.differences(ours, theirs) == []


# --- rules for the write path --------------------------------------------------------------------------------------

WRITING = house.writing_functions(STORE)


def test_only_the_write_path_writes() -> None:
    assert len(WRITING) > 25
    assert house.stray_writes(PACKAGE, WRITING) == []


def test_only_changes_applies_effects() -> None:
    assert house.stray_effects(PACKAGE) == []


# --- rules for imports ---------------------------------------------------------------------------------------------


def test_handlers_do_not_write_to_the_request() -> None:
    assert house.writes_to_request(PACKAGE) == []


def test_client_imports_only_its_two_dependencies() -> None:
    client = house.sources(house.CLIENT)
    assert house.imports_beyond(client, {"gamekeeper_client", "httpx", "msgspec"}) == []


# --- rules for refusals --------------------------------------------------------------------------------------------


def test_every_refusal_has_a_status_a_message_and_a_unique_code() -> None:
    kinds = [kind for kind in house.kinds_of(Refusal) if kind.__module__.startswith("gamekeeper.")]
    assert len(kinds) > 35
    assert house.refusal_faults(kinds, errors.find_status) == []


def test_mutation_tests_name_tests_that_exist() -> None:
    for each in (test for tests in mutate.TESTS.values() for test in tests):
        file, _, name = each.partition("::")
        assert f"def {name}" in (house.ROOT / file).read_text(encoding="utf-8"), each


# --- rules for file size and lint exceptions -----------------------------------------------------------------------


def test_no_file_is_too_long() -> None:
    for folder in ("src", "clients", "tests", "scripts", "battery", "examples"):
        assert house.too_long(house.sources(house.ROOT / folder)) == []


def test_every_lint_exception_has_a_reason() -> None:
    for folder in ("src", "clients", "tests", "scripts"):
        assert house.list_unreasoned(house.sources(house.ROOT / folder)) == []
