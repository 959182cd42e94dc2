"""Every SQL statement is valid on both engines, the migrations build the schema, and refusals are complete."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import catalogues
import pytest

from gamekeeper import app, settings
from gamekeeper.game.refusals import Refusal
from gamekeeper.http.errors import find_status
from gamekeeper.store import postgres_connection, sqlite
from gamekeeper.store.engine import Store, Writing
from gamekeeper.store.migrate import migrate, split_script
from gamekeeper.store.statements import FOLDER, Statement, Statements

PACKAGE = FOLDER.parent
NOUNS = sorted(path.stem for path in FOLDER.glob("*.sql") if path.stem != "schema")
STATEMENTS = {f"{noun}.{name}": each for noun in NOUNS for name, each in Statements(noun).named.items()}


def fail_to_prepare_on_sqlite(path: Path) -> list[str]:
    db = apsw.Connection(str(path))
    faults: list[str] = []
    for name, statement in STATEMENTS.items():
        text = statement.render("sqlite", sqlite.PLACEHOLDERS).replace("$", "?")
        count = max((int(number) for number in re.findall(r"\?(\d+)", text)), default=0)
        try:
            db.execute(f"EXPLAIN {text}", [None] * count)
        except apsw.Error as error:
            faults.append(f"{name}: {error}")
    db.close()
    return faults


async def fail_to_prepare_on_postgres(url: str) -> list[str]:
    driver: Any = asyncpg
    db = await driver.connect(url)
    faults: list[str] = []
    for name, statement in STATEMENTS.items():
        try:
            await db.prepare(statement.render("postgres", postgres_connection.PLACEHOLDERS))
        except asyncpg.PostgresError as error:
            faults.append(f"{name}: {error}")
    await db.close()
    return faults


@pytest.mark.both_engines
def test_every_statement_prepares(engine: str, database: str) -> None:
    assert len(STATEMENTS) > 50
    if engine == "sqlite":
        assert fail_to_prepare_on_sqlite(Path(database.removeprefix("sqlite:///"))) == []
    else:
        assert asyncio.run(fail_to_prepare_on_postgres(database)) == []


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


def test_only_changes_applies_effects() -> None:
    """An effect that something else applies would have no line in the audit log."""
    users = [path.name for path in PACKAGE.parent.rglob("*.py") if ".carry_out(" in path.read_text(encoding="utf-8")]
    assert users == ["changes.py"]


def list_refusals(root: type[Any] = Refusal) -> Iterator[type[Any]]:
    for kind in root.__subclasses__():
        if kind.__module__.startswith("gamekeeper."):
            yield kind
        yield from list_refusals(kind)


def test_every_refusal_has_a_status_a_message_and_a_unique_code() -> None:
    codes: dict[str, type[Any]] = {}
    for kind in list_refusals():
        assert (vars(kind).get("__doc__") or "").strip(), kind
        assert find_status(kind) >= 400, kind
        code: str = Exception.__new__(kind).code  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - any kind of refusal
        assert codes.setdefault(code, kind) is kind, code
    assert len(codes) > 35
