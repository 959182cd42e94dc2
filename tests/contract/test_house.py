"""Tests of the architecture's rules. Each runs on the real sources and on a seeded fault that it must report."""

import asyncio
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import catalogues
import house
import pytest

from gamekeeper import app, settings
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors
from gamekeeper.store import postgres_connection, sqlite
from gamekeeper.store.engine import Store, Writing
from gamekeeper.store.migrate import migrate, split_script
from gamekeeper.store.statements import FOLDER, Statement, Statements

PACKAGE = house.sources(house.PACKAGE)
STORE = house.sources(house.PACKAGE / "store")
ENGINE_FILES = {"engine.py", "sqlite.py", "postgres.py", "migrate.py", "statements.py"}
NOUNS = sorted(path.stem for path in FOLDER.glob("*.sql") if path.stem != "schema")
STATEMENTS = {noun: Statements(noun).named for noun in NOUNS}


# --- rules for SQL -------------------------------------------------------------------------------------------------


def test_sql_is_in_sql_files() -> None:
    assert house.sql_in_python(PACKAGE) == []


@pytest.mark.parametrize(
    "text",
    [
        'X = "SELECT 1"',
        'X = f"INSERT INTO players VALUES ({1})"',
        'X = b"DELETE FROM players"',
        'X = "UPDATE players SET level = 1"',
        'X = """\nCREATE TABLE t (x int)"""',
        'X = "PRAGMA foreign_keys = OFF"',
    ],
)
def test_sql_in_python_is_noticed(text: str) -> None:
    assert len(house.sql_in_python({"game/items.py": text, "store/sqlite.py": text})) == 1


def test_words_that_are_not_sql_are_accepted() -> None:
    assert house.sql_in_python({"a.py": 'X = ["DELETE", "Please select one", "UPDATE"]'}) == []


def list_statements() -> Iterator[tuple[str, Statement]]:
    return ((f"{noun}.{name}", each) for noun in NOUNS for name, each in STATEMENTS[noun].items())


def fail_to_prepare_on_sqlite(path: Path, statements: Iterator[tuple[str, Statement]]) -> list[str]:
    db = sqlite3.connect(path)
    faults: list[str] = []
    for name, statement in statements:
        text = statement.render("sqlite", sqlite.PLACEHOLDERS).replace("$", "?")
        count = max((int(number) for number in re.findall(r"\?(\d+)", text)), default=0)
        try:
            db.execute(f"EXPLAIN {text}", [None] * count)
        except sqlite3.Error as error:
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


def test_every_statement_prepares(engine: str, database: str) -> None:
    assert len(list(list_statements())) > 50
    assert fail_to_prepare(engine, database, list_statements()) == []


@pytest.mark.parametrize("noun", NOUNS)
def test_statements_and_their_uses_match(noun: str) -> None:
    assert house.statement_faults(noun, STATEMENTS[noun], STORE[f"{noun}.py"]) == []


def test_statements_are_only_used_beside_their_file() -> None:
    users = [path for path, text in PACKAGE.items() if re.search(r'Statements\("\w+"\)', text)]
    assert users == [f"store/{noun}.py" for noun in NOUNS]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("async def count(tx): await tx.one(SQL.count)", "x.sql: 'page' is not used"),
        ("def count(tx): SQL.count\ndef page(tx): SQL.page; SQL.gone", "x.py: no statement 'gone'"),
    ],
)
def test_unused_and_missing_statements_are_noticed(text: str, fault: str) -> None:
    assert house.statement_faults("x", ["count", "page"], text) == [fault]


def writes(noun: str, name: str) -> bool:
    return STATEMENTS[noun][name].is_write


def test_store_functions_take_the_transaction_they_need() -> None:
    assert house.wrong_transaction({k: v for k, v in STORE.items() if k not in ENGINE_FILES}, writes) == []


@pytest.mark.parametrize(
    "text",
    [
        "def delete(tx: Reading, i): tx.defer(SQL.delete, i)",
        "async def delete(tx: Reading, i): await tx.all(SQL.delete, i)",
        "async def count(tx: Writing): await tx.one(SQL.count)",
        "def require(tx: Reading, i): tx.require_absent(SQL.count, i)",
    ],
)
def test_wrong_transaction_type_is_noticed(text: str) -> None:
    assert len(house.wrong_transaction({"players.py": text}, writes)) == 1


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


def test_migrations_build_exactly_the_schema(engine: str, two_schemas: tuple[str, str]) -> None:
    ours, theirs = (schema_of(engine, url) for url in two_schemas)
    assert len(ours) > 20
    assert catalogues.differences(ours, theirs) == []


# --- rules for the write path --------------------------------------------------------------------------------------

WRITING = house.writing_functions(STORE)


