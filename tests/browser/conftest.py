"""Fixtures: a real Chromium and a real server with the demo world, one of each per test process.

Playwright keeps an event loop running in its thread, where no other loop may run. So the tests of this folder run in
their own thread.
"""

import inspect
import os
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import chromium
import pytest
from demo_server import KEEPER, DemoServer, copy_demo
from playwright.sync_api import Browser, Playwright, expect, sync_playwright
from visitor import Visitor

from databases import Postgres, Sqlite

PLAYERS = int(os.environ.get("GAMEKEEPER_TOUR_PLAYERS", "0"))  # number of additional players for `make tour`
THREAD = ThreadPoolExecutor(1, thread_name_prefix="browser")
expect.set_options(timeout=30_000)  # milliseconds that a browser assertion waits; the same timeout in all tests


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave all tests of this folder to `make long`, except those with the mark `smoke`."""
    if not item.get_closest_marker("smoke"):
        item.add_marker("long_only")


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
    url = copy_demo(databases)
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


@pytest.fixture
def demo(engine: str, request: pytest.FixtureRequest) -> DemoServer:
    return request.getfixturevalue(f"{engine}_demo")


@pytest.fixture
def visit(browser: Browser) -> Generator[Callable[..., Visitor]]:
    """Return a function that opens browser windows; an error in any of them fails the test."""
    there: list[Visitor] = []

    def enter(server: DemoServer, name: str = "", **looks: Any) -> Visitor:
        """Open a browser window in the thread of the test."""
        there.append(Visitor(browser, server, name, **looks))
        return there[-1]

    yield enter
    for each in there:
        THREAD.submit(each.close).result()


@pytest.fixture(scope="session")
def open_window(browser: Browser, sqlite_demo: DemoServer) -> Generator[Visitor]:
    opened = THREAD.submit(Visitor, browser, sqlite_demo, KEEPER).result()
    yield opened
    THREAD.submit(opened.close).result()


@pytest.fixture
def window(open_window: Visitor) -> Generator[Visitor]:
    """Return the keeper's window for tests that only look at pages: a new window costs as much as opening two pages."""
    yield open_window
    open_window.check()
