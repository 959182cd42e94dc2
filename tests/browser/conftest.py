"""A real Chromium at a real server with the demo world, one of each per test process.

Playwright keeps an event loop running in the thread that uses it, and no other loop may run there: the tests of this
folder run in a thread of their own, and everybody else's keep theirs.
"""

import asyncio
import inspect
import os
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import chromium
import pytest
from demo_server import DemoServer, fill
from playwright.sync_api import Browser, Playwright, expect, sync_playwright
from visitor import Visitor

import world as worlds
from databases import Postgres, Sqlite

PLAYERS = int(os.environ.get("GAMEKEEPER_TOUR_PLAYERS", "0"))  # beside those with names, for `make tour`
ENGINE = os.environ.get("GAMEKEEPER_BROWSER_ENGINE", "sqlite")  # postgres: `make browser-postgresql`
THREAD = ThreadPoolExecutor(1, thread_name_prefix="browser")
expect.set_options(timeout=30_000)  # as long as everything else is waited for


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool:
    wanted = inspect.signature(pyfuncitem.obj).parameters
    THREAD.submit(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in wanted}).result()
    return True


@pytest.fixture(scope="session")
def playwright() -> Generator[Playwright]:
    chromium.require()
    manager = sync_playwright()
    yield THREAD.submit(manager.start).result()
    THREAD.submit(manager.__exit__).result()


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Generator[Browser]:
    launch = partial(playwright.chromium.launch, executable_path=chromium.require(), args=chromium.ARGUMENTS)
    opened = THREAD.submit(launch).result()
    yield opened
    THREAD.submit(opened.close).result()


@contextmanager
def serving(databases: Sqlite | Postgres) -> Generator[DemoServer]:
    url = databases.empty()
    asyncio.run(worlds.at_work(url, fill))
    with DemoServer(url, PLAYERS) as server:
        server.live()
        yield server
    databases.drop(url)


@pytest.fixture(scope="session")
def sqlite_demo(sqlite_databases: Sqlite) -> Generator[DemoServer]:
    with serving(sqlite_databases) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_demo(postgres_databases: Postgres) -> Generator[DemoServer]:
    with serving(postgres_databases) as server:
        yield server


@pytest.fixture(params=[ENGINE])
def engine(request: pytest.FixtureRequest) -> str:
    """Only one in a run: the browser takes longer than the rest, and the pages are tested on both without it."""
    return request.param


@pytest.fixture
def demo(engine: str, request: pytest.FixtureRequest) -> DemoServer:
    return request.getfixturevalue(f"{engine}_demo")


@pytest.fixture
def visit(browser: Browser) -> Generator[Callable[..., Visitor]]:
    """People at a server, each with a browser window of their own; what went wrong in any of them fails the test."""
    there: list[Visitor] = []

    def enter(server: DemoServer, name: str = "", **looks: Any) -> Visitor:
        """Called in the test, so in its thread."""
        there.append(Visitor(browser, server, name, **looks))
        return there[-1]

    yield enter
    for each in there:
        THREAD.submit(each.close).result()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where screenshots go: `make screenshots` wants them among the documents."""
    return os.environ.get("GAMEKEEPER_SCREENSHOTS") or str(tmp_path_factory.mktemp("screenshots"))