def test_only_the_write_path_writes() -> None:
    assert len(WRITING) > 25
    assert house.stray_writes(PACKAGE, WRITING) == []


@pytest.mark.parametrize(
    "text",
    [
        "from gamekeeper.store import items\nitems.save_slots(tx, [])",
        "from gamekeeper.store import items as rows\npartial(rows.save_slots, [])",
        "from gamekeeper.store.items import save_slots",
    ],
)
def test_write_outside_the_write_path_is_noticed(text: str) -> None:
    assert len(house.stray_writes({"http/items.py": text, "game/effects.py": text}, WRITING)) == 1


def test_reads_are_allowed_everywhere() -> None:
    text = "from gamekeeper.store import items\nitems.slots_of_player(tx, player)"
    assert house.stray_writes({"http/items.py": text}, WRITING) == []


def test_only_changes_applies_effects() -> None:
    assert house.stray_effects(PACKAGE) == []
    assert "carry_out(" in PACKAGE["game/changes.py"]
    assert len(house.stray_effects({"http/items.py": "change.carry_out(tx, spelling)"})) == 1


# --- rules for imports ---------------------------------------------------------------------------------------------


def lint_imports(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def test_handlers_do_not_write_to_the_request() -> None:
    assert house.writes_to_request(PACKAGE) == []


def test_imports_only_go_down() -> None:
    done = lint_imports(house.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_client_imports_only_its_two_dependencies() -> None:
    client = house.sources(house.CLIENT)
    assert house.imports_beyond(client, {"gamekeeper_client", "httpx", "msgspec"}) == []
    seeded = {"x.py": "import re\n\ndef f():\n    from gamekeeper.http import wire\n"}
    assert house.imports_beyond(seeded, {"gamekeeper_client"}) == ["x.py:4: imports gamekeeper"]


# --- rules for refusals --------------------------------------------------------------------------------------------


def test_every_refusal_has_a_status_a_message_and_a_unique_code() -> None:
    kinds = [kind for kind in house.kinds_of(Refusal) if kind.__module__.startswith("gamekeeper.")]
    assert len(kinds) > 35
    assert house.refusal_faults(kinds, errors.find_status) == []


def test_docstring_tree_has_every_refusal() -> None:
    drawn = set(re.findall(r"\b[A-Z]\w+", PACKAGE["game/refusals.py"].split('"""')[1]))
    ours = {kind.__name__ for kind in house.kinds_of(Refusal) if kind.__module__ == "gamekeeper.game.refusals"}
    assert ours <= drawn


def test_faulty_refusal_is_noticed() -> None:
    silent = type("Silent", (errors.MalformedBody,), {})
    homeless = type("Homeless", (Refusal,), {"__doc__": "No."})
    double = type("MalformedBody", (errors.MalformedBody,), {"__doc__": "No."})
    found = house.refusal_faults([errors.MalformedBody, silent, homeless, double], errors.find_status)
    assert found == [
        "Silent has no message",
        "Homeless has no status",
        "MalformedBody and MalformedBody have the code malformed_body",
    ]


# --- rules for names -----------------------------------------------------------------------------------------------


def test_one_class_name_is_one_thing() -> None:
    assert house.shared_class_names(PACKAGE) == []


def test_shared_class_name_is_noticed() -> None:
    text = "class Gift: ...\nclass _Gift: ..."
    given = {"game/a.py": text, "store/b.py": text, "http/wire/c.py": text}
    assert house.shared_class_names(given) == ["Gift: game/a.py, store/b.py"]


# --- rules for file size and lint exceptions -----------------------------------------------------------------------


def test_no_file_is_too_long() -> None:
    for folder in ("src", "clients", "tests", "scripts", "battery", "examples"):
        assert house.too_long(house.sources(house.ROOT / folder)) == []
    assert house.too_long({"x.py": "x = 1\n" * 401}) == ["x.py has 401 lines"]


def test_every_lint_exception_has_a_reason() -> None:
    for folder in ("src", "clients", "tests", "scripts"):
        assert house.list_unreasoned(house.sources(house.ROOT / folder)) == []


@pytest.mark.parametrize(
    "comment",
    [
        "noqa",
        "noqa: S608",
        "noqa - because",
        "type: ignore",
        "type: ignore[arg]",
        "pyright: ignore[reportAny] - ",
        "noqa: S1 x",
    ],
)
def test_lint_exception_without_a_reason_is_noticed(comment: str) -> None:
    assert len(house.list_unreasoned({"x.py": f"x = 1  # {comment}\n"})) == 1


@pytest.mark.parametrize("comment", ["noqa: S608 - ours", "pyright: ignore[reportAny, reportX] - untyped", "a remark"])
def test_lint_exception_with_a_reason_is_accepted(comment: str) -> None:
    assert house.list_unreasoned({"x.py": f"x = 1  # {comment}\n"}) == []
